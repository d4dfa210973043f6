"""Settings that the documentation of a project shows, for its users to copy into their own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from pytest_hookharness.campaigns.arming.project_texts import is_small, project_files, read_known_text
from pytest_hookharness.model.protocol import Json

_NOT_SHIPPED = frozenset(
    ["test", "tests", "fixtures", "node_modules", "vendor", "research", "archive", "archived"]
)
# A block of code in Markdown that may be JSON, perhaps indented below an item of a list.
_BLOCK = re.compile(
    r"^[ \t]*```(?:jsonc?|json5)?[ \t]*\n(?P<text>[ \t]*\{.*?)^[ \t]*```", re.MULTILINE | re.DOTALL
)
_LARGEST, _MOST = 1 << 18, 60


def documented_settings(root: Path) -> Iterator[tuple[str, dict[str, Json]]]:
    """Yield settings with hooks in Markdown files, each with the path of its file; those of the top first."""
    files = [file for file in project_files(root) if file.suffix == ".md" and is_small(file, _LARGEST)]
    shipped = [file for file in files if not _NOT_SHIPPED & {*file.relative_to(root).parts[:-1]}]
    for file in islice(sorted(shipped, key=lambda file: len(file.parts)), _MOST):
        for found in _BLOCK.finditer(read_known_text(file)):
            try:
                content = json.loads(found["text"])
            except (ValueError, RecursionError):
                continue
            hooks = content.get("hooks") if isinstance(content, dict) else None
            if isinstance(hooks, dict) and any(isinstance(value, list) for value in hooks.values()):
                yield file.relative_to(root).as_posix(), content
