"""Files of kernels: a faulty one is not used, and is written again."""

import errno
import os
import pickle
import stat
import sys

import pytest
from filelock import FileLock

from motif.compiler import kernel_cache
from motif.compiler.jit import kernel
from motif.compiler.kernel_cache import cached_kernel_count, framed, kernel_folder, load_or_make, payload_of

NAME = "one-0123"
CONTENTS = ("machine code", 7)
WHOLE = framed(NAME, pickle.dumps(CONTENTS))
needs_modes = pytest.mark.skipif(sys.platform == "win32", reason="modes and owners of files are POSIX's")


class Cache:
    """The folder of one kernel, and the number of its compilations."""

    def __init__(self) -> None:
        self.path = kernel_folder() / f"{NAME}.kernel"
        self.compiled = 0

    def load(self):
        """Load the kernel or compile it."""

        def make():
            self.compiled += 1
            return CONTENTS, CONTENTS

        return load_or_make(NAME, rebuilt, make)


def rebuilt(contents):
    text, number = contents
    return text.lower(), number + 0


@pytest.fixture
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    return Cache()


def running(command: str) -> bytes:
    """A pickle that runs a shell command when it is loaded."""
    return b"cos\nsystem\n(S'" + command.encode() + b"'\ntR."


def flipped(content: bytes, bit: int) -> bytes:
    place = bit // 8
    return content[:place] + bytes([content[place] ^ 1 << bit % 8]) + content[place + 1 :]


def test_what_is_kept_is_loaded(cache):
    assert [cache.load(), cache.load(), cache.compiled, cached_kernel_count()] == [CONTENTS, CONTENTS, 1, 1]
    assert cache.path.read_bytes()[-9:] == WHOLE[-9:]
    assert payload_of(NAME, WHOLE) == pickle.dumps(CONTENTS)
    assert payload_of("one-0124", WHOLE) is None


def check_replaced(cache, content: bytes) -> None:
    """Check that faulty `content` is detected and replaced."""
    before = cache.compiled
    cache.path.write_bytes(content)
    assert [cache.load(), cache.load(), cache.load()] == [CONTENTS] * 3
    assert cache.compiled == before + 1
    assert payload_of(NAME, cache.path.read_bytes()) is not None
    assert [path.name for path in cache.path.parent.iterdir()] == [cache.path.name]


def test_a_flipped_bit_is_noticed_wherever_it_is(cache):
    for bit in range(8 * len(WHOLE)):
        assert payload_of(NAME, flipped(WHOLE, bit)) is None
        if bit % 61 == 0:
            check_replaced(cache, flipped(WHOLE, bit))


def test_a_file_that_was_cut_or_has_grown_is_noticed(cache):
    for size in range(len(WHOLE)):
        assert payload_of(NAME, WHOLE[:size]) is None
    for content in (b"", WHOLE[:10], WHOLE[:-1], WHOLE + b"\0", bytes(len(WHOLE)), bytes(4096)):
        check_replaced(cache, content)


def another_format() -> bytes:
    before = kernel_cache._FORMAT
    kernel_cache._FORMAT = before + 1
    try:
        return framed(NAME, pickle.dumps(CONTENTS))
    finally:
        kernel_cache._FORMAT = before


OTHERS = {
    "another kernel's": framed("two-4567", pickle.dumps(CONTENTS)),
    "another format": another_format(),
    "as they were before they had a header": pickle.dumps(CONTENTS),
    "no pickle": framed(NAME, b"no pickle"),
    "an empty payload": framed(NAME, b""),
    "of a class that has moved": framed(NAME, b"cmotif.gone\nClass\n."),
    **{
        f"of another shape: {contents!r}": framed(NAME, pickle.dumps(contents))
        for contents in (None, 7, "text", (), ("one",), (1, 2), ("one", 2, 3), ("one", "two"), {"a": 1}, [[]])
    },
}


@pytest.mark.parametrize("content", OTHERS.values(), ids=OTHERS)
def test_another_file_is_written_again(cache, content):
    check_replaced(cache, content)


