"""Hatchling's metadata hook: the README as the package index shows it."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

RELATIVE = re.compile(r"\]\((?![a-z]+:|#)([^)\s]+)\)")


def addressed(text: str, urls: dict[str, str]) -> str:
    """Return a page in which relative links lead to the repository; unchanged if that has no address."""
    base = urls.get("Repository", "").rstrip("/")
    return RELATIVE.sub(rf"]({base}/blob/main/\1)", text) if base else text


class AddressedReadme(MetadataHookInterface):
    """The README, whose relative links would lead nowhere on the package index."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the README to the metadata."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        readme = addressed(text, metadata.get("urls", {}))
        metadata["readme"] = {"content-type": "text/markdown", "text": readme}
