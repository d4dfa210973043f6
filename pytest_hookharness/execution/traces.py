"""
This module is concerned with traces of bash: which lines of which scripts a shell said that it ran.

Middle floor: execution. Pure. What stands before each traced command is ``PROMPT``, whose control characters
bash never writes unquoted in the words of a command. Its first one is written once more for each level of
evaluation.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

# Line, shell, its folder, script. Bash expands this before each command; all of them may be unset.
PROMPT = r"$'\x1d${LINENO-}\x1f$$\x1f${PWD-}\x1f${BASH_SOURCE-}\x1e'"
# In place of a line: the script traces itself, so its trace is its own.
OWN = "own"
_RECORD = re.compile(rb"\x1d+(own|\d{1,9})\x1f(\d+)\x1f([^\0\x1f\x1d]*)\x1f([^\0\x1e\x1d]+)\x1e([^\x1d]*)")
_KEPT = 200
_CLEARING = re.compile(r"(exec )?(\S*/)?env (-\S+ )*(-\w*i\w*|-|--ignore-environment) |exec -\w*c")

_TRACING = re.compile(r"set ([-+][a-zA-Z]+ ([a-z]+ )?)*-[a-zA-Z]*(x|o xtrace)\b|(\w+ )?PS4=")


@dataclass(frozen=True, slots=True)
class Record:
    """
    One command that a shell traced.

    Attributes:
        script: The absolute path of the script.
        line: Where the shell said that it was; 0 if the script traces itself and nothing is known.
        text: The beginning of the command, its words filled in.
    """

    script: str
    line: int
    text: str

    @property
    def clears_environment(self) -> bool:
        """
        Whether what it starts cannot be told to trace itself.
        """
        return _CLEARING.match(self.text) is not None

    @property
    def traces_itself(self) -> bool:
        """
        Whether it asked for a trace of its own, which came here instead.
        """
        return _TRACING.match(self.text) is not None


def _place(folder: bytes, script: bytes) -> str:
    return os.path.normpath(os.path.join(*map(os.fsdecode, (folder or b"/", script))))


def _sourced(text: bytes) -> bytes:
    """
    The file that a command reads into its shell, as it names it; empty if it reads none.
    """
    if not text.startswith((b". ", b"source ")):
        return b""
    try:
        words = shlex.split(os.fsdecode(text))
    except ValueError:
        return b""
    return os.fsencode(words[1]) if len(words) > 1 else b""


def read_trace(data: bytes) -> Iterator[Record]:
    """
    The commands in the trace of one fire, each place and text once.
    """
    # A script is known by the path it was called by, which a later `cd` does not change.
    places: dict[tuple[bytes, bytes], str] = {}
    seen: set[Record] = set()
    for found in _RECORD.finditer(data):
        line, shell, folder, script, text = found.groups()
        place = places.get((shell, script))
        if place is None:
            place = places[shell, script] = _place(folder, script)
        if sourced := _sourced(text):
            # Its functions may be called first from another folder.
            places.setdefault((shell, sourced), _place(folder, sourced))
        number = 0 if line == OWN.encode() else int(line)
        record = Record(place, number, text[:_KEPT].decode("utf-8", "replace").rstrip("\n"))
        if record not in seen:
            seen.add(record)
            yield record
