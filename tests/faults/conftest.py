import contextlib
import os
import subprocess
from pathlib import Path

import pytest

PAGE = 4096


class SmallDisk:
    """A file system small enough to be filled."""

    def __init__(self, folder: Path, pages: int) -> None:
        self.folder, self.pages = folder, pages
        self._ballast = folder / "ballast"

    def leave(self, pages: int) -> None:
        """Fill the disk except for this many pages."""
        self.free()
        with contextlib.suppress(OSError), open(self._ballast, "wb", buffering=0) as handle:
            while True:
                handle.write(bytes(PAGE))
        os.truncate(self._ballast, max(0, self._ballast.stat().st_size - pages * PAGE))

    def free(self) -> None:
        """Remove what filled the disk."""
        self._ballast.unlink(missing_ok=True)

    def close(self) -> None:
        """Make the disk read-only."""
        self._mount_again("ro")

    def open(self) -> None:
        """Make the disk writable."""
        self._mount_again("rw")

    def grow(self) -> None:
        """Make the disk as large as any test needs."""
        self.free()
        self._mount_again("size=64m")

    def _mount_again(self, option: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{option}", str(self.folder)], check=True)


@pytest.fixture
def disk(tmp_path):
    """Yield a disk of 2 MiB in memory; mounting one needs root."""
    folder, size = tmp_path / "disk", 512 * PAGE
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "motif-test", str(folder)]
    try:
        mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        mounted = False
    if not mounted:
        pytest.skip("a small disk cannot be mounted here")
    try:
        yield SmallDisk(folder, size // PAGE)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
