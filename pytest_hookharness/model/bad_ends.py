"""Bad ends of a session: their meaning, why they matter and how to fix them; see docs/endless-hooks.md."""

from __future__ import annotations

from pytest_hookharness.model.verdicts import FindingCode

_ALLOW_STOP = (
    "Let the hook allow the stop if nothing changed since its last refusal. On hosts that send "
    "`stop_hook_active`, allow the stop if it is true; on others count refusals per session and allow the "
    "stop after a few."
)
BAD_ENDS = (
    FindingCode(
        "",
        "livelock",
        "The hooks refuse the stop forever: the same state came again, or the differences decide nothing.",
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
        "Every stop was refused, eight times or more; neither an end nor a repeated state was seen.",
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


def look_up_bad_end(word: str) -> FindingCode | None:
    """Return the bad end with this name, ignoring case."""
    return next((end for end in BAD_ENDS if end.name == word.lower()), None)
