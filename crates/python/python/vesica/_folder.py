"""The folder of a run on a cluster. It holds rows and hashes of keys, so that nobody but its user reads or changes it.

On a file system of machines that is a matter of modes: the folder is made with mode 0700, files that Python writes have
mode 0600, and whoever uses the folder looks first whether another user could have put it there. A store of objects has
rules of its own for that.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import re
import shutil
import stat
import struct
import uuid
from collections.abc import Iterator
from typing import Any

import pyarrow.fs

from vesica._errors import OutputError, UsageError

# As many as Linux follows on a path.
_MOST_LINKS = 40


def real(work: str) -> str:
    """The URI of a directory behind all links, which lead elsewhere in vain from now on.

    Refuses a directory of this machine in which another user could put something in the place of ours.
    """
    # Others are looked at when the run begins to use them.
    if not work.startswith("file:"):
        return work
    try:
        path = _local(f"{work}/")
    except ValueError as error:
        raise UsageError(f"work={work!r} names no directory: {error}", "say file:///path, or the path alone") from None
    if path is None:
        return work
    with _said(path):
        found = _behind_links(path)
    # Characters of the name itself were looked at when it was given.
    if re.search(r"[^A-Za-z0-9_.~:/@=+,\[\]-]", found):
        fault = f"work={path!r} leads to {found!r}, a name that Spark and Arrow read in different ways"
        raise UsageError(fault, "name a directory of plain letters, digits and signs such as - and _")
    return f"file://{found.rstrip('/')}"


def make(folder: str) -> bool:
    """Makes the folder of a run, which is not there yet, if it is one of this machine. Says whether it is."""
    path = _local(folder)
    if path is None:
        return False
    work = os.path.dirname(path)
    with _said(work):
        _make_all(work)
        _behind_links(work)
        os.mkdir(path, 0o700)
    return True


def check(folder: str) -> None:
    """Refuses a folder that is not there, or that another user can read or could have put there."""
    path = _local(folder)
    if path is None:
        return
    with _said(path):
        try:
            found = os.lstat(path)
        except FileNotFoundError:
            fault = f"{folder} is not there on a machine that should read and write it"
            raise OutputError(fault, "name a directory with work= that this program and all executors share") from None
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
            fault = f"{folder} is no folder of mode 0700 of the user of this process"
            raise OutputError(fault, "run the driver and all executors as one user, and let nothing change modes in work=")
        _behind_links(os.path.dirname(path))


def read(folder: str, name: str) -> bytes:
    """A small file of the run."""
    files, path = filesystem(f"{folder}/{name}")
    with files.open_input_file(path) as file:
        return bytes(file.readall())


def is_there(folder: str, name: str) -> bool:
    """Whether there is a file of this name."""
    files, path = filesystem(f"{folder}/{name}")
    return bool(files.get_file_info(path).type == pyarrow.fs.FileType.File)


def write(folder: str, name: str, content: bytes, is_durable: bool = False) -> None:
    """Writes a small file of the run: whole, or not at all under this name."""
    made = create(folder, name)
    made.open().write(content)
    made.close(is_whole=True, is_durable=is_durable)


def create(folder: str, name: str) -> Made:
    """A file of the run that is to be written, and then put in place."""
    return Made(folder, name)


class Made:
    """A file that nobody sees before it is whole. Two tasks may make the same one, each of which replaces the other's."""

    def __init__(self, folder: str, name: str) -> None:
        above, _, last = f"{folder}/{name}".rpartition("/")
        self._above, self._last = above, last
        # Readers of tables pass over names that begin so.
        self._part = f"_{uuid.uuid4().hex}.part"
        self._local = _local(above)
        self._file: Any = None

    def open(self) -> Any:
        """The file, as Python and Arrow write to it."""
        if self._local is not None:
            # Not the folder of the run itself: if it is gone, nothing is to be written any more.
            with contextlib.suppress(FileExistsError):
                os.mkdir(self._local, 0o700)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            self._file = open(os.open(f"{self._local}/{self._part}", flags, 0o600), "wb")
        else:
            files, path = filesystem(self._above)
            files.create_dir(path, recursive=True)
            self._file = files.open_output_stream(f"{path}/{self._part}")
        return self._file

    def close(self, is_whole: bool, is_durable: bool = False) -> None:
        """Puts the file in place, or throws it away."""
        if is_durable and self._local is not None:
            self._file.flush()
            os.fsync(self._file.fileno())
        self._file.close()
        files, path = filesystem(self._above)
        if not is_whole:
            files.delete_file(f"{path}/{self._part}")
        elif self._local is not None:
            os.rename(f"{path}/{self._part}", f"{path}/{self._last}")
        else:
            files.move(f"{path}/{self._part}", f"{path}/{self._last}")
        if is_durable and self._local is not None:
            above = os.open(self._local, os.O_RDONLY)
            try:
                os.fsync(above)
            finally:
                os.close(above)


