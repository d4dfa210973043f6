"""
Shims: small scripts that show programs a time ahead of the machine's.

A ``date`` of ours comes first on the search path, bash reads a function that replaces ``printf``, and Python
and node load a file that moves their own clocks. All of them read the shift from one file, so that nothing
else changes when the clock is moved.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

from pytest_hookharness.execution import platform
from pytest_hookharness.execution.paths import TOOLS_PATH, WorkspaceError, make_folders, write_bytes
from pytest_hookharness.model.fast_dataclass import dataclass

_BASH, _NODE, _PYTHON = "clock.bash", "clock.js", "python"


# Loads the ``sitecustomize`` of the site itself, which ours hides; ``own`` is the folder of ours.
SITECUSTOMIZE_CHAIN = """\
def _make_way(own):
    import sys
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    sys.path[:] = [place for place in sys.path if place != own]
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = sys.modules["sitecustomize"] = module_from_spec(spec)
    spec.loader.exec_module(module)
"""


def bash_env(file: Path) -> str:
    """Return the value of ``BASH_ENV`` that names a file: bash expands it like text in double quotes."""
    return re.sub(r"[\\$`]", r"\\\g<0>", str(file))


@dataclass(frozen=True, slots=True)
class Shims:
    """
    The shims of one workspace.

    Attributes:
        folder: Where they are.
        dates: Whether there is one for ``date``.
    """

    folder: Path
    dates: bool = True

    def set_shift(self, seconds: float) -> None:
        """
        Show a time that many seconds ahead of the machine's.

        Raises:
            WorkspaceError: The machine's ``date`` cannot add seconds, or a file cannot be written.
        """
        if not (self.folder / "seconds").exists():
            self._make()
        write_bytes(self.folder / "seconds", f"{seconds:.6f}\n".encode())

    def environment(self, env: Mapping[str, str], doubles: Path) -> Mapping[str, str]:
        """Return an environment whose programs find the shims behind the test doubles, before the rest."""
        path = env.get("PATH", "").split(os.pathsep)
        at = 1 if path[:1] == [str(doubles)] else 0
        own = env.get("BASH_ENV", "")
        node = '"{}"'.format(re.sub(r'[\\"]', r"\\\g<0>", str(self.folder / _NODE)))
        return {
            **env,
            "PATH": os.pathsep.join([*path[:at], str(self.folder / "bin"), *path[at:]]),
            "BASH_ENV": bash_env(self.folder / _BASH),
            **({"HOOKHARNESS_BASH_ENV": own} if own else {}),
            "PYTHONPATH": os.pathsep.join(filter(None, [str(self.folder / _PYTHON), env.get("PYTHONPATH")])),
            "NODE_OPTIONS": " ".join(filter(None, [env.get("NODE_OPTIONS"), f"--require {node}"])),
        }

    def _make(self) -> None:
        if not platform.files().SHIFTS_TIME:
            raise WorkspaceError(self.folder, "the clock of hooks can be moved on Linux only")
        make_folders(self.folder / "bin")
        make_folders(self.folder / _PYTHON)
        seconds_file = shlex.quote(str(self.folder / "seconds"))
        if self.dates:
            date = self.folder / "bin" / "date"
            write_bytes(
                date, _DATE.replace("@DATE@", _machines_date()).replace("@NOTE@", seconds_file).encode()
            )
            date.chmod(0o755)
        write_bytes(self.folder / _BASH, _PRINTF.replace("@NOTE@", seconds_file).encode())
        write_bytes(self.folder / _NODE, _JAVASCRIPT.encode())
        write_bytes(self.folder / _PYTHON / "sitecustomize.py", _SITE.encode())


def _machines_date() -> str:
    found = shutil.which("date", path=TOOLS_PATH)
    if found is None or Path(found).resolve().name != "date":
        raise WorkspaceError(
            found or "date", "cannot add seconds; the clock of hooks can be moved with GNU date only"
        )
    return shlex.quote(found)


# Relative dates (`5 minutes ago`) are relative to this clock; a date that names a day or an hour is left
# unchanged.
_DATE = r"""#!/bin/sh
read -r seconds <@NOTE@
moved() (
  set -f
  known=
  for word in $1; do
    case $word in
      now | today | yesterday | tomorrow | ago | next | last | this | + | -) known=1 ;;
      sec | secs | second | seconds | min | mins | minute | minutes | hour | hours) known=1 ;;
      day | days | week | weeks | fortnight | fortnights | month | months | year | years) known=1 ;;
      *[!0-9+-]* | *[0-9][+-]*) known= && break ;;
    esac
  done
  printf '%s%s' "$1" "${known:+ $seconds seconds}"
)
said= text= count=$#
while [ "$count" -gt 0 ]; do
  word=$1 count=$((count - 1))
  shift
  if [ "$text" ]; then
    word=$(moved "$word") text=
  else
    case $word in
      --d=* | --da=* | --dat=* | --date=*) word=--date=$(moved "${word#*=}") said=1 ;;
      --d | --da | --dat | --date | -d | -[uR]d | -[uR][uR]d) text=1 said=1 ;;
      -d*) word=-d$(moved "${word#-d}") said=1 ;;
      -ud*) word=-ud$(moved "${word#-ud}") said=1 ;;
      -[frs]* | -[uR][frs]* | --f* | --ref* | --s* | --h* | --v*) said=1 ;;
    esac
  fi
  set -- "$@" "$word"
