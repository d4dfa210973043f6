"""
This module is concerned with menus: what a free agent can do, as hooks, workspace and script suggest it.

Upper floor, above the sources. A menu is made of what is named somewhere: a move that nobody names is not on
it. Nothing on it touches the hooks themselves or their settings.
"""

from __future__ import annotations

import posixpath
import re
import shutil
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from pytest_hookharness import hosts, sources
from pytest_hookharness.model.moves import (
    Edit,
    Move,
    Read,
    Run,
    Script,
    Stop,
    Subagent,
    ToolCall,
    ToolResult,
    Tools,
    unlabelled,
)
from pytest_hookharness.model.trace import Hooked, Step
from pytest_hookharness.stage import Stage

_NEW = "explored.txt"
_TEXT = "explored\n"
_CODE = re.compile(r"`([^`\n]{2,120})`")
_TO_RUN = re.compile(
    r"\b(?:[Rr]un|[Ee]xecute|[Cc]all|[Uu]se) (?:the command )?[\"']?([\w./-]+(?: [\w./=-]+)*)"
)
# Words after a command that belong to the sentence and not to it.
_AFTER = re.compile(r"\s(?:first|and|then|to|before|after|again|instead|or|once|so|if|until)\b.*")
_TO_SAY = re.compile(r"\b(?i:say|write|reply|answer|output|print)(?: with| only)?:? [\"'“]([^\"'”\n]{1,80})")
_TAG = re.compile(r"<promise>[^<\n]{1,80}</promise>")
# Where scripts look at a file, and where they make one.
_LOOKED_AT = re.compile(
    r"(?:\[ (?:! )?-[edfrswx]|\btest (?:! )?-[edfrswx]|\brm(?: -\w+)*)\s+[\"']?([\w.][\w./-]*)"
)
_MADE = re.compile(r"(?:\btouch\s|(?<![\d&<=])>>?)\s*[\"']?([\w.][\w./-]*)")
_GIT = re.compile(r"\bgit\b")
_TOLD_FILE = re.compile(r"(?<![\w/.-])(\.?[\w-][\w./-]*\.[A-Za-z]\w*|\.[a-z][\w-]+)(?![\w/-])")
_SCRIPT = re.compile(r"(?<![\w/.])\./[\w][\w./-]*")
_TOOL = re.compile(r"\w+")
_OF_TOOLS = frozenset({
    hosts.Role.BEFORE_TOOL, hosts.Role.PERMISSION, hosts.Role.AFTER_TOOL, hosts.Role.TOOL_FAILED,
})  # fmt: skip
_OWN = (".claude", ".codex", ".gemini", ".qwen", ".cursor", ".git", ".github", ".factory", ".agents", "hooks")


class Menu:
    """
    The moves of a free agent; it grows as hooks name more.

    Attributes:
        moves: All moves, in the order in which they were found.
        left: How many moves were found after there were enough.
    """

    def __init__(self, moves: Iterable[Move], *, most: int, fixed: bool, hooks: Collection[str] = ()) -> None:
        """
        Begin with some moves.

        Args:
            moves: What the agent can do at least; a stop is added if there is none among them.
            most: How many moves there may be.
            fixed: Whether that is all.
            hooks: Files that are hooks, which no move touches that hooks name.
        """
        self.moves: list[Move] = []
        self.left = 0
        self._most = most
        self._hooks = hooks
        self._fixed = False
        given = [*moves]
        self._add([] if any(isinstance(move, Stop) for move in given) else [Stop()])
        self._add(given)
        self._fixed = fixed

    def learn(self, steps: Iterable[Step]) -> None:
        """
        Take up what hooks named that were asked in some steps.
        """
        for step in steps:
            if isinstance(step.exchange, Hooked):
                decision = step.exchange.decision
                for text in (*decision.reasons, *decision.to_agent):
                    self._add(named(text, self._hooks))

    def _add(self, moves: Iterable[Move]) -> None:
        for move in map(unlabelled, moves):
            if self._fixed or move in self.moves:
                continue
            if len(self.moves) >= self._most:
                self.left += 1
                continue
            self.moves.append(move)