def test_nothing_is_unpickled_before_it_is_checked(cache, tmp_path):
    mark = tmp_path / "ran"
    evil = running(f"touch {mark}")
    pickle.loads(evil)
    assert mark.exists()
    mark.unlink()
    check_replaced(cache, evil)
    check_replaced(cache, WHOLE[: -len(pickle.dumps(CONTENTS))] + evil)
    check_replaced(cache, framed("two-4567", evil))
    assert not mark.exists()


@needs_modes
@pytest.mark.parametrize(
    "loose",
    [
        lambda path: path.chmod(0o666),
        lambda path: path.chmod(0o620),
        lambda path: path.parent.chmod(0o777),
        lambda path: path.parent.chmod(0o770),
        lambda path: path.parent.parent.chmod(0o1777),
        lambda path: path.parent.rename(path.parent.with_name("real")) and path.parent.symlink_to("real"),
        lambda path: path.rename(path.with_name("real")) and path.symlink_to("real"),
        pytest.param(
            lambda path: os.chown(path, 65534, 65534),
            marks=pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root"),
        ),
    ],
)
def test_what_others_could_have_written_is_never_loaded(cache, tmp_path, loose):
    mark = tmp_path / "ran"
    cache.path.write_bytes(framed(NAME, running(f"touch {mark}")))
    loose(cache.path)
    assert cache.load() == CONTENTS
    assert cache.compiled == 1
    assert not mark.exists()


def test_what_a_killed_process_has_left_is_removed(cache):
    (cache.path.parent / f".{NAME}.abcd").write_bytes(WHOLE[:20])
    (cache.path.parent / ".two-4567.abcd").write_bytes(WHOLE[:20])
    assert cache.load() == CONTENTS
    assert {path.name for path in cache.path.parent.iterdir()} == {cache.path.name, ".two-4567.abcd"}


def test_a_process_that_never_ends_is_not_waited_for(cache, monkeypatch):
    """A suspended process keeps its locks."""
    monkeypatch.setattr(kernel_cache, "_PATIENCE", 0.05)
    with FileLock(f"{cache.path}.lock"):
        assert load_or_make(NAME, rebuilt, lambda: pytest.fail("compiled"), wait=False) is None
        assert [cache.load(), cache.load(), cache.compiled] == [CONTENTS, CONTENTS, 1]


@needs_modes
def test_files_are_private_whatever_the_umask(cache):
    before = os.umask(0)
    try:
        cache.load()
    finally:
        os.umask(before)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (cache.path, *cache.path.parents[:2])]
    assert modes == [0o600, 0o700, 0o700]


def test_a_file_that_cannot_be_written_is_left_out(cache, monkeypatch):
    class FullFile:
        def __init__(self, number: int, mode: str) -> None:
            os.close(number)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def write(self, content: bytes) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(kernel_cache.os, "fdopen", FullFile)
        assert cache.load() == CONTENTS
    assert list(cache.path.parent.iterdir()) == []

    def refuse(**_):
        raise OSError(errno.EROFS, "Read-only file system")

    with monkeypatch.context() as read_only:
        read_only.setattr(kernel_cache, "mkstemp", refuse)
        assert cache.load() == CONTENTS
    assert list(cache.path.parent.iterdir()) == []
    assert cache.load() == CONTENTS
    assert cache.compiled == 3
    assert cache.path.exists()


def test_a_kernel_refuses_invalid_contents():
    @kernel
    def seven(number):
        return number + 7

    for contents in (None, 7, "ab", (), ([], None), ([], ()), ([], (1, 2)), ([1], ()), ({}, [None] * 9)):
        with pytest.raises(Exception):  # noqa: B017 - any will do
            seven._rebuilt(contents)
    assert seven._rebuilt(([("kernel.cell.x", "motif.gone.x", ())], ())) is None


@pytest.mark.skipif(sys.platform == "win32", reason="a limit of POSIX systems")
def test_a_file_that_may_not_grow_is_left_out(cache):
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, before[1]))
    try:
        assert cache.load() == CONTENTS
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list(cache.path.parent.iterdir()) == []
    assert cache.load() == CONTENTS
    assert cache.path.exists()
