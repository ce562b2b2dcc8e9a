"""The folder of a run on a cluster: modes, and what another user could have put in its place."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys

import pytest

import vesica

pytest.importorskip("pyarrow")

from vesica import _folder, _jobs, _pools, _spark  # noqa: E402


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
            _folder.make("file://{folder}")
            _folder.write("file://{folder}", "commits/0.json", b"x")
        """]
    )
    assert watched.returncode == 0
    assert [mode(path) for path in (folder.parents[1], folder.parents[0], folder, folder / "commits")] == [0o700] * 4
    assert mode(folder / "commits" / "0.json") == 0o600
    assert _folder.read(f"file://{folder}", "commits/0.json") == b"x"
    _folder.check(f"file://{folder}")
    with pytest.raises(vesica.OutputError, match="cannot be used"):
        _folder.make(f"file://{folder}")


@pytest.mark.parametrize("wide", [0o777, 0o775, 0o757])
def test_a_directory_in_which_others_write_is_refused(work, wide):
    folder = work / "run"
    work.chmod(wide)
    for target in (folder, work / "deeper" / "run"):
        with pytest.raises(vesica.OutputError, match="other users can replace what is in .*chmod go-w"):
            _folder.make(f"file://{target}")
    # As /tmp is.
    work.chmod(wide | stat.S_ISVTX)
    _folder.make(f"file://{folder}")
    _folder.check(f"file://{folder}")
    work.chmod(wide)
    with pytest.raises(vesica.OutputError, match="other users can replace"):
        _folder.check(f"file://{folder}")


def test_a_directory_of_another_user_is_refused(work, monkeypatch):
    folder = work / "run"
    _folder.make(f"file://{folder}")
    real = os.stat(work).st_uid
    monkeypatch.setattr(os, "geteuid", lambda: real + 1)
    with pytest.raises(vesica.OutputError, match="the user of this process"):
        _folder.check(f"file://{folder}")
    if real != 0:
        with pytest.raises(vesica.OutputError, match="other users can replace"):
            _folder.make(f"file://{work}/other")


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


def links_of_another_user(monkeypatch, *links):
    """Has these links belong to another user, whoever runs the test."""
    real = os.lstat

    def lstat(path):
        found = real(path)
        if os.fspath(path) not in map(str, links):
            return found
        assert stat.S_ISLNK(found.st_mode)
        return os.stat_result([*found[:4], 65534, *found[5:]])

    monkeypatch.setattr(os, "lstat", lstat)


def test_a_link_of_another_user_is_refused_on_every_step(work, monkeypatch):
    (work / "real" / "deep").mkdir(parents=True, mode=0o755)
    (work / "last").symlink_to(work / "real" / "deep")
    (work / "above").symlink_to("real")
    (work / "behind").symlink_to("./above/../above/deep/")
    expected = f"file://{work}/real/deep"
    for name in ("last", "above/deep", "behind", "behind/../deep", "real/./deep"):
        assert _folder.real(f"file://{work}/{name}") == expected, "our own links are followed"
    links_of_another_user(monkeypatch, work / "last", work / "above")
    for name in ("last", "last/new", "above/deep", "above/new/deeper", "behind"):
        with pytest.raises(vesica.OutputError, match="(last|above) is a link of another user"):
            _folder.real(f"file://{work}/{name}")
        with pytest.raises(vesica.OutputError, match="(last|above) is a link of another user"):
            _folder.make(f"file://{work}/{name}/vesica-1")
    _folder.make(f"{expected}/vesica-1")
    with pytest.raises(vesica.OutputError, match="above is a link of another user"):
        _folder.check(f"file://{work}/above/deep/vesica-1")


@pytest.mark.skipif(os.geteuid() != 0, reason="gives a link to another user")
def test_a_true_link_of_another_user_is_refused(work):
    (work / "real").mkdir(mode=0o755)
    (work / "link").symlink_to("real")
    assert _folder.real(f"file://{work}/link") == f"file://{work}/real"
    os.lchown(work / "link", 65534, 65534)
    with pytest.raises(vesica.OutputError, match="link is a link of another user, .*; name with work="):
        _folder.real(f"file://{work}/link")


