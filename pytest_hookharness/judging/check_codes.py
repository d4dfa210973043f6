"""
This module is concerned with the codes of what a check-up finds beside all others.

Middle floor: judging. Data only. Who writes a scenario may want what these name, so no single run calls it a
defect.
"""

from __future__ import annotations

from pytest_hookharness.model.code import Code

CARRIED_OUT = Code(
    "HH301",
    "CARRIED-OUT",
    "A hook carried out what stood in its input: in a command, a text or the name of a file.",
    "Whoever writes a file or a page that the agent reads runs programs on this machine, past every guard.",
    "Pass values as arguments or variables in quotes, and never build code of them: no `eval`, no "
    "`sh -c` with the value inside, no template of a script.",
)
STAGED = Code(
    "HH302",
    "STAGED",
    "A hook changed the index, the refs or the stash of the repository.",
    "What the person had staged is mixed with what was not, and a commit appears that nobody asked for.",
    "Look with `git diff` and `git status --porcelain` only; to compare, use an index of the hook's own "
    "(`GIT_INDEX_FILE`) below a temporary folder.",
)

BLOCKS_EVERYTHING = Code(
    "HH303",
    "BLOCKS-EVERYTHING",
    "A guard refuses work that nobody would object to: each look at a file, each edit, and most commands.",
    "The agent can do nothing, so people switch the guard off, and with it what it is for.",
    "Ask for the tool's name first, and let through all that the guard has no rule about; a list of what is "
    "allowed must hold every tool that the matcher lets through.",
)
INERT_GUARD = Code(
    "HH304",
    "INERT-GUARD",
    "A hook asks for tools by names that its host does not have, so it never does anything.",
    "It looks like a guard and lets everything through; each host calls its tools otherwise.",
    "Use the host's own names of tools, as they stand in the input that it writes (`hookharness explain`), "
    "and test the guard with a call that it must refuse.",
)
SLOW = Code(
    "HH305",
    "SLOW",
    "A hook takes more than half of the time that its host gives it.",
    "On a busier machine the host cuts it, and a guard that is cut guards nothing on most hosts.",
    "Do less at each fire: keep results, look only at the files of this call; or raise the hook's `timeout`.",
)

CHECK_CODES = (CARRIED_OUT, STAGED, BLOCKS_EVERYTHING, INERT_GUARD, SLOW)
