"""
The catalogue of findings: what was seen, why it matters, and what to do.

`docs/findings/` is generated from it (`python docs/write_findings.py`).
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

HUNG_HOOK = FindingCode(
    "HH001",
    "HUNG-HOOK",
    "A hook did not end within its host's limit or within the harness's hook timeout.",
    "The agent waits all that time, and most hosts allow the call when they stop a guard hook.",
    "Find out what the process waits for: often the end of its input, a terminal or the network. "
    "Read one line instead of the whole input, and set a time limit for slow commands.",
)
HELD_OPEN = FindingCode(
    "HH002",
    "HELD-OPEN",
    "A hook ended, but a process that it started kept its output open.",
    "A host that reads the output to its end waits for that process, although the hook has ended.",
    "Start background work with all streams redirected: `work </dev/null >log 2>&1 &`.",
)
LEFTOVER = FindingCode(
    "HH003",
    "LEFTOVER",
    "A process was still running when the hook that started it had ended.",
    "Every hook run leaves one more process, until the machine is slow or full.",
    "Wait for the process, or end it in a trap on exit. If it must keep running, expect it with `leftovers`.",
)
NOT_RUN = FindingCode(
    "HH004",
    "NOT-RUN",
    "A hook did not run: its command, its script or a module of it is missing or broken.",
    "A hook that never runs guards nothing or blocks everything, depending on the host; many interpreters "
    "exit with 2 if they do not find a script, and 2 refuses.",
    "Check the path (hooks do not always start in the project folder), the executable bit, the first "
    "line of the script, and that the interpreter is on the host's PATH; then run the script by hand.",
)
CRASHED = FindingCode(
    "HH005",
    "CRASHED",
    "A hook failed, or a program that it calls: alone, or beside other runs of it.",
    "Most hosts continue as if the hook had agreed, so they allow what it should have refused; some refuse "
    "everything.",
    "Decide what a failure of the hook means: catch it and exit with the code for a refusal, or with 0. "
    "A final `exit 0` hides the status of the last command. Runs in parallel need temporary names of their "
    "own (`mktemp`).",
)
MANGLED = FindingCode(
    "HH006",
    "MANGLED",
    "The host cannot use a hook's answer: its output is malformed, or it refuses with a status that the host "
    "does not read as a refusal.",
    "The hook decided, but the decision was lost; the hook's own log says that it refused.",
    "Print one JSON object and nothing else on standard output, with the fields that this host expects "
    "for this event; write everything else to standard error. If the host reads exit status 2 of this event "
    "as a refusal, print the reason to standard error beside it; `hookharness explain HOST EVENT` says so.",
)
CONFIG_OFF = FindingCode(
    "HH007",
    "CONFIG-OFF",
    "Part of the hook settings is malformed or means something else to the host, so the host ignores "
    "hooks or runs them for other calls.",
    "A correct hook never runs, or runs for every call, and the host reports nothing.",
    "Correct the setting that the finding names, then check in the report that each hook runs.",
)
EVENT_UNKNOWN = FindingCode(
    "HH008",
    "EVENT-UNKNOWN",
    "Hooks are configured for an event that the host does not know.",
    "They never run.",
    "Use the host's own name of the event; names and their capitals differ between hosts.",
)
OUTPUT_CUT = FindingCode(
    "HH009",
    "OUTPUT-CUT",
    "A hook printed more than its host, or the harness, accepts.",
    "The rest is lost, and JSON that is cut off is invalid.",
    "Print less: the first lines, and where to read the rest.",
)
SILENT_REFUSAL = FindingCode(
    "HH010",
    "SILENT-REFUSAL",
    "A hook refused without a reason.",
    "An agent that gets no reason can only try the same again.",
    "Say what was refused, why, and what to do instead, in the field that this host shows to the agent.",
)
NEVER_FIRED = FindingCode(
    "HH011",
    "NEVER-FIRED",
    "No hook ran, or a hook's matcher fits nothing.",
    "A session without a hook shows only what the agent does, and nothing about the hook.",
    "Check the host (claude-code if none is named), the name and the place of its settings file, the name of "
    "the event and the matcher, and let the scenario do what triggers the hooks.",
)
FLAKY = FindingCode(
    "HH012",
    "FLAKY",
    "The same state led to two different results.",
    "The decision depends on something outside of the state: a clock, a random number, the network, or a "
    "file elsewhere.",
    "Find out what the hook reads besides its input and the covered folders; add such a folder with `cover`.",
)
OUTSIDE_WRITE = FindingCode(
    "HH013",
    "OUTSIDE-WRITE",
    "A hook wrote outside of the covered folders.",
    "With a real host the file stays on the machine, where other projects and sessions see it.",
    "Write below the workspace, HOME or TMPDIR, or add the folder with `cover`.",
)
UNREACHED = FindingCode(
    "HH015",
    "UNREACHED",
    "Hooks are configured for an event that a simulated session never reaches.",
    "Nothing is known about these hooks: neither the verdict nor any other finding includes them.",
    "Run them on their own with `hook_fire`, and try them with the real host.",
)
CLOCK = FindingCode(
    "HH016",
    "CLOCK",
    "The hooks' decisions depend on the time.",
    "A slower or faster agent than the one in the test, or one at another hour, gets other decisions.",
    "Allow the stop after a number of refusals, at any pace and any time of the day. If the clock may only "
    "allow it earlier, expect this finding: `expect: {findings: [CLOCK]}`.",
)
OPTION_IGNORED = FindingCode(
    "HH017",
    "OPTION-IGNORED",
    "The host accepts an option but ignores it.",
    "The effect of the option, such as a cap on refusals, is missing, and no message says so.",
    "Remove the option, or choose a version of the host that implements it.",
)
DIVERGE = FindingCode(
    "HH018",
    "DIVERGE",
    "One scenario got different verdicts or different refusals on different hosts.",
    "A hook that works on one host loops, or guards nothing, on another.",
    "See which fact about the hosts differs, and use only features that all intended hosts support.",
)
PINGPONG = FindingCode(
    "HH019",
    "PINGPONG",
    "Hooks reverted a change of the agent, and later reverted the same change again.",
    "Agent and hook work against each other, and the file never gets its final content.",
    "Change files only when the agent has finished, at the stop for example, or tell the agent what the hook "
    "changed and why, so that the agent does not repeat it.",
)
GUARD_OPEN = FindingCode(
    "HH030",
    "GUARD-OPEN",
    "In a session that a hook started, a guard hook allows what it normally refuses.",
    "The variable that prevents hooks from starting agents again also disables the guard hook, so an agent "
    "that a hook starts may do anything.",
    "Read such a variable only in hooks that start an agent; a guard hook must refuse in every session.",
)
AGENT_MISSING = FindingCode(
    "HH031",
    "AGENT-MISSING",
    "A hook called an agent's program, which is not installed here.",
    "What the hook does with the agent, and what the hooks of that session do, was not seen.",
    "Give the run a fake agent that plays a session: `commands: {claude: {agent: claude-code}}`.",
)
CHILD_CAPPED = FindingCode(
    "HH032",
    "CHILD-CAPPED",
    "In a session that a hook started, hooks refused the stop until the host's cap overrode them.",
    "Each of these refusals costs an answer of a model, nobody sees them, and other hosts have no cap.",
    "Set a variable in the hook that starts the session, and allow the stop in the stop hooks if it is set.",
)
EMPTY_ADVICE = FindingCode(
    "HH020",
    "EMPTY-ADVICE",
    "Refusals came three times or more with the same text, which names nothing that the agent could do.",
    "An agent that does not know what to do tries the same again, or gives up its task.",
    "Say why, name the file, the command or the rule, and say what to do instead; show the first lines of "
    "what is wrong.",
)
WARM_DIFFERS = FindingCode(
    "HH021",
    "WARM-DIFFERS",
    "With `--hook-warm`, a run that was forked from a prepared Python differed from several usual runs.",
    "The hook depends on how its interpreter is started, so all further runs of it were started as usual.",
    "Nothing, if the hook is meant to do so. Else see what it does with its process: command line, process "
    "table, open descriptors, order of sets, modules that are loaded already.",
)

_CODES = tuple(sorted((
    HUNG_HOOK, HELD_OPEN, LEFTOVER, NOT_RUN, CRASHED, MANGLED, CONFIG_OFF, EVENT_UNKNOWN, OUTPUT_CUT,
    SILENT_REFUSAL, NEVER_FIRED, FLAKY, OUTSIDE_WRITE, UNREACHED, CLOCK, OPTION_IGNORED, DIVERGE, PINGPONG,
    GUARD_OPEN, AGENT_MISSING, CHILD_CAPPED, EMPTY_ADVICE, WARM_DIFFERS,
    *PITFALL_CODES, *SINGLE_RUN_CODES, *FAULT_CODES, *CHECK_CODES,
), key=lambda code: code.code))  # fmt: skip


def catalogue() -> tuple[FindingCode, ...]:
    """Return all finding codes, in their order."""
    return _CODES


def look_up(word: str) -> FindingCode | None:
    """Return the code with this number or name, ignoring case; ``None`` if there is none."""
    return next((code for code in _CODES if word.upper() in (code.code, code.name)), None)


def nearest(word: str) -> str:
    """Return the number or name that is most similar to a word; empty if none is similar."""
    known = [name for code in _CODES for name in (code.code, code.name)]
    return next(iter(difflib.get_close_matches(word.upper(), known, n=1)), "")
