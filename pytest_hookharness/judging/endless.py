"""
This module is concerned with hooks that do not come to an end: what a check-up says where a verdict is bad.

Middle floor: judging. Data only. The same in full stands in docs/endless-hooks.md.
"""

from __future__ import annotations

from pytest_hookharness.model.code import Code

_LET_GO = (
    "Let the hook allow when nothing changed since its last refusal. On hosts that say `stop_hook_active`, "
    "read it and let go where it is true; elsewhere count refusals, by session, and let go after a few."
)

ENDLESS = (
    Code(
        "",
        "livelock",
        "The hooks refuse the stop for ever: the same state came again, or what differs decides nothing.",
        "A real host goes on until its own guard acts, if it has one, and each refusal costs an answer of "
        "the model.",
        _LET_GO,
    ),
    Code(
        "",
        "capped",
        "The hooks refused the stop until the host set that aside.",
        "The session ended, but not by the hook, and other hosts, or another version, have no such guard.",
        _LET_GO,
    ),
    Code(
        "",
        "no-end",
        "Every stop was refused, eight times or more, and no end was seen, but no repeat either.",
        "Nobody knows when it ends, and each refusal costs an answer of the model.",
        "Say in the hook after how many refusals it lets go.",
    ),
    Code(
        "",
        "hung",
        "The host waits for ever: for a hook, or for a person's word where nobody is.",
        "The session stands still until somebody looks after it.",
        "Give what the hook waits for a limit of its own, and never ask on a terminal.",
    ),
    Code(
        "",
        "recursing",
        "A hook starts an agent whose hooks start agents again.",
        "Each session costs as much as the first, and their number grows without an end.",
        "Set a variable where the hook starts an agent, and end at once where it is set; but a hook that "
        "refuses must go on refusing there.",
    ),
    Code(
        "",
        "lockout",
        "From some state no move of the agent leads to a stop.",
        "Whatever the agent does, only a person can end the session.",
        "Make sure that what the hook asks for can be done with the tools that the hooks allow.",
    ),
)


def look_up_ending(word: str) -> Code | None:
    """
    What is called so, in whichever case.
    """
    return next((ending for ending in ENDLESS if ending.name == word.lower()), None)
