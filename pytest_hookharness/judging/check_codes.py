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

CHECK_CODES = (CARRIED_OUT, STAGED)
