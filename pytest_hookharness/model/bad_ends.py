"""
Ends of a session: their meaning, why they matter and what to do.

docs/endless-hooks.md explains the bad ones.
"""

from __future__ import annotations

import difflib
import re

from pytest_hookharness.model.verdicts import FindingCode

# A missing program, as a shell reports it with its own line, and arguments that argparse does not know.
_OWN_ERROR = re.compile(
    r": (?:line )?\d+: (?P<missing>[\w./+-]+: (?:command )?not found)\b"
    r"|\busage: .{0,2000}?(?P<usage>[\w.-]+: error: .*)",
    re.DOTALL,
)
_LONGEST_ERROR = 100
# After this many refusals in a row nobody would wait for the end; the limiter allows up to 10 of them.
MANY_REFUSALS = 12
# The same problem of a hook, by how long its refusals were seen.
ENDLESS = frozenset(["livelock", "capped", "no-end"])
_ALLOW_STOP = (
    "Let the hook allow the stop if nothing changed since its last refusal. On hosts that send "
    "`stop_hook_active`, allow the stop if it is true; on others count refusals per session and allow the "
    "stop after a few."
)
BAD_ENDS = (
    FindingCode(
        "",
        "livelock",
        "The hooks refuse the stop forever: the same state came again, or what still changes was shown "
        "not to matter.",
        "A real host continues until its own cap applies, if it has one. Each refusal costs an answer of the "
        "model.",
        _ALLOW_STOP,
    ),
    FindingCode(
        "",
        "capped",
        "The hooks refused the stop until the host's cap overrode them.",
        "The hook did not end the session, and other hosts or versions have no such cap.",
        _ALLOW_STOP,
    ),
    FindingCode(
        "",
        "no-end",
        f"Every stop was refused, {MANY_REFUSALS} times or more, without an end and a repeated state.",
        "It is unknown when the session ends, and each refusal costs an answer of the model.",
        "Limit the number of refusals in the hook.",
    ),
    FindingCode(
        "",
        "hung",
        "The host waits forever: for a hook, or for a user's answer when no user is present.",
        "The session makes no progress until a person intervenes.",
        "Set a time limit for what the hook waits for, and never ask on a terminal.",
    ),
    FindingCode(
        "",
        "recursing",
        "A hook starts an agent whose hooks start agents again.",
        "Each session costs as much as the first, and their number has no limit.",
        "Set a variable when the hook starts an agent, and exit at once if it is set. A hook that refuses "
        "calls must keep refusing there.",
    ),
    FindingCode(
        "",
        "lockout",
        "From some state no sequence of moves leads to a stop.",
        "Whatever the agent does, only a person can end the session.",
        "Make sure that the agent can meet the hook's demand with the tools that the hooks allow.",
    ),
)


UNDECIDED = FindingCode(
    "",
    "undecided",
    "It is unknown whether the session ends.",
    "An unknown result is not a pass.",
    "The report says what ended the search; give it more turns or time.",
)
# Ends that are no defect of a hook, or of which a finding says more.
_OTHER_ENDS = (
    FindingCode(
        "",
        "terminated",
        "The agent wanted to stop, and the hooks allowed it.",
        "The session ends, as it should.",
        "Nothing. The report says in which turn, and after how many refusals.",
    ),
    UNDECIDED,
    FindingCode(
        "",
        "hook not run",
        "The session ended, but a hook did not run, so it decided nothing.",
        "A hook that does not run guards nothing; its finding makes an expected `terminated` fail.",
        "See the finding that the report names, such as NOT-RUN, CONFIG-OFF or NEVER-FIRED.",
    ),
    FindingCode(
        "",
        "hook cut",
        "The session ended, but a hook did not end in time, so it decided nothing.",
        "Most hosts allow what a hook should have refused if it is ended at its timeout.",
        "See the finding HUNG-HOOK: it says what the hook waited for.",
    ),
)


def advise_on_own_error(reason: str) -> str:
    """Return what to do first if the text of a refusal is an error of the hook itself; empty if it is not."""
    found = _OWN_ERROR.search(reason)
    if found is None:
        return ""
    error = " ".join((found["missing"] or found["usage"]).split())[:_LONGEST_ERROR]
    return f'First mend the error in its text, "{error}": the hook may refuse only because of it.'


def look_up_end(word: str) -> FindingCode | None:
    """Return the end of a session with this name, ignoring case, with hyphens or spaces."""
    plain = word.lower().replace("-", " ")
    return next((end for end in (*BAD_ENDS, *_OTHER_ENDS) if end.name.replace("-", " ") == plain), None)


def nearest_end(word: str) -> str:
    """Return the name of an end that is most similar to a word; empty if none is similar."""
    names = [end.name for end in (*BAD_ENDS, *_OTHER_ENDS)]
    return next(iter(difflib.get_close_matches(word.lower(), names, n=1)), "")
