"""
The codes of findings: what each is, why it matters, how to mend it.

Data only; the page of findings in the documentation is made of it.
"""

from __future__ import annotations

import difflib

from pytest_hookharness.judging.findings.codes import (
    CHECK_CODES,
    FAULT_CODES,
    PITFALL_CODES,
    SINGLE_RUN_CODES,
)
from pytest_hookharness.model.verdicts import FindingCode

__all__ = ["FindingCode", "catalogue", "look_up", "nearest"]

HUNG_FIRE = FindingCode(
    "HH001",
    "HUNG-FIRE",
    "A hook did not end before its host's limit, or before our patience.",
    "The agent stands still for all that time, and a guard that is cut guards nothing on most hosts.",
    "See what the process waits for: often the end of its input, a terminal or the network. "
    "Read one line instead of everything, and give slow commands a limit of their own.",
)
HELD_OPEN = FindingCode(
    "HH002",
    "HELD-OPEN",
    "A hook ended, but a process that it started still held its output open.",
    "A host that reads to the end of the output waits for that process, although the hook is done.",
    "Start background work with all of its streams redirected: `work </dev/null >log 2>&1 &`.",
)
LEFTOVER = FindingCode(
    "HH003",
    "LEFTOVER",
    "A process outlived the hook that started it.",
    "One more process is left at every fire, until the machine is slow or full.",
    "Wait for the process, or end it in a trap on exit; if it must live on, say so with `leftovers`.",
)
NOT_RUN = FindingCode(
    "HH004",
    "NOT-RUN",
    "The command of a hook could not be run at all.",
    "A hook that never runs guards nothing, or blocks everything, depending on the host.",
    "Check the path (hooks are not always started in the project folder), the executable bit, the first "
    "line of the script, and that the interpreter is on the PATH of the host.",
)
CRASHED = FindingCode(
    "HH005",
    "CRASHED",
    "A hook failed in a way that its host shrugs off.",
    "The host goes on as if the hook had agreed, so what it should have refused is let through.",
    "Decide what a failure of the hook means: catch it and exit with the code for a refusal, or with 0. "
    "A stray status of the last command is mended by a final `exit 0`.",
)
MANGLED = FindingCode(
    "HH006",
    "MANGLED",
    "A hook said something that its host cannot use.",
    "The decision was made and then lost; the hook's own log says that it refused.",
    "Print one JSON object and nothing else on standard output, with the fields that this host wants "
    "for this event; send everything else to standard error.",
)
CONFIG_OFF = FindingCode(
    "HH007",
    "CONFIG-OFF",
    "A part of the hook configuration is malformed, and the host leaves hooks out because of it.",
    "Hooks that are correct are never fired, and nothing says so.",
    "Mend the entry that is named; then see in the story that each hook is fired.",
)
EVENT_UNKNOWN = FindingCode(
    "HH008",
    "EVENT-UNKNOWN",
    "Hooks are configured for an event that the host does not know.",
    "They will never be fired.",
    "Use the host's own name of the event; names and their capitals differ from host to host.",
)
OUTPUT_CUT = FindingCode(
    "HH009",
    "OUTPUT-CUT",
    "A hook said more than its host, or the harness, takes.",
    "What is behind the cut is lost, and JSON that is cut is no JSON.",
    "Say less: the first lines, and where the rest can be read.",
)
SILENT_REFUSAL = FindingCode(
    "HH010",
    "SILENT-REFUSAL",
    "A refusal came without a reason.",
    "An agent that is not told why can only try the same again.",
    "Say what was refused, why, and what to do instead, where this host shows it to the agent.",
)
NEVER_FIRED = FindingCode(
    "HH011",
    "NEVER-FIRED",
    "No hook was fired at all.",
    "A run without hooks shows how the agent does alone, and says nothing about any hook.",
    "Check the name and the place of the file that configures the hooks, the name of the event and the "
    "matcher, and let the scenario do what they wait for.",
)
FLAKY = FindingCode(
    "HH012",
    "FLAKY",
    "The same state gave two answers.",
    "Something outside of the state decides: a clock, a random number, the network, a file elsewhere.",
    "Find what the hook reads besides its input and the covered folders; add such a folder to `world.cover`.",
)
OUTSIDE_WRITE = FindingCode(
    "HH013",
    "OUTSIDE-WRITE",
    "A hook wrote outside of the covered folders.",
    "With a real host that stays on the machine, and other projects and sessions find it.",
    "Write below the workspace, HOME or TMPDIR, or name the folder with `world.cover`.",
)
UNREACHED = FindingCode(
    "HH015",
    "UNREACHED",
    "Hooks are configured for an event that the simulated session never comes to.",
    "Nothing is known about these hooks: neither the verdict nor any other finding speaks of them.",
    "Fire them by themselves with `hook_fire`, and try them with the real host.",
)
CLOCK = FindingCode(
    "HH016",
    "CLOCK",
    "How the hooks decide depends on how much time lies between the turns.",
    "An agent that is slower, or faster, than the one it was tried with meets another hook.",
    "Count refusals instead of seconds, or let the limit in seconds only ever lead to letting go.",
)
OPTION_IGNORED = FindingCode(
    "HH017",
    "OPTION-IGNORED",
    "The host takes an option and does nothing with it.",
    "What the option promises, a guard for example, is not there, and nothing says so.",
    "Leave the option out, or choose a version of the host that has it.",
)
DIVERGE = FindingCode(
    "HH018",
    "DIVERGE",
    "One scenario came to different verdicts on different hosts, or to other refusals.",
    "A hook that is right on one host loops, or guards nothing, on another.",
    "See the fact that parts them, and use only what all the hosts understand that the hook is meant for.",
)
PINGPONG = FindingCode(
    "HH019",
    "PINGPONG",
    "Hooks undid what the agent had done to a file, and undid the same again.",
    "Agent and hook work against each other: each does what it is there for, and nothing gets done.",
    "Let the hook change only what the agent is done with, at the stop for example, or let it say what it "
    "changed and why, so that the agent does not do the same again.",
)
GATE_OPEN = FindingCode(
    "HH030",
    "GATE-OPEN",
    "In a session that a hook started, a gate lets through what it refuses otherwise.",
    "A variable that keeps hooks from starting themselves again also switches the gate off, and whatever "
    "agent a hook starts may do anything.",
    "Read such a variable only in hooks that start an agent; a gate must refuse in every session.",
)
AGENT_MISSING = FindingCode(
    "HH031",
    "AGENT-MISSING",
    "A hook called the program of an agent, which is not there.",
    "What the hook does with the agent, and what the hooks of that session do, was not seen.",
    "Give the run a stand-in that plays a session: `commands: {claude: {agent: claude-code}}`.",
)
CHILD_CAPPED = FindingCode(
    "HH032",
    "CHILD-CAPPED",
    "In a session that a hook started, hooks refused the stop until the host's guard set that aside.",
    "Each of these refusals costs an answer of a model, nobody sees them, and other hosts have no guard.",
    "Let the hooks of a stop see that nobody is there: by a variable that the starting hook sets.",
)
EMPTY_ADVICE = FindingCode(
    "HH020",
    "EMPTY-ADVICE",
    "Refusals came three times or more with the same words, and these name nothing to act on.",
    "An agent that is told no and not what to do tries the same again, or gives up what it should do.",
    "Say why, name the file, the command or the rule, and say what to do instead; show the first lines of "
    "what is wrong.",
)

