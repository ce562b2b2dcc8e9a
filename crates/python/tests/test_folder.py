"""The folder of a run on a cluster: modes, and what another user could have put in its place."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

import pytest

import vesica

pytest.importorskip("pyarrow")

from vesica import _folder  # noqa: E402


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def work(tmp_path):
    """A directory of ours. That of the test runner may be below one that is not."""
    (tmp_path / "work").mkdir(mode=0o755)
    return tmp_path / "work"


def test_all_that_is_made_is_private_from_the_first_moment(work):
    folder = work / "new" / "deep" / "vesica-1"
    watched = subprocess.run(
        # With the widest mask, and with no call that changes modes afterwards.
        [sys.executable, "-c", f"""if True:
            import os
            os.umask(0)
            os.chmod = os.fchmod = None
            from vesica import _folder
            _folder.make("file://{folder}", None)
            _folder.write("file://{folder}", "commits/0.json", b"x")
        """]
    )
    assert watched.returncode == 0
    assert [mode(path) for path in (folder.parents[1], folder.parents[0], folder, folder / "commits")] == [0o700] * 4
    assert mode(folder / "commits" / "0.json") == 0o600
    assert _folder.read(f"file://{folder}", "commits/0.json") == b"x"
    _folder.check(f"file://{folder}")
    with pytest.raises(vesica.OutputError, match="cannot be used"):
        _folder.make(f"file://{folder}", None)


@pytest.mark.parametrize("wide", [0o777, 0o775, 0o757])
def test_a_directory_in_which_others_write_is_refused(work, wide):
    folder = work / "run"
    work.chmod(wide)
    for target in (folder, work / "deeper" / "run"):
        with pytest.raises(vesica.OutputError, match="other users can replace what is in .*chmod go-w"):
            _folder.make(f"file://{target}", None)
    # As /tmp is.
    work.chmod(wide | stat.S_ISVTX)
    _folder.make(f"file://{folder}", None)
    _folder.check(f"file://{folder}")
    work.chmod(wide)
    with pytest.raises(vesica.OutputError, match="other users can replace"):
        _folder.check(f"file://{folder}")


def test_a_directory_of_another_user_is_refused(work, monkeypatch):
    folder = work / "run"
    _folder.make(f"file://{folder}", None)
    real = os.stat(work).st_uid
    monkeypatch.setattr(os, "geteuid", lambda: real + 1)
    with pytest.raises(vesica.OutputError, match="the user of this process"):
        _folder.check(f"file://{folder}")
    if real != 0:
        with pytest.raises(vesica.OutputError, match="other users can replace"):
            _folder.make(f"file://{work}/other", None)


def test_a_folder_that_was_put_in_its_place_is_refused(work):
    folder = work / "run"
    with pytest.raises(vesica.OutputError, match="is not there on a machine"):
        _folder.check(f"file://{folder}")
    other = work / "other"
    other.mkdir(mode=0o700)
    folder.symlink_to(other)
    with pytest.raises(vesica.OutputError, match="no folder of mode 0700"):
        _folder.check(f"file://{folder}")
    folder.unlink()
    for wide in (0o750, 0o701, 0o770):
        folder.mkdir()
        folder.chmod(wide)
        with pytest.raises(vesica.OutputError, match="no folder of mode 0700"):
            _folder.check(f"file://{folder}")
        folder.rmdir()


def test_what_is_removed_is_gone_and_nothing_is_written_into_a_folder_that_is(work):
    uri = f"file://{work}/run"
    _folder.make(uri, None)
    for name in ("rows/a", "matches/1", "commits/0"):
        _folder.write(uri, name, b"x")
    _folder.remove(uri, ["rows", "matches", "digests"])
    assert os.listdir(work / "run") == ["commits"]
    _folder.remove_if_empty(uri)
    _folder.remove(uri, ["commits"])
    _folder.remove_if_empty(uri)
    assert not (work / "run").exists()
    with pytest.raises(OSError):
        _folder.write(uri, "rows/a", b"x")


def test_a_folder_on_hdfs_is_made_with_its_mode():
    made = []

    class Permission:
        def __init__(self, bits):
            self.bits = bits

        def toShort(self):
            return int(self.bits, 8)

    class Files:
        def mkdirs(self, path, permission=None):
            made.append((path, permission and permission.bits))
            return True

        def getFileStatus(self, path):
            return type("Status", (), {"getPermission": lambda _: Permission(self.kept)})()

        kept = "700"

    files = Files()

    class Path:
        def __init__(self, uri):
            self.uri = uri

        def getFileSystem(self, _):
            return files

        def getParent(self):
            return "parent"

    hadoop = type("fs", (), {"Path": Path, "permission": type("p", (), {"FsPermission": Permission})})
    jvm = type("jvm", (), {"org": type("o", (), {"apache": type("a", (), {"hadoop": type("h", (), {"fs": hadoop})})})})
    session = type("Session", (), {"_jvm": jvm, "_jsc": type("jsc", (), {"hadoopConfiguration": lambda: None})})
    _folder._make_in_hadoop("hdfs://host/work/vesica-1", session)
    assert [permission for _, permission in made] == [None, "700"]
    files.kept = "755"
    with pytest.raises(vesica.OutputError, match="mode 0700"):
        _folder._make_in_hadoop("hdfs://host/work/vesica-1", session)
