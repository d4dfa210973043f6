"""
Test doubles: commands first on PATH that replace real ones and record how they are called.

A double is a small shell script, so that it costs what a shell costs. Its output is in files beside it, never
in its code. A double that heals marks each failure by a file of its own; these files belong to the state, and
there are never more of them than it needs to heal. A double that replaces an agent becomes a program that
plays a session inside the same sandbox.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import sys
from pathlib import Path

from pytest_hookharness.execution.paths import (
    PACKAGE,
    TOOLS_PATH,
    WorkspaceError,
    confine,
    make_folders,
    read_bytes,
    write_bytes,
)
from pytest_hookharness.execution.platform.current import system
from pytest_hookharness.execution.workspace.session_records import SessionRecords
from pytest_hookharness.model.delivery import DoubleCall
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.scenario import Double, Scenario

STDIN_LIMIT = 1 << 20
# More bytes than the system accepts as arguments.
_RECORD_LIMIT = 16 << 20
# The fake agent is a program of a higher layer, which is only named here. It has a file of its own, so that
# its command line can be read in a list of processes.
_PROGRAM = """\
import sys
sys.path.insert(0, {package!r})
from pytest_hookharness.simulation.session.fake_agent import main
sys.exit(main([{sessions!r}, {name!r}, *sys.argv[1:]]))
"""
# Seconds for which a double waits for the end of its own standard input. Some programs leave it open for as
# long as their child lives; a double that waited without limit would hang where no real command does.
_STDIN_WAIT = "1"


@dataclass(frozen=True, slots=True)
class TestDoubles:
    """The test doubles of one workspace: their folder, first on PATH, and that of output and records."""

    bin: Path
    folder: Path

    @property
    def session_records(self) -> SessionRecords:
        """The sessions that fake agents played."""
        return SessionRecords(self.folder / "sessions")

    @property
    def counters(self) -> Path:
        """The folder of the healing marks, which belong to the state."""
        return self.folder / "counters"

    def records(self, name: str) -> Path:
        """Return the folder in which one of them records its calls."""
        return self.folder / "calls" / name

    def write(self, scenario: Scenario) -> None:
        """
        Write all test doubles of a scenario; raise `WorkspaceError` if a name is not a bare command name.
        """
        make_folders(self.bin)
        make_folders(self.counters)
        if scenario.fake_agents:
            self.session_records.prepare()
            import pickle

            write_bytes(self.session_records.folder / "scenario", pickle.dumps(scenario))
        for name, double in scenario.commands.items():
            if name in ("", ".", "..") or "/" in name or "\0" in name:
                problem = f"{name!r} cannot be the name of a test double; use a bare command name"
                raise WorkspaceError(self.bin, problem)
            self._write(name, double)

    def _write(self, name: str, double: Double) -> None:
        texts = self.folder / "texts" / name
        for folder in (texts, self.records(name), self.counters / name):
            make_folders(folder)
        for kind in ("stdout", "stderr", "prompts"):
            write_bytes(texts / kind, getattr(double, kind).encode("utf-8", "surrogateescape"))
        if double.agent:
            package, sessions = str(PACKAGE.parent), str(self.session_records.folder)
            program = _PROGRAM.format(package=package, sessions=sessions, name=name)
            write_bytes(self.folder / "agents" / name, os.fsencode(program))
        script = self.bin / name
        write_bytes(script, os.fsencode(script_of(name, double, self.folder)))
        script.chmod(0o755)

    def calls(self, name: str) -> tuple[DoubleCall, ...]:
        """
        Return the calls of one double, in order.

        Raises:
            WorkspaceError: There is no such double, or its records cannot be read: hooks can reach them.
        """
        folder = confine(self.records(name), [self.folder])
        try:
            numbers = sorted(int(record.name) for record in folder.iterdir() if record.name.isdecimal())
            calls = (_read_call(folder, name, number) for number in numbers)
            return tuple(call for call in calls if call is not None)
        except FileNotFoundError as error:
            problem = f"there is no test double {name!r}; add it under `commands`"
            raise WorkspaceError(folder, problem) from error
        except OSError as error:
            raise WorkspaceError(folder, f"its records cannot be read: {error.strerror}") from error


def _read_call(folder: Path, name: str, number: int) -> DoubleCall | None:
    record = read_bytes(folder / str(number), most=_RECORD_LIMIT)
    if record is None:
        return None
    words = record.split(b"\0")
    if len(words) < 4:
        # It was killed in the middle of its record, but it was called.
        return DoubleCall((name,))
    kind, cwd, *argv = map(os.fsdecode, words[:-1])
    content = read_bytes(folder / f"{number}.stdin", most=_RECORD_LIMIT)
    return DoubleCall(tuple(argv), cwd, content, kind)


def script_of(name: str, double: Double, folder: Path) -> str:
    """Return the text of a double."""
    texts = shlex.quote(str(folder / "texts" / name))
    calls = shlex.quote(str(folder / "calls" / name))
    head = _HEAD.format(name=shlex.quote(name), calls=calls, stdin=system.SHELL_STDIN)
    if double.module:
        # Its standard input is left to the module, which may be a hook.
        return f'{head}exec {shlex.quote(sys.executable)} -B -m {shlex.quote(double.module)} "$@"\n'
    if double.agent:
        words = (sys.executable, "-I", "-S", "-B", str(folder / "agents" / name))
        return f'{head}exec {shlex.join(words)} "$@"\n'
    parts = [head]
    if system.SHELL_HAS_OWN_STDIN and (reader := _bounded_reader()):
        parts += [system.SHELL_HAS_OWN_STDIN, _STDIN.format(reader=reader)]
    cat = _tool("cat")
    if double.prompts:
        parts.append(_PROMPT.format(cat=cat, texts=texts))
    if double.heals_after is not None:
        counters = shlex.quote(str(folder / "counters" / name))
        parts.append(_HEAL.format(counters=counters, limit=double.heals_after))
    parts += [
        f"{cat} <{texts}/{kind} >&{fd}\n"
        for fd, kind in ((1, "stdout"), (2, "stderr"))
        if getattr(double, kind)
    ]
    if double.floods:
        parts.append(f"{_tool('yes')} flood | {_tool('head')} -c {double.floods}\n")
    if double.hangs:
        parts.append(f"exec {_tool('sleep')} 2147483647\n")
    failing = double.heals_after is not None and double.exit == 0
    parts.append(f"exit {1 if failing else double.exit}\n")
    return "".join(parts)


def home_of_module(name: str) -> str:
    """Return the folder or file of the package of a module; raise `WorkspaceError` if there is none."""
    top = name.partition(".")[0]
    spec = importlib.util.find_spec(top)
    places: list[str] = [] if spec is None else [*(spec.submodule_search_locations or ()), spec.origin or ""]
    home = next(filter(os.path.isabs, places), None)
    if home is None:
        problem = f"{sys.executable} has no package {top!r}; install it there, beside the harness"
        raise WorkspaceError(name, problem)
    return home


def _tool(name: str) -> str:
    # By its full path: the scenario may hide the tool, or have a double of the same name.
    found = shutil.which(name, path=TOOLS_PATH)
    if found is None:
        problem = f"test doubles need this command, which is not in {TOOLS_PATH}; install it"
        raise WorkspaceError(name, problem)
    return shlex.quote(found)


def _bounded_reader() -> str:
    found = shutil.which("timeout", path=TOOLS_PATH)
    if found is None:
        return ""
    # It must stay in the process group of its hook, or a signal to the group would miss it.
    foreground = "" if Path(found).resolve().name == "busybox" else "--foreground "
    # `cat` passes on what it reads at once, `head` stops it when that is enough.
    return f"{shlex.quote(found)} {foreground}{_STDIN_WAIT} {_tool('cat')} | {_tool('head')} -c {STDIN_LIMIT}"


_HEAD = """\
#!/bin/sh
name={name}
calls={calls}
if ! [ -e {stdin} ]; then kind=closed
elif [ -t 0 ]; then kind=terminal
elif [ -p {stdin} ]; then kind=pipe
elif [ -S {stdin} ]; then kind=socket
elif [ -f {stdin} ]; then kind=file
elif [ {stdin} -ef /dev/null ]; then kind=null
else kind=other
fi
cwd=
cd -P . 2>/dev/null && cwd=$PWD
n=1
{{ read -r n <"$calls/last"; }} 2>/dev/null
case $n in '' | *[!0-9]*) n=1 ;; esac
set -C
until {{ printf '%s\\0' "$kind" "$cwd" "$name" "$@" >"$calls/$n"; }} 2>/dev/null; do
  if ! [ -e "$calls/$n" ]; then
    printf '%s: this double cannot record its call in %s\\n' "$name" "$calls" >&2
    exit 125
  fi
  n=$((n + 1))
done
set +C
{{ printf '%s\\n' "$n" >"$calls/last"; }} 2>/dev/null
"""

_STDIN = """\
case $kind in pipe | socket | file)
  if has_own_stdin; then
    {{ {reader} >"$calls/$n.stdin"; }} 2>/dev/null
  fi ;;
esac
"""

_PROMPT = """\
if ! {{ {cat} {texts}/prompts >/dev/tty && read -r answer </dev/tty; }} 2>/dev/null; then
  {{ printf 'fatal: could not read an answer to "'; {cat} {texts}/prompts; }} >&2
  printf '": No such device or address\\n' >&2
  exit 128
fi
"""

_HEAL = """\
k=1
healed=yes
set -C
while [ "$k" -le {limit} ]; do
  if {{ printf '' >{counters}/"$k"; }} 2>/dev/null; then healed=no; break; fi
  if ! [ -e {counters}/"$k" ]; then
    printf '%s: this double cannot count its failures in %s\\n' "$name" {counters} >&2
    exit 125
  fi
  k=$((k + 1))
done
set +C
if [ "$healed" = yes ]; then exit 0; fi
"""
