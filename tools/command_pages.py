"""Generate the site's command pages from the command line's own help.

A page contains what ``motif COMMAND --help`` shows: a description, examples, every argument and option.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import typer
from typer.core import TyperCommand

from motif.cli.main import app

PROGRAM = "motif"
_EXAMPLES = "Example:\n"
_FACTS = re.compile(r"(.*?)\s*\[([^\[\]]*)\]", re.DOTALL)
"""A help text and, in brackets, the parser's additions: the default, the range."""
_SPECIAL = re.compile(r"([\\*_<>\[\]#|$])")
_PAGE = re.compile(r"docs/([\w/-]+)\.md")
"""A page of the documentation, named in a help text."""
_OPTION = re.compile(r"(?<![\w`-])(--?[a-z][\w-]*)")


def commands() -> dict[str, TyperCommand]:
    """Return every command by its full name, subcommands included."""
    return dict(_below(typer.main.get_command(app), ()))


def _below(command: Any, words: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    parts = getattr(command, "commands", None)
    if parts is None:
        yield " ".join(words), command
        return
    for name, part in parts.items():
        yield from _below(part, (*words, name))


def page_name(name: str) -> str:
    """Return the file name of a command's page."""
    return name.replace(" ", "-")


def pages() -> dict[str, str]:
    """Return the Markdown pages by name: one per command, and ``index``, which lists them."""
    every = commands()
    texts = {page_name(name): command_page(name, command) for name, command in every.items()}
    return {"index": _index(every), **texts}


def _index(every: dict[str, TyperCommand]) -> str:
    rows = [
        f"| [`{PROGRAM} {name}`]({page_name(name)}.md) | {_markdown(_first_line(command))} |"
        for name, command in every.items()
    ]
    return "\n".join(
        [
            "# Commands",
            "",
            f"The output of `{PROGRAM} COMMAND --help`, with every option. `--json` prints one JSON",
            "object; bad input prints one line on stderr, with exit code 2; the same `--seed` gives the same",
            "result for any number of `--jobs`.",
            "",
            "| command | description |",
            "|---|---|",
            *rows,
            "",
            "```{toctree}",
            ":hidden:",
            "",
            *map(page_name, every),
            "```",
            "",
        ]
    )


def _first_line(command: TyperCommand) -> str:
    return (command.help or "").partition("\n\n")[0].replace("\n", " ")


def command_page(name: str, command: TyperCommand) -> str:
    """Return the page of one command, as Markdown."""
    program = f"{PROGRAM} {name}"
    with command.make_context(program, [], resilient_parsing=True) as context:
        usage = " ".join([program, *command.collect_usage_pieces(context)])
        records = [(it.param_type_name, it.get_help_record(context)) for it in command.get_params(context)]
    shown = [(kind, entry(*record)) for kind, record in records if record]
    arguments = [text for kind, text in shown if kind == "argument"]
    options = [text for kind, text in shown if kind != "argument"]
    parts = [f"# {program}", _markdown(command.help or ""), _block("text", [usage])]
    parts += ["## Examples", _block("sh", examples(command)), f"```{{program}} {program}\n```"]
    for heading, entries in (("Arguments", arguments), ("Options", options)):
        parts += [f"## {heading}", *entries] if entries else []
    return "\n\n".join(part for part in parts if part) + "\n"


def entry(left: str, right: str) -> str:
    """Return an argument or option with its help as Markdown."""
    match = _FACTS.fullmatch(right)
    text, facts = (match[1], match[2]) if match else (right, "")
    told = [_fact(fact.strip()) for fact in re.split(r"; (?![^()]*\))", facts) if fact.strip()]
    lines = [_markdown(text), *(f"*{_markdown(fact)}*" for fact in told)]
    name = left.replace(" / ", ", ").replace(" <str>", "")
    return "\n".join([f"```{{option}} {name}", "", "  \n".join(filter(None, lines)), "```"])


def _fact(fact: str) -> str:
    """Return what the parser knows about a value, in words: ``default: (5)``, ``x>=1``, ``0<=x<=9``."""
    if bounds := re.fullmatch(r"(?:(-?[\d.]+)<=)?x(?:([<>])=(-?[\d.]+))?", fact):
        low, sign, high = bounds.groups()
        return (
            f"{low} to {high}" if low and high else f"at {'most' if sign == '<' else 'least'} {high or low}"
        )
    return re.sub(r": \((.*)\)$", r": \1", fact)


def examples(command: TyperCommand) -> list[str]:
    """Return the lines below ``Example:`` in a command's help."""
    _, _, lines = (command.epilog or "").partition(_EXAMPLES)
    return [line.strip() for line in lines.splitlines() if line.strip()]


def _block(language: str, lines: Sequence[str]) -> str:
    return "\n".join([f"```{language}", *lines, "```"]) if lines else ""


def _markdown(text: str) -> str:
    """Escape plain text for Markdown, except code, option names and links to pages."""
    pieces = re.split(rf"(`[^`]*`|{_PAGE.pattern.replace('(', '(?:')})", text.replace("\b\n", ""))
    return "".join(map(_piece, pieces))


def _piece(text: str) -> str:
    if text.startswith("`"):
        return text
    if page := _PAGE.fullmatch(text):
        return f"[{page[1].rpartition('/')[2]}](../../{page[1]}.md)"
    return _OPTION.sub(r"`\1`", _SPECIAL.sub(r"\\\1", text))
