"""
Build the site of the documentation into ``.site/html``: ``python docs/build_site.py`` or ``nox -s docs``.

The pages are plain Markdown that is read in the repository as well. What they link to outside of this folder
(scenarios, tests) is not on the site: there the words stay and the link goes.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGES = ROOT / ".site" / "pages"
LINK = re.compile(r"\[((?:[^\[\]`]|`[^`]*`|\[[^\[\]]*\])*)\]\(([^)#\s]+)(#[^)\s]*)?\)")
# Pages of findings are reached from their index.
FROM_ELSEWHERE = re.compile(r"findings/HH\d+\.md")


def in_navigation() -> set[str]:
    """The pages that the navigation names."""

    def named(entries: list[dict[str, object]]) -> Iterator[str]:
        for entry in entries:
            for value in entry.values():
                if isinstance(value, str):
                    yield value
                elif isinstance(value, list):
                    yield from named(value)

    return set(named(tomllib.loads((ROOT / "zensical.toml").read_text())["project"]["nav"]))


def gather(docs: Path, listed: set[str]) -> tuple[dict[str, str], list[str]]:
    """The pages as they stand on the site, by path, and what is wrong with them."""
    pages, wrong = {}, []
    for file in sorted(docs.rglob("*.md")):
        name = str(file.relative_to(docs))
        text = file.read_text()
        if name not in listed and not FROM_ELSEWHERE.fullmatch(name):
            wrong.append(f"{name}: stands in no navigation")
        targets = [link[2] for link in LINK.finditer(text) if "://" not in link[2]]
        wrong += [
            f"{name}: links to {target}, which is not there"
            for target in targets
            if not leaves(file, target, docs) and not (file.parent / target).exists()
        ]
        pages[name] = LINK.sub(
            lambda link, file=file: link[1] if leaves(file, link[2], docs) else link[0], text
        )
    return pages, wrong


def leaves(file: Path, target: str, docs: Path) -> bool:
    """Whether a link leads out of the documentation."""
    there = Path(os.path.normpath(file.parent / target))
    return "://" not in target and (not there.is_relative_to(docs) or there.suffix == ".py")


def configured(text: str, urls: dict[str, str]) -> str:
    """The configuration of the site, beside its pages, with the address of the repository if there is one."""
    address = f'repo_url = "{urls["Repository"]}"\n' if "Repository" in urls else ""
    return text.replace("[project]\n", f"[project]\n{address}", 1).replace('".site/', '"')


def main() -> None:
    """Build everything anew."""
    pages, wrong = gather(ROOT / "docs", in_navigation())
    if wrong:
        sys.exit("\n".join(wrong))
    shutil.rmtree(PAGES.parent, ignore_errors=True)
    for name, text in pages.items():
        place = PAGES / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    for image in (ROOT / "docs").glob("*.png"):
        shutil.copy(image, PAGES)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    config = PAGES.parent / "zensical.toml"
    config.write_text(configured((ROOT / "zensical.toml").read_text(), project.get("urls", {})))
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict", "--config-file", str(config)]
    subprocess.run(command, cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
