"""The location of the cache folder, and who must own it."""

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from motif.runtime import cache_folder as cache
from motif.runtime.cache_folder import cache_folder, cache_problem, open_private
from motif.runtime.files import cache_root, state_root

NOBODY = 65534
needs_modes = pytest.mark.skipif(sys.platform == "win32", reason="modes and owners of files are POSIX's")
needs_root = pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() != 0, reason="only root can give files to another user"
)

WORKERS = """
import sys
from motif.runtime.cache_folder import cache_folder
from motif.runtime.parallel import run_ordered

def ask(name):
    return str(cache_folder(name))

for name in ("kernels", "bearoff", "kernels"):
    print(ask(name))
print(*run_ordered(ask, [("kernels",)] * 4, 2), sep="\\n")
"""


@pytest.fixture
def no_variables(monkeypatch):
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def root(monkeypatch, tmp_path):
    """The future location of the cache; it does not exist yet."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "NOTICE", cache.Notice())
    return tmp_path / "cache"


@pytest.fixture
def open_umask():
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.mark.usefixtures("no_variables")
def test_a_user_without_a_home(monkeypatch, tmp_path):
    def nobody():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nobody)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert cache_root().parent == tmp_path


@pytest.mark.usefixtures("no_variables")
def test_a_home_that_cannot_be_written(monkeypatch, tmp_path):
    no_folder = tmp_path / "file"
    no_folder.touch()
    monkeypatch.setenv("HOME", str(no_folder / "home"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    own = cache_root()
    assert own.parent == tmp_path
    assert own.stat().st_mode & 0o077 == 0
    own.chmod(0o777)  # another user could put code there
    assert cache_root() == no_folder / "home" / ".cache" / "motif"


@pytest.mark.usefixtures("no_variables")
@pytest.mark.skipif(sys.platform == "win32", reason="HOME is POSIX's")
def test_a_relative_home_does_not_put_the_cache_in_the_current_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "home")
    assert cache_root().is_absolute()
    assert state_root().is_absolute()


@pytest.mark.usefixtures("no_variables")
@pytest.mark.parametrize("fault", [errno.EACCES, errno.ENAMETOOLONG])
def test_a_home_that_cannot_be_looked_up(monkeypatch, tmp_path, fault):
    look_up, home = Path.stat, tmp_path / "home"

    def refuse(path, **options):
        if path.is_relative_to(home):
            raise OSError(fault, "refused")
        return look_up(path, **options)

    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(Path, "stat", refuse)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert cache_root().parent == tmp_path
    assert state_root() == cache_root() / "state"


@pytest.mark.usefixtures("no_variables")
def test_the_environment_says_where(monkeypatch, tmp_path):
    assert cache_root() == Path.home() / ".cache" / "motif"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    assert cache_root() == tmp_path / "caches" / "motif"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kernels"))
    assert cache_root() == tmp_path / "kernels"
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "states"))
    assert state_root() == tmp_path / "states" / "motif"


@pytest.mark.usefixtures("no_variables")
@pytest.mark.parametrize("relative", ["", "caches", "./caches", "../caches", "~/caches"])
def test_a_relative_folder_is_ignored(monkeypatch, relative):
    at_home = cache_root(), state_root()
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, relative)
    assert (cache_root(), state_root()) == at_home


@needs_modes
@pytest.mark.usefixtures("open_umask")
def test_files_are_private_for_any_umask(monkeypatch, tmp_path):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home" / "cache"))
    folder = cache_folder("kernels")
    assert folder == tmp_path / "home" / "cache" / "motif" / "kernels"
    made = [folder, *folder.parents][:4]
    assert [(path.is_dir(), mode(path)) for path in made] == [(True, 0o700)] * 4


@needs_modes
@pytest.mark.parametrize("below", ["", "kernels"])
def test_a_folder_that_others_can_read_is_the_users_own(root, below):
    cache_folder("kernels")
    (root / below).chmod(0o755)
    assert cache_folder("kernels") == root / "kernels"
    assert mode(root / below) == 0o755


def writable_by_the_group(path: Path) -> None:
    path.chmod(0o770)


def writable_by_everybody(path: Path) -> None:
    path.chmod(0o777)


def writable_by_everybody_as_tmp_is(path: Path) -> None:
    path.chmod(0o1777)


def of_another_user(path: Path) -> None:
    os.chown(path, NOBODY, NOBODY)


def a_link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def a_link_to_nowhere(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("nowhere")


def no_folder(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.touch()


REFUSED = {
    writable_by_the_group: "can be written by other users (chmod go-w makes it private)",
    writable_by_everybody: "can be written by other users (chmod go-w makes it private)",
    writable_by_everybody_as_tmp_is: "can be written by other users (chmod go-w makes it private)",
    of_another_user: f"belongs to another user (number {NOBODY})",
    a_link: "is a symbolic link",
    a_link_to_nowhere: "is a symbolic link",
    no_folder: "is not a folder",
}


@needs_modes
@pytest.mark.parametrize("below", ["", "kernels"])
@pytest.mark.parametrize(
    "spoil", [pytest.param(spoil, marks=needs_root if spoil is of_another_user else ()) for spoil in REFUSED]
)
def test_a_folder_that_is_not_the_users_alone_is_refused(root, capfd, spoil, below):
    cache_folder("kernels")
    spoil(root / below)
    before = sorted(root.parent.rglob("*"))
    assert cache_problem("kernels") == f"{root / below} {REFUSED[spoil]}"
    for name in ("kernels", "kernels", "bearoff"):
        folder = cache_folder(name)
        if name == "kernels" or not below:
            with pytest.raises(OSError):
                folder.mkdir(parents=True)
    said = f"motif: working without a cache, compiling again: {root / below} {REFUSED[spoil]}\n"
    assert capfd.readouterr() == ("", said)
    assert set(root.parent.rglob("*")) - set(before) <= {root / "bearoff"}


def test_a_folder_that_cannot_be_made_is_reported(monkeypatch, tmp_path, capfd):
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "cache"))
    monkeypatch.setattr(cache, "NOTICE", cache.Notice())
    assert list(cache_folder("kernels").parent.glob("*")) == []
    said = f"{tmp_path / 'file' / 'cache'} cannot be created: Not a directory\n"
    assert capfd.readouterr().err == f"motif: working without a cache, compiling again: {said}"


@needs_modes
def test_it_is_announced_once_by_all_processes_together(root, tmp_path):
    root.mkdir()
    root.chmod(0o777)
    script = tmp_path / "workers.py"
    script.write_text(WORKERS)
    command = [sys.executable, str(script)]
    path = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"motif: working without a cache, compiling again: {root} can be written")
    assert len(done.stdout.splitlines()) == 7
    assert not any(line.startswith(str(root)) for line in done.stdout.splitlines())


@needs_modes
def test_a_file_is_looked_at_once_it_is_open(root):
    folder = cache_folder("kernels")
    path = folder / "one"
    path.write_bytes(b"content")
    path.chmod(0o600)
    with open_private(path) as file:
        assert file.read() == b"content"
    for loose in (0o620, 0o602, 0o666):
        path.chmod(loose)
        with pytest.raises(PermissionError, match="one can be written by other users"):
            open_private(path)
    path.chmod(0o600)
    (folder / "link").symlink_to(path)
    with pytest.raises(OSError):
        open_private(folder / "link")
    os.mkfifo(folder / "pipe", 0o600)
    with pytest.raises(PermissionError, match="pipe is not a file"):
        open_private(folder / "pipe")
    folder.chmod(0o777)
    with pytest.raises(PermissionError, match="kernels can be written by other users"):
        open_private(path)


@needs_root
def test_a_file_of_another_user_is_refused(root):
    path = cache_folder("kernels") / "one"
    path.touch(0o600)
    os.chown(path, NOBODY, NOBODY)
    with pytest.raises(PermissionError, match=f"one belongs to another user .number {NOBODY}."):
        open_private(path)
