"""
The sessions of a check: planned from the hooks alone, since nothing is known of their purpose.

Each session has what hooks of its events may wait for.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.activation import (
    MODE_OPTION,
    Activation,
    asked_modes,
    find_activations,
)
from pytest_hookharness.campaigns.arming.home_paths import host_files
from pytest_hookharness.campaigns.arming.hook_roles import STOPS, role_of
from pytest_hookharness.campaigns.check import corpora
from pytest_hookharness.campaigns.check.session_scenario import cut_short, scenario_of, varied
from pytest_hookharness.campaigns.check.tool_names import called_tools
from pytest_hookharness.campaigns.stress.first_run import GIVEN
from pytest_hookharness.hosts.matcher_names import usual_tools
from pytest_hookharness.model.bad_ends import MANY_REFUSALS
from pytest_hookharness.model.checkup import CheckSession, HookSet
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
    Stop,
    Subagent,
    ToolCall,
    Tools,
)
from pytest_hookharness.model.mutations import Parallel
from pytest_hookharness.model.protocol import Json

_SUBAGENT = frozenset({hosts.Role.SUBAGENT_START, hosts.Role.SUBAGENT_STOP})
_BESIDE = frozenset({hosts.Role.BEFORE_TOOL, hosts.Role.AFTER_TOOL})
_COMPACTION = frozenset({hosts.Role.BEFORE_COMPACT, hosts.Role.AFTER_COMPACT})
_BEHAVIOURS = ("editing", "obedient", "repeating", "oscillating", "quoting")
_INVARIANT: tuple[str, ...] = ("key-order", "sessions", "processes", "names")
_EACH: tuple[Act, ...] = (
    RunCommand(command="true"),
    Edit(file="notes.txt", text="text\n"),
    Read(file="notes.txt"),
)
_MISSING: tuple[Act, ...] = (Read(file="missing.txt"),)
# Each tool is called at least three times, so that a hook that breaks later is noticed.
_HARMLESS: tuple[Act, ...] = (
    *_EACH,
    RunCommand(command="echo hello"),
    Edit(file="notes.txt", text="other\n"),
    RunCommand(command="true"),
    Read(file="notes.txt"),
    Edit(file="more.txt", text="text\n"),
    RunCommand(command="echo hello"),
    Read(file="more.txt"),
    Edit(file="more.txt", text="other\n"),
)
_GO_ON = Prompt(text="Go on.")
_NAME = re.compile(r"[A-Za-z_][\w-]*")
# Input of a tool that no profile knows: every common key, so that no hook misses one.
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
    "plan": "# Plan",
    "todos": [],
}


def roles(hook_set: HookSet) -> frozenset[hosts.Role]:
    """Return the roles of the events that a hook set waits for."""
    found = {role_of(hook_set.host, hook.event) for hook in hook_set.hooks}
    return frozenset(role for role in found if role is not None)


def plan_usual(hook_set: HookSet, seed: int) -> CheckSession:
    """Return the first session: usual work of an agent, with every event that hooks wait for."""
    found = roles(hook_set)
    steps = corpora.work_in_steps() if hosts.Role.AFTER_TOOL in found else ()
    acts: list[Act] = [FIRST_PROMPT, *corpora.usual_work(seed), *steps, *_unknown_tools(hook_set)]
    acts += _endings(hook_set)
    return CheckSession(title="a usual session", scenario=scenario_of(hook_set, acts), harmless=True)


def _endings(hook_set: HookSet) -> Iterator[Act]:
    found = roles(hook_set)
    subagent = found & _SUBAGENT or hosts.find(hook_set.host).tools.subagent in called_tools(hook_set)
    if subagent:
        yield Subagent(prompt="Look into it.")
    if found & _COMPACTION:
        yield Compact()
    yield Stop()
    if hosts.Role.SESSION_END in found:
        if subagent:
            # Some hosts go on when a subagent ends.
            yield Stop()
        yield End()


def plan_each_event(hook_set: HookSet) -> CheckSession:
    """Return a short session that has every event that hooks wait for, so that each hook is tried soon."""
    found = roles(hook_set)
    acts: list[Act] = [FIRST_PROMPT, *_EACH, *_unknown_tools(hook_set)]
    if hosts.Role.TOOL_FAILED in found:
        # Hooks may wait for the failure of one of these tools only.
        acts += [RunCommand(command="false"), Edit(file="notes.txt", text="x\n", old="not in it"), *_MISSING]
    acts += _endings(hook_set)
    return CheckSession(title="each event once", scenario=scenario_of(hook_set, acts), harmless=True)


def plan_activated(hook_set: HookSet, given: Sequence[Activation] = ()) -> Iterator[CheckSession]:
    """Yield a session for each way to make hooks active that do nothing until then, the given ones first."""
    for one in (*given, *find_activations(hook_set)):
        started = [RunCommand(command=one.command)] if one.command else []
        # A hook may wait for the next prompt, to know whose the started work is.
        going_on = [_GO_ON] if started and hosts.Role.PROMPT in roles(hook_set) else []
        acts: tuple[Act, ...] = (FIRST_PROMPT, *started, *going_on, Stop())
        scenario = scenario_of(hook_set, acts)
        files = {**scenario.files, **one.files}
        scenario = replace(scenario, files=files, home=one.home, turns=len(acts) + MANY_REFUSALS)
        yield CheckSession(title=one.title, scenario=scenario, active="" if one.usual else one.title)


def plan_modes(hook_set: HookSet) -> Iterator[CheckSession]:
    """Yield a session with every event in each permission mode for which the hooks ask."""
    for mode in asked_modes(hook_set):
        each = plan_each_event(hook_set).scenario
        scenario = replace(each, options={**each.options, MODE_OPTION: mode})
        words = f"the permission mode {mode}"
        yield CheckSession(title=words, scenario=scenario, active=words)


def plan_host_files(hook_set: HookSet) -> Iterator[CheckSession]:
    """Yield a session with every event and with what the host keeps below HOME, if hooks read that."""
    if home := host_files(hook_set):
        each = plan_each_event(hook_set).scenario
        words = f"{', '.join(f'~/{path}' for path in home)} as the host writes it"
        yield CheckSession(title=words, scenario=replace(each, home=home), active=words)


def in_order(hook_set: HookSet, session: CheckSession) -> CheckSession:
    """Return the same session with the hooks of each event one after the other, not in parallel."""
    sets = Counter(hook.event for hook in hook_set.hooks)
    order = {event: tuple(range(1, number + 1)) for event, number in sets.items() if number > 1}
    return replace(session, scenario=replace(session.scenario, order=order))


def plan_hostile(hook_set: HookSet, seed: int, *, endless: bool = False) -> CheckSession:
    """Return the session with hostile text; no stops with ``endless``, as they are refused forever."""
    texts = corpora.hostile_texts(seed)
    hostile = (FIRST_PROMPT, *_hostile_acts(roles(hook_set), texts, endless=endless))
    return cut_short("hostile text", scenario_of(hook_set, hostile))


def plan_behaviours(hook_set: HookSet) -> Iterator[CheckSession]:
    """Yield sessions of agents that react to a refused stop, the most revealing first."""
    short = (FIRST_PROMPT, RunCommand(command="true"), Edit(file="notes.txt", text="text\n"), Stop())
    for name in _BEHAVIOURS if roles(hook_set) & STOPS else ():
        yield CheckSession(
            title=f"an agent that is {name}", scenario=scenario_of(hook_set, short, Behaviour(name=name))
        )


def _hostile_acts(found: frozenset[hosts.Role], texts: Sequence[str], *, endless: bool) -> Iterator[Act]:
    if found - STOPS - {hosts.Role.PROMPT}:
        yield from corpora.hostile_work(texts)
    if found & (STOPS | {hosts.Role.PROMPT}) and not endless:
        for text in texts:
            yield Prompt(text=text)
            yield Stop(text=text)


def plan_races(hook_set: HookSet, triggered: Collection[str]) -> Iterator[CheckSession]:
    """Yield sessions in which hooks of events that a session had run side by side, as its calls may."""
    profile = hosts.find(hook_set.host)
    acts = (FIRST_PROMPT, *_EACH, *_unknown_tools(hook_set))
    called = {*usual_tools(profile), *called_tools(hook_set)} - {profile.tools.subagent}
    for event in dict.fromkeys(hook.event for hook in hook_set.hooks if hook.event in triggered):
        fires = any(hosts.select(profile, hook_set.hooks, event, tool) for tool in called)
        if role_of(hook_set.host, event) in _BESIDE and fires:
            scenario = replace(scenario_of(hook_set, acts), parallel=Parallel(event=event))
            yield cut_short(f"{event} hooks side by side", scenario)


def plan_invariance(
    hook_set: HookSet, moves: Sequence[Act], *, endless: bool = False, raced: bool = False
) -> CheckSession:
    """
    Return the session with mutations that must not change what hooks decide, and with parallel hook runs.

    Args:
        moves: Moves that hooks have refused.
        endless: Whether stops are known to be refused forever.
        raced: Whether the hooks have run side by side already.
    """
    title = "what must not matter varied"
    acts: list[Act] = [
        FIRST_PROMPT,
        RunCommand(command="true"),
        Edit(file="notes.txt", text="text\n"),
        *moves,
        # A hook may warn once and then allow, so what it remembers shows the second time.
        *moves,
    ]
    scenario = varied(scenario_of(hook_set, acts if endless else [*acts, Stop()]), *_INVARIANT)
    scenario = scenario if raced else replace(scenario, parallel=Parallel())
    return cut_short(title, scenario) if endless else CheckSession(title=title, scenario=scenario)


def plan_world(hook_set: HookSet, moves: Sequence[Act], *, written: bool) -> Iterator[CheckSession]:
    """Yield the sessions in which guards meet a fault: a missing tool, or an emptied state file."""
    if moves:
        scenario = scenario_of(hook_set, (FIRST_PROMPT, *_HARMLESS[:2], *moves, *_HARMLESS[:1]))
        yield replace(cut_short("tools that are missing", varied(scenario, "tools")), only=" on the PATH")
    if written:
        scenario = scenario_of(hook_set, (FIRST_PROMPT, *_HARMLESS))
        # An empty file is what remains if a hook is killed while it writes; other damage has similar effects.
        yield replace(
            cut_short("emptied files of the hooks' own", varied(scenario, "state")), only=" emptied "
        )


def plan_single_events(hook_set: HookSet, triggered: Collection[tuple[str, str]]) -> Iterator[CheckSession]:
    """
    Yield single events, outside of any session, for hooks that no session triggered.

    ``triggered`` are the events and commands of the others. A hook may wait for a session that was resumed,
    or whose conversation was compacted.
    """
    events = hosts.find(hook_set.host).events
    for hook in hook_set.hooks:
        rule, ran = events.get(hook.event), (hook.event, hook.command) in triggered
        # Tool calls need a session, and a hook for a tool that does not exist never runs.
        if rule is None or ran or hook.type != "command" or rule.target == "tool_name":
            continue
        named = next((word for word in (hook.matcher or "").split("|") if _NAME.fullmatch(word)), "")
        keys = [field.name for field in rule.fields.fields if (field.source or field.name) == rule.target]
        yield CheckSession(
            title=f"a single {hook.event}",
            scenario=scenario_of(hook_set, ()),
            ends=False,
            event=hook.event,
            fields=dict.fromkeys(keys, named) if named else {},
        )


def _unknown_tools(hook_set: HookSet) -> Iterator[Tools]:
    """Yield calls of the tools that matchers name and no other move calls."""
    for name in called_tools(hook_set):
        if name != hosts.find(hook_set.host).tools.subagent:
            yield Tools(calls=(ToolCall(name=name, input=_INPUT, given=GIVEN),))
