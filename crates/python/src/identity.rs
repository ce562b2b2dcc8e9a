//! Calls for identities. None of them asks anybody for a passphrase.

use std::path::PathBuf;

use pyo3::prelude::*;
use vesica_cli::embed::{self, OwnKey};

use crate::failure::raised;

/// Makes a key pair: `path`, which ends in `.key`, and the public line beside it, in a file that ends in `.pub`. Returns
/// that line, which your partner needs. The private key is encrypted with the first line of `passphrase_file`, if you name
/// one.
#[pyfunction]
#[pyo3(signature = (path, passphrase_file=None))]
pub fn new_identity(py: Python<'_>, path: PathBuf, passphrase_file: Option<PathBuf>) -> PyResult<String> {
    py.detach(|| embed::new_identity(path, passphrase_file.as_deref())).map_err(|failure| raised(py, &failure))
}

/// The public line of the key pair at `path`, by default of your own, which is made on first use.
/// `passphrase_file` names a file whose first line opens an encrypted private key.
#[pyfunction]
#[pyo3(signature = (path=None, passphrase_file=None))]
pub fn own_identity(py: Python<'_>, path: Option<PathBuf>, passphrase_file: Option<PathBuf>) -> PyResult<String> {
    let key = OwnKey { identity: path.as_deref(), passphrase_file: passphrase_file.as_deref() };
    py.detach(|| embed::own_identity(key)).map_err(|failure| raised(py, &failure))
}

/// What `vesica identity show --json` prints of the key pair at `path`, or of the partner `peer`.
#[pyfunction]
#[pyo3(signature = (path=None, passphrase_file=None, peer=None))]
pub fn show_identity(
    py: Python<'_>,
    path: Option<PathBuf>,
    passphrase_file: Option<PathBuf>,
    peer: Option<PathBuf>,
) -> PyResult<String> {
    let key = OwnKey { identity: path.as_deref(), passphrase_file: passphrase_file.as_deref() };
    let peer = peer.map(|peer| peer.to_string_lossy().into_owned());
    py.detach(|| embed::show_identity(key, peer.as_deref())).map_err(|failure| raised(py, &failure))
}

/// Makes a key pair that takes the place of the one at `path`, by default of your own: `out`, which ends in `.key`, with
/// files beside it that end in `.pub` and `.succession`. Hand the last one to each partner. Until the last day `until` (a
/// `datetime.date`, or `"2027-01-31"`) partners who have accepted it accept both keys. Returns the new public line.
///
/// The new private key is encrypted with the first line of `new_passphrase_file`, by default with the passphrase of the
/// old one, if there is one.
#[pyfunction]
#[pyo3(signature = (out, until, *, path=None, passphrase_file=None, new_passphrase_file=None))]
pub fn rotate_identity(
    py: Python<'_>,
    out: PathBuf,
    until: &Bound<'_, PyAny>,
    path: Option<PathBuf>,
    passphrase_file: Option<PathBuf>,
    new_passphrase_file: Option<PathBuf>,
) -> PyResult<String> {
    let until = until.str()?.to_string();
    let key = OwnKey { identity: path.as_deref(), passphrase_file: passphrase_file.as_deref() };
    py.detach(|| embed::rotate_identity(key, out, &until, new_passphrase_file.as_deref()))
        .map_err(|failure| raised(py, &failure))
}

/// Accepts a partner's new key: checks the statement in `file`, which ends in `.succession`, and writes it behind the old
/// key of `peer`, a `.pub` file or a name in your file of partners. Returns the line of the partner's newest key.
#[pyfunction]
#[pyo3(signature = (file, *, peer))]
pub fn accept_identity(py: Python<'_>, file: PathBuf, peer: PathBuf) -> PyResult<String> {
    let peer = peer.to_string_lossy();
    py.detach(|| embed::accept_identity(&file, &peer)).map_err(|failure| raised(py, &failure))
}

/// Writes to `out` a statement, signed by the key at `path`, that nobody may accept this key any more. Nothing takes it
/// back. Returns its line.
#[pyfunction]
#[pyo3(signature = (path, out, *, passphrase_file=None))]
pub fn revoke_identity(
    py: Python<'_>,
    path: PathBuf,
    out: PathBuf,
    passphrase_file: Option<PathBuf>,
) -> PyResult<String> {
    let key = OwnKey { identity: Some(&path), passphrase_file: passphrase_file.as_deref() };
    py.detach(|| embed::revoke_identity(key, &out)).map_err(|failure| raised(py, &failure))
}

/// Encrypts the private key in the file `path` with the first line of `new_passphrase_file`; `None` takes the passphrase
/// off. The key itself stays the same. `passphrase_file` has the passphrase of now, if there is one.
#[pyfunction]
#[pyo3(signature = (path, *, new_passphrase_file, passphrase_file=None))]
pub fn change_passphrase(
    py: Python<'_>,
    path: PathBuf,
    new_passphrase_file: Option<PathBuf>,
    passphrase_file: Option<PathBuf>,
) -> PyResult<()> {
    py.detach(|| embed::change_passphrase(&path, passphrase_file.as_deref(), new_passphrase_file.as_deref()))
        .map_err(|failure| raised(py, &failure))
}
