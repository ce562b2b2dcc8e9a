//! Fast loops of the Vesica private set operations engine, each with a portable twin.
