"""
Check-ups: the sessions that show what is wrong with given hooks.

Pure. Nothing is known of what a hook is for, so each session has what hooks of its events may
wait for, and what is refused in one of them is what the next ask about.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check import corpora
from pytest_hookharness.campaigns.check.rewording import known_tools, matched_tools, phrase
from pytest_hookharness.model.checkup import CheckSession, HookSet
from pytest_hookharness.model.expectations import Expectation
from pytest_hookharness.model.moves import (
    FIRST_PROMPT,
    Act,
    Behaviour,
    Compact,
    Edit,
    End,
    Prompt,
    Read,
    RunCommand,
    Script,
    Stop,
    Subagent,
    ToolCall,
    Tools,
)
from pytest_hookharness.model.mutations import Parallel, VaryRequest
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.protocol import Hook, Json
from pytest_hookharness.model.scenario import Answer, Double, Scenario
from pytest_hookharness.model.trace import Moved

_STOPS = frozenset({hosts.Role.STOP, hosts.Role.SUBAGENT_STOP})
_SUBAGENT = frozenset({hosts.Role.SUBAGENT_START, hosts.Role.SUBAGENT_STOP})
_COMPACTION = frozenset({hosts.Role.BEFORE_COMPACT, hosts.Role.AFTER_COMPACT})
_BEHAVIOURS = ("editing", "obedient", "repeating", "oscillating", "quoting")
_INVARIANT = ("key-order", "sessions", "processes", "names")
_PROGRAMS = {"claude": "claude-code", "codex": "codex", "gemini": "gemini-cli"}
_TURNS = 24
# Each tool is called at least three times behind the first move.
_HARMLESS: tuple[Act, ...] = (
    RunCommand(command="true"),
    Edit(file="notes.txt", text="text\n"),
    RunCommand(command="echo hello"),
    Read(file="notes.txt"),
    Edit(file="notes.txt", text="other\n"),
    RunCommand(command="true"),
    Read(file="notes.txt"),
    Edit(file="more.txt", text="text\n"),
    RunCommand(command="echo hello"),
    Read(file="more.txt"),
    Edit(file="more.txt", text="other\n"),
)
_NAME = re.compile(r"[A-Za-z_][\w-]*")
# What calls of tools have that no profile knows: more than any has, so that no hook misses a key.
_INPUT: dict[str, Json] = {
    "command": "true",
    "description": "Says nothing",
    "file_path": "notes.txt",
    "path": "notes.txt",
    "notebook_path": "notes.ipynb",
    "content": "text\n",
    "old_string": "text",
    "new_string": "other",
    "edits": [],
    "pattern": "text",
    "url": "https://example.com/",
    "query": "text",
    "prompt": "text",
    "todos": [],
}


def roles(place: HookSet) -> frozenset[hosts.Role]:
    """
    What the events are for that hooks of a place wait for.
    """
    events = hosts.find(place.host).events
    return frozenset(events[hook.event].role for hook in place.hooks if hook.event in events)


def is_asked_before(host: str, event: str) -> bool:
    """
    Whether hooks of an event are asked before a call is made.
    """
    rule = hosts.find(host).events.get(event)
    return rule is not None and rule.role in (hosts.Role.BEFORE_TOOL, hosts.Role.PERMISSION)


def plan_usual(place: HookSet, seed: int) -> CheckSession:
    """
    The session that comes first: all that an agent does all day, with every event that hooks wait for.
    """
    found = roles(place)
    steps = corpora.work_in_steps() if hosts.Role.AFTER_TOOL in found else ()
    acts: list[Act] = [FIRST_PROMPT, *corpora.usual_work(seed), *steps, *_unknown_tools(place)]
    if found & _SUBAGENT:
        acts.append(Subagent(prompt="Look into it."))
    if found & _COMPACTION:
        acts.append(Compact())
    acts.append(Stop())
    if hosts.Role.SESSION_END in found:
        acts.append(End())
    return CheckSession(title="a usual session", scenario=_scenario(place, acts), harmless=True)


def in_order(place: HookSet, session: CheckSession) -> CheckSession:
    """
    The same session with the hooks of each event one after the other, and not side by side.
    """
    sets = Counter(hook.event for hook in place.hooks)
    order = {event: tuple(range(1, number + 1)) for event, number in sets.items() if number > 1}
    return replace(session, scenario=replace(session.scenario, order=order))


def plan_further(place: HookSet, seed: int, *, endless: bool = False) -> Iterator[CheckSession]:
    """
    The sessions that need nothing but the place: what guards refuse, hostile text.

    Args:
        place: The place.
        seed: What made-up texts follow from.
        endless: Whether a stop is refused for ever anyway.
    """
    found = roles(place)
    if found - _STOPS:
        sources = [*(text for _, text in place.sources), *(hook.command for hook in place.hooks)]
        acts = (FIRST_PROMPT, *corpora.commonly_refused(sources))
        yield _cut_short("what guards commonly refuse", _scenario(place, acts))
    hostile = (FIRST_PROMPT, *_hostile_acts(found, corpora.hostile_texts(seed), endless=endless))
    yield _cut_short("hostile text", _scenario(place, hostile))


def plan_behaviours(place: HookSet) -> Iterator[CheckSession]:
    """
    The sessions of agents that are not idle when a stop is refused, those first that tell most.
    """
    short = (FIRST_PROMPT, RunCommand(command="true"), Edit(file="notes.txt", text="text\n"), Stop())
    for name in _BEHAVIOURS if roles(place) & _STOPS else ():
        yield CheckSession(
            title=f"an agent that is {name}", scenario=_scenario(place, short, Behaviour(name=name))
        )


def _cut_short(title: str, scenario: Scenario) -> CheckSession:
    """
    A session that is over after its acts, however often a stop is refused.
    """
    return CheckSession(title=title, scenario=replace(scenario, turns=len(scenario.script.acts)), ends=False)


def _hostile_acts(found: frozenset[hosts.Role], texts: Sequence[str], *, endless: bool) -> Iterator[Act]:
    if found - _STOPS - {hosts.Role.PROMPT}:
        yield from corpora.hostile_work(texts)
    if found & (_STOPS | {hosts.Role.PROMPT}) and not endless:
        for text in texts:
            yield Prompt(text=text)
            yield Stop(text=text)


def plan_phrasings(place: HookSet, commands: Sequence[str], files: Sequence[str]) -> CheckSession:
    """
    The session that asks about refused commands in other forms, and speaks of files that were refused.
    """
    acts = phrase(place.host, commands, files)
    return _cut_short("other forms of what was refused", _scenario(place, acts))


def plan_proofs(place: HookSet, commands: Sequence[str]) -> Iterator[CheckSession]:
    """
    The sessions that prove of commands that their words are refused where they are mere data.
    """
    for command in commands:
        asked = _scenario(place, (FIRST_PROMPT, RunCommand(command=command, given=corpora.GIVEN)))
        session = _cut_short(f"the wording of `{command}` varied", _varied(asked, "words", "quoting"))
        # One turn more, for the harmless call that each wording is compared with.
        yield replace(session, scenario=replace(session.scenario, turns=session.scenario.turns + 1))


def plan_invariance(place: HookSet, moves: Sequence[Act], *, endless: bool = False) -> CheckSession:
    """
    The session that is played again with something different that must not matter.

    Args:
        place: The place.
        moves: Moves that hooks have refused.
        endless: Whether a stop is refused for ever anyway.
    """
    title = "what must not matter varied"
    acts: list[Act] = [
        FIRST_PROMPT,
        RunCommand(command="true"),
        Edit(file="notes.txt", text="text\n"),
        *moves,
    ]
    scenario = _varied(_scenario(place, acts if endless else [*acts, Stop()]), *_INVARIANT)
    scenario = replace(scenario, parallel=Parallel())
    return _cut_short(title, scenario) if endless else CheckSession(title=title, scenario=scenario)


def plan_world(place: HookSet, moves: Sequence[Act], *, written: bool) -> Iterator[CheckSession]:
    """
    The sessions in which something is wrong around guards: a tool is missing, a file of their own is emptied.

    Args:
        place: The place.
        moves: Moves that hooks have refused.
        written: Whether hooks that are asked before calls write files.
    """
    if moves:
        scenario = _scenario(place, (FIRST_PROMPT, *_HARMLESS[:2], *moves, *_HARMLESS[:1]))
        yield replace(_cut_short("tools that are missing", _varied(scenario, "tools")), only=" on the PATH")
    if written:
        scenario = _scenario(place, (FIRST_PROMPT, *_HARMLESS))
        # What is left where a hook was ended while it wrote; other harm is much the same to it.
        yield replace(
            _cut_short("emptied files of the hooks' own", _varied(scenario, "state")), only=" emptied "
        )


def plan_asks(place: HookSet, triggered: Collection[str]) -> Iterator[CheckSession]:
    """
    Single events, outside of any session, for hooks of events that no session comes to.

    Args:
        place: The place.
        triggered: The events that some session came to.
    """
    events = hosts.find(place.host).events
    for hook in place.hooks:
        rule = events.get(hook.event)
        # Calls are a session's business: whoever names a tool that there is not is never woken.
        if rule is None or hook.event in triggered or hook.type != "command" or rule.target == "tool_name":
            continue
        named = hook.matcher if hook.matcher and _NAME.fullmatch(hook.matcher) else ""
        keys = [field.name for field in rule.fields.fields if (field.source or field.name) == rule.target]
        yield CheckSession(
            title=f"a single {hook.event}",
            scenario=_scenario(place, ()),
            ends=False,
            event=hook.event,
            fields=dict.fromkeys(keys, named) if named else {},
        )


def _varied(scenario: Scenario, *families: str) -> Scenario:
    return replace(scenario, vary=tuple(map(VaryRequest, families)))


def refused_moves(outcome: Outcome) -> Iterator[tuple[str, Act]]:
    """
    The moves that hooks refused, each with the command of the hook that did.
    """
    moves = {
        step.turn: step.exchange.move for step in outcome.trace.steps if isinstance(step.exchange, Moved)
    }
    for step, hooked in outcome.trace.hooked():
        move = moves.get(step.turn)
        if hooked.decision.refused and isinstance(move, RunCommand | Edit | Read | Tools):
            for fire in hooked.hook_runs:
                if fire.reply.ruling is hooked.decision.ruling:
                    yield fire.hook.command, move


def _scenario(place: HookSet, acts: Sequence[Act], then: Behaviour | None = None) -> Scenario:
    return Scenario(
        name="check",
        host=place.host,
        project=None if place.plugin else place.root,
        plugin=place.root if place.plugin else None,
        hooks=place.only or None,
        git=place.git,
        commands=_stand_ins(place),
        answers=tuple(_answers(place)),
        options=_without_circles(place.host),
        script=Script(acts=tuple(acts), then=then or Behaviour()),
        turns=len(acts) + _TURNS,
        expect=Expectation(verdict="terminated"),
    )


def _without_circles(host: str) -> dict[str, bool | int | float | str]:
    """
    The option by which a host does not end the circles of an agent itself, so that it is seen how hooks do.
    """
    stuck = hosts.find(host).stuck
    return {stuck.option: False} if stuck is not None and stuck.option else {}


def alone(scenario: Scenario, *hooks: Hook) -> Scenario:
    """
    A scenario in which these hooks are configured and no other.
    """
    config = hosts.find(scenario.host).config
    configured: dict[str, list[Json]] = {}
    for hook in hooks:
        handler: dict[str, Json] = {} if config.untyped else {config.keys.type: "command"}
        handler[config.types["command"]] = hook.command
        if hook.matcher is not None:
            handler["matcher"] = hook.matcher
        configured.setdefault(hook.event, []).append(handler)
    return replace(scenario, hooks=configured)


def _answers(place: HookSet) -> Iterator[Answer]:
    """
    Handlers that are no commands have nothing to say, so that they keep nobody from running the others.
    """
    for event, kind in dict.fromkeys((hook.event, hook.type) for hook in place.hooks):
        if kind != "command":
            yield Answer(event=event, type=kind)


def _stand_ins(place: HookSet) -> dict[str, Double]:
    """
    Stand-ins for the agents that hooks speak of, so that it is seen what their own hooks do.
    """
    words = {
        word
        for text in (*(text for _, text in place.sources), *(hook.command for hook in place.hooks))
        for word in re.findall(r"(?<![\w./-])(?:claude|codex|gemini)(?![\w./-])", text)
    }
    return {word: Double(agent=_PROGRAMS[word], stdout="All is well.\n") for word in sorted(words)}


def _unknown_tools(place: HookSet) -> Iterator[Tools]:
    """
    Calls of the tools that matchers name and that no usual work needs.
    """
    known = {name.casefold() for name in known_tools(place.host)}
    for name in dict.fromkeys(name for hook in place.hooks for name in matched_tools(place, hook)):
        if name.casefold() not in known:
            yield Tools(calls=(ToolCall(name=name, input=_INPUT, given=corpora.GIVEN),))
