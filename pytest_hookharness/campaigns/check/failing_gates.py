"""
Stop hooks that start tests or a linter, in sessions where these fail.

What they start is seldom installed in a copy of the project, or needs the network, so a test double stands in
for it. A session is kept if the stop is refused while the double fails, and allowed while it succeeds. Where
that shows nothing, it is tried in a project with the files that the hooks name, as many check nothing else.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.checked_projects import project_for_checks
from pytest_hookharness.campaigns.arming.hook_roles import role_of
from pytest_hookharness.campaigns.check.gates.changed_sources import source_edits
from pytest_hookharness.campaigns.check.gates.local_checks import (
    failing_stand_ins,
    is_of_module,
    local_checks,
    stand_in,
    words_for,
)
from pytest_hookharness.campaigns.check.played_sessions import TryOut, kept_to_its_end
from pytest_hookharness.campaigns.check.session_scenario import short_scenario_of
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import SHELL_SCRIPT, code_of
from pytest_hookharness.model.checkup import CheckSession, HookSet, is_named, script_of
from pytest_hookharness.model.moves import Edit
from pytest_hookharness.model.protocol import Hook
from pytest_hookharness.model.scenario import Double

# Programs that run tests, linters and builds.
_PROGRAMS = (
    r"(?:npm|pnpm|yarn|npx|pnpx|bunx?|deno|make|tox|nox|pytest|ruff|mypy|pyright|flake8|black|uvx?|poetry"
    r"|pre-commit|cargo|go|gofmt|golangci-lint|gradle|mvn|dotnet|mix|bundle|rake|rspec|rubocop|composer|phpunit"
    r"|phpstan|swift|xcodebuild|flutter|dart|tsc|eslint|biome|prettier|vitest|jest|turbo|nx|terraform)"
)
_STARTED = (
    r"(?:^|[|;&({!`)]|(?<!\S)(?:if|then|else|elif|do|while|until|timeout\s+\S+|time|exec|command|env"
    r"|xargs(?:\s+-\S+(?:\s+\d+)?)*)\s"
    # A function that runs its words, with a title before them.
    r"|(?<!\S)\w*(?:run|check|gate|step)\w*[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*')[ \t])"
    rf"\s*(?:\w+=[^\s()`]*\s+)*({_PROGRAMS})(?=\s+(?!-v\b)[\w./-]|\s*(?:[;&|)]|\d?>|$))"
)
_IN_SHELL = re.compile(_STARTED, re.MULTILINE)
# A command in a variable, which a shell script runs later.
_KEPT = re.compile(
    rf"^[ \t]*(?:local[ \t]+)?\w*(?:CMD|COMMAND|cmd|command)\w*=[\"']({_PROGRAMS})(?=[ \t]+\w)", re.MULTILINE
)
_RUNS_KEPT = re.compile(
    r"\b(?:eval|sh[ \t]+-c)[ \t]+\"?\$|(?:^|[;&|(!]|\b(?:if|then))[ \t]*\$\{?\w*(?:CMD|COMMAND|cmd|command)",
    re.MULTILINE,
)
# In a list of words, or in a text that a shell gets; common words only with what they are asked to do.
_NAMED = (
    r"(?:p?npm|yarn|p?npx|bunx?|pytest|ruff|mypy|pyright|tox|nox|cargo|tsc|eslint|vitest|jest|uvx?|poetry"
    r"|(?:make|go|dotnet|mix|swift|gradle)(?=(?:[\"']\s*,\s*\[?\s*[\"']|\s+)"
    r"(?:test|vet|build|lint|check|typecheck|format|fmt|compile)\b))"
)
_IN_TEXT = re.compile(rf"[\[(:=,]\s*[fr]?[\"'`]({_NAMED})(?:[\"']\s*,\s*\[?\s*[\"'\w]|\s+[\w${{-])")
# The words of a command after its name, in code without quoted text, and the rest of a list of words.
_WORDS, _LIST = re.compile(r"[^;&|)\n]*"), re.compile(r"[^\])\n]*")
# What a program that starts others is given for a helper of the hook, and not for a file that is checked.
_HELPER = re.compile(
    r"\$\{?\w+\}?[\"']?/|\$\((?:cd|dirname|pwd|realpath|git rev-parse)\b"
    r"|\b(?:go|cargo|swift|dotnet|dart|deno) run\b"
    r"|\b(?:run|exec|python[\d.]*|node|tsx|ts-node|bun|deno|bash|sh)[\"']?,?\s+(?:-\S+\s+)*[\"']?\$"
    r"|\b(?:node|tsx|ts-node|python[\d.]*)[\"']\s*,\s*[\w.]*\(?\w"
)
# An option that names the project and not what runs.
_PLACE = re.compile(
    r"--(?:manifest-path|prefix|project|directory|cwd|dir|rootdir)(?:=|[ \t]+)(?:\"[^\"\n]*\"|\S+)"
)
# Extensions of files whose changes the scripts look for.
_KINDS = ("ts", "tsx", "js", "jsx", "py", "go", "rs", "java", "kt", "rb", "php", "swift", "cs", "ex", "dart")
_WAY_OUT = "makes the hook's check succeed"
# A file whose kind no gate names.
ANY_FILE = "notes.txt"
FAILS, _SUCCEEDS = Double(exit=1, stdout="1 check failed\n"), Double(stdout="All checks passed\n")


def find_gates(hook_set: HookSet, waiting: Sequence[Hook], play: TryOut) -> list[CheckSession]:
    """
    Return the sessions in which checks of Stop hooks fail, in the project or with files that they check.

    New files are tried first, then changes of files that git tracks.
    """
    for prepared, known in ((False, False), (True, False), (True, True)):
        planned = [*plan_failing_gates(hook_set, waiting, prepared=prepared, known=known)]
        if kept := [*kept_to_its_end(play(planned))]:
            return kept
    return []


def plan_failing_gates(
    hook_set: HookSet, waiting: Sequence[Hook], *, prepared: bool = False, known: bool = False
) -> Iterator[CheckSession]:
    """
    Yield two short sessions with the checks that Stop hooks start: in one they fail, in one not.

    If ``prepared``, the project has the files that they name; without such files, nothing is yielded. If
    ``known``, git tracks the files that the agent changes; else they are new.
    """
    hooks = [hook for hook in waiting if role_of(hook_set.host, hook.event) is hosts.Role.STOP]
    started = sorted({name for hook in hooks for name in started_checks(hook_set, hook)})
    paths = local_checks(hook_set, hooks)
    if not (started or paths) or (known and not hook_set.git):
        return
    texts = [text for hook in hooks for text in hook_set.scripts_of(hook)]
    made = project_for_checks(hook_set, texts, started)
    if prepared and not known and not made.files:
        return
    sources = [f"{place}changed.{kind}" for place, kind in changed_places("\n".join(texts))]
    sources += [f"src/changed.{kind}" for kind in made.kinds if prepared]
    new = [Edit(file=file, text="text\n") for file in dict.fromkeys([ANY_FILE, *sources])]
    own = source_edits(hook_set, texts) if known else []
    changes = own or new
    scenario = short_scenario_of(hook_set, changes)
    before = {change.file: "old text\n" for change in new} if known and not own else {}
    if prepared:
        scenario = replace(scenario, files={**scenario.files, **made.files, **before})
    lists = [made.words] if prepared and made.files else []
    lists += [", ".join(before)] if before else []
    for double in (FAILS, _SUCCEEDS):
        local = {path: stand_in(path, fails=double is FAILS) for path in paths}
        doubles = {**scenario.commands, **dict.fromkeys(started, double)}
        says = "failing test doubles" if double is FAILS else "succeeding test doubles"
        names = ", ".join([*started, *map(words_for, paths)])
        yield CheckSession(
            title=f"{says} for {names}",
            scenario=replace(scenario, commands=doubles, files={**scenario.files, **local}),
            ends=False,
            proof=True,
            active=f"a project that has {' and '.join(lists)}" if lists else "",
            way_out=f"{_WAY_OUT} ({names})",
        )


def failing_checks(session: CheckSession) -> list[str]:
    """
    Return the checks on whose failure the end of a kept session depends; none for any other session.

    These are commands, and paths of programs and scripts of the project.
    """
    if not session.way_out.startswith(_WAY_OUT):
        return []
    commands = [name for name, double in session.scenario.commands.items() if double == FAILS]
    return commands + failing_stand_ins(session.scenario.files)


def with_succeeding_checks(hook_set: HookSet, session: CheckSession, refusing: str) -> CheckSession | None:
    """
    Return the session with test doubles that let the checks of its refusing hooks succeed.

    Its way out names them. ``None`` if the hooks start no check, or only checks that already have test
    doubles.
    """
    hooks = [hook for hook in hook_set.hooks if is_named(hook.command, refusing)]
    started = {
        name for hook in hooks for name in started_checks(hook_set, hook)
    } - session.scenario.commands.keys()
    modules = [path for path in local_checks(hook_set, hooks) if is_of_module(path)]
    paths = [path for path in modules if path not in session.scenario.files]
    if not (started or paths):
        return None
    names = [
        name if shutil.which(name) else f"{name}, which is not on the PATH here" for name in sorted(started)
    ]
    names += map(words_for, paths)
    commands = {**session.scenario.commands, **dict.fromkeys(sorted(started), _SUCCEEDS)}
    files = {**session.scenario.files, **{path: stand_in(path, fails=False) for path in paths}}
    scenario = replace(session.scenario, commands=commands, files=files)
    return replace(session, scenario=scenario, way_out=f"{_WAY_OUT} ({'; '.join(names)})")


def started_checks(hook_set: HookSet, hook: Hook) -> Iterator[str]:
    """
    Yield the checks that a hook starts, without what starts its own script, or a helper of it anywhere.

    A double of a program that also starts a helper would replace the hook's own logic.
    """
    texts = hook_set.scripts_of(hook)
    own = set[str]()
    found = list[str]()
    for text in texts or [hook.command]:
        shell = not texts or SHELL_SCRIPT.match(text)
        code, pattern, rest = (code_of(text), _IN_SHELL, _WORDS) if shell else (text, _IN_TEXT, _LIST)
        kept = _KEPT.finditer(text) if shell and _RUNS_KEPT.search(text) else ()
        for start in (*pattern.finditer(code), *kept):
            words = rest.match(code, start.end(1))
            found.append(start[1])
            if words and _starts_helper(start[1], text[words.start() : words.end()]):
                own.add(start[1])
    yield from (
        name for name in found if name not in own and not (texts and re.search(rf"\b{name}\b", hook.command))
    )


def _starts_helper(name: str, words: str) -> bool:
    """Return whether the words after a program name a script, a path in a variable, or a module."""
    words = _PLACE.sub("", words)
    return bool(script_of(words) or _HELPER.search(f"{name}{words}"))


def changed_places(text: str) -> Iterator[tuple[str, str]]:
    """Yield the folders and the kinds of files that scripts name."""
    for kind in _KINDS:
        if re.search(rf"[.(|{{,]{kind}\b", text):
            yield from ((place, kind) for place in ("", "src/") if place in text)
