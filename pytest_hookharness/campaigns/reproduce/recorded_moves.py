"""
The moves of a recorded agent as acts of a script.

A call that failed, that the host or a person refused, that has no result, or that reaches out of the project
is not carried out again: hooks see it with its recorded result. Calls that hooks refused are made as they
were, because the hooks shall refuse them again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import field

from pytest_hookharness.campaigns.reproduce.outside_world import find_reach, is_outside
from pytest_hookharness.hosts.transcripts.session_stream import SessionStream
from pytest_hookharness.judging.detectors.signatures import ActionKind, command_of, file_of, kind_of
from pytest_hookharness.model.actions import Action, ActionResult, Break
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import (
    FIRST_PROMPT,
    Act,
    Edit,
    Prompt,
    Read,
    RunCommand,
    Stop,
    Subagent,
    ToolCall,
    ToolResult,
    Tools,
    Wait,
)
from pytest_hookharness.model.protocol import Payload
from pytest_hookharness.scenario_files.relative_paths import within

# Seconds between two records after which time counts: a person was away, or something ran long.
_LONG = 60.0
_SUBAGENT = ("Task", "Agent", "task", "agent", "spawn_agent")
_OLD = ("old_string", "old_str", "search")
_NEW = ("new_string", "new_str", "replace")
_WHOLE = ("content", "file_text", "text", "contents")
_PATCH_FILE = re.compile(r"(?=^\*\*\* (?:Add|Update|Delete) File: )", re.MULTILINE)
_BEGIN, _END = "*** Begin Patch\n", "*** End Patch"
_SHOWN = 100


@dataclass(slots=True)
class RecordedMoves:
    """
    The script of a recorded session.

    Attributes:
        stream: The session.
        performs: Whether shell commands are carried out at all.
        acts: The acts of the main agent.
        left_out: What the replay does not do, in words.
        positions: Position in ``acts`` of the first act of an item, by the item's place.
    """

    stream: SessionStream
    performs: bool = True
    acts: list[Act] = field(default_factory=list[Act])
    left_out: list[str] = field(default_factory=list[str])
    positions: dict[str, int] = field(default_factory=dict[str, int])

    def read(self) -> None:
        """Turn the items of the session into acts."""
        before, agents, message = 0.0, dict[str, int](), ""
        first = next((item for item in self.stream.items if not item.agent), None)
        if not isinstance(first, Break) or first.why != "prompt":
            self.acts.append(FIRST_PROMPT)
        for item in self.stream.items:
            if item.agent:
                agents[item.agent] = agents.get(item.agent, 0) + isinstance(item, Action)
                continue
            if before and item.at - before > _LONG:
                self.acts.append(Wait(seconds=float(round(item.at - before))))
            before = item.at or before
            if isinstance(item, Action) and item.message and item.message == message:
                self._note("calls of one message are made one after the other")
            message = item.message if isinstance(item, Action) else ""
            self.positions[item.place] = len(self.acts)
            self.acts += self._acts(item)
        for agent, calls in agents.items():
            self._note(f"{calls} calls of the subagent {agent}: a simulated subagent only stops")

    def _note(self, text: str) -> None:
        if text not in self.left_out:
            self.left_out.append(text)

    def _acts(self, item: Action | Break) -> Iterator[Act]:
        if isinstance(item, Action):
            yield from self._calls(item)
        elif item.why == "prompt":
            yield Prompt(text=item.text or FIRST_PROMPT.text)
        elif item.why == "stop":
            yield Stop(text=item.text or Stop().text)
        else:
            self._note(f"{item.why}: {_short(item.text) or 'the turn was ended'}")

    def _calls(self, action: Action) -> Iterator[Act]:
        arguments = within(action.arguments, self.stream.cwd)
        given = self._result(action, arguments)
        if action.tool in _SUBAGENT and not action.refusals:
            yield self._subagent(arguments, action.say)
            return
        yield from _moves(action, arguments, given)

    def _result(self, action: Action, arguments: Payload) -> ToolResult | None:
        """Return the recorded result of a call that is not carried out again; ``None`` if it is."""
        text, kind = action.result, kind_of(action.tool, arguments)
        shown = _short(f"{action.tool} {command_of(arguments) or file_of(arguments)}")
        reach = _reach(kind, arguments)
        if not reach and not self.performs and kind in (ActionKind.RUN, ActionKind.WAIT):
            reach = "this machine has no namespaces to run it in"
        if reach:
            self._note(f"not carried out, {reach}: {shown}")
            return ToolResult(text=text, failed=action.outcome is ActionResult.FAILED)
        if action.outcome is ActionResult.REFUSED and action.refusals:
            return None
        if action.outcome in (ActionResult.FAILED, ActionResult.REFUSED):
            return ToolResult(text=text, failed=True)
        if action.outcome is ActionResult.UNKNOWN:
            self._note(f"not carried out, has no result: {shown}")
            return ToolResult(text="")
        return None

    def _subagent(self, arguments: Payload, say: str) -> Subagent:
        kind, prompt = (str(arguments.get(key) or "") for key in ("subagent_type", "prompt"))
        stops = (item for item in self.stream.items if item.agent and isinstance(item, Break))
        ends = [stop.text for stop in stops if stop.why == "stop" and stop.text]
        return Subagent(
            kind=kind or Subagent().kind, prompt=prompt, texts=(ends[-1] if ends else Stop().text,), say=say
        )


def _reach(kind: ActionKind, arguments: Payload) -> str:
    if kind in (ActionKind.RUN, ActionKind.WAIT):
        return find_reach(command_of(arguments) or "")
    path = file_of(arguments)
    return f"names {path}, outside of the project" if path and is_outside(path) else ""


def _moves(action: Action, arguments: Payload, given: ToolResult | None) -> Iterator[Act]:
    kind, file, say = kind_of(action.tool, arguments), file_of(arguments), action.say
    command = command_of(arguments)
    inside = bool(file) and not is_outside(file)
    if kind in (ActionKind.RUN, ActionKind.WAIT) and command:
        yield RunCommand(command=command, say=say, given=given)
    elif kind is ActionKind.READ and inside:
        yield Read(file=file, say=say, given=given)
    elif action.tool == "apply_patch":
        patch = next((text for text in (command, arguments.get("input")) if isinstance(text, str)), "")
        for part in split_patch(patch):
            call = ToolCall(name=action.tool, input={"command": part}, given=given)
            yield Tools(calls=(call,), say=say)
            say = ""
    elif kind is ActionKind.EDIT and inside and (edit := _edit(arguments)) is not None:
        text, old = edit
        yield Edit(file=file, text=text, old=old, say=say, given=given)
    else:
        # The harness has no such tool: hooks see the call with its recorded result.
        result = given or ToolResult(text=action.result)
        yield Tools(calls=(ToolCall(name=action.tool, input=arguments, given=result),), say=say)


def _edit(arguments: Payload) -> tuple[str, str | None] | None:
    """Return the text of an edit and the passage that it replaces; ``None`` for an edit of another form."""
    whole, old, new = (_first_text(arguments, keys) for keys in (_WHOLE, _OLD, _NEW))
    if old and new is not None and arguments.get("replace_all") is not True:
        return new, old
    return None if whole is None else (whole, None)


def _first_text(arguments: Payload, keys: Sequence[str]) -> str | None:
    given = (arguments.get(key) for key in keys)
    return next((text for text in given if isinstance(text, str)), None)


def split_patch(patch: str) -> Sequence[str]:
    """Return a patch of several files as one patch for each of them."""
    _, *parts = _PATCH_FILE.split(patch)
    if len(parts) < 2:
        return (patch,)
    bodies = [part.partition(_END)[0] for part in parts]
    return tuple(f"{_BEGIN}{body}{_END}\n" for body in bodies)


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _SHOWN else f"{words[:_SHOWN]}..."
