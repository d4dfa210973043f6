"""Commands that guards name: in their patterns, in files of rules beside them, and in documents."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.project_texts import is_small, project_files
from pytest_hookharness.campaigns.guards.pattern_texts import find_texts
from pytest_hookharness.model.checkup import HookSet

# Programs that agents call, and guards refuse.
_PROGRAMS = re.compile(
    r"(?:alembic|ansible|apt|apt-get|aws|az|brew|bun|bundle|cargo|cat|chgrp|chmod|chown|claude|cmake|"
    r"codex|composer|cp|crontab|curl|dd|deno|docker|docker-compose|dotnet|dropdb|env|fdisk|find|"
    r"firebase|flyctl|gcloud|gem|gemini|gh|git|gradle|grep|halt|head|helm|heroku|kill|killall|kubectl|"
    r"less|ln|make|mkfs|mongo|more|mv|mvn|mysql|nc|netlify|node|npm|npx|passwd|php|pip|pip3|pipx|pkill|"
    r"pnpm|podman|poetry|poweroff|prisma|psql|pulumi|python|python3|railway|rails|rake|reboot|redis-cli|"
    r"rm|rmdir|rsync|ruby|scp|sed|shred|shutdown|sqlite3|ssh|su|sudo|supabase|svn|systemctl|tail|"
    r"tee|terraform|truncate|twine|unlink|uv|vercel|wget|wrangler|xargs|yarn) (?=\S)"
)
_CODE = re.compile(r"(?<!`)`([a-z][\w-]+(?: [\w./=:@-]+){1,4})`(?!`)")
_RULES = frozenset(
    [".py", ".js", ".mjs", ".cjs", ".ts", ".sh", ".bash", ".json", ".yaml", ".yml", ".toml", ".conf", ".txt"]
)
_PROSE = re.compile(r"[^\x20-\x7e]|[.!?] |[{}]| - |: |<\w|\.\.\.|not found")
_PATH = re.compile(r"/?(?:[\w.-]+/)+[\w.-]*|[\w-]*\.[a-z]\w{1,5}")
_NAMED = re.compile(r"[\w.-]+(?:/[\w.-]+)+\.\w+")
# What scripts run themselves, and no guard refuses.
_READS = re.compile(
    r"git (?:rev-parse|log|status|diff|ls-files|symbolic-ref|branch --show|config --get|-C \S+ rev-parse)\b"
    r"|(?:head|tail|grep|sed|find) -|sed '|cat 2>"
)
_WORD = re.compile(r"[\w.-]+")
_LARGEST, _LONGEST, _MOST, _MOST_FILES, _MOST_NAMED = 1 << 17, 80, 16, 60, 6


def named_commands(hook_set: HookSet) -> list[str]:
    """Return commands that the hooks before calls name, those of different programs first."""
    found = dict.fromkeys(one for text in guard_texts(hook_set) for one in find_texts(text))
    commands = [text for text in found if _is_command(text)]
    return mixed([*commands, *_spoken_of(hook_set, {*found})])[:_MOST]


def named_files(hook_set: HookSet) -> list[str]:
    """
    Return files of the project that guards name, or that lie in folders that they name.

    Those of different folders come first, as a guard may have one rule for each.
    """
    known = [path.relative_to(hook_set.root).as_posix() for path in project_files(hook_set.root)]
    texts = dict.fromkeys(one for text in guard_texts(hook_set) for one in find_texts(text))
    named = dict.fromkeys(text.strip("/ ").removeprefix("./") for text in texts if _PATH.fullmatch(text))
    found = (_first_below(text, known) for text in named)
    return [*dict.fromkeys(file for file in found if file)][:_MOST_NAMED]


def _first_below(text: str, known: Sequence[str]) -> str:
    return next((file for file in known if file == text or file.startswith(f"{text}/")), "")


def guard_texts(hook_set: HookSet) -> list[str]:
    """Return the sources of the hooks before calls, and of the modules and rules that they load."""
    profile = hosts.find(hook_set.host)
    roles = (hosts.Role.BEFORE_TOOL, hosts.Role.PERMISSION)
    before = {rule.name for role in roles for rule in profile.for_role(role)}
    guards = [hook for hook in hook_set.hooks if hook.event in before]
    sources = [text for hook in guards for text in (hook.command, *hook_set.scripts_of(hook))]
    return [*sources, *_beside(hook_set, sources)]


def _is_command(text: str) -> bool:
    if not _PROGRAMS.match(text) or _READS.match(text) or len(text) > _LONGEST or _PROSE.search(text):
        return False
    return text.count("'") % 2 == 0 and text.count('"') % 2 == 0


def _beside(hook_set: HookSet, sources: Sequence[str]) -> Iterator[str]:
    """Yield the texts of modules and files of rules that scripts name, beside them or by their paths."""
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
        if path.suffix in _RULES and path not in known and is_small(path, _LARGEST):
            yield _read(path)


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
            spans = _CODE.findall(_read(path))
            yield from (text for text in spans if {*text.split()[:2]} <= named and not _READS.match(text))


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def mixed(commands: Sequence[str]) -> list[str]:
    """Return commands, each once, with the first of each program before the second ones."""
    counts: Counter[str] = Counter()
    ranks: dict[str, int] = {}
    for command in dict.fromkeys(commands):
        program = " ".join(command.split()[: 2 if command.startswith("git ") else 1])
        ranks[command] = counts[program]
        counts[program] += 1
    return sorted(ranks, key=ranks.__getitem__)
