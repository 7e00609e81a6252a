"""Convert matches and labelled positions between file formats."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from motif.board.game_record import illegal_plays
from motif.board.match_file import (
    READ_SUFFIXES,
    STDIN,
    WRITTEN_SUFFIXES,
    check_written_suffix,
    match_paths,
    read_match,
    write_match,
)
from motif.runtime.errors import MotifError, RecordError, SettingError
from motif.runtime.files import check_apart, check_target, path_of, paths_of, reading
from motif.runtime.progress import progress
from motif.sampling.dataset_files import is_dataset
from motif.sampling.label_files import SUFFIXES, export_labels, import_labels, label_format, rewrite_labels


def convert(
    sources: Iterable[Path | str] | Path | str,
    out: Path | str,
    *,
    to: str | None = None,
    drop_doubtful: bool = False,
) -> dict[str, int]:
    """Convert matches or labelled positions to the format given by the name `out`.

    Parameters
    ----------
    sources
        Match files and folders of match files; or datasets; or files of labelled positions.
    out
        A file, or a folder for matches or for a dataset.
    to
        Format of the matches in a folder: ``mat`` or ``sgf``.
    drop_doubtful
        Whether to leave out labelled positions that have lost checkers of the opponent.

    Returns
    -------
    dict
        The numbers of ``games``, ``files`` and ``illegal_plays``, or of ``rows`` and ``doubtful`` rows.

    Raises
    ------
    SettingError
        If sources are incompatible, or an option does not apply to them.
    RecordError, DatasetError, FileError
        If a source cannot be read, or a file cannot be written.
    """
    paths, target = paths_of("sources", sources), path_of("out", out)
    kinds = {_kind(path) for path in paths}
    if len(kinds) != 1:
        raise SettingError("matches, datasets and labelled positions cannot be converted together")
    kind = kinds.pop()
    if kind == "match":
        if drop_doubtful:
            raise SettingError(
                "drop_doubtful applies to files of labelled positions, not to matches", "drop_doubtful"
            )
        if str(target) == STDIN:
            raise SettingError(f"{STDIN}: stands for standard input; name a file or a folder to write")
        return _matches(paths, target, to)
    if to is not None:
        raise SettingError(
            "to applies only to matches: the suffix of OUT gives the format of labelled positions", "to"
        )
    return _labels(paths, target, kind, drop_doubtful)


def _kind(path: Path) -> str:
    """Return the kind of `path`: ``dataset``, ``labels`` or ``match``."""
    if path.is_dir() and is_dataset(path):
        return "dataset"
    return "labels" if label_format(path) is not None else "match"


def _matches(sources: Sequence[Path], out: Path, to: str | None) -> dict[str, int]:
    if len(sources) == 1 and not sources[0].is_dir() and not out.is_dir() and out.suffix:
        if to is not None and f".{to}" != out.suffix.lower():
            raise SettingError(f"to {to}: {out} has a different suffix", "to")
        _check_present(sources)
        check_written_suffix(out)
        targets = {sources[0]: out}
    else:
        if out.suffix.lower() in READ_SUFFIXES and not out.is_dir():
            raise SettingError(f"{out}: several matches are written to a folder, not to a {out.suffix} file")
        suffix = f".{to or 'mat'}"
        if suffix not in WRITTEN_SUFFIXES:
            raise SettingError(
                f"to must be {' or '.join(known[1:] for known in WRITTEN_SUFFIXES)}, not {to}", "to"
            )
        names = ((path, "match" if str(path) == STDIN else path.stem) for path in match_paths(sources))
        targets = {path: out / f"{name}{suffix}" for path, name in names}
        _check_names(targets)
        _check_present(targets)
    for path, target in targets.items():
        check_target(target)
        check_apart([path], target)
    games = illegal = 0
    with progress(f"converting {len(targets)} matches", len(targets)) as advance:
        for path, target in targets.items():
            record = read_match(path)
            try:
                write_match(target, record)
            except MotifError as error:
                raise type(error)(f"{path}: {error}") from None
            games += len(record.games)
            illegal += len(illegal_plays(record))
            advance(1)
    return {"games": games, "files": len(targets), "illegal_plays": illegal}


def _check_present(paths: Iterable[Path]) -> None:
    for path in paths:
        if str(path) != STDIN:
            with reading(path, RecordError):
                path.stat()


def _check_names(targets: dict[Path, Path]) -> None:
    """Raise `SettingError` if two matches would be written to the same file."""
    target, count = Counter(targets.values()).most_common(1)[0]
    if count > 1:
        rivals = [str(path) for path, other in targets.items() if other == target]
        raise SettingError(f"{' and '.join(rivals)} would both be written to {target}")


def _labels(sources: Sequence[Path], out: Path, kind: str, drop_doubtful: bool) -> dict[str, int]:
    as_file = out.suffix.lower() in SUFFIXES
    if kind == "dataset" and drop_doubtful:
        raise SettingError(
            "drop_doubtful applies to files of labelled positions, not to datasets", "drop_doubtful"
        )
    if kind == "dataset":
        return {"rows": export_labels(sources, out)}
    if out.suffix and not as_file:
        raise SettingError(
            f"{out}: the target must be a {' or '.join(SUFFIXES)} file, or a folder for a dataset"
        )
    for path in sources:
        check_apart([path], out)
    convert_labels = rewrite_labels if as_file else import_labels
    rows, doubtful = convert_labels(sources, out, drop_doubtful=drop_doubtful)
    return {"rows": rows, "doubtful": doubtful}
