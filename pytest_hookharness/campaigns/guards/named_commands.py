"""Commands that guards name: in their patterns, in files of rules beside them, and in documents."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pytest_hookharness.campaigns.arming.project_texts import is_small, project_files, read_known_text
from pytest_hookharness.campaigns.guards.pattern_texts import find_texts, texts_of
from pytest_hookharness.campaigns.guards.watched_moves import is_asked_before
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.fast_dataclass import dataclass

# Programs that agents call, and guards refuse.
_PROGRAMS = re.compile(
    r"(?:alembic|ansible|apt|apt-get|aws|az|brew|bun|bundle|cargo|cat|cdk|chgrp|chmod|chown|claude|cmake|"
    r"codex|composer|cp|crontab|curl|dd|deno|diskutil|docker|docker-compose|doppler|dotnet|dropdb|eas|env|expo|fastlane|fdisk|find|"
    r"firebase|flyctl|gcloud|gem|gemini|gh|git|gradle|grep|halt|head|helm|jest|heroku|kill|killall|kubectl|"
    r"less|ln|make|mkfs|mongo|mongosh|more|mv|mvn|mysql|nc|netlify|node|npm|npx|nx|openssl|passwd|php|pip|pip3|pipx|pkill|"
    r"pnpm|podman|poetry|poweroff|printenv|prisma|psql|pulumi|python|python3|pytest|railway|rails|rake|reboot|redis-cli|"
    r"rm|rmdir|rsync|ruby|scp|serverless|sed|shred|shutdown|sops|sqlite3|ssh|su|sudo|supabase|svn|systemctl|tail|"
    r"tee|terraform|truncate|twine|unlink|uv|vercel|vitest|wget|wrangler|xargs|yarn) (?=\S)"
)
_CODE = re.compile(r"(?<!`)`([a-z][\w-]+(?: [\w./=:@-]+){1,4})`(?!`)")
_RULES = frozenset(
    [".py", ".js", ".mjs", ".cjs", ".ts", ".sh", ".bash", ".json", ".yaml", ".yml", ".toml", ".conf", ".txt"]
)
# Files of rules that have one pattern in each line.
_LISTS = frozenset([".txt", ".conf"])
_MOST_LINES, _LONGEST_PATTERN = 100, 160
_PROSE = re.compile(r"[^\x20-\x7e]|[.!?] |[{}]| - |: |<\w|\.\.\.|not found")
_PATH = re.compile(r"/?(?:[\w.-]+/)+[\w.-]*|[\w.-]*\.[a-z]\w{1,5}")
_NAMED = re.compile(r"[\w.-]+(?:/[\w.-]+)+\.\w+")
# Commands that scripts run themselves, and that no guard refuses.
_READS = re.compile(
    r"git (?:rev-parse|log|status|diff|ls-files|symbolic-ref|branch --show|config --get|-C \S+ rev-parse)\b"
    r"|(?:head|tail|grep|sed|find) -|sed '|cat 2>"
)
_WORD = re.compile(r"[\w.-]+")
_LARGEST, _LONGEST, _MOST, _MOST_FILES, _MOST_NAMED = 1 << 17, 80, 16, 60, 6


@dataclass(frozen=True, slots=True)
class GuardTexts:
    """
    What the hooks before calls consist of.

    Attributes:
        own: Their commands and scripts.
        loaded: The modules and files of rules that these load, with their texts.
        compared: The texts that match what all of these compare with, each once.
    """

    own: tuple[str, ...]
    loaded: Mapping[Path, str]
    compared: tuple[str, ...]

    @property
    def sources(self) -> tuple[str, ...]:
        """The texts of all of them."""
        return (*self.own, *self.loaded.values())


def read_guards(hook_set: HookSet) -> GuardTexts:
    """Read the hooks before calls, and what they load."""
    # Some hosts have several events before a call, each for some of their tools.
    guards = [hook for hook in hook_set.hooks if is_asked_before(hook_set.host, hook.event)]
    own = tuple(text for hook in guards for text in (hook.command, *hook_set.scripts_of(hook)))
    loaded = dict(_beside(hook_set, own))
    return GuardTexts(own, loaded, tuple(_compared(own, loaded)))


def named_commands(hook_set: HookSet, guards: GuardTexts) -> list[str]:
    """Return commands that guards name, those of different programs first."""
    commands = [text for text in guards.compared if _is_command(text)]
    return mixed([*commands, *_spoken_of(hook_set, {*guards.compared})])[:_MOST]


def named_files(hook_set: HookSet, guards: GuardTexts) -> list[str]:
    """Return the project's files that guards name, and the first file of each folder that they name."""
    known = [path.relative_to(hook_set.root).as_posix() for path in project_files(hook_set.root)]
    texts = (text for text in guards.compared if _PATH.fullmatch(text))
    named = dict.fromkeys(text.strip("/ ").removeprefix("./") for text in texts)
    found = (_first_below(text, known) for text in named)
    return [*dict.fromkeys(file for file in found if file)][:_MOST_NAMED]


