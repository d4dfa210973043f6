"""
Candidate moves: what an agent with free choice may try, as script, hooks and workspace suggest it.

A move that is named nowhere is not a candidate. No candidate touches the hooks or their settings.
"""

from __future__ import annotations

import posixpath
import re
import shutil
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from enum import Enum
from functools import partial

from pytest_hookharness import hosts
from pytest_hookharness.model.exploration import LEFT
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import (
    Edit,
    Move,
    Read,
    RunCommand,
    Script,
    Stop,
    Subagent,
    ToolCall,
    ToolResult,
    Tools,
    unlabelled,
)
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.model.trace import HookEvent, Step
from pytest_hookharness.simulation.testbed import hook_source
from pytest_hookharness.simulation.testbed.testbed import Testbed

# A commit whose id does not depend on the time, so that a path gives one state.
_AT = "2024-01-02T00:00:00Z"
_COMMIT = f"git add -A && GIT_AUTHOR_DATE={_AT} GIT_COMMITTER_DATE={_AT} git commit -qm explored"
_NEW = "explored.txt"
_TEXT = "explored\n"
_CODE = re.compile(r"`([^`\n]{2,120})`")
_TO_RUN = re.compile(
    r"\b(?:[Rr]un|[Ee]xecute|[Cc]all|[Uu]se)(?: the command)?:? [\"']?"
    r"([\w./-]+(?: (?:&& )?(?:[\w./=-]+|\"[^\"\n]*\"|'[^'\n]*'))*)"
)
# Words after a command that belong to the sentence and not to it.
_AFTER = re.compile(
    r"^((?:\"[^\"]*\"|'[^']*'|[^\"'])*?)\s(?:first|and|then|to|before|after|again|instead|or|once|so|if|until)\b.*"
)
_TO_SAY = re.compile(
    r"\b(?i:say|write|reply|answer|output|print)(?: with| only)?:? [\"'“]([^\"'”\n]{1,80})"
    r"(?![^\"'”\n]|[\"'”]\s(?:in|into|to\s[`\"']?[\w./-]*\.\w))"
)
_TO_WRITE = re.compile(
    r"\b(?i:write|put|add|append) [\"'“]([^\"'”\n]{1,80})[\"'”] (?:in|into|to) (?:the file )?"
    r"[`\"']?([\w./-]+\.\w+)"
)
# How a Python traceback begins; `call last` in it is not a command.
_TRACEBACK = "(most recent call last)"
_TAG = re.compile(r"<promise>[^<\n]{1,80}</promise>")
_GIT = re.compile(r"\bgit\b")
_NAMED_FILE = re.compile(
    # Not `self.value`, and not `json.loads(`; some compilers write `file.ts(3,5)`.
    r"(?<![\w/.-])(?!(?:self|this)\.)(\.?[\w-][\w./-]*\.[A-Za-z]\w*|\.[a-z][\w-]+)(?![\w/-]|\((?!\d+,\d+\)))"
)
# A word in backticks that the text calls a file, or has the agent make or remove.
_CALLED_FILE = re.compile(
    r"\b(?i:file|create|write|touch|make|add|remove|delete)\b(?:\s[a-z]+){0,3}\s`(\.?[\w][\w./-]*)`"
)
_SCRIPT = re.compile(r"(?<![\w/.])\./[\w][\w./-]*")
_TOOL = re.compile(r"\w+")
# Removes a file of the current folder, and can reach nothing else.
_REMOVAL = re.compile(r"rm -f [\w.-]+")
# A path that is absolute, in a home folder, or above the current folder.
_ELSEWHERE = re.compile(r"(?<![\w.])[/~]|\.\.")
WITHHELD = (
    "a command that only a hook names, which might reach this machine; to have it run, add it to `explore`"
)
_OF_TOOLS = frozenset({
    hosts.Role.BEFORE_TOOL, hosts.Role.PERMISSION, hosts.Role.AFTER_TOOL, hosts.Role.TOOL_FAILED,
})  # fmt: skip
# Beside those in which hosts keep settings.
_OWN = (".git", ".github", ".agents", "hooks")


