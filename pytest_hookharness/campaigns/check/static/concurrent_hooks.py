"""
Hooks that the host starts at the same time, of which one rewrites the files that another reads.

A list of formatters and tests is written as a sequence. Most hosts start all hooks of an event at once, so
the tests may read a file that is half rewritten, and of two formatters the later one wins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import permutations

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.hook_roles import role_of
from pytest_hookharness.campaigns.check.reads.shared_symptoms import together
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import SHELL_SCRIPT, code_of
from pytest_hookharness.judging.findings.codes import ORDER
from pytest_hookharness.model.checkup import HookSet, Symptom
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Hook

_JS, _PY, _GO, _RUST, _NET, _RUBY, _PHP, _ELIXIR = "js", "py", "go", "rs", "cs", "rb", "php", "ex"
# Programs that rewrite files, by the language of these.
_REWRITES: Mapping[str, str] = {
    r"prettier\b[^\n;&|]*\s(?:--write|-w)\b": _JS,
    r"eslint\b[^\n;&|]*\s--fix\b": _JS,
    r"biome\s+(?:check|format|lint)\b[^\n;&|]*\s(?:--write|--apply)\b": _JS,
    r"(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?(?:format|lint:fix|fmt)\b(?!:check)": _JS,
    r"black\b(?![^\n;&|]*\s--(?:check|diff)\b)": _PY,
    r"isort\b(?![^\n;&|]*\s--(?:check|diff))": _PY,
    r"ruff\s+(?:check\b[^\n;&|]*\s--fix\b|format\b(?![^\n;&|]*\s--(?:check|diff)\b))": _PY,
    r"autopep8\b[^\n;&|]*\s(?:-i|--in-place)\b": _PY,
    r"(?:gofmt|goimports|gofumpt)\b[^\n;&|]*\s-w\b": _GO,
    r"(?:cargo\s+fmt|rustfmt)\b(?![^\n;&|]*\s--check\b)": _RUST,
    r"dotnet\s+format\b(?![^\n;&|]*\s--verify-no-changes\b)": _NET,
    r"rubocop\b[^\n;&|]*\s(?:-[aA]|--auto-?correct(?:-all)?)\b": _RUBY,
    r"php-cs-fixer\s+fix\b(?![^\n;&|]*\s--dry-run\b)": _PHP,
    r"mix\s+format\b(?![^\n;&|]*\s--check)": _ELIXIR,
}
# Programs that read the files of a project, to test or to judge them.
_READS: Mapping[str, str] = {
    r"(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?(?:test|lint|check|typecheck|type-check|build)\b(?!:fix)": _JS,
    r"(?:jest|vitest|tsc|eslint)\b": _JS,
    r"(?:pytest|mypy|pyright|flake8|pylint)\b": _PY,
    r"ruff\s+check\b": _PY,
    r"go\s+(?:test|vet|build)\b": _GO,
    r"cargo\s+(?:test|clippy|check|build)\b": _RUST,
    r"dotnet\s+(?:test|build)\b": _NET,
    r"(?:rspec|rubocop)\b": _RUBY,
    r"(?:phpunit|phpstan|psalm)\b": _PHP,
    r"mix\s+(?:test|credo|compile)\b": _ELIXIR,
}
# Where a shell begins a command, also behind what starts others.
_STARTS = (
    r"(?:^|[;&|({!]|\$\(|\b(?:then|do|else|if))[ \t]*(?:\w+=\S*[ \t]+)*"
    r"(?:(?:npx|bunx|uvx|(?:uv|poetry)[ \t]+run|(?:pnpm|bundle)[ \t]+exec|python3?[ \t]+-m|timeout[ \t]+\S+)"
    r"[ \t]+(?:-\S+[ \t]+)*)?(?:\S*/)?"
)
_AT_ONCE = frozenset({hosts.Role.AFTER_TOOL, hosts.Role.STOP, hosts.Role.SUBAGENT_STOP})
_ADVICE = "Start them one after the other from one script, the ones that rewrite files first."


@dataclass(frozen=True, slots=True)
class _FileUse:
    """The programs of one hook: those that rewrite and those that only read files, by language."""

    hook: Hook
    rewrites: Mapping[str, str]
    reads: Mapping[str, str]


def concurrent_hooks(hook_set: HookSet) -> Iterator[Symptom]:
    """Yield one symptom for each event whose hooks rewrite and read the same files at the same time."""
    profile = hosts.find(hook_set.host)
    if profile.process.one_by_one:
        return
    for event in dict.fromkeys(hook.event for hook in hook_set.hooks):
        hooks = [hook for hook in hook_set.hooks if hook.event == event]
        if role_of(hook_set.host, event) not in _AT_ONCE or any(hook.sequential for hook in hooks):
            continue
        uses = [_use(hook_set, hook) for hook in hooks]
        pairs = [
            (one, other, language)
            for one, other in permutations(uses, 2)
            for language in one.rewrites
            if _meet(one.hook, other.hook) and language in {**other.rewrites, **other.reads}
        ]
        if pairs:
            one, other, language = pairs[0]
            second = {**other.reads, **other.rewrites}[language]
            does = "rewrite" if language in other.rewrites else "read"
            text = (
                f"`{second}` may {does} files while `{one.rewrites[language]}` rewrites them, because "
                f"{hook_set.host} starts all hooks of an event at the same time."
            )
            concerned = {use.hook.command for one, other, _ in pairs for use in (one, other)}
            yield together(ORDER, [hook for hook in hooks if hook.command in concerned], text, _ADVICE)


def _use(hook_set: HookSet, hook: Hook) -> _FileUse:
    texts = [text for text in hook_set.code_of(hook) if text == hook.command or SHELL_SCRIPT.match(text)]
    code = "\n".join(map(code_of, texts))
    return _FileUse(hook, _programs(_REWRITES, code), _programs(_READS, code))


def _programs(known: Mapping[str, str], code: str) -> dict[str, str]:
    """Return the first program of each language that a shell starts, as it is called."""
    found: dict[str, str] = {}
    for pattern, language in known.items():
        started = re.search(rf"{_STARTS}(?P<name>{pattern})", code, re.MULTILINE)
        if started and language not in found:
            words = started["name"].split()
            found[language] = " ".join(words[: 3 if "run" in words else 2]).rstrip('"')
    return found


def _meet(one: Hook, other: Hook) -> bool:
    """Return whether a call may trigger both hooks, by the words of their matchers."""
    if one.command == other.command or one.options.get("if") != other.options.get("if"):
        return False
    words = [{*re.findall(r"\w+", hook.matcher or "")} for hook in (one, other)]
    return not all(words) or bool(words[0] & words[1])
