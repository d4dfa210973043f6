"""
The moves of a recorded agent as acts of a script.

A call that failed, that the host or a person refused, that has no result, or that reaches out of the project
is not carried out again: hooks see it with its recorded result. Calls that hooks refused are made as they
were, because the hooks shall refuse them again. A simulated subagent makes no calls, so the main agent makes
those of a subagent just before it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.reproduce.outside_world import CHANGES_FOLDER, find_reach, is_outside
from pytest_hookharness.campaigns.short_texts import in_one_line
from pytest_hookharness.hosts.transcripts.session_stream import SessionStream
from pytest_hookharness.judging.detectors.signatures import (
    ActionKind,
    command_of,
    file_of,
    kind_of,
    mask_numbers,
)
from pytest_hookharness.model.actions import COMPACTED, Action, ActionResult, Break, DetectedLoop, StreamItem
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import (
    FIRST_PROMPT,
    WORKSPACE,
    Act,
    Compact,
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
from pytest_hookharness.scenario_files.recordings import below_workspace, within

# Seconds between two records after which time counts: a person was away, or something ran long.
_LONG = 60.0
_SUBAGENT = ("Task", "Agent", "task", "agent", "spawn_agent")
_FOLDER = ("workdir", "dir_path", "directory")
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
        performs: Whether shell commands are carried out at all.
        above: How many folders the top of the project is above that of the session.
        acts: The acts of the main agent.
        left_out: What the replay does not do, in words.
        positions: Position in ``acts`` of the first act of an item, by the item's identity.
        played: The items that became acts, in the order of the acts; ends of subagents are not among them.
    """

    stream: SessionStream
    performs: bool = True
    above: int = 0
    acts: list[Act] = field(default_factory=list[Act])
    left_out: list[str] = field(default_factory=list[str])
    positions: dict[int, int] = field(default_factory=dict[int, int])
    played: list[StreamItem] = field(default_factory=list[StreamItem])

    # Whether a command leaves its folder: then relative paths may lead elsewhere in later commands.
    _changes_folder: bool = False

    def read(self) -> None:
        """Turn the items of the session into acts."""
        commands = (command_of(item.arguments) for item in self.stream.items if isinstance(item, Action))
        self._changes_folder = any(CHANGES_FOLDER.search(command or "") for command in commands)
        main = [item for item in self.stream.items if not item.agent]
        owners = self._find_owners(main)
        before, message = 0.0, ""
        if not main or not isinstance(main[0], Break) or main[0].why != "prompt":
            self.acts.append(FIRST_PROMPT)
            self._play_unowned(owners)
        for item in main:
            if before and item.at - before > _LONG:
                self.acts.append(Wait(seconds=float(round(item.at - before))))
            before = item.at or before
            if isinstance(item, Action) and item.message and item.message == message:
                self._note("calls of one message are made one after the other")
            message = item.message if isinstance(item, Action) else ""
            if _is_task(item):
                self._play_subagent(owners.get(id(item), ""), item)
            else:
                self._play(item)
            if item is main[0] and isinstance(item, Break) and item.why == "prompt":
                self._play_unowned(owners)

    def refused_act(self, acts: Sequence[Act], loop: DetectedLoop) -> Act:
        """Return the act that a loop refuses: the last stop, the task of the subagent, or the first call."""
        event = loop.refusal.event if loop.refusal else ""
        if event in ("Stop", "AfterAgent"):
            return next((act for act in reversed(acts) if isinstance(act, Stop)), acts[-1])
        key = event, mask_numbers(loop.error)
        places = (
            self.positions.get(id(item), -1)
            for item in self.stream.items
            if any((one.event, mask_numbers(one.reason)) == key for one in item.refusals)
        )
        return acts[next(places, -1)]

    def _find_owners(self, main: Sequence[StreamItem]) -> dict[int, str]:
        """Return the subagent of each task, by the task's identity: named in its result, or in order."""
        free = [*dict.fromkeys(item.agent for item in self.stream.items if item.agent)]
        owners: dict[int, str] = {}
        tasks = [item for item in main if _is_task(item)]
        for task in tasks:
            said = task.result if isinstance(task, Action) else ""
            named = next((agent for agent in free if agent in said), "")
            if named:
                owners[id(task)] = named
                free.remove(named)
        for task in tasks:
            if free and id(task) not in owners:
                owners[id(task)] = free.pop(0)
        return owners

    def _play_unowned(self, owners: Mapping[int, str]) -> None:
        """Play the subagents whose task is not in the transcript."""
        agents = dict.fromkeys(item.agent for item in self.stream.items if item.agent)
        for agent in agents:
            if agent not in owners.values():
                self._play_subagent(agent)

    def _play_subagent(self, agent: str, task: StreamItem | None = None) -> None:
        below = [item for item in self.stream.items if agent and item.agent == agent]
        calls = [item for item in below if isinstance(item, Action)]
        if calls:
            number = counted(len(calls), "call")
            self._note(f"the main agent makes {number} of the subagent {agent}: hooks see no agent_id")
        for call in calls:
            self._play(call)
        arguments = task.arguments if isinstance(task, Action) else {}
        kind = str(arguments.get("subagent_type") or arguments.get("agent_type") or "")
        prompt = str(arguments.get("prompt") or arguments.get("message") or "")
        first = next((item.text for item in below if isinstance(item, Break) and item.why == "prompt"), "")
        texts = tuple(
            item.text or Stop().text for item in below if isinstance(item, Break) and item.why == "stop"
        )
        if task is not None:
            self.played.append(task)
            below.append(task)
        for item in below:
            self.positions.setdefault(id(item), len(self.acts))
        self.acts.append(
            Subagent(
                kind=kind or Subagent().kind,
                prompt=prompt or first,
                texts=texts or (Stop().text,),
                say=task.say if isinstance(task, Action) else "",
            )
        )

    def _play(self, item: StreamItem) -> None:
        self.positions[id(item)] = len(self.acts)
        self.played.append(item)
        self.acts += self._acts(item)

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
        elif item.why == COMPACTED:
            yield Compact(trigger="manual" if item.text == "manual" else "auto")
        else:
            self._note(f"{item.why}: {in_one_line(item.text, _SHOWN) or 'the turn was ended'}")

    def _calls(self, action: Action) -> Iterator[Act]:
        cwd, above = self.stream.cwd, self.above
        relative = within(action.arguments, cwd, above)
        absolute = below_workspace(action.arguments, cwd, above)
        command = command_of(absolute if self._changes_folder else relative) or ""
        folder = _first_text(absolute, _FOLDER) or ""
        moved = command != "" and folder not in ("", WORKSPACE)
        if moved:
            quoted = folder if folder.startswith(WORKSPACE) else shlex.quote(folder)
            command = f"cd {quoted} && {command}"
        given = self._result(action, relative, command)
        if moved and given is None:
            self._note("commands in a folder of their own begin with `cd`, which hooks see")
        for act in _moves(action, relative, absolute, command, given, above):
            yield self._own_call(act) if isinstance(act, Edit | Read) and is_outside(act.file) else act

    def _own_call(self, act: Edit | Read) -> Tools:
        """Return an act of a file above the folder of the session as a call of the host's own tool."""
        placed = replace(act, file=f"{WORKSPACE}/{act.file}")
        call = hosts.find(self.stream.form).tools.call(placed, "")
        return Tools(calls=(call,), say=act.say)

    def _result(self, action: Action, arguments: Payload, command: str) -> ToolResult | None:
        """Return the recorded result of a call that is not carried out again; ``None`` if it is."""
        text, kind = action.result, kind_of(action.tool, arguments)
        shown = in_one_line(f"{action.tool} {command or file_of(arguments)}", _SHOWN)
        reach = _reach(kind, file_of(arguments), command, self.above)
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


def _is_task(item: StreamItem) -> bool:
    return isinstance(item, Action) and item.tool in _SUBAGENT and not item.refusals


def _reach(kind: ActionKind, path: str, command: str, above: int) -> str:
    if kind in (ActionKind.RUN, ActionKind.WAIT):
        return find_reach(command, above)
    return f"names {path}, outside of the project" if path and is_outside(path, above) else ""


def _moves(
    action: Action,
    arguments: Payload,
    absolute: Payload,
    command: str,
    given: ToolResult | None,
    above: int,
) -> Iterator[Act]:
    kind, file, say = kind_of(action.tool, arguments), file_of(arguments), action.say
    inside = bool(file) and not is_outside(file, above)
    if kind in (ActionKind.RUN, ActionKind.WAIT) and command:
        yield RunCommand(command=command, say=say, given=given)
    elif kind is ActionKind.READ and inside:
        yield Read(file=file, say=say, given=given)
    elif action.tool == "apply_patch":
        patch = next(
            (text for text in (command_of(arguments), arguments.get("input")) if isinstance(text, str)), ""
        )
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
        yield Tools(calls=(ToolCall(name=action.tool, input=absolute, given=result),), say=say)


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
