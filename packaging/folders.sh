# shellcheck shell=bash
# hide_folders TARGET: what is compiled for this target from now on names no folder of this machine where a panic or a failed check in C
# code says its place. In these variables the flags come on top of .cargo/config.toml; with other flags everything is compiled anew.
# The standard library has names of its own for its files, which the compiler forgets where their sources (rust-src) are installed.
hide_folders() {
  local registry=${CARGO_HOME:-$HOME/.cargo} folder=${CARGO_TARGET_DIR:-$PWD/target} library
  library=$(rustc --print sysroot)/lib/rustlib/src/rust=/rustc/$(rustc --version --verbose | sed -n 's/^commit-hash: //p')
  export "CARGO_TARGET_$(tr a-z- A-Z_ <<<"$1")_RUSTFLAGS=--remap-path-prefix=$registry=/cargo --remap-path-prefix=$folder=/target \
--remap-path-prefix=$library"
  export CFLAGS="-ffile-prefix-map=$registry=/cargo -ffile-prefix-map=$folder=/target ${CFLAGS-}"
}

# folders_named_in FILE...: the folders of this machine that files name, packed ones (.whl) unpacked; fails if there are any.
folders_named_in() {
  python3 - "${CARGO_HOME:-$HOME/.cargo}/" "$PWD/" "$HOME/" "${TMPDIR:-/tmp}/pip-" -- "$@" <<'PYTHON'
import re, sys, zipfile
from pathlib import Path

split = sys.argv.index("--")
folders = [folder.encode() for folder in sys.argv[1:split] if folder != "//"]
pattern = re.compile(b"|".join(re.escape(folder) + rb"[\w./-]*" for folder in folders))
found = set()
for path in sys.argv[split + 1:]:
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as packed:
            files = {name: packed.read(name) for name in packed.namelist()}
    else:
        files = {path: Path(path).read_bytes()}
    found |= {f"  {name}: {place.decode()}" for name, text in files.items() for place in pattern.findall(text)}
if found:
    sys.exit("error: folders of this machine are named\n" + "\n".join(sorted(found)[:20]))
PYTHON
}