_CODES = (
    HUNG_FIRE,
    HELD_OPEN,
    LEFTOVER,
    NOT_RUN,
    CRASHED,
    MANGLED,
    CONFIG_OFF,
    EVENT_UNKNOWN,
    OUTPUT_CUT,
    SILENT_REFUSAL,
    NEVER_FIRED,
    FLAKY,
    OUTSIDE_WRITE,
    UNREACHED,
    CLOCK,
    OPTION_IGNORED,
    DIVERGE,
    PINGPONG,
    GATE_OPEN,
    AGENT_MISSING,
    CHILD_CAPPED,
    EMPTY_ADVICE,
    *PITFALL_CODES,
    *SINGLE_RUN_CODES,
    *FAULT_CODES,
    *CHECK_CODES,
)


def catalogue() -> tuple[FindingCode, ...]:
    """
    All codes, in order.
    """
    return _CODES


def look_up(word: str) -> FindingCode | None:
    """
    The code that is meant by its number or by its name, in whichever case.
    """
    return next((code for code in _CODES if word.upper() in (code.code, code.name)), None)


def nearest(word: str) -> str:
    """
    The code or name that is most like a word; empty if none is.
    """
    known = [name for code in _CODES for name in (code.code, code.name)]
    return next(iter(difflib.get_close_matches(word.upper(), known, n=1)), "")
