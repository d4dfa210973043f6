"""
The history of a run: what is kept of each turn, to be compared with later ones.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise

from pytest_hookharness import agents
from pytest_hookharness.execution.workspace.workspace import WorkspaceError
from pytest_hookharness.judging.recurrence.fingerprint import changes
from pytest_hookharness.judging.recurrence.similar_turns import LONGEST, TextOutlines, TurnSignature, conduct
from pytest_hookharness.judging.state_diff import SessionClock, same_but_for_stamps
from pytest_hookharness.model.moves import Message, Observation
from pytest_hookharness.model.trace import State, StateEntry, Step
from pytest_hookharness.simulation.session.driver import SessionPoint

Files = Mapping[str, bytes | None]
BLURRED = "a clock went on while it was compared"


class History:
    """
    States, likenesses and contents of a run, turn by turn.

    Attributes:
        states: The state after each turn.
        outlines: What texts of the run are without numbers, times and ids.
    """

    def __init__(self, initial: Mapping[str, StateEntry], read: Callable[[str], bytes | None]) -> None:
        """
        Begin with the files as they are before the first turn.

        Args:
            initial: The covered files at the beginning.
            read: Reads a covered file by its state path.
        """
        self.states: dict[int, State] = {}
        self.outlines = TextOutlines()
        self._read = read
        self._initial = initial
        self._contents: dict[int, dict[str, bytes | None]] = {}
        self._turns: dict[int, tuple[SessionPoint, Observation, list[Step]]] = {}
        self._likenesses: dict[int, TurnSignature] = {}
        self._wording: dict[str, str] = {}

    def remember(
        self, turn: int, state: State, moment: SessionPoint, saw: Observation, steps: list[Step]
    ) -> None:
        """
        Take in one turn that is over.

        Args:
            turn: Its number.
            state: The state after it.
            moment: Where host and agent stand, before the next act.
            saw: What the agent will see next.
            steps: What took place in it.
        """
        before = self.states[turn - 1].files if turn - 1 in self.states else self._initial
        self.states[turn] = state
        self._turns[turn] = (moment, saw, steps)
        contents = dict(self._contents.get(turn - 1, {}))
        for change in changes(before, state.files):
            contents.pop(change.path, None)
            try:
                contents[change.path] = self._content(change.path, state.files.get(change.path))
            except WorkspaceError:
                # It is too large, or nothing that has bytes; then it is as if it were not known.
                continue
        self._contents[turn] = contents
        self._contents.pop(turn - 2 * LONGEST - 1, None)

    def likeness(self, turn: int) -> TurnSignature | None:
        """
        What a turn was without numbers, times and ids; ``None`` if there is no such turn.
        """
        if turn not in self._turns:
            return None
        if turn not in self._likenesses:
            moment, saw, steps = self._turns[turn]
            state, position = self.states[turn], self._reworded(moment.agent).position
            # What cannot be compared is like nothing else.
            unlike = turn if position.opaque or (state.opaque and state.opaque != BLURRED) else 0
            told = [*map(self._outlined, saw.messages)]
            standing = [
                unlike,
                dict(state.visible),
                state.environment,
                position.without_counts,
                moment.answers,
                told,
            ]
            text = json.dumps(standing, sort_keys=True, default=str)
            self._likenesses[turn] = TurnSignature(conduct=conduct(steps, self.outlines.of), standing=text)
        return self._likenesses[turn]

    def moment(self, turn: int) -> SessionPoint:
        """
        Where host and agent stood after a turn.
        """
        return self._turns[turn][0]

    def written(self, turn: int) -> Files:
        """
        The contents after a turn of what was written since the beginning, as far as they are known.
        """
        return self._contents.get(turn, {})

    def ticked(self, first: int, again: int, clock: SessionClock) -> bool:
        """
        Whether the states after two turns differ in nothing but times of the present.
        """
        one, other = self.states[first], self.states[again]
        if (one.visible, one.agent, one.environment) != (other.visible, other.agent, other.environment):
            return False
        before, after = self.written(first), self.written(again)
        return all(
            change.how == "content"
            and before.get(change.path) is not None
            and same_but_for_stamps(before.get(change.path), after.get(change.path), clock)
            for change in changes(one, other)
        )

    def blur(self, turn: int) -> None:
        """
        Take the state after a turn for one that equals no other.
        """
        self.states[turn] = replace(self.states[turn], opaque=BLURRED)
        self._likenesses.pop(turn, None)

    def moved(self, turns: tuple[int, ...]) -> tuple[Files, ...] | str:
        """
        The contents after some turns of every file that differs between them; or why they are not known.
        """
        differing = {
            change.path: change
            for turn, later in pairwise(turns)
            for change in changes(self.states[turn], self.states[later])
        }
        found: list[dict[str, bytes | None]] = [{} for _ in turns]
        for path in differing:
            entries = [self.states[turn].files.get(path) for turn in turns]
            if all(entry is None or entry.kind == "folder" for entry in entries):
                if not any(other.startswith(f"{path}/") for other in differing):
                    return f"the folder {path} comes and goes"
                continue
            modes = {(entry.kind, entry.mode) for entry in entries if entry is not None}
            if len(modes) > 1 or any(kind != "file" for kind, _ in modes):
                return f"{path} changes its kind or its mode"
            contents = [self._contents.get(turn, {}).get(path) for turn in turns]
            if None not in entries and len(set(contents)) == 1 and contents[0] is not None:
                return f"{path} changes in something else than its content"
            for place, turn in enumerate(turns):
                known = self._contents.get(turn, {})
                if entries[place] is not None and known.get(path) is None:
                    return f"an earlier content of {path} is not known"
                found[place][path] = known.get(path)
        return tuple(found)

    def _content(self, path: str, entry: StateEntry | None) -> bytes | None:
        return self._read(path) if entry is not None and entry.kind == "file" else None

    def _reworded(self, agent: agents.Agent) -> agents.Agent:
        """
        The agent as it would be if messages that are alike had been the same.
        """
        return replace(
            agent, seen=tuple(Observation(tuple(map(self._reword, one.messages))) for one in agent.seen)
        )

    def _reword(self, message: Message) -> Message:
        read = self.outlines.of(message.text)
        return replace(message, text=self._wording.setdefault(read, message.text))

    def _outlined(self, message: Message) -> str:
        return repr(replace(message, text=self.outlines.of(message.text)))