def write_sections(folder: str, name: str, sections: list[bytes], is_durable: bool = False) -> None:
    """Writes a file of sections, each of which can be read by itself with `section`."""
    ends = list(itertools.accumulate(map(len, sections)))
    made = create(folder, name)
    file = made.open()
    for section in sections:
        file.write(section)
    file.write(struct.pack(f"<{len(ends)}Q", *ends))
    made.close(is_whole=True, is_durable=is_durable)


def section(folder: str, name: str, sections: int, number: int) -> bytes:
    """A section of a file that has so many."""
    files, path = filesystem(f"{folder}/{name}")
    with files.open_input_file(path) as file:
        first = max(number - 1, 0)
        places = file.read_at(8 * (number - first + 1), file.size() - 8 * (sections - first))
        ends = struct.unpack(f"<{number - first + 1}Q", places)
        start = ends[0] if number else 0
        return bytes(file.read_at(ends[-1] - start, start))


def remove(folder: str, names: list[str]) -> None:
    """Removes these tables and files of a run, where they are: as many as it can, with an `OSError` if any is left."""
    left = []
    for name in names:
        try:
            _remove(f"{folder}/{name}")
        except OSError:
            left.append(name)
    if left:
        raise OSError(f"{', '.join(left)} could not be removed")


def _remove(uri: str) -> None:
    files, path = filesystem(uri)
    kind = files.get_file_info(path).type
    if kind == pyarrow.fs.FileType.File:
        files.delete_file(path)
    elif kind == pyarrow.fs.FileType.Directory and isinstance(files, pyarrow.fs.LocalFileSystem):
        # As much of it as goes: tasks that were cancelled may still write and remove files.
        shutil.rmtree(path, ignore_errors=True)
        if os.path.lexists(path):
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), path)
    elif kind == pyarrow.fs.FileType.Directory:
        files.delete_dir(path)


def remove_if_empty(folder: str) -> None:
    """Removes the folder of a run that has nothing in it."""
    path = _local(folder)
    if path is not None:
        with contextlib.suppress(OSError):
            os.rmdir(path)


def filesystem(uri: str) -> tuple[Any, str]:
    """The file system of a URI, and the path in it."""
    # Hadoop's name of the same store.
    for theirs, ours in (("s3a://", "s3://"), ("s3n://", "s3://")):
        if uri.startswith(theirs):
            uri = ours + uri[len(theirs) :]
    found: tuple[Any, str] = pyarrow.fs.FileSystem.from_uri(uri)
    return found


def _local(uri: str) -> str | None:
    """The path on this machine, if the URI is of one."""
    files, path = filesystem(uri)
    return path if isinstance(files, pyarrow.fs.LocalFileSystem) else None


def _make_all(path: str) -> None:
    """Makes a directory and those above it that are missing, for this user alone."""
    if not os.path.isdir(path):
        _make_all(os.path.dirname(path))
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, 0o700)


def _behind_links(path: str) -> str:
    """The path without links. Refuses one on which another user could put something in the place of ours.

    What is not there yet is taken as it is named.
    """
    _refuse_others("/")
    found, due, links = "/", path.split("/")[::-1], 0
    while due:
        name = due.pop()
        if name in ("", ".", ".."):
            found = os.path.dirname(found) if name == ".." else found
            continue
        step = os.path.join(found, name)
        try:
            is_link = _refuse_others(step)
        except FileNotFoundError:
            return os.path.normpath(os.path.join(step, *reversed(due)))
        if not is_link:
            found = step
            continue
        links += 1
        if links > _MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
        target = os.readlink(step)
        found = "/" if target.startswith("/") else found
        due += target.split("/")[::-1]
    return found


def _refuse_others(path: str) -> bool:
    """Refuses a directory in which another user could put a folder in the place of ours, and a link of another user,
    who can point it elsewhere. Says whether it is a link.
    """
    found = os.lstat(path)
    is_ours, is_link = found.st_uid in (0, os.geteuid()), stat.S_ISLNK(found.st_mode)
    if is_link and not is_ours:
        fault = f"{path} is a link of another user, and a run keeps rows and hashes of their keys where it leads"
        raise OutputError(fault, "name with work= a directory of your own, by a path without this link")
    # With this bit, as in /tmp, everybody renames entries of their own alone. A link has no modes.
    is_open = not is_link and found.st_mode & 0o022 and not found.st_mode & stat.S_ISVTX
    if not is_ours or is_open:
        fault = f"other users can replace what is in {path}, and a run keeps rows and hashes of their keys there"
        mend = f"name with work= a directory of your own, or take the right to write from others (chmod go-w {path})"
        raise OutputError(fault, mend)
    return is_link


@contextlib.contextmanager
def _said(path: str) -> Iterator[None]:
    """Names the directory in errors of the system."""
    try:
        yield
    except OSError as error:
        # Our own errors of files are of other classes.
        fault = f"the directory {path} of work= cannot be used: {error.strerror}"
        raise OutputError(fault, "name a directory that you may write to") from None