done
[ "$said" ] || set -- -d "$seconds seconds" "$@"
exec @DATE@ "$@"
"""

# Only for scripts that print times with printf, for a function shows under `set -x`.
_PRINTF = r"""if [[ -r ${HOOKHARNESS_BASH_ENV-} ]]; then . "$HOOKHARNESS_BASH_ENV"; fi
if [[ ${BASH_EXECUTION_STRING-} == *'%('*')T'* ]] || [[ -f $0 && $(<"$0") == *'%('*')T'* ]] 2>/dev/null; then
printf() {
  local __clock_first=1 __clock_now __clock_ahead __clock_words=() __clock_word
  if [[ $* != *'%('*')T'* ]]; then builtin printf "$@"; return; fi
  if [[ $1 == -v ]]; then __clock_first=3; fi
  if [[ ${!__clock_first} == -- ]]; then ((++__clock_first)); fi
  read -r __clock_ahead <@NOTE@
  builtin printf -v __clock_now '%(%s)T' -1
  __clock_now=$((__clock_now + ${__clock_ahead%.*}))
  for __clock_word in "${@:__clock_first+1}"; do
    if [[ $__clock_word == -[12] ]]; then __clock_word=$__clock_now; fi
    __clock_words+=("$__clock_word")
  done
  if (($# == __clock_first)); then __clock_words=("$__clock_now"); fi
  builtin printf "${@:1:__clock_first}" "${__clock_words[@]}"
}
fi
"""

_JAVASCRIPT = r"""{
  const said = require("fs").readFileSync(require("path").join(__dirname, "seconds"), "utf8");
  const ahead = Math.round(1000 * Number(said));
  const Real = Date;
  const present = Real.now;
  const now = () => present() + ahead;
  const Moved = new Proxy(Real, {
    construct: (real, given, made) => Reflect.construct(real, given.length ? given : [now()], made),
    apply: () => new Real(now()).toString(),
    get: (real, name, asked) => (name === "now" ? now : Reflect.get(real, name, asked)),
  });
  Real.prototype.constructor = Moved;
  globalThis.Date = Moved;
}
"""

_SITE = (
    r'''"""Moves the clock of this Python ahead, then loads the site's own file of this name."""


def _move(seconds):
    import datetime
    import time

    real = {name: getattr(time, name) for name in dir(time)}

    def now():
        return real["time"]() + seconds

    def now_ns():
        return real["time_ns"]() + round(seconds * 10**9)

    def clock_gettime(clock):
        return real["clock_gettime"](clock) + (seconds if clock == time.CLOCK_REALTIME else 0)

    def clock_gettime_ns(clock):
        more = round(seconds * 10**9) if clock == time.CLOCK_REALTIME else 0
        return real["clock_gettime_ns"](clock) + more

    time.time, time.time_ns = now, now_ns
    time.clock_gettime, time.clock_gettime_ns = clock_gettime, clock_gettime_ns
    time.localtime = lambda when=None: real["localtime"](now() if when is None else when)
    time.gmtime = lambda when=None: real["gmtime"](now() if when is None else when)
    time.ctime = lambda when=None: real["ctime"](now() if when is None else when)
    time.asctime = lambda *when: real["asctime"](*(when or (time.localtime(),)))
    time.strftime = lambda form, *when: real["strftime"](form, *(when or (time.localtime(),)))

    def moved(kind, members):
        class Kind(type):
            def __instancecheck__(cls, value):
                return isinstance(value, kind) if cls is made else type.__instancecheck__(cls, value)

            def __subclasscheck__(cls, other):
                return issubclass(other, kind) if cls is made else type.__subclasscheck__(cls, other)

        names = {"__module__": "datetime", "__qualname__": kind.__name__, "__doc__": kind.__doc__}
        made = Kind(kind.__name__, (kind,), {**names, **members})
        return made

    def from_now(cls, tz=None):
        return cls.fromtimestamp(now(), tz)

    def from_utc(cls):
        return cls.fromtimestamp(now(), datetime.timezone.utc).replace(tzinfo=None)

    def today(cls):
        return cls.fromtimestamp(now())

    asked = {"now": from_now, "utcnow": from_utc, "today": today}
    datetime.datetime = moved(datetime.datetime, {name: classmethod(it) for name, it in asked.items()})
    datetime.date = moved(datetime.date, {"today": classmethod(today)})


'''
    + SITECUSTOMIZE_CHAIN
    + r"""

def _begin():
    import os

    own = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(os.path.dirname(own), "seconds"), encoding="ascii") as file:
        _move(float(file.read()))
    _make_way(own)


_begin()
"""
)
