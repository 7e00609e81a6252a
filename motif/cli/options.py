"""Command-line options: shared options, options made from the fields of settings, and shell completion.

This module imports nothing slow, so that completion is fast.
"""

import inspect
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import MISSING, dataclass, fields
from enum import Enum
from functools import partial, wraps
from glob import escape
from importlib import import_module, resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict, TypeVar, Unpack, get_args, get_origin

import typer
from typer import TyperException as UsageFault
from typer.core import TyperCommand
from typer.models import ArgumentInfo, OptionInfo

from motif.analysis.judge import JUDGE, MatchOptions, judge_of
from motif.analysis.phrases import languages
from motif.evaluators.known_players import (
    BRAS_PREFIX,
    ROLLOUT_PREFIX,
    WEIGHT_SUFFIXES,
    WRITTEN_WEIGHT_SUFFIXES,
    default_player,
    known_players,
    own_name,
    player_words,
    static_words,
)
from motif.runtime.errors import SettingError, shown
from motif.runtime.files import PAGE_SUFFIXES, check_target
from motif.runtime.layout import listed
from motif.runtime.parallel import worker_count
from motif.runtime.settings import help_of

if TYPE_CHECKING:
    from typer._click import Context, HelpFormatter, Parameter

    from motif.evaluators import Evaluator
else:
    HelpFormatter = typer.Context.formatter_class

NAMES = tuple(entry.name for entry in known_players() if entry.home and entry.is_one)
"""Names of the players that come with motif."""


def complete_player(incomplete: str) -> list[str]:
    """Return the player names and paths of weight files that begin with `incomplete`."""
    prefixes = ROLLOUT_PREFIX, BRAS_PREFIX
    begun = next((prefix for prefix in prefixes if incomplete.startswith(prefix)), "")
    rest = incomplete.removeprefix(begun)
    known = () if begun == BRAS_PREFIX else (*NAMES, *(() if begun else prefixes))
    return [begun + name for name in (*known, *_paths(rest)) if name.startswith(rest)]


def complete_preset(incomplete: str) -> list[str]:
    """Return the names of presets that begin with `incomplete`."""
    presets = resources.files("motif").joinpath("data", "presets")
    names = sorted(entry.name.removesuffix(".yaml") for entry in presets.iterdir())
    return [name for name in names if name.startswith(incomplete)]


def complete_parameters(incomplete: str) -> list[str]:
    """Return the parameter sets, Python files and folders that begin with `incomplete`."""
    names = ("motif", "keith", "bras", "phase", *_paths(incomplete, (".py",)))
    return [name for name in names if name.startswith(incomplete)]


def _paths(begun: str, suffixes: tuple[str, ...] = WEIGHT_SUFFIXES) -> Iterator[str]:
    """Yield folders, and files with `suffixes`, that begin with `begun`; hidden ones if it names a dot."""
    folder, _, name = begun.rpartition("/")
    place = Path(folder or ("/" if begun.startswith("/") else "."))
    if not place.is_dir():
        return
    before = begun[: len(begun) - len(name)]
    for path in sorted(place.glob(f"{escape(name)}*")):
        if path.name.startswith(".") and not name.startswith("."):
            continue
        if path.is_dir():
            yield f"{before}{path.name}/"
        elif path.name.endswith(suffixes):
            yield before + path.name


_MAX_SEED = 2**53
"""Largest seed of a command: any JSON reader preserves whole numbers up to it, and seeds are in the JSON."""
DEFAULT_PLAYER = default_player()
"""Name of the default player."""


def _checked_jobs(jobs: int | None) -> int | None:
    if jobs is not None:
        worker_count(jobs)
    return jobs


def checked_seed(seed: int | None) -> int | None:
    """Return `seed`, which may be None; raises `SettingError` if it is out of range."""
    if seed is not None and not 0 <= seed <= _MAX_SEED:
        raise SettingError(f"seed must be 0 to {_MAX_SEED}, not {seed}", "seed")
    return seed


