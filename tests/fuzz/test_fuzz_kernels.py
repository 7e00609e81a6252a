"""Files of kernels: damaged ones, other files' contents, and contents of another form.

Someone who can write such a file can run code, whatever its digest; the folder's owner and mode prevent that.
Here a file is damaged or comes from another version.
"""

import pickle
from typing import Any

from hypothesis import strategies as st

from motif.compiler.kernel_cache import framed
from tests.fuzz import checks
from tests.fuzz.mutations import ODD_TOKENS, mutated_file, mutated_tree

CONTENTS: tuple[Any, ...] = (
    ([], ("code", b"\0\1\2" * 40, None)),
    ([("kernel.cell.callee-4567", "motif.module.callee", ("int64",))], (b"machine code", 7, {"a": (1, 2)})),
)
FILES = [framed(checks.KERNEL, pickle.dumps(contents)) for contents in CONTENTS]
OTHERS = [framed("another-4567", pickle.dumps(contents)) for contents in CONTENTS]
VALID = list(zip(FILES, CONTENTS, strict=True))
TOKENS = [*ODD_TOKENS, b"kernel-cache", FILES[0][:60], b"cos\nsystem\n(S'false'\ntR.", b"another-4567"]


def test_damaged_kernels(fuzz):
    damaged = mutated_file([*FILES, *OTHERS], TOKENS)
    fuzz(checks.kernel_file_check, damaged.map(lambda content: (content, _contents_of(content))), valid=VALID)


def _contents_of(content: bytes) -> Any:
    """Return the contents of a file that is still valid after all its changes."""
    return CONTENTS[FILES.index(content)] if content in FILES else None


def test_kernels_of_another_shape(fuzz):
    def with_file(contents: Any) -> tuple[bytes, Any]:
        return framed(checks.KERNEL, pickle.dumps(contents)), contents

    shapes = st.sampled_from(CONTENTS).map(lambda contents: [list(contents[0]), list(contents[1])])
    fuzz(checks.kernel_file_check, shapes.flatmap(mutated_tree).map(with_file), valid=VALID)
