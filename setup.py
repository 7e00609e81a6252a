"""Build the package with the weights of the checkout, which pyproject.toml cannot express."""

from pathlib import Path
from shutil import copyfile, rmtree

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithWeights(build_py):
    """A build that copies the weights into the package, without files of an earlier build that are gone."""

    def run(self) -> None:
        """Build, and copy the weights; an editable installation finds them in the checkout."""
        if not self.editable_mode:
            built = Path(self.build_lib) / "motif"
            if built.resolve() != Path("motif").resolve():  # Never remove the source.
                rmtree(built, ignore_errors=True)
        super().run()
        if not self.editable_mode:
            folder = Path(self.build_lib) / "motif" / "weights"
            folder.mkdir(parents=True, exist_ok=True)
            for path in [*Path("weights").glob("*.yaml*"), Path("weights/README.md")]:
                copyfile(path, folder / path.name)


setup(cmdclass={"build_py": BuildWithWeights})