class Features(TypedDict, total=False):
    """Features of an option or argument that `typer.Option` and `typer.Argument` describe."""

    min: int | float
    max: int
    hidden: bool
    show_default: bool | str
    callback: Callable[..., object]
    autocompletion: Callable[..., Sequence[str]] | None


def option(
    help: str, metavar: str | None = None, *, name: str | None = None, **features: Unpack[Features]
) -> OptionInfo:
    """Return an option of a command.

    By default `name` comes from the parameter, with a --no- form for a flag that may be unset or is on, and
    `metavar` from the type.
    """
    made: OptionInfo = typer.Option(..., *filter(None, [name]), metavar=metavar, help=help, **features)
    return made


def argument(help: str, metavar: str, **features: Unpack[Features]) -> ArgumentInfo:
    """Return an argument of a command."""
    made: ArgumentInfo = typer.Argument(metavar=metavar, help=help, **features)
    return made


def _own_name(name: str | None) -> str | None:
    return None if name is None else own_name(name)


def player_option(help: str, *, show_default: bool | str = True) -> OptionInfo:
    """Return an option whose value is the name of a player."""
    return option(
        help, "PLAYER", autocompletion=complete_player, callback=_own_name, show_default=show_default
    )


def _checked_picture(path: Path | None) -> Path | None:
    if path is not None:
        from motif.reports.style import check_picture

        check_target(path)
        check_picture(path)
    return path


def file_option(
    help: str, *suffixes: str, hidden: bool = False, show_default: bool | str = True
) -> OptionInfo:
    """Return an option whose value is a file to write, which is checked before the command runs.

    Its name must end in one of the `suffixes`, if any.
    """

    def checked(path: Path | None) -> Path | None:
        if path is not None:
            check_target(path, *suffixes)
        return path

    return option(help, callback=checked, hidden=hidden, show_default=show_default)


def html_option(help: str = "HTML page to write.", *, show_default: bool | str = True) -> OptionInfo:
    """Return an option whose value is an HTML page to write."""
    return file_option(help, *PAGE_SUFFIXES, show_default=show_default)


def weights_option(help: str) -> OptionInfo:
    """Return an option whose value is a weight file to write."""
    return file_option(help, *WRITTEN_WEIGHT_SUFFIXES)


def weights_name(out: Path) -> str:
    """Return the name of the weights in the file `out`; raise `SettingError` if it is not printable."""
    from motif.evaluators.weight_file import LINE_WANTED, is_line

    if not is_line(out.stem):
        raise SettingError(f"--out: the name of the weights {LINE_WANTED}, not {shown(out.stem)}")
    return out.stem


def picture_option(content: str) -> OptionInfo:
    """Return an option whose value is a picture to write, which is checked before the command runs."""
    return option(f"{content} to write: PNG or SVG.", callback=_checked_picture)


PLAYERS = f"Player: {player_words()}."
_POSITION = "Position: a GNUbg ID, PositionID:MatchID, XGID, OGID or 20-letter key."
IdArgument = Annotated[str, argument(_POSITION, "ID")]
MaybeId = Annotated[str | None, argument(_POSITION, "ID")]
FirstDie = Annotated[str | None, argument("First die, or both dice: 31.", "D1", show_default=False)]
SecondDie = Annotated[str | None, argument("Second die.", "D2", show_default=False)]
JsonOption = Annotated[bool, option("Print a JSON object and nothing else.")]
SeedOption = Annotated[int, option("Random seed.", callback=checked_seed)]
JobsOption = Annotated[
    int | None, option("Number of processes.", callback=_checked_jobs, show_default="all cores")
]
LanguageOption = Annotated[
    str,
    option(f"Language of the explanations: {' or '.join(languages())}.", autocompletion=languages),
]
ClusterOption = Annotated[
    str | None, option("Scheduler of a dask cluster to run on instead of this machine.", "tcp://HOST:PORT")
]
PlayerOption = Annotated[str, player_option(PLAYERS)]
JudgeOption = Annotated[str | None, player_option(PLAYERS, show_default=JUDGE)]
StaticOption = Annotated[str, player_option(f"Player for both sides: {static_words()}.")]
HtmlOption = Annotated[Path | None, html_option()]
PositionBatch = Annotated[
    str | None, option("File with one ID per line, instead of ID; - for standard input.", "FILE")
]
DecisionBatch = Annotated[
    str | None,
    option("File with one ID D1 D2 per line, or ID if it holds the roll; - for standard input.", "FILE"),
]


