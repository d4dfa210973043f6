"""
This module is concerned with patches as Codex 0.169.0 writes them: a change of a file as text.

Middle floor: hosts. What a patch says is read line by line. The harness makes one change of one file, so a
patch of several files, or of several places in one, is none that it can carry out.
"""

from __future__ import annotations

import posixpath

from pytest_hookharness.model.moves import Edit

_BEGIN, _END = "*** Begin Patch", "*** End Patch"
_ADD, _UPDATE = "*** Add File: ", "*** Update File: "
_PLACE, _LAST = "@@", "*** End of File"


def write_patch(edit: Edit) -> str:
    """
    The patch that makes a change.

    A passage that begins or ends within a line is written as if it were whole lines: what stands around it in
    the file is not known here.
    """
    if edit.old is None:
        body = [f"{_ADD}{edit.file}", *(f"+{line}" for line in _lines(edit.text))]
        return "\n".join((_BEGIN, *body, _END, ""))
    old, new = edit.old.split("\n"), edit.text.split("\n")
    if edit.old.endswith("\n") and (not edit.text or edit.text.endswith("\n")):
        # Whole lines for whole lines, or for nothing.
        old, new = old[:-1], new[:-1]
    body = [f"{_UPDATE}{edit.file}", _PLACE]
    body += [*(f"-{line}" for line in old), *(f"+{line}" for line in new)]
    return "\n".join((_BEGIN, *body, _END, ""))


def read_patch(text: str, workspace: str) -> Edit | None:
    """
    The change that a patch makes; ``None`` if it is more than one change of one file, or no patch.
    """
    lines = text.strip("\n").split("\n")
    if len(lines) < 3 or lines[0].strip() != _BEGIN or lines[-1].strip() != _END:
        return None
    head, body = lines[1], lines[2:-1]
    if head.startswith(_ADD) and all(line.startswith("+") for line in body):
        text = "".join(f"{line[1:]}\n" for line in body)
        return Edit(file=_inside(head[len(_ADD) :], workspace), text=text)
    if not head.startswith(_UPDATE):
        return None
    passage = _read_passage(body)
    if passage is None:
        return None
    old, new = passage
    return Edit(file=_inside(head[len(_UPDATE) :], workspace), text=new, old=old)


def _read_passage(body: list[str]) -> tuple[str, str] | None:
    hunk = [line for line in body if line.strip() != _LAST]
    if hunk and hunk[0].startswith(_PLACE):
        hunk = hunk[1:]
    # A line of context that is empty may have lost its space.
    marked = [line or " " for line in hunk]
    if any(line[0] not in " -+" for line in marked):
        return None
    old = [line[1:] for line in marked if line[0] in " -"]
    new = [line[1:] for line in marked if line[0] in " +"]
    if not old:
        return None
    # Lines that are gone take their ends with them.
    end = "" if new else "\n"
    return "\n".join(old) + end, "\n".join(new)


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _inside(path: str, workspace: str) -> str:
    # A path outside the workspace stays absolute: whoever performs it must decide about that.
    return posixpath.normpath(path.strip()).removeprefix(workspace.rstrip("/") + "/")


def summarise(made: Edit, *, new: bool) -> str:
    """
    What the host says of a patch that it has carried out.
    """
    return f"Success. Updated the following files:\n{'A' if new else 'M'} {made.file}\n"
