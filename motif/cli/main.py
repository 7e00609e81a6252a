"""The application: its commands, and how each way of ending becomes one line and an exit code."""

import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Any

import typer

from motif.cli import (
    analyse,
    bearoff,
    calibrate,
    contests,
    cube,
    explain,
    learn,
    measure,
    nets,
    phase_net,
    play,
    positions,
    report,
    rollouts,
)
from motif.cli.common import one_line
from motif.cli.interruption import INTERRUPTED, Interrupted, interrupted_line
from motif.runtime.errors import MotifError

INTERNAL_ERROR, BAD_INPUT = 1, 2
TRACEBACK_VARIABLE = "MOTIF_TRACEBACK"

# The root of click's errors, wherever this version of typer keeps click.
_CLICK_ERROR: Any = typer.BadParameter.__mro__[2]
# An XGID may lack its prefix; then it often starts with a dash, as options do.
_BARE_XGID = re.compile(r"-[-A-Pa-p]{25}:")

app = typer.Typer(
    help="Learn, measure and use a backgammon evaluator that a person can read.",
    epilog="`motif COMMAND --help` says more, with an example.",
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for _group in (
    positions,
    rollouts,
    bearoff,
    cube,
    explain,
    contests,
    play,
    measure,
    analyse,
    report,
    learn,
    calibrate,
    nets,
    phase_net,
):
    _group.register(app)


def _print_version(wanted: bool) -> None:
    if wanted:
        from motif.runtime.version import VERSION

        typer.echo(f"motif {VERSION}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print motif's version.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command in `arguments` (by default the program's own) and return the exit code.

    0 when it is done; 2, with one line on stderr, for bad input; 130 when it is interrupted; 1 when
    nobody reads the output any more, or for a fault of the program itself, whose traceback shows when
    the environment variable MOTIF_TRACEBACK is set.
    """
    given = sys.argv[1:] if arguments is None else arguments
    words = [f"XGID={word}" if _BARE_XGID.match(word) else word for word in given]
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        result = typer.main.get_command(app).main(words, prog_name="motif", standalone_mode=False)
        sys.stdout.flush()
    except MotifError as error:
        return _ended(BAD_INPUT, f"error: {error}")
    except _CLICK_ERROR as error:
        return _ended(BAD_INPUT, f"error: {error.format_message()}")
    except Interrupted as error:
        return _ended(INTERRUPTED, interrupted_line(str(error)))
    except (KeyboardInterrupt, typer.Abort):
        return _ended(INTERRUPTED, "interrupted")
    except SystemExit as error:  # how typer ends when it finds the output closed
        return int(error.code or 0)
    except BrokenPipeError:
        _discard_output()
        return INTERNAL_ERROR
    except OSError as error:
        if error.filename is None:
            _discard_output()
        where = f"{error.filename}: " if error.filename else ""
        return _ended(BAD_INPUT, f"error: {where}{error.strerror or error}")
    except Exception as error:
        if os.environ.get(TRACEBACK_VARIABLE):
            raise
        how = f"set {TRACEBACK_VARIABLE}=1 to see where"
        return _ended(INTERNAL_ERROR, f"internal error: {type(error).__name__}: {error} ({how})")
    return _ended(INTERRUPTED, "interrupted") if result == INTERRUPTED else int(result or 0)


def _ended(code: int, line: str) -> int:
    print(one_line(f"motif: {line}"), file=sys.stderr)
    return code


def _discard_output() -> None:
    """Point stdout to nowhere, so that flushing it again at exit says nothing."""
    with suppress(OSError), open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
