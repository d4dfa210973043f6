"""
Traces of hooks: what bash and Python load first to record what they run, and reading what bash recorded.

The preload scripts print nothing, whatever goes wrong: a hook that cannot be recorded runs as it would
without them. Python has one ``sitecustomize``; ours loads the site's own file of that name afterwards.

``PROMPT`` stands before each command that bash traces; bash never writes its control characters unquoted in
the words of a command. Its first character is repeated for each level of evaluation.

A shell has one place for its trace. So a script that loads a file which traces itself is left alone as well,
and that must be known before it begins: bash offers no moment to give the trace back. The patterns are in
bash's syntax; what they cannot tell apart counts as self-tracing.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from pytest_hookharness.execution.clock.python_clock import SITECUSTOMIZE_CHAIN
from pytest_hookharness.execution.paths import WorkspaceError, read_bytes
from pytest_hookharness.model.fast_dataclass import dataclass

# Line, shell, its folder, script. Bash expands this before each command; all of them may be unset.
PROMPT = r"$'\x1d${LINENO-}\x1f$$\x1f${PWD-}\x1f${BASH_SOURCE-}\x1e'"
# In place of a line number: the script traces itself, so its trace is its own.
OWN = "own"
_RECORD = re.compile(rb"\x1d+(own|\d{1,9})\x1f(\d+)\x1f([^\0\x1f\x1d]*)\x1f([^\0\x1e\x1d]+)\x1e([^\x1d]*)")
_MAX_TEXT = 200
_CLEARING = re.compile(r"(exec )?(\S*/)?env (-\S+ )*(-\w*i\w*|-|--ignore-environment) |exec -\w*c")

_TRACING = re.compile(r"set ([-+][a-zA-Z]+ ([a-z]+ )?)*-[a-zA-Z]*(x|o xtrace)\b|(\w+ )?PS4=")


@dataclass(frozen=True, slots=True)
class TraceLine:
    """
    One command that a shell traced.

    Attributes:
        script: The absolute path of the script.
        line: The line that the shell reported; 0 if the script traces itself and nothing is known.
        text: The beginning of the command, its words expanded.
    """

    script: str
    line: int
    text: str

    @property
    def clears_environment(self) -> bool:
        """Whether it starts a process with a cleared environment, which cannot be recorded."""
        return _CLEARING.match(self.text) is not None

    @property
    def traces_itself(self) -> bool:
        """Whether it turned on a trace of its own, which went to the recorder instead."""
        return _TRACING.match(self.text) is not None


def _place(folder: bytes, script: bytes) -> str:
    return os.path.normpath(os.path.join(*map(os.fsdecode, (folder or b"/", script))))


def _sourced(text: bytes) -> bytes:
    """Return the file that a command reads into its shell, as the command names it; empty if none."""
    if not text.startswith((b". ", b"source ")):
        return b""
    try:
        words = shlex.split(os.fsdecode(text))
    except ValueError:
        return b""
    return os.fsencode(words[1]) if len(words) > 1 else b""


def read_trace(data: bytes) -> Iterator[TraceLine]:
    """Yield the commands in the trace of one hook run, each place and text once."""
    # A script is identified by the path it was called by, which a later `cd` does not change.
    places: dict[tuple[bytes, bytes], str] = {}
    seen: set[TraceLine] = set()
    for found in _RECORD.finditer(data):
        line, shell, folder, script, text = found.groups()
        place = places.get((shell, script))
        if place is None:
            place = places[shell, script] = _place(folder, script)
        if sourced := _sourced(text):
            # Its functions may be called first from another folder.
            places.setdefault((shell, sourced), _place(folder, sourced))
        number = 0 if line == OWN.encode() else int(line)
        record = TraceLine(place, number, text[:_MAX_TEXT].decode("utf-8", "replace").rstrip("\n"))
        if record not in seen:
            seen.add(record)
            yield record


_FLAGS = r"set[[:blank:]]+([-+][a-zA-Z]+[[:blank:]]+([a-z]+[[:blank:]]+)?)*[-+][a-zA-Z]*x"
# What closes descriptors that it does not know, among them the one of the trace: bash then traces to standard
# error.
_CLOSES = r"\$[^[:space:]]*[<>]&-|217[<>]&-"
# Text of a script that traces itself, or that asks which options are set.
SELF_TRACING = rf"{_FLAGS}|xtrace|PS4|XTRACEFD|SHELLOPTS|\$-|\$\{{-|{_CLOSES}"
# The beginning of a command that loads a file, and then its name, or the end of a word that hides its name.
_BEGINS = r"""(^|[[:cntrl:];&|({!"']|then|else|do|if|while|until|command|=[^[:space:]]*)[[:blank:]]*"""
_LOADS = rf"{_BEGINS}(\.|source)[[:blank:]]+[^;|[:cntrl:]]*"
_NAMELESS = r"""(\$[a-zA-Z0-9_@]+|[})]|[*][^[:space:]"/;&|]*)"?([[:space:];&|]|$)"""
_CLASSES = {"[[:blank:]]": r"[ \t]", "[:space:]": r"\s", "[:cntrl:]": r"\x00-\x1f"}

_SUFFIXES = ("", ".sh", ".bash", ".inc", ".env", ".lib", ".rc", ".conf", ".cfg", ".functions")
_SKIPPED_FOLDERS = frozenset({".git", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".nox"})
_MAX_NAMES, _MAX_FILES, _MAX_SIZE = 20_000, 1000, 256 << 10


def find_loadable(folder: Path) -> Mapping[Path, str]:
    """Return the text files below a folder that a shell may load, at most 1000."""
    # Bounded, since a hook's folder may be a whole project; what lies beyond the bound counts as not
    # self-tracing.
    found: dict[Path, str] = {}
    named = (path for path in islice(_files(folder), _MAX_NAMES) if path.suffix in _SUFFIXES)
    for path in islice(named, _MAX_FILES):
        try:
            data = read_bytes(Path(os.path.realpath(path)), most=_MAX_SIZE)
        except WorkspaceError:
            continue
        if data is not None and b"\0" not in data:
            found[path] = data.decode("utf-8", "replace")
    return found


def _files(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in _SKIPPED_FOLDERS]
        yield from (Path(place, name) for name in names)


def loads_trace(texts: Mapping[Path, str]) -> str:
    """Return a pattern for scripts that load a self-tracing text, or may do so; empty if none does."""
    tracing = _files_matching(texts, SELF_TRACING)
    while tracing:
        names = "|".join(re.sub(r"[][\\.*^$+?(){}|]", r"\\\g<0>", name) for name in sorted(tracing))
        pattern = f"{_LOADS}({names}|{_NAMELESS})"
        more = _files_matching(texts, pattern) - tracing
        if not more:
            return pattern
        tracing |= more
    return ""


def _files_matching(texts: Mapping[Path, str], pattern: str) -> set[str]:
    for known, same in _CLASSES.items():
        pattern = pattern.replace(known, same)
    wanted = re.compile(pattern, re.MULTILINE)
    return {path.name for path, text in texts.items() if wanted.search(text)}


# Far above the descriptors that scripts are given or choose, so that theirs keep their numbers.
_DESCRIPTOR = 217
# The variable with the BASH_ENV that bash would have read without us.
BASH_ENV = "HOOKHARNESS_RECORDED_BASH_ENV"
# The variable with the path of coverage's settings.
SETTINGS = "HOOKHARNESS_RECORDED"


def bash_preload(trace: Path, loads: Path) -> str:
    """
    Return what a bash script reads first: a few builtins that start no process.

    Args:
        trace: The file that takes the trace; nothing is traced if it cannot be written.
        loads: A file with a pattern for further scripts whose trace is left to them.
    """
    values = {
        "VARIABLE": BASH_ENV, "FILE": shlex.quote(str(trace)), "LOADS": shlex.quote(str(loads)),
        "FD": str(_DESCRIPTOR), "PROMPT": PROMPT, "OWN": OWN, "SELF_TRACING": shlex.quote(SELF_TRACING),
    }  # fmt: skip
    return re.sub(r"@(\w+)@", lambda found: values[found[1]], _BASH)


def python_preload(coverage_path: Path) -> str:
    """Return a ``sitecustomize`` that starts coverage, found in a folder of its own, and loads the site's."""
    return _PYTHON.replace("@VARIABLE@", SETTINGS).replace("@COVERAGE@", repr(str(coverage_path)))


def python_settings(data: Path, *, branch: bool) -> str:
    """Return the settings of coverage in a hook; ``data`` is what the names of its data files begin with."""
    return _SETTINGS.format(file=str(data).replace("%", "%%"), branch=branch)


# A script that traces itself wants the trace on standard error, so the trace is left to it and nothing of
# ours is in it. Before bash 4.1 a trace has no place of its own. What bash would have loaded comes first,
# expanded as bash would have. The call leaves `$_` unchanged: scripts ask it first whether they are sourced.
_BASH = r"""if { [[ ${@VARIABLE@-} ]]; } 2>/dev/null; then eval ". \"${@VARIABLE@//\"/\\\"}\""; fi
__recorded() {
  local lines=("${BASH_EXECUTION_STRING-}") own=@SELF_TRACING@ loads=
  unset -f __recorded
  ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] > 400)) || return 0
  { exec @FD@>>@FILE@; } || return 0
  if [[ -f $0 && -r $0 ]]; then mapfile -O 1 lines <"$0"; fi
  if [[ -r @LOADS@ ]]; then read -r loads <@LOADS@; fi
  if [[ $- == *x* || "${lines[*]}" =~ $own${loads:+|$loads} ]]; then
    printf '\x1d@OWN@\x1f%s\x1f%s\x1f%s\x1e\n' "$$" "$PWD" "$0" >&@FD@
    exec @FD@>&-
    return 0
  fi
  BASH_XTRACEFD=@FD@
  PS4=@PROMPT@
  set -x
}
{ __recorded "$_"; } 2>/dev/null
"""

_SETTINGS = """[run]
data_file = {file}
parallel = true
branch = {branch}
patch = _exit
disable_warnings =
    already-imported, dynamic-conflict, fork, include-ignored, module-not-imported, module-not-measured,
    module-not-python, no-ctracer, no-data-collected, no-source, no-sysmon, no-sysmon-context, trace-changed
"""

_PYTHON = (
    r'''"""Records what this Python runs, then loads the site's own file of this name."""


'''
    + SITECUSTOMIZE_CHAIN
    + r"""

def _record():
    import os
    import sys

    settings = os.environ.get("@VARIABLE@")
    if not settings or sys.version_info < (3, 10):
        return
    # Bytecode that is compiled here would be written to the machine, beside coverage itself.
    kept, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    before = os.environ.get("COVERAGE_PROCESS_START")
    sys.path.insert(0, @COVERAGE@)
    try:
        import coverage

        _silence(coverage.Coverage)
        os.environ["COVERAGE_PROCESS_START"] = settings
        coverage.process_startup()
    except Exception:
        pass
    finally:
        sys.path.remove(@COVERAGE@)
        if before is None:
            os.environ.pop("COVERAGE_PROCESS_START", None)
        else:
            os.environ["COVERAGE_PROCESS_START"] = before
        sys.dont_write_bytecode = kept


def _silence(kind):
    write = kind._atexit

    def write_quietly(self, *args):
        # A hook may leave no room, no rights or no descriptor for the data.
        try:
            write(self, *args)
        except Exception:
            pass

    kind._atexit = write_quietly


def _begin():
    import os

    _make_way(os.path.dirname(os.path.abspath(__file__)))
    _record()


_begin()
"""
)
