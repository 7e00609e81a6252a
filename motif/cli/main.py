"""The command-line application: finds and runs commands, and turns failures into messages and exit codes."""

import gc
import inspect
import os
import re
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from typer.core import TyperCommand, TyperGroup

from motif.cli.interrupts import INTERRUPTED, Interrupted, interrupted_line, interruptible
from motif.cli.options import OptionsContext, UsageFault, convert_only_if_needed, with_options
from motif.cli.printing import accept_any_text, note
from motif.runtime.errors import (
    TRACEBACK_VARIABLE,
    FailedFitError,
    IncompleteDatasetWarning,
    MotifError,
    SettingError,
    WorkerError,
    shown,
)
from motif.runtime.layout import complain

if TYPE_CHECKING:
    from typer._click import Command, Context, HelpFormatter, Parameter
    from typer._click.shell_completion import CompletionItem

INTERNAL_ERROR, FAILED, BAD_INPUT = 1, 1, 2
_replaced_stdout: object = None
"""The stream of `_keep_output_from_others`; collected as garbage, it would close its descriptor."""
_OBJECTS_BEFORE_COLLECTION = 50_000
"""Objects that are created before the garbage collector runs.  Imports create hundreds of thousands, which
stay: with Python's 700, collecting takes a tenth of the time of a short command.
"""

SECTIONS = {
    "Learn": {
        "sample": "learn",
        "fit": "learn",
        "bootstrap": "learn",
        "report": "learn",
        "terms": "weights",
        "inspect": "weights",
        "calibrate": "weights",
        "export": "weights",
        "train-phase-net": "learn",
    },
    "Ask": {
        "evaluate": "positions",
        "hint": "positions",
        "explain": "positions",
        "cube": "cube",
        "rollout": "rollouts",
        "plays": "positions",
        "bearoff": "positions",
        "cube-windows": "cube",
    },
    "Play": {"play": "play", "web": "serve"},
    "Analyse": {"analyse": "analyse", "convert": "analyse"},
    "Measure": {
        "benchmark": "measure",
        "benchmark make": "measure",
        "match": "contests",
        "tournament": "contests",
        "cube-efficiency": "cube",
        "speed": "measure",
        "warm": "measure",
    },
    "Serve": {"serve http": "serve", "serve gnubg": "serve", "serve ubgi": "serve"},
}
"""Sections of the help: the commands of each, with the modules that define them."""
HOMES = {name: home for commands in SECTIONS.values() for name, home in commands.items()}
"""The module of each command."""
_GROUPS = {"serve": "Serve motif to other programs."}
"""Groups of two-word commands, and their help."""

# An XGID without its prefix often starts with a dash and would be read as an option.
_BARE_XGID = re.compile(r"-[-A-Pa-p]{25}:")
_THREADS, _AT_LEAST_ONE = "NUMBA_NUM_THREADS", re.compile("0*[1-9][0-9]*")
"""Environment variable that numba reads when it is imported, and the values with which that succeeds."""
_WITHOUT_COMPILER = "NUMBA_DISABLE_JIT"
"""Environment variable with which numba compiles nothing, unless its value is 0."""
_PLAIN: dict[str, Any] = {"rich_markup_mode": None, "pretty_exceptions_enable": False}


def _function(name: str) -> Any:
    return getattr(import_module(f"motif.cli.{HOMES[name]}"), re.sub("[ -]", "_", name))


@cache
def _command(name: str) -> TyperCommand:
    function = _function(name)
    alone = typer.Typer(add_completion=False, **_PLAIN)
    alone.command(name.split()[-1], epilog=function.epilog, cls=function.command_class)(
        with_options(function)
    )
    return cast(TyperCommand, typer.main.get_command(alone))


@cache
def _group(name: str) -> "_Program":
    return _Program(name=name, help=_GROUPS[name], no_args_is_help=False, rich_markup_mode=None)