class Reach(Enum):
    """The reach of a command that only a hook names, perhaps as a warning against it."""

    CONTAINED = "only the sandbox"
    WORKSPACE = "the folders of the scenario in the sandbox, and others of the machine"
    MACHINE = "the machine and the network"

    def withholds(self, command: str) -> bool:
        """Return whether a command that only a hook names must not be run."""
        if self is Reach.MACHINE:
            return _REMOVAL.fullmatch(command) is None
        return self is Reach.WORKSPACE and _ELSEWHERE.search(command) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestions:
    """
    Suggested moves by their source.

    Attributes:
        given: Moves that the author of the scenario gives.
        named: Moves that the hooks and the workspace suggest.
        hooks: The files of hooks; no suggested move touches them.
    """

    given: tuple[Move, ...]
    named: tuple[Move, ...] = ()
    hooks: frozenset[str] = frozenset()
    reach: Reach = Reach.CONTAINED


class CandidateMoves:
    """The candidate moves of an exploration; more are added as hooks name them, or counted by reason."""

    def __init__(self, suggestions: Suggestions, *, limit: int, fixed: bool) -> None:
        """Start with some moves, and a stop if there is none. With ``fixed``, no others are added."""
        self.moves: list[Move] = []
        self.missing: Counter[str] = Counter()
        self._limit = limit
        self._fixed = fixed
        self._suggestions = suggestions
        self._withheld: set[str] = set()
        given = suggestions.given
        self._add(given if any(isinstance(move, Stop) for move in given) else (Stop(), *given))
        self._suggest(suggestions.named)

    def learn(self, steps: Iterable[Step]) -> None:
        """Add the moves that hooks named in some steps."""
        for step in steps:
            if isinstance(step.exchange, HookEvent):
                decision = step.exchange.decision
                for text in (*decision.reasons, *decision.to_agent):
                    self._suggest(named(text, self._suggestions.hooks))

    def _suggest(self, moves: Iterable[Move]) -> None:
        if self._fixed:
            return
        for move in moves:
            command = move.command if isinstance(move, RunCommand) else ""
            if not command or move in self.moves or not self._suggestions.reach.withholds(command):
                self._add((move,))
            elif command not in self._withheld:
                self._withheld.add(command)
                self.missing[WITHHELD] += 1

    def _add(self, moves: Iterable[Move]) -> None:
        for move in map(unlabelled, moves):
            if move in self.moves:
                continue
            if len(self.moves) >= self._limit:
                self.missing[LEFT] += 1
                continue
            self.moves.append(move)


def suggest(testbed: Testbed) -> Suggestions:
    """Return what script, doubles, hooks and workspace suggest."""
    doubles = testbed.scenario.commands.items()
    runs = (RunCommand(command=name) for name, double in doubles if not (double.hangs or double.prompts))
    return Suggestions(
        given=(Stop(), *scripted(testbed.scenario.script), RunCommand(command="true"), *runs),
        named=tuple(_suggested(testbed)),
        hooks=hook_source.hook_files(testbed),
        reach=_reach_of(testbed),
    )


def _reach_of(testbed: Testbed) -> Reach:
    if testbed.sandbox.tier is not Tier.NAMESPACES or testbed.scenario.network:
        return Reach.MACHINE
    return Reach.CONTAINED if testbed.sandbox.contained else Reach.WORKSPACE


def _suggested(testbed: Testbed) -> Iterator[Move]:
    files = [path.removeprefix("workspace/") for path in testbed.files if path.startswith("workspace/")]
    texts = [text for _, text in sorted(hook_source.configured(testbed).items())]
    hooks = hook_source.hook_files(testbed)
    own = [path for path in files if testbed.files[f"workspace/{path}"].kind == "file"]
    own = [path for path in own if path not in hooks and not _is_own(path)]
    source = "\n".join(texts)
    yield from named_in_source(source, hooks)
    yield from (RunCommand(command=word) for word in _SCRIPT.findall(source) if word[2:] in own)
    data = [path for path in own if f"./{path}" not in source][:1]
    looks_at_all = _GIT.search(source) is not None
    looks: list[Edit | Read] = [Read(file=path) for path in data]
    changes = [Edit(file=path, text=_TEXT) for path in (*data, _NEW)]
    yield from (move for move in (*looks, *changes) if _is_seen(testbed, move))
    yield from changes if looks_at_all else ()
    if looks_at_all and "workspace/.git/HEAD" in testbed.files:
        yield RunCommand(command=_COMMIT)
    yield from _matched(testbed)


