"""Datasets in memory as folders, for functions that read datasets from files."""

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from motif.runtime.errors import DatasetError, MotifError, SettingError, shown
from motif.runtime.files import path_of
from motif.runtime.settings import given_items
from motif.sampling.dataset import Dataset

Data = Path | str | Dataset | Iterable[Path | str | Dataset]
"""Folders of datasets, or datasets in memory."""


@contextmanager
def dataset_folders(data: Data) -> Iterator[list[Path]]:
    """Provide the folders of `data`; messages name datasets in memory "dataset 1" and so on."""
    several = given_items(data)
    if not several:
        raise DatasetError("data: at least one dataset or file is needed")
    if wrong := [item for item in several if not isinstance(item, str | Path | Dataset)]:
        raise DatasetError(f"data must be datasets or their folders, not {shown(wrong[0])}")
    with tempfile.TemporaryDirectory() as made:
        folders, names = [], {}
        for number, one in enumerate(several, 1):
            if isinstance(one, Dataset):
                one = one.write(Path(made) / str(number))
                names[str(one)] = "the dataset" if len(several) == 1 else f"dataset {number}"
            folders.append(path_of("data", one))
        try:
            yield folders
        except MotifError as error:
            problem = error.problem
            # In reverse, because the folder 1 is part of the name of the folder 10.
            for folder, name in reversed(names.items()):
                problem = problem.replace(f"{folder}: the dataset ", f"{name} ").replace(folder, name)
            if problem == error.problem:
                raise
            raise type(error)(problem, *error.fields) from None


@contextmanager
def dataset_folder(name: str, data: Path | str | Dataset) -> Iterator[Path]:
    """Provide the folder of one dataset, the argument `name`."""
    if isinstance(data, Dataset):
        with dataset_folders(data) as (folder,):
            yield folder
    elif isinstance(data, str | PathLike):
        yield path_of(name, data)
    else:
        raise SettingError(f"{name} must be a dataset or its folder, not {shown(data)}", name)