class _Commands(Mapping[str, TyperCommand | TyperGroup]):
    """Commands of a group, or of the whole program, by their last word; created on first use."""

    def __init__(self, group: str | None) -> None:
        before = f"{group} " if group else ""
        behind = (name.removeprefix(before) for name in HOMES if name.startswith(before))
        # A group has one entry; so has a two-word command whose first word is also a command.
        last = (words if before + words.split()[0] in HOMES else words.split()[0] for words in behind)
        self._full_names = {words: before + words for words in last}

    def __getitem__(self, name: str) -> TyperCommand | TyperGroup:
        full = self._full_names[name]
        return _command(full) if full in HOMES else _group(name)

    def listed(self) -> dict[str, TyperCommand | TyperGroup]:
        """Return the commands without their options, which lists do not show."""
        return {
            name: TyperCommand(name, help=inspect.getdoc(_function(full))) if full in HOMES else _group(name)
            for name, full in self._full_names.items()
        }

    def __iter__(self) -> Iterator[str]:
        return iter(self._full_names)

    def __len__(self) -> int:
        return len(self._full_names)


class _Program(TyperGroup):
    context_class = OptionsContext

    def __init__(self, **facts: Any) -> None:
        super().__init__(**{**facts, "commands": {}})
        self.commands: Any = _Commands(self.name if self.name in _GROUPS else None)

    def get_params(self, ctx: "Context") -> "list[Parameter]":
        return convert_only_if_needed(super().get_params(ctx))

    def resolve_command(
        self, ctx: "Context", args: list[str]
    ) -> "tuple[str | None, Command | None, list[str]]":
        """Find the command that the first words of `args` name; the longest name wins."""
        two = " ".join(args[:2])
        return super().resolve_command(ctx, [two, *args[2:]] if two in self.commands else args)

    def format_commands(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        """List the commands: those of the program by section, those of a group in order."""
        if self.name in _GROUPS:
            super().format_commands(ctx, formatter)
            return
        commands = self.commands.listed()
        width = max(map(len, commands))
        room = formatter.width - width - 6
        for title, homes in SECTIONS.items():
            names = dict.fromkeys(name if name in commands else name.split()[0] for name in homes)
            # Names are padded so that the sections line up.
            rows = [(f"{name:{width}}", commands[name].get_short_help_str(room)) for name in names]
            with formatter.section(title):
                formatter.write_dl(rows)

    def shell_complete(self, ctx: "Context", incomplete: str) -> "list[CompletionItem]":
        """Complete the names of commands without creating their options."""
        self.commands = self.commands.listed()
        return super().shell_complete(ctx, incomplete)

    def invoke(self, ctx: "Context") -> object:
        try:
            with interruptible():
                return super().invoke(ctx)
        except MotifError as error:
            command = self.commands[ctx.invoked_subcommand or ""]
            if not isinstance(command, _Program):
                options = {parameter.name: parameter.opts[0] for parameter in command.params}
                error.args = (error.naming({**options, "matches": options.get("games", "matches")}),)
            raise


app = typer.Typer(
    cls=_Program,
    help="Learn a human-readable backgammon evaluator from nothing but the rules; query it, play against it "
    "and measure its strength.\n\n`motif sample` labels positions by rollouts, `motif fit` fits a weight for "
    "each feature of the board, and `motif bootstrap` alternates the two.",
    epilog="`motif COMMAND --help` shows the options of a command, with examples.",
    context_settings={"help_option_names": ["-h", "--help"]},
    **_PLAIN,
)


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        from motif.runtime.package import VERSION

        typer.echo(f"motif {VERSION}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        return
    threads = os.environ.get(_THREADS, "1")
    if not _AT_LEAST_ONE.fullmatch(threads.strip()):
        raise SettingError(f"{_THREADS} must be a whole number from 1, not {shown(threads)}")
    if (switch := os.environ.get(_WITHOUT_COMPILER, "0")).strip("0 "):
        raise SettingError(
            f"{_WITHOUT_COMPILER} must be 0 or unset, not {shown(switch)}: motif needs numba's compiler"
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command in `arguments`, by default those of the process, and return its exit code.

    The exit code is 0 for success, 2 for bad input and 130 for an interruption.  It is 1 for a fit without
    useful weights, closed output, a killed worker process, lack of memory or an internal error.
    Failures print one line on stderr.  If the environment variable MOTIF_TRACEBACK is set, an internal error
    shows its traceback.
    """
    _open_missing_streams()
    if arguments is None and "--json" in sys.argv:
        _keep_output_from_others()
    if arguments is None:
        gc.set_threshold(_OBJECTS_BEFORE_COLLECTION)
    code = _run(sys.argv[1:] if arguments is None else arguments)
    if arguments is None:
        gc.freeze()  # The process is about to end; collecting the garbage of all modules would take 0.1 s.
    return code


def _open_missing_streams() -> None:
    """Open the null device for standard streams that are closed, so that no other file gets their number.

    Child processes inherit it: joblib's workers cannot start without stderr.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode)  # noqa: SIM115
            os.set_inheritable(stream.fileno(), True)
            setattr(sys, name, stream)


def _keep_output_from_others() -> None:
    """Let only this process write to the output, by another descriptor; what others print goes to stderr.

    joblib's workers, for example, print a traceback on stdout if they cannot start.
    """
    global _replaced_stdout
    with suppress(OSError):
        sys.stdout.flush()
        own = os.dup(sys.stdout.fileno())
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        _replaced_stdout = sys.stdout
        stdout = open(own, "w", encoding=sys.stdout.encoding, errors=sys.stdout.errors)  # noqa: SIM115
        # The width of the terminal is that of `sys.__stdout__`.
        sys.stdout = sys.__stdout__ = stdout  # type: ignore[misc]


def _lacks_memory(error: BaseException | None) -> bool:
    """Return whether lack of memory, for data or for another thread, is the cause of `error`."""
    while error is not None:
        if isinstance(error, MemoryError) or str(error) == "can't start new thread":
            return True
        error = error.__cause__ or error.__context__
    return False


def _run(arguments: Sequence[str]) -> int:
    words = [f"XGID={word}" if _BARE_XGID.match(word) else word for word in arguments]
    accept_any_text(sys.stdout)
    try:
        with _warnings_as_notes():
            result = typer.main.get_command(app).main(words, prog_name="motif", standalone_mode=False)
        sys.stdout.flush()
    except MotifError as error:
        failed = isinstance(error, FailedFitError | WorkerError)
        return _ended(FAILED if failed else BAD_INPUT, f"error: {error}")
    except UsageFault as error:
        said = error.format_message().removesuffix(".")
        return _ended(BAD_INPUT, f"error: {said[:1].lower()}{said[1:]}")
    except Interrupted as error:
        return _ended(INTERRUPTED, interrupted_line(str(error)))
    except (KeyboardInterrupt, typer.Abort):
        return _ended(INTERRUPTED, interrupted_line(""))
    except SystemExit as error:  # typer raises it if the output is closed
        return int(error.code or 0)
    except BrokenPipeError:
        _discard_output()
        return INTERNAL_ERROR
    except OSError as error:
        return _refused_by_system(error)
    except Exception as error:
        if os.environ.get(TRACEBACK_VARIABLE):
            raise
        if _lacks_memory(error):
            return _ended(
                FAILED, "error: not enough memory; fewer processes (--jobs) or smaller data need less"
            )
        how = f"set {TRACEBACK_VARIABLE}=1 for the traceback"
        return _ended(INTERNAL_ERROR, f"internal error: {type(error).__name__}: {error} ({how})")
    return _ended(INTERRUPTED, interrupted_line("")) if result == INTERRUPTED else int(result or 0)


def _refused_by_system(error: OSError) -> int:
    where = error.filename
    if where is None and isinstance(error, FileNotFoundError):
        where = "the current folder"
    elif where is None:
        _discard_output()
    return _ended(BAD_INPUT, f"error: {f'{where}: ' if where else ''}{error.strerror or error}")


@contextmanager
def _warnings_as_notes() -> Iterator[None]:
    """Print each warning about a dataset as a note, once."""
    said = set[str]()

    def show(message: Warning | str, category: type[Warning], *place: Any, **others: Any) -> None:
        if not issubclass(category, IncompleteDatasetWarning):
            before(message, category, *place, **others)
        elif str(message) not in said:
            said.add(str(message))
            note(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always", IncompleteDatasetWarning)
        before, warnings.showwarning = warnings.showwarning, show
        yield


def _ended(code: int, line: str) -> int:
    # Without line breaks and other control characters; bytes of file names are escaped.
    readable = line.encode("utf-8", "backslashreplace").decode("utf-8")
    plain = "".join(mark if mark.isprintable() else " " for mark in readable)
    complain(f"motif: {' '.join(plain.split())}")
    return code


def _discard_output() -> None:
    """Redirect stdout to the null device, so that flushing it at exit cannot fail."""
    with suppress(OSError), open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
