"""
Find the script that a program runs, and whether script or arguments may show times of files.

Loaded by the supervisor too. Most programs ask for the status of each file that they read, and few of them
use more of it than the size.
"""

from __future__ import annotations

import os
import re

from pytest_hookharness.execution.platform import linux_clock_calls as clock_calls
from pytest_hookharness.execution.platform import linux_read_calls as read_calls

# Stands among the mentions for all names of the times of files, and for a script that could not be read.
FILE_TIMES = "st_mtime"
# With a moved clock each of these counts: its times are those of the harness, and nothing is to be missed.
_DATING = frozenset(
    b"stat lstat fstat statSync lstatSync fstatSync watchFile getmtime getctime getatime tarfile zipfile "
    b"make_archive filecmp exec eval runpy".split()
)
_BETWEEN_NAMES = bytes(each if each > 127 or chr(each).isalnum() or each == 95 else 32 for each in range(256))
_NAMES = re.compile(
    rb"\b(?:st_(?:[mca]|birth)time(?:_ns)?|ST_[MCA]TIME|st_ino|get[mca]time|file[mca]time|watchFile|tarfile"
    rb"|zipfile|make_archive|filecmp|runpy|TimedRotatingFileHandler)\b|\.ino\b|(?<![.\w])eval\s*\("
    # Not an option, and not that of Python's module `time`.
    rb"|(?<![\w-])(?<!time\.)(?:[mca]|birth)time(?:Ms|Ns|_ns)?\b"
    rb"|\bstat\b[^\n;]{0,80}?\)\s*\[\s*(?:[189]|10|-|\w{0,9}\.?ST_)|\.stat\b[^\n;]{0,80}?\)\s*\[\s*7"
)
# A quick test: a text without any of these words needs no search.
_LIKELY = _DATING.union(
    f"{first}{kind}time{last}".encode()
    for first in ("", "st_", "file", "get")
    for kind in ("m", "a", "c", "birth")
    for last in ("", "_ns", "Ms", "Ns")
).union(b"ST_MTIME ST_ATIME ST_CTIME st_ino ino TimedRotatingFileHandler".split())
_EXECUTED = re.compile(rb"(?<![.\w])exec\s*\(")
# The status of a file as a whole shows its times, unless the script only takes something else of it.
_STATUS = re.compile(rb"\.[lf]?stat(?:Sync)?\b|\b[lf]?stat(?:Sync)?\s*[($)]")
_OTHER_PARTS = re.compile(
    rb"\bst_(?:size|mode|nlink|uid|gid)\b|\.(?:size|mode|isFile|isDirectory|isSymbolicLink|size\?)\b|\bS_IS\w+"
    rb"|\(\s*l?stat\b[^\n;]{0,80}?\)\s*\[\s*[27]\s*\]"
)
_IN_COMPILED = re.compile(rb"st_(?:[mca]|birth)time|get[mca]time|st_ino")
_ENVIRONMENT = re.compile(r"\.pth$|/(?:site-packages|dist-packages|node_modules)/|/lib(?:64)?/python[0-9.]+/")

_STAT_FORMAT = re.compile(rb"\0(?:-[a-zA-Z]*c\0?|--(?:format|printf)[=\0])([^\0]*)")
_STAT_TIME = re.compile(rb"%[-+ #0-9.]*[HL]?[xyzwXYZWi]")
# For each program the options with which it tells times.
_TELLING = {
    "cp": re.compile(rb"\0-(?!-)[a-zA-Z]*u|\0--update"),
    "mv": re.compile(rb"\0-(?!-)[a-zA-Z]*u|\0--update"),
    "diff": re.compile(rb"\0-(?!-)[a-zA-Z0-9]*[ucUC]|\0--(?:unified|context)"),
    "find": re.compile(
        rb"\0-(?:f?ls|newer\w*|[mca]min|[mca]time|used|inum)\0"
        rb"|\0-f?printf\0(?:[^\0]*\0)?[^\0]*%[-+ #0-9.]*(?:[acti]|[ABCT].)"
    ),
    "ls": re.compile(
        rb"\0-(?!-)[a-zA-Z0-9]*[lgontcui]|\0--(?:full-time|inode|sort=t|time|format=[lv]|numeric-uid-gid)"
    ),
}
# For each program the options with which it tells none.
_SILENT = {
    "gzip": re.compile(rb"\0-(?!-)[a-zA-Z0-9]*[dlnt]|\0--(?:no-name|decompress|uncompress|list|test)\0"),
    "pr": re.compile(rb"\0-(?!-)[a-zA-Z0-9]*[tT]|\0--omit-"),
}
_LABEL = re.compile(rb"\0(?:-L|--label[=\0])")
# The last letters of options whose value is a program.
_INLINE = (b"c", b"m", b"e", b"p")
# Programs of which their arguments show whether they tell the times of the files that they look at.
BY_ARGUMENTS = frozenset(("stat", *_TELLING, *_SILENT))


def names_times(text: bytes, *, moved: bool, compiled: bool) -> bool:
    """
    Return whether a script may learn the times of a file.

    Args:
        text: The script, or the arguments of a program.
        moved: Whether the kernel shows a moved clock; then also what is only likely counts.
        compiled: Whether it is no source.
    """
    if compiled:
        return moved or _IN_COMPILED.search(text) is not None
    words = text.translate(_BETWEEN_NAMES).split()
    if moved or _LIKELY.isdisjoint(words):
        return not _DATING.isdisjoint(words)
    if _NAMES.search(text) or (_EXECUTED.search(text) and b"child_process" not in text):
        return True
    return _STATUS.search(text) is not None and _OTHER_PARTS.search(text) is None


def is_environment(path: str) -> bool:
    """Return whether a file belongs to what is installed for an interpreter, and is no script of a hook."""
    return _ENVIRONMENT.search(path) is not None


def tells_times(path: str, arguments: bytes) -> bool:
    """Return whether the arguments of a program in `BY_ARGUMENTS` show that it tells the times of files."""
    name = os.path.basename(path)
    if name == "stat":
        formats = _STAT_FORMAT.findall(arguments)
        return any(map(_STAT_TIME.search, formats)) or not formats
    if name in _SILENT:
        return _SILENT[name].search(arguments) is None
    if name == "diff" and len(_LABEL.findall(arguments)) > 1:
        return False
    return name in _TELLING and _TELLING[name].search(arguments) is not None


def script_of_system(named: str, path: str, arguments: bytes) -> str:
    """Return the script of an interpreter if it is an installed one, which is not searched for words."""
    words = [named] if named != path else map(os.fsdecode, arguments.split(b"\0")[1:])
    return next((word for word in words if read_calls.is_of_system(word) and os.path.isfile(word)), "")


def names_script(task: int, arguments: bytes) -> bool:
    """Return whether the arguments of an interpreter contain its script, or name its file or folder."""
    words = arguments.split(b"\0")[1:-1]
    plain = [word for word in words if not word.startswith((b"-W", b"-X"))]
    if any(word.startswith(b"-") and word.endswith(_INLINE) for word in plain):
        return True
    places = [clock_calls.find(task, word) for word in plain if word]
    return b"-" not in words and any(os.path.isfile(place) or os.path.isdir(place) for place in places)