def check_choice(identifier: str | None, batch: str | None, wanted: str) -> None:
    """Raise `SettingError` unless either the `wanted` arguments or a batch file is given."""
    if identifier is None and batch is None:
        raise SettingError(f"missing argument: {wanted}, or --batch FILE")
    if identifier is not None and batch is not None:
        raise SettingError(f"{wanted} and --batch cannot be combined")


# Options and defaults of the fields with these names, in all settings.
_SHARED: dict[str, tuple[Any, Any]] = {"seed": (SeedOption, 0), "player": (PlayerOption, DEFAULT_PLAYER)}
_COMPLETIONS = {"parameters": complete_parameters, "label": complete_player}
_WORDS = {"owner": "WHO", "score": "A-B", "start": "FILE.onnx", "opponent": "PLAYER,..."}
"""Metavariables by field."""
_METAVARS: dict[Any, str] = {
    **dict.fromkeys((int, int | None), "N"),
    **dict.fromkeys((float, float | None), "X"),
    **dict.fromkeys((Path, Path | None, list[Path] | None), "FILE"),
    str: "NAME",
}
"""Metavariables by type."""


@dataclass(frozen=True)
class Settings:
    """Mark of a command's parameter that is a dataclass, whose fields become options."""

    home: str = ""
    """Module to import, when the command is created, if the annotation names the dataclass in a string."""
    without: tuple[str, ...] = ()
    """Fields without options."""
    hidden: tuple[str, ...] = ()
    """Fields whose options the help does not show."""


MatchChoice = Annotated[MatchOptions, Settings(without=("beavers",))]
"""Options for match and cube, in commands that value plays."""


def option_name(name: str) -> str:
    """Return the option for the setting `name`."""
    return "--" + name.replace("_", "-")


def _parameter(name: str, kind: Any, mark: OptionInfo, default: Any) -> inspect.Parameter:
    """Return the parameter `name` of a command, with defaults for what `mark` leaves out."""
    annotated: Any = Annotated
    declared = copy(mark)
    both_ways = kind == bool | None or default is True
    derived = option_name(name) + f"/--no-{name.replace('_', '-')}" * both_ways
    declared.param_decls = mark.param_decls or (derived,)
    declared.metavar = mark.metavar or _METAVARS.get(kind)
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, keyword, default=default, annotation=annotated[kind, declared])


def _type_and_mark(annotation: Any) -> tuple[Any, object]:
    """Return the type and the first mark of an annotation; None if there is no mark."""
    return get_args(annotation)[:2] if get_origin(annotation) is Annotated else (annotation, None)


def _parameters(settings: Settings, dataclass: type) -> Iterator[inspect.Parameter]:
    known = {field.name: field for field in fields(dataclass)}
    for name, field in known.items():
        if name in settings.without:
            continue
        default = inspect.Parameter.empty if field.default is MISSING else field.default
        kind, mark = _type_and_mark(field.type)
        if mark is None and name in _SHARED:
            annotated, default = _SHARED[name]
            kind, mark = _type_and_mark(annotated)
        if not isinstance(mark, OptionInfo):
            text = help_of(field)
            for other in known:
                text = text.replace(f"`{other}`", option_name(other))
            is_hidden = name in settings.hidden
            mark = option(text, _WORDS.get(name), autocompletion=_COMPLETIONS.get(name), hidden=is_hidden)
        yield _parameter(name, kind, mark, default)