def _is_seen(testbed: Testbed, move: Edit | Read) -> bool:
    """Return whether some hook is asked about calls of this move's tool."""
    folder = testbed.facts.workspace
    call = testbed.profile.tools.call(move, folder)
    select = partial(hosts.select, testbed.profile, testbed.configuration.hooks, folder=folder)
    return any(
        select(event.name, call.name, tool_input=call.input)
        for event in testbed.profile.events.values()
        if event.role in _OF_TOOLS
    )


def scripted(script: Script) -> Iterator[Move]:
    """Yield the moves of a script and of its reactions, without those that hooks are expected to refuse."""
    moves = (*script.acts, *(move for reaction in script.reactions for move in reaction.moves))
    for move in moves:
        match move:
            case RunCommand() | Edit() | Read() if move.expect in (None, "allow"):
                yield replace(move, say="", expect=None)
            case Tools(calls=calls) if all(call.expect in (None, "allow") for call in calls):
                yield Tools(calls=tuple(replace(call, expect=None) for call in calls))
            case Stop() | Subagent():
                yield move
            case _:
                continue


def named(text: str, hooks: Collection[str] = ()) -> Iterator[Move]:
    """Yield the moves that a hook's message names: commands, last words, and files that are not hooks."""
    text = text.replace(_TRACEBACK, "")
    phrases = [_AFTER.sub(r"\1", found).rstrip(".") for found in _TO_RUN.findall(_CODE.sub(" ", text))]
    yield from (RunCommand(command=code.strip()) for code in _CODE.findall(text) if _looks_like_one(code))
    yield from (RunCommand(command=phrase) for phrase in phrases if _is_command(phrase))
    yield from (Stop(text=words) for words in (*_TAG.findall(text), *_TO_SAY.findall(text)))
    for words, path in _TO_WRITE.findall(text):
        yield from (Edit(file=inside, text=f"{words}\n") for inside in _inside((path,), hooks))
    words = (word for word in _CALLED_FILE.findall(text) if not _looks_like_one(word))
    for path in _inside((*_NAMED_FILE.findall(text), *words), hooks):
        yield Edit(file=path, text=_TEXT)
        yield RunCommand(command=f"rm -f {path}")


def named_in_source(text: str, hooks: Collection[str] = ()) -> Iterator[Move]:
    """
    Yield the moves that the source of hooks suggests: a promise tag, and files that it looks at.

    A file that hooks make is their own state: an agent may remove it, but does not write it. Files of hooks
    are left out.
    """
    yield from (Stop(text=tag) for tag in _TAG.findall(text))
    made = {*_inside(hook_source.made(text), hooks)}
    for path in dict.fromkeys((*_inside(hook_source.looked_at(text), hooks), *sorted(made))):
        if path not in made:
            yield Edit(file=path, text=_TEXT)
        yield RunCommand(command=f"rm -f {path}")


def _inside(paths: Iterable[str], hooks: Collection[str]) -> Iterator[str]:
    for path in dict.fromkeys(posixpath.normpath(path.rstrip("./") or ".") for path in paths):
        if path != "." and ".." not in path and not _is_own(path) and path not in hooks:
            yield path


def _looks_like_one(code: str) -> bool:
    # Text in backticks may also be a field or a file.
    return _is_command(code) and (" " in code or "/" in code or shutil.which(code) is not None)


def _is_command(words: str) -> bool:
    first = words.split(maxsplit=1)[0] if words.split() else ""
    return first.startswith("./") or shutil.which(first) is not None


def _is_own(path: str) -> bool:
    top = path.split("/", maxsplit=1)[0]
    return top in _OWN or top in hosts.settings_folders()


def _matched(testbed: Testbed) -> Iterator[Move]:
    """Yield calls of tools that matchers name and no other move uses; their result is given."""
    tools, place = testbed.profile.tools, testbed.facts.workspace
    plain = (
        RunCommand(command="true"),
        Edit(file=_NEW, text=""),
        Edit(file=_NEW, text="", old="x"),
        Read(file=_NEW),
    )
    known = {tools.call(operation, place).name for operation in plain}
    for hook in testbed.configuration.hooks:
        if testbed.profile.events[hook.event].role not in _OF_TOOLS:
            continue
        for word in (hook.matcher or "").split("|"):
            if _TOOL.fullmatch(word) and word not in known:
                known.add(word)
                yield Tools(calls=(ToolCall(name=word, input={}, given=ToolResult(text="ok")),))
