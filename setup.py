"""What pyproject.toml cannot say: the weights of the checkout become a part of the installed package."""

from pathlib import Path
from shutil import copyfile

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithWeights(build_py):
    """Takes the weights along."""

    def run(self) -> None:
        """Build as ever; an editable installation finds the weights in the checkout."""
        super().run()
        if not self.editable_mode:
            folder = Path(self.build_lib) / "motif" / "weights"
            folder.mkdir(parents=True, exist_ok=True)
            for path in [*Path("weights").glob("*.yaml*"), Path("weights/README.md")]:
                copyfile(path, folder / path.name)


setup(cmdclass={"build_py": BuildWithWeights})