@dataclass(frozen=True)
class Judge:
    """The player that judges plays and cube decisions."""

    player: JudgeOption = None
    fast: Annotated[bool, option("Evaluate without lookahead.")] = False
    deep: Annotated[bool, option("Combine 2-ply lookahead with short rollouts, which is slower.")] = False

    def load(self, with_cube: bool) -> "tuple[str, Evaluator]":
        """Return the name and evaluator of the judge, as `judge_of` does."""
        return judge_of(self.player, self.fast, self.deep, with_cube)


JudgeChoice = Annotated[Judge, Settings()]

Command = Callable[..., None]
_Parameter = TypeVar("_Parameter", bound="Parameter")


def convert_only_if_needed(parameters: list[_Parameter]) -> list[_Parameter]:
    """Make typer leave defaults and texts as they are: a conversion imports pydantic, which takes 0.1 s."""
    parameter: Any
    for parameter in parameters:
        if hasattr(parameter, "type_descriptor") and not isinstance(parameter.process_value, partial):
            parameter.process_value = partial(_processed, parameter, parameter.process_value)
    return parameters


def _processed(parameter: Any, convert: Callable[[Any, Any], Any], context: Any, value: Any) -> Any:
    is_text = isinstance(value, str) and parameter.type_descriptor.annotation in (str, str | None)
    if not is_text and (value != parameter.default or parameter.required):
        try:
            return convert(context, value)
        except typer.BadParameter as error:
            raise _in_words(parameter, value, error) from None
    return value if parameter.callback is None else parameter.callback(context, parameter, value)


_RULES = {
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number of at most 4300 digits",
    "float_parsing": "a number",
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
}
"""Rules that a value breaks, by pydantic's names for the errors."""


def _choices(annotation: Any) -> list[str]:
    """Return the values of a literal or an enumeration, also one of several types; none for others."""
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return [str(one.value) for one in annotation]
    inner = get_args(annotation)
    if get_origin(annotation) is Literal:
        return list(map(str, inner))
    return [choice for one in inner for choice in _choices(one)]


def _in_words(parameter: Any, value: Any, error: Any) -> Exception:
    """Return typer's `error` about a value of `parameter` in motif's words; other errors as they are."""
    if error.__cause__ is None:
        return error
    fault, annotation = error.__cause__.errors()[0], parameter.type_descriptor.annotation
    broken = fault["type"]
    if broken == "string_unicode":  # a number with bytes that are not UTF-8
        broken = "int_parsing" if int in (annotation, *get_args(annotation)) else "float_parsing"
    allowed = _choices(annotation) if broken == "value_error" else []
    rule = _RULES.get(broken, listed(allowed, "or"))
    if not rule:
        return error
    kind = shown(value) if "parsing" in broken or allowed else value
    return SettingError(f"{parameter.opts[0]} must be {rule.format(**fault.get('ctx', {}))}, not {kind}")


_HYPHEN = "\N{NON-BREAKING HYPHEN}"


