"""
This module is concerned with the codes of pitfalls that a single run shows.

Middle floor: judging. Data only. Each is found by what processes did and what the host's rules say of it.
"""

from __future__ import annotations

from pytest_hookharness.model.code import Code

EARLY_EXIT = Code(
    "HH101",
    "EARLY-EXIT",
    "A hook decided, and a file that it promised to change on that decision stayed as it was.",
    "A helper that prints the decision and exits ends the whole script: a count that stands behind it never "
    "rises, a mark is never cleared, and the next decision is made from what is out of date.",
    "Write the state first and decide last, and put branches that change state first.",
)
STUCK_PHASE = Code(
    "HH106",
    "STUCK-PHASE",
    "A session that begins in the wrong phase is locked out, or one phase outlives its session.",
    "A mark that must be set before the agent may read locks out an agent that must read to set it; "
    "a mark that nobody clears switches the hook off for every session to come.",
    "Let reads through in every phase, tie the mark to the session's id, and clear it when a session starts.",
)
STDOUT_DENIES = Code(
    "HH108",
    "STDOUT-DENIES",
    "A hook ended with exit code 0 and no refusal, and its host takes what it printed for one.",
    "There is no channel for a mere warning on that host: the call is refused although the hook let it "
    "through, and the agent is told no reason, or the wrong one.",
    "Print nothing, or one answer that says allow in so many words; keep notes in a file.",
)
PROMPT_NOISE = Code(
    "HH111",
    "PROMPT-NOISE",
    "A hook printed plain text on a prompt, and this host does not give that to the agent.",
    "The text that was meant as context is shown to the person as noise, or to nobody; hosts differ, so what "
    "works on one is lost on the next.",
    "Answer in JSON with `additionalContext` beside the event's name, which most hosts take.",
)
UNSEEN_REASON = Code(
    "HH112",
    "UNSEEN-REASON",
    "A hook allows a call and gives the agent something to read in the reason, which the agent never sees.",
    "Hosts pass on the reason of a refusal, and not that of an allow: rules, files and advice that a hook "
    "hands out in this way are dropped without a word.",
    "Give it as `additionalContext` after the call (PostToolUse), or refuse once with it as the reason.",
)
DOUBLE_NOISE = Code(
    "HH114",
    "DOUBLE-NOISE",
    "Several hooks of one event say the same, or several speak on standard error although none decides.",
    "The person reads every line once for each hook at every call, and soon reads none of them.",
    "Let one hook speak for the event: join the scripts, register each once, and log to a file instead.",
)

SINGLE_RUN_CODES = (EARLY_EXIT, STUCK_PHASE, STDOUT_DENIES, PROMPT_NOISE, UNSEEN_REASON, DOUBLE_NOISE)