def test_a_link_is_looked_at_once(work):
    for name in ("first", "second"):
        (work / name).mkdir(mode=0o755)
    link = work / "link"
    link.symlink_to("first")
    folder = jobs(work, f"file://{link}").folder
    link.unlink()
    link.symlink_to("second")
    _folder.make(folder)
    assert folder.startswith(f"file://{work}/first/vesica-")
    assert len(os.listdir(work / "first")) == 1 and not os.listdir(work / "second")


def test_directories_that_lead_nowhere_of_use(work):
    assert _folder.real(f"file://{work}/new/../other/deep") == f"file://{work}/other/deep", "not there yet"
    (work / "dangling").symlink_to("gone/deep")
    assert _folder.real(f"file://{work}/dangling") == f"file://{work}/gone/deep"
    assert [_folder.real(uri) for uri in ("file://", "hdfs://host/a")] == ["file://", "hdfs://host/a"]
    (work / "round").symlink_to("round")
    (work / "file").touch()
    for name in ("round", "file/deep"):
        with pytest.raises(vesica.OutputError, match="cannot be used"):
            _folder.real(f"file://{work}/{name}")
    (work / "my work").mkdir()
    (work / "plain").symlink_to("my work")
    with pytest.raises(vesica.UsageError, match="plain.* leads to .*my work"):
        _folder.real(f"file://{work}/plain")
    with pytest.raises(vesica.UsageError, match="names no directory"):
        _folder.real("file:here")


def jobs(work, uri=None):
    """The jobs of a run that has not begun."""
    return _jobs.Jobs(_pools.Pool(), ["id"], [], uri or f"file://{work}", 1, 2, "inner")


def test_what_cannot_be_removed_is_told(work, monkeypatch):
    run = jobs(work)
    _folder.make(run.folder)
    run._is_made = True
    for name in ("rows/a", "shares/a", "tickets/1-0.json", "commits/0"):
        _folder.write(run.folder, name, b"x")
    real = shutil.rmtree

    def keep_rows(path, **arguments):
        if not path.endswith("/rows"):
            real(path, **arguments)

    monkeypatch.setattr(shutil, "rmtree", keep_rows)
    with pytest.raises(OSError, match="rows could not be removed"):
        _folder.remove(run.folder, ["rows", "shares"])
    assert run.close(keep=True, has_result=False) is None
    said = run.close(keep=False, has_result=False)
    assert said == f"rows and hashes of keys could not be removed from {run.folder}; remove the folder"
    (folder,) = work.iterdir()
    assert set(os.listdir(folder)) == {"rows", "commits"}, "all else is gone"
    monkeypatch.undo()
    assert run.close(keep=False, has_result=False) is None
    assert os.listdir(folder) == ["commits"]


def test_tasks_that_may_outlive_a_cancelled_job_are_told(work):
    run = jobs(work)
    _folder.make(run.folder)
    run._is_made = run._was_cancelled = True
    assert "may still write rows and hashes of keys" in run.close(keep=False, has_result=False)
    assert len(os.listdir(work)) == 1, "they find the folder that nobody else enters"


def test_only_addresses_of_the_loopback_are_local():
    for host in ("127.0.0.1", "127.8.9.10", "::1"):
        assert _spark._is_loopback(host)
    for host in ("127.evil.example", "127.0.0.1.example", "127.1", "10.0.0.5", "::", "loopback"):
        assert not _spark._is_loopback(host)


def test_what_is_removed_is_gone_and_nothing_is_written_into_a_folder_that_is(work):
    uri = f"file://{work}/run"
    _folder.make(uri)
    for name in ("rows/a", "matches/1", "commits/0"):
        _folder.write(uri, name, b"x")
    _folder.remove(uri, ["rows", "matches", "shares"])
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
    _spark._make_in_hadoop("hdfs://host/data/vesica-1", session)
    assert [permission for _, permission in made] == [None, "700"]
    files.kept = "755"
    with pytest.raises(vesica.OutputError, match="mode 0700"):
        _spark._make_in_hadoop("hdfs://host/data/vesica-1", session)