class _UnbrokenWords(HelpFormatter):
    """A formatter of help that breaks no line at a hyphen, such as those of options and paths."""

    def write_text(self, text: str) -> None:
        super().write_text(text.replace("-", _HYPHEN))

    def write_dl(self, rows: Sequence[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        unbroken = [(name, text.replace("-", _HYPHEN)) for name, text in rows]
        super().write_dl(unbroken, col_max, col_spacing)

    def write(self, string: str) -> None:
        super().write(string.replace(_HYPHEN, "-"))


class OptionsContext(typer.Context):
    """Context of a command whose help breaks lines between words."""

    formatter_class = _UnbrokenWords


class OptionsCommand(TyperCommand):
    """A command whose defaults and texts are not converted."""

    context_class = OptionsContext

    def get_params(self, ctx: "Context") -> "list[Parameter]":
        """Return the parameters of the command."""
        return convert_only_if_needed(super().get_params(ctx))

    def parse_args(self, ctx: "Context", args: list[str]) -> list[str]:
        """Read the options; raise `SettingError` for an argument too many."""
        ctx.allow_extra_args = True
        rest = super().parse_args(ctx, args)
        if rest and not ctx.resilient_parsing:
            is_play = "/" in rest[0] and any(parameter.name == "versus" for parameter in self.params)
            raise SettingError(
                f"unexpected argument {shown(rest[0])}" + ": a play follows --versus" * is_play
            )
        return rest


def command(*examples: str, cls: type[TyperCommand] = OptionsCommand) -> Callable[[Command], Command]:
    """Mark a function as a command; `examples` are command lines without the leading ``motif``."""

    def decorate(function: Command) -> Command:
        lines = ("\b", "Example:", *(f"  motif {line}" for line in examples))
        marked: Any = function
        marked.epilog, marked.command_class = "\n".join(lines), cls
        return function

    return decorate


def with_options(function: Command) -> Command:
    """Return `function` with an option for each field of the dataclasses marked by `Settings`."""
    groups: dict[str, tuple[type, list[str]]] = {}
    shown: list[inspect.Parameter] = []
    for parameter in inspect.signature(function).parameters.values():
        kind, mark = _type_and_mark(parameter.annotation)
        if isinstance(mark, Settings):
            if not isinstance(kind, type):
                kind = getattr(import_module(mark.home), kind.__forward_arg__)
            options = list(_parameters(mark, kind))
            groups[parameter.name] = kind, [made.name for made in options]
            shown += options
        elif isinstance(mark, OptionInfo):
            shown.append(_parameter(parameter.name, kind, mark, parameter.default))
        else:
            shown.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))

    @wraps(function)
    def run(**values: Any) -> None:
        for place, (settings, names) in groups.items():
            values[place] = settings(**{name: values.pop(name) for name in names})
        function(**values)

    described: Any = run
    described.__signature__ = inspect.Signature(shown)
    described.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
    return run


def optional_value(option: str, value: str) -> type[TyperCommand]:
    """Return a command class in which `option` without a value means ``option=value``."""

    class OptionalValue(OptionsCommand):
        def parse_args(self, ctx: "Context", args: list[str]) -> list[str]:
            following = [*args, "-"][1:]
            filled = [
                f"{word}={value}" if word == option and behind.startswith("-") else word
                for word, behind in zip(args, following, strict=True)
            ]
            return super().parse_args(ctx, filled)

    return OptionalValue


class SeveralSources(OptionsCommand):
    """A command whose option --from takes all values that follow it: ``--from *.mat``."""

    def parse_args(self, ctx: "Context", args: list[str]) -> list[str]:
        """Repeat the option before each of its values."""
        spelt, is_open = [], False
        for word in args:
            if word == "--from" or word.startswith("-"):
                is_open = word == "--from"
                spelt += [] if is_open else [word]
            else:
                spelt += ["--from", word] if is_open else [word]
        return super().parse_args(ctx, [*spelt, *["--from"] * (args[-1:] == ["--from"])])


class IntoOne(OptionsCommand):
    """A command with the arguments IN... and OUT."""

    def parse_args(self, ctx: "Context", args: list[str]) -> list[str]:
        """Read the options; raise `SettingError` for a single path, which the parser takes for OUT."""
        is_empty = not args  # the parser empties the list
        try:
            return super().parse_args(ctx, args)
        except UsageFault as fault:
            missing = getattr(fault, "param", None)
            if not is_empty and missing is not None and missing.nargs == -1:
                raise SettingError("OUT: missing file or folder to write") from None
            raise
