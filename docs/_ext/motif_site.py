"""Sphinx extension for the site: generated pages, the gallery, links out of docs/."""

import html
import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

import motif
from tools import command_pages, gallery, http_pages, library_pages

MADE = {
    "reference/commands": command_pages.pages,
    "reference/library": library_pages.pages,
    "reference/http": http_pages.pages,
}
"""Folders of generated pages, and their generators."""
_LINK = re.compile(r"\[([^\[\]]*)\]\(((?:\.\./)+[^)#\s]*)(#[^)\s]*)?\)")
_BETWEEN = re.compile(r"(?m)^\|.*$")
_TYPES = (
    (
        re.compile(
            r"ndarray\[tuple\[(?:~typing\.)?Any, \.\.\.\], (?:~numpy\.)?dtype\[(?:~numpy\.)?([^\[\]~]*)\]\]"
        ),
        r"NDArray[\1]",
    ),
    (
        re.compile(
            r"_Buffer \| _SupportsArray\[dtype\[Any\]\] \| _NestedSequence\[_SupportsArray\[dtype\[Any\]\]\]"
            r" \| complex \| bytes( \| str)? \| _NestedSequence\[complex \| bytes \| str\]"
        ),
        "ArrayLike",
    ),
)
"""Python's long names of numpy's types, and the short ones."""
_log = logging.getLogger(__name__)


def make_pages(app: Sphinx) -> None:
    """Write the generated pages that have changed, and the gallery."""
    for folder, made in MADE.items():
        place = Path(app.srcdir, folder)
        place.mkdir(parents=True, exist_ok=True)
        texts = made()
        for old in {path.stem for path in place.glob("*.md")} - set(texts):
            (place / f"{old}.md").unlink()
        for name, text in texts.items():
            page = place / f"{name}.md"
            if not page.exists() or page.read_text(encoding="utf-8") != text:
                page.write_text(text, encoding="utf-8")
    gallery.make_gallery(lambda line: _log.info("gallery: %s", line))


def copy_gallery_pages(app: Sphinx, error: Exception | None) -> None:
    """Copy the framed pages of the gallery into the site."""
    if error is None and app.builder.format == "html":
        place = Path(app.outdir, gallery.FOLDER.name)
        place.mkdir(exist_ok=True)
        for page in gallery.FOLDER.glob("*.html"):
            shutil.copy(page, place)


def source_address(root: Path) -> str:
    """Return the web address of the repository at `root`, from its pyproject.toml; may be empty."""
    urls = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"].get("urls", {})
    address = next((urls[label] for label in urls if label.lower() in ("repository", "source")), "")
    return f"{address.rstrip('/')}/blob/main/" if address else ""


def adapt_page(app: Sphinx, page: str, text: list[str]) -> None:
    """Adapt the source of a page to the site.

    Links that lead out of docs/ point to the repository on the web, or become plain text if its address is
    unknown.
    """
    root, here = Path(app.srcdir).parent, Path(app.srcdir, page).parent
    address = source_address(root)

    def changed(match: re.Match[str]) -> str:
        target = (here / match[2]).resolve()
        if target.is_relative_to(app.srcdir) or not target.is_relative_to(root):
            return match[0]
        return f"[{match[1]}]({address}{target.relative_to(root)})" if address else match[1]

    text[0] = _LINK.sub(changed, text[0])
    # Keep a figure and its error on one line in narrow tables.
    text[0] = _BETWEEN.sub(
        lambda row: row[0].replace(" ± ", "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}"), text[0]
    )


def tidy_signatures(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Use numpy's short type names and the public names of functions in signatures."""
    for node in doctree.findall(addnodes.desc_signature):
        for prefix in node.findall(addnodes.desc_addname):
            if prefix.astext() + node.get("fullname", "") in library_pages.public_places():
                prefix[:] = [nodes.Text("motif.")]
    for kind in (addnodes.desc_annotation, addnodes.desc_parameter, addnodes.desc_returns):
        for node in doctree.findall(kind):
            for long, short in _TYPES:
                while match := long.search(node.astext()):
                    _write_over(node, *match.span(), match.expand(short))


def readable_defaults(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str | None, str | None] | None:
    """Write ``...`` for a default that is created on each call: ``<factory>`` is not Python."""
    if signature is None or "<factory>" not in signature:
        return None
    return signature.replace("<factory>", "..."), returns


def _write_over(node: nodes.Element, start: int, end: int, text: str) -> None:
    """Replace part of the text of `node` with `text`; neighbouring links are kept."""
    place = 0
    for leaf in list(node.findall(nodes.Text)):
        first, last = place, place + len(leaf)
        place = last
        if first < end and last > start:
            before, behind = leaf[: max(start - first, 0)], leaf[max(end - first, 0) :] if end < last else ""
            # Find the leaf by identity: an equal text may come before it.
            index = next(k for k, child in enumerate(leaf.parent.children) if child is leaf)
            leaf.parent[index] = nodes.Text(before + text + behind)
            text = ""


def find_public(app: Sphinx, env: Any, node: nodes.Element, content: nodes.Element) -> nodes.Element | None:
    """Resolve a reference to a class by its module to its public name."""
    name = library_pages.public_places().get(node.get("reftarget", ""))
    if node.get("refdomain") != "py" or name is None:
        return None
    domain = env.get_domain("py")
    return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", f"motif.{name}", node, content)


class EmbeddedPage(SphinxDirective):
    """``page``: one of motif's pages in a frame; the content is a description."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the frame as raw HTML."""
        title = html.escape(" ".join(self.content))
        source = html.escape(self.arguments[0])
        frame = f'<iframe class="motif-page" src="{source}" title="{title}" loading="lazy"></iframe>'
        return [nodes.raw("", frame, format="html")]


class MadeLink(SphinxRole):
    """``made``: a link to a file that the build makes beside the pages, ``text <path>``."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the link."""
        match = re.fullmatch(r"(.*?)\s*<(.*)>", self.text)
        title, path = (match[1], match[2]) if match else (self.text, self.text)
        return [nodes.reference("", title, refuri=path, internal=True)], []


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    app.connect("builder-inited", make_pages)
    app.connect("source-read", adapt_page)
    app.connect("missing-reference", find_public)
    app.connect("autodoc-process-signature", readable_defaults)
    app.connect("doctree-resolved", tidy_signatures)
    app.connect("build-finished", copy_gallery_pages)
    app.add_directive("page", EmbeddedPage)
    app.add_role("made", MadeLink())
    return {"version": motif.__version__, "parallel_read_safe": True, "parallel_write_safe": True}
