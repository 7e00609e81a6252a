"""The command convert: records of matches and labelled positions, from one kind of file to another."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from motif.cli.options import JsonOption, check_target, command, option
from motif.cli.printing import json_line, note, say
from motif.runtime.errors import MotifError, SettingError
from motif.runtime.progress import progress

if TYPE_CHECKING:
    from motif.board.game_record import MatchRecord

_EXAMPLES = (
    "convert match.mat match.sgf",
    "convert match.sgf another.mat converted/ --to mat",
    "convert runs/try labels.csv",
    "convert labels.csv runs/labels",
)


@command(*_EXAMPLES)
def convert(
    sources: Annotated[
        list[Path], typer.Argument(metavar="IN...", help="Files, or folders; - is stdin, for one match.")
    ],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A file, or a folder.")],
    to: Annotated[
        str | None, option("Where OUT is a folder for matches: mat or sgf.", show_default="mat")
    ] = None,
    drop_doubtful: Annotated[
        bool, option("Leave out positions that have lost checkers of the opponent.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Convert matches and datasets.

    Matches are read from .mat, .sgf, .xg and .bgf and written as .mat or .sgf, by OUT's suffix; several, or
    those of a folder, go into the folder OUT.  Datasets become wildbg's CSV (.csv) or gnubg-nn's lines
    (.txt); a folder OUT becomes a dataset of such files.  docs/how-to/files.md tells more.
    """
    kinds = {_kind(path) for path in sources}
    if len(kinds) > 1:
        raise SettingError("matches, datasets and labelled positions cannot be converted together")
    kind = kinds.pop()
    if kind == "match":
        if drop_doubtful:
            raise SettingError("--drop-doubtful is for labelled positions, not for matches")
        facts = _matches(sources, out, to)
    elif to is not None:
        raise SettingError("--to is for matches: the suffix of OUT says what labelled positions become")
    else:
        facts = _labels(sources, out, kind, drop_doubtful)
    if json:
        print(json_line({**facts, "out": out}))
    elif "games" in facts:
        say(f"{facts['games']} games of {facts['files']} matches in {out}")
    else:
        say(f"{facts['rows']} positions in {out}")


def _kind(path: Path) -> str:
    """What is in `path`: ``dataset``, ``labels`` or ``match``."""
    from motif.sampling.dataset import MANIFEST
    from motif.sampling.label_files import label_format

    if path.is_dir() and (path / MANIFEST).exists():
        return "dataset"
    return "labels" if label_format(path) is not None else "match"


def _matches(sources: list[Path], out: Path, to: str | None) -> dict[str, Any]:
    from motif.board.match_file import STDIN, WRITTEN_SUFFIXES, match_paths, read_match, write_match

    if len(sources) == 1 and not sources[0].is_dir() and not out.is_dir() and out.suffix:
        if to is not None and f".{to}" != out.suffix.lower():
            raise SettingError(f"--to {to}: {out} is called otherwise")
        targets = {sources[0]: out}
    else:
        suffix = f".{to or 'mat'}"
        if suffix not in WRITTEN_SUFFIXES:
            raise SettingError(f"--to must be {' or '.join(one[1:] for one in WRITTEN_SUFFIXES)}, not {to}")
        names = ((path, "match" if str(path) == STDIN else path.stem) for path in match_paths(sources))
        targets = {path: out / f"{name}{suffix}" for path, name in names}
        _check_names(targets)
    for target in targets.values():
        check_target(target)
    games = 0
    with progress(f"converting {len(targets)} matches", len(targets)) as advance:
        for path, target in targets.items():
            record: MatchRecord = read_match(path)
            try:
                write_match(target, record)
            except MotifError as error:
                raise type(error)(f"{path}: {error}") from None
            games += len(record.games)
            advance(1)
    return {"games": games, "files": len(targets)}


def _check_names(targets: dict[Path, Path]) -> None:
    """Raise `SettingError` where two matches would be written to one file."""
    from collections import Counter

    target, count = Counter(targets.values()).most_common(1)[0]
    if count > 1:
        rivals = [str(path) for path, one in targets.items() if one == target]
        raise SettingError(f"{' and '.join(rivals)} would both become {target}")


def _labels(sources: list[Path], out: Path, kind: str, drop_doubtful: bool) -> dict[str, Any]:
    from motif.sampling.label_files import SUFFIXES, export_labels, import_labels, rewrite_labels

    as_file = out.suffix.lower() in SUFFIXES
    if kind == "dataset" and drop_doubtful:
        raise SettingError("--drop-doubtful is for files of labelled positions, not for datasets")
    if kind == "dataset":
        return {"rows": export_labels(sources, out)}
    if out.suffix and not as_file:
        raise SettingError(f"{out}: labelled positions become {' or '.join(SUFFIXES)} or a folder, a dataset")
    if as_file:
        imported = rewrite_labels(sources, out, drop_doubtful=drop_doubtful)
    else:
        imported = import_labels(sources, out, drop_doubtful=drop_doubtful)
    if imported.doubtful:
        done = "left out" if drop_doubtful else "kept: --drop-doubtful leaves them out"
        note(
            f"{imported.doubtful} positions have lost checkers of the opponent, probably from the bar, as in "
            f"older files of wildbg's; they were {done}"
        )
    return {"rows": imported.rows, "doubtful": imported.doubtful}
