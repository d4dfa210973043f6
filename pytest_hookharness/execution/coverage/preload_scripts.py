"""
Preload scripts: what bash and Python load first, to record what they run.

They print nothing, whatever goes wrong: a hook that cannot be recorded runs as it would without them. Python
has one ``sitecustomize``; ours loads the site's own file of that name afterwards.
"""

from __future__ import annotations

import shlex
from pathlib import Path

from pytest_hookharness.execution.clock.shims import SITECUSTOMIZE_CHAIN
from pytest_hookharness.execution.coverage.xtrace import OWN, PROMPT, SELF_TRACING

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
    return (
        _BASH.replace("@VARIABLE@", BASH_ENV)
        .replace("@FILE@", shlex.quote(str(trace)))
        .replace("@LOADS@", shlex.quote(str(loads)))
        .replace("@FD@", str(_DESCRIPTOR))
        .replace("@PROMPT@", PROMPT)
        .replace("@OWN@", OWN)
        .replace("@TELLTALES@", shlex.quote(SELF_TRACING))
    )


def python_preload(coverage_path: Path) -> str:
    """
    Return a ``sitecustomize`` that starts coverage and then loads the site's own file of this name.

    Args:
        coverage_path: A folder in which Python finds coverage and nothing else.
    """
    return _PYTHON.replace("@VARIABLE@", SETTINGS).replace("@COVERAGE@", repr(str(coverage_path)))


def python_settings(data: Path, *, branch: bool) -> str:
    """
    Return the settings of coverage in a hook.

    Args:
        data: What the names of its data files begin with.
        branch: Whether to record branches.
    """
    file = str(data).replace("%", "%%")
    return _SETTINGS.format(file=file, branch=branch)


# A script that traces itself wants the trace on standard error, so the trace is left to it and nothing of
# ours is in it. What bash would have loaded comes first, expanded as bash would have. The call leaves `$_`
# unchanged: scripts ask it first whether they are sourced.
_BASH = r"""if { [[ ${@VARIABLE@-} ]]; } 2>/dev/null; then eval ". \"${@VARIABLE@//\"/\\\"}\""; fi
__recorded() {
  local lines=("${BASH_EXECUTION_STRING-}") own=@TELLTALES@ loads=
  unset -f __recorded
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