def _first_below(text: str, known: Sequence[str]) -> str:
    whole, inside = f"/{text}", f"/{text}/"
    return next((file for file in known if f"/{file}".endswith(whole) or inside in f"/{file}"), "")


def _compared(own: Sequence[str], loaded: Mapping[Path, str]) -> dict[str, None]:
    """Return the texts that match what guards compare with, each once."""
    found = dict.fromkeys(one for text in (*own, *loaded.values()) for one in find_texts(text))
    lists = (text for path, text in loaded.items() if path.suffix in _LISTS)
    # A line of a list is a pattern, without quotes.
    lines = (line.strip() for text in lists for line in text.splitlines()[:_MOST_LINES])
    patterns = (line for line in lines if 0 < len(line) <= _LONGEST_PATTERN and line[0] != "#")
    return found | dict.fromkeys(" ".join(one.split()) for line in patterns for one in texts_of(line))


def _is_command(text: str) -> bool:
    if not _PROGRAMS.match(text) or _READS.match(text) or len(text) > _LONGEST or _PROSE.search(text):
        return False
    return text.count("'") % 2 == 0 and text.count('"') % 2 == 0


def _beside(hook_set: HookSet, sources: Sequence[str]) -> Iterator[tuple[Path, str]]:
    """Yield the modules and files of rules that scripts name, beside them or by their paths, with texts."""
    words = {word for text in sources for word in _WORD.findall(text)}
    known = {hook_set.root / name for name, _ in hook_set.sources}
    folders = [*dict.fromkeys(path.parent for path in known)]
    beside = [
        path
        for folder in folders
        for path in (sorted(folder.iterdir()) if folder.is_dir() else ())
        if path.stem in words or path.name in words
    ]
    for path in dict.fromkeys([*beside, *_named_by_path(hook_set, folders, sources)]):
        if (
            path.suffix in _RULES
            and is_small(path, _LARGEST)
            and (text := read_known_text(path)) not in sources
        ):
            yield path, text


def _named_by_path(hook_set: HookSet, folders: Sequence[Path], sources: Sequence[str]) -> Iterator[Path]:
    """Yield the files of the project whose paths, from a script or from the project, end words of scripts."""
    root = hook_set.root.resolve()
    for text in dict.fromkeys(one for source in sources for one in _NAMED.findall(source)):
        parts = text.split("/")
        ends = ["/".join(parts[place:]) for place in range(len(parts) - 1)]
        places = (folder / end for end in ends for folder in (*folders, hook_set.root))
        found = next((path for path in places if path.is_file()), None)
        if found is not None and found.resolve().is_relative_to(root):
            yield hook_set.root / found.resolve().relative_to(root)


def _spoken_of(hook_set: HookSet, named: set[str]) -> Iterator[str]:
    """Yield commands in the project's documents whose first two words stand in a hook as words."""
    documents = [path for path in project_files(hook_set.root) if path.suffix == ".md"]
    for path in sorted(documents, key=lambda path: len(path.parts))[:_MOST_FILES]:
        if is_small(path, _LARGEST):
            spans = _CODE.findall(read_known_text(path))
            yield from (text for text in spans if {*text.split()[:2]} <= named and not _READS.match(text))


def mixed(commands: Sequence[str]) -> list[str]:
    """Return commands, each once, with the first of each program before the second ones."""
    counts: Counter[str] = Counter()
    ranks: dict[str, int] = {}
    for command in dict.fromkeys(commands):
        program = " ".join(command.split()[: 2 if command.startswith("git ") else 1])
        ranks[command] = counts[program]
        counts[program] += 1
    return sorted(ranks, key=ranks.__getitem__)
