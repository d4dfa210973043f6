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

from pytest_hookharness.execution.paths import TOOLS_PATH, WorkspaceError, make_folders, write_bytes
from pytest_hookharness.execution.platform.current import system
from pytest_hookharness.model.fast_dataclass import dataclass

_BASH, _NODE, _PYTHON = "clock.bash", "clock.js", "python"


def bash_env(file: Path) -> str:
    """Return the value of ``BASH_ENV`` that names a file: bash expands it like text in double quotes."""
    return re.sub(r"[\\$`]", r"\\\g<0>", str(file))


@dataclass(frozen=True, slots=True)
class Shims:
    """The shims of one workspace, in a folder; ``dates`` says whether ``date`` has one."""

    folder: Path
    dates: bool = True

    def set_shift(self, seconds: float) -> None:
        """Show a time ahead of the machine's; raise `WorkspaceError` if ``date`` cannot add seconds."""
        if not (self.folder / "seconds").exists():
            self._make()
        write_bytes(self.folder / "seconds", f"{seconds:.6f}\n".encode())

    def environment(self, env: Mapping[str, str], doubles: Path) -> Mapping[str, str]:
        """Return an environment whose programs find the shims after the test doubles, before the rest."""
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
        from pytest_hookharness.execution.clock.python_clock import PYTHON_CLOCK

        if not system.SHIFTS_TIME:
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
        write_bytes(self.folder / _NODE, _NODE_CLOCK.encode())
        write_bytes(self.folder / _PYTHON / "sitecustomize.py", PYTHON_CLOCK.encode())


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

# Only for scripts that print times with printf, because a function shows under `set -x`.
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


# The file that node loads first, and that moves its clock ahead.
#
# Functions are replaced by proxies of themselves, so that each keeps its name, its length and its native
# source text. ``Date`` is a proxy too, since only a constructor can answer ``new Date()``. Its members are
# those of the real one, so a program that replaces ``Date.now``, as fake timers do, replaces it for all code.
_NODE_CLOCK = r"""{
  const { readFileSync } = require("fs");
  const ahead = Math.round(1000 * Number(readFileSync(require("path").join(__dirname, "seconds"), "utf8")));
  const Real = Date;
  const real = Real.now;
  const now = () => real() + ahead;
  const instead = (owner, name, apply) => {
    const old = owner && Object.getOwnPropertyDescriptor(owner, name);
    const part = old && (old.get ? "get" : "value");
    if (!old || !old.configurable || typeof old[part] !== "function") return;
    Object.defineProperty(owner, name, { ...old, [part]: new Proxy(old[part], { apply }) });
  };

  const Moved = new Proxy(Real, {
    construct: (target, given, made) => Reflect.construct(target, given.length ? given : [now()], made),
    apply: () => new Real(now()).toString(),
  });
  instead(Real, "now", now);
  Real.prototype.constructor = Moved;
  globalThis.Date = Moved;

  const given = (values) => (values[0] === undefined ? [now(), ...values.slice(1)] : values);
  const formats = new WeakMap();
  instead(Intl.DateTimeFormat.prototype, "format", (get, that) => {
    const format = Reflect.apply(get, that, []);
    const apply = (target, self, values) => Reflect.apply(target, self, given(values));
    if (!formats.has(format)) formats.set(format, new Proxy(format, { apply }));
    return formats.get(format);
  });
  instead(Intl.DateTimeFormat.prototype, "formatToParts", (parts, that, values) =>
    Reflect.apply(parts, that, given(values)));

  const { performance } = require("perf_hooks");
  const origin = (target, that, values) => Reflect.apply(target, that, values) + ahead;
  const toJSON = (target, that, values) => {
    const made = Reflect.apply(target, that, values);
    return { ...made, timeOrigin: that.timeOrigin };
  };
  for (let owner = performance; owner; owner = Object.getPrototypeOf(owner)) {
    const old = Object.getOwnPropertyDescriptor(owner, "timeOrigin");
    if (!old || !old.configurable) continue;
    if (old.get) instead(owner, "timeOrigin", origin);
    else Object.defineProperty(owner, "timeOrigin", { ...old, value: old.value + ahead });
    instead(owner, "toJSON", toJSON);
  }

  if (globalThis.Temporal) {
    const { Now, Instant } = Temporal;
    const instant = Now.instant;
    const later = () => Instant.fromEpochNanoseconds(instant().epochNanoseconds + BigInt(ahead) * 1000000n);
    const zoned = (zone) => later().toZonedDateTimeISO(zone === undefined ? Now.timeZoneId() : zone);
    instead(Now, "instant", later);
    instead(Now, "zonedDateTimeISO", (_, that, [zone]) => zoned(zone));
    instead(Now, "plainDateTimeISO", (_, that, [zone]) => zoned(zone).toPlainDateTime());
    instead(Now, "plainDateISO", (_, that, [zone]) => zoned(zone).toPlainDate());
    instead(Now, "plainTimeISO", (_, that, [zone]) => zoned(zone).toPlainTime());
  }
  delete require.cache[__filename];
}
"""
