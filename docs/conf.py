"""Sphinx configuration of the site: `make docs`."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE / "_ext")]

from motif.runtime.package import VERSION  # noqa: E402

project = "motif"
author = "the motif authors"
copyright = f"2026, {author}"
release = version = VERSION

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton", "motif_site"]
napoleon_google_docstring = False
exclude_patterns = ["README.md", "_made", "_build"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
# Leave ± and the dashes of options as they are.
smartquotes = False

# Every reference must resolve, except types of other libraries.  Public names in backticks become links.
nitpicky = True
# A name in backticks may match several attributes.
suppress_warnings = ["ref.python"]
default_role = "py:obj"
nitpick_ignore_regex = [
    ("py:obj", r".*"),
    ("py:exc", r".*"),
    ("py:class", r"(?!motif\.[A-Z]\w*$).*"),
]
autodoc_typehints = "signature"
autodoc_preserve_defaults = False
autodoc_class_signature = "mixed"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 72

# Changed notebooks run again.
nb_execution_mode = "cache"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True

html_theme = "furo"
html_title = f"motif {release}"
html_static_path = ["_static"]
html_css_files = ["motif.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
copybutton_selector = "div.highlight-sh pre, div.highlight-python pre, div.highlight-default pre"

# Pages of the gallery are in the site, not on the web.
linkcheck_ignore = [r"gallery/"]
linkcheck_timeout = 20
linkcheck_retries = 2
os.environ.setdefault("COLUMNS", "80")