def suggested(stage: Stage) -> Iterator[Move]:
    """
    What script, doubles, hooks and workspace suggest.
    """
    yield Stop()
    yield from scripted(stage.scenario.script)
    yield Run(command="true")
    doubles = stage.scenario.commands.items()
    yield from (Run(command=name) for name, double in doubles if not (double.hangs or double.prompts))
    files = [path.removeprefix("workspace/") for path in stage.files if path.startswith("workspace/")]
    texts = [text for _, text in sorted(sources.configured(stage).items())]
    hooks = sources.hook_files(stage)
    own = [path for path in files if stage.files[f"workspace/{path}"].kind == "file"]
    own = [path for path in own if path not in hooks and not _is_own(path)]
    source = "\n".join(texts)
    yield from named_in_source(source, hooks)
    yield from (Run(command=word) for word in _SCRIPT.findall(source) if word[2:] in own)
    data = [path for path in own if f"./{path}" not in source][:1]
    looks_at_all = _GIT.search(source) is not None
    looks: list[Edit | Read] = [Read(file=path) for path in data]
    changes = [Edit(file=path, text=_TEXT) for path in (*data, _NEW)]
    yield from (move for move in (*looks, *changes) if _is_seen(stage, move))
    yield from changes if looks_at_all else ()
    yield from _matched(stage)


def _is_seen(stage: Stage, move: Edit | Read) -> bool:
    """
    Whether some hook is asked about a call of its tool.
    """
    call = stage.profile.tools.call(move, stage.facts.workspace)
    return any(
        hosts.select(stage.profile, stage.configuration.hooks, event.name, call.name, tool_input=call.input)
        for event in stage.profile.events.values()
        if event.role in _OF_TOOLS
    )


def scripted(script: Script) -> Iterator[Move]:
    """
    The moves of a script and of its reactions; what must be refused is not among them.
    """
    moves = (*script.acts, *(move for reaction in script.reactions for move in reaction.moves))
    for move in moves:
        match move:
            case Run() | Edit() | Read() if move.expect in (None, "allow"):
                yield replace(move, say="", expect=None)
            case Tools(calls=calls) if all(call.expect in (None, "allow") for call in calls):
                yield Tools(calls=tuple(replace(call, expect=None) for call in calls))
            case Stop() | Subagent():
                yield move
            case _:
                continue


def named(text: str, hooks: Collection[str] = ()) -> Iterator[Move]:
    """
    The moves that a hook names in what it says: commands, words to stop with, and files that are no hooks.
    """
    phrases = [_AFTER.sub("", found).rstrip(".") for found in _TO_RUN.findall(_CODE.sub(" ", text))]
    yield from (Run(command=code.strip()) for code in _CODE.findall(text) if _looks_like_one(code))
    yield from (Run(command=phrase) for phrase in phrases if _is_command(phrase))
    yield from (Stop(text=words) for words in (*_TAG.findall(text), *_TO_SAY.findall(text)))
    for path in _inside(_TOLD_FILE.findall(text), hooks):
        yield Edit(file=path, text=_TEXT)
        yield Run(command=f"rm -f {path}")


def named_in_source(text: str, hooks: Collection[str] = ()) -> Iterator[Move]:
    """
    The moves that the source of hooks suggests: a promise, and the files that it looks at and are no hooks.

    A file that hooks make is their own state: agents remove such files, and do not write them.
    """
    yield from (Stop(text=tag) for tag in _TAG.findall(text))
    made = {*_inside(_MADE.findall(text), hooks)}
    for path in dict.fromkeys((*_inside(_LOOKED_AT.findall(text), hooks), *sorted(made))):
        if path not in made:
            yield Edit(file=path, text=_TEXT)
        yield Run(command=f"rm -f {path}")


def _inside(paths: Iterable[str], hooks: Collection[str]) -> Iterator[str]:
    for path in dict.fromkeys(posixpath.normpath(path.rstrip("./") or ".") for path in paths):
        if path != "." and ".." not in path and not _is_own(path) and path not in hooks:
            yield path


def _looks_like_one(code: str) -> bool:
    # What stands in backticks may as well be a field or a file.
    return _is_command(code) and (" " in code or "/" in code or shutil.which(code) is not None)


def _is_command(words: str) -> bool:
    first = words.split(maxsplit=1)[0] if words.split() else ""
    return first.startswith("./") or shutil.which(first) is not None


def _is_own(path: str) -> bool:
    return path.split("/", maxsplit=1)[0] in _OWN


def _matched(stage: Stage) -> Iterator[Move]:
    """
    Calls of tools that hooks wait for by name and that no other move makes; their result is given.
    """
    tools, place = stage.profile.tools, stage.facts.workspace
    plain = (
        Run(command="true"),
        Edit(file=_NEW, text=""),
        Edit(file=_NEW, text="", old="x"),
        Read(file=_NEW),
    )
    known = {tools.call(operation, place).name for operation in plain}
    for hook in stage.configuration.hooks:
        if stage.profile.events[hook.event].role not in _OF_TOOLS:
            continue
        for word in (hook.matcher or "").split("|"):
            if _TOOL.fullmatch(word) and word not in known:
                known.add(word)
                yield Tools(calls=(ToolCall(name=word, input={}, given=ToolResult(text="ok")),))
