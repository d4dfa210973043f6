"""
ProbeProgram programs: the shortest program that ends with a rare exit code, in many languages.

A command that ends with this code when a file is replaced by one of them executes that file. So an
interpreter is known by what it does, and by no name, message or exit code of its own.
"""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence

from pytest_hookharness.model.fast_dataclass import dataclass

PROBE_CODE = 77
PROBE_SIGNAL = int(signal.SIGUSR2)
# Seconds that a shell may take to read a command line.
_READING = 5.0
# Lines that a program may begin with. One that ends with a backslash may continue.
_COMMENTS = re.compile(r"\A(?:#.*(?<!\\)\n)*")
# Text that is no program in any language.
GARBAGE = "<?php )\n"


@dataclass(frozen=True, slots=True)
class ProbeProgram:
    """
    A program that ends at once with the probe code, and may hold another program that it never executes.

    Attributes:
        before: Its text before the other program.
        after: Its text after the other program.
        nothing: A program that does nothing, for a language in which an empty text is none.
    """

    before: str
    after: str = ""
    nothing: str = ""

    def holding(self, program: str = "") -> str:
        """Return its text, with another program in it."""
        program = program or self.nothing
        # The first comments may name the interpreter or the encoding.
        rest = _COMMENTS.sub("", program)
        return f"{program[: len(program) - len(rest)]}{self.before}{rest}{self.after}"


_EXIT = ProbeProgram("exit 77;\n")
_RAISE = ProbeProgram("raise SystemExit(77)\n")
_SCRIPT = ProbeProgram("process.exit(77);\n")
_MEMBER = ProbeProgram("os.exit(77)\n")
_TAG = ProbeProgram("<?php exit(77); ?>\n")

# Statements, for shells and several others; a group, which shells read to its end before they execute it;
# then one language or family each.
PROBES: tuple[ProbeProgram, ...] = (
    _EXIT,
    ProbeProgram("{ exit 77;\n", "\n}\n"),
    _RAISE,
    _SCRIPT,
    _MEMBER,
    _TAG,
    ProbeProgram("Deno.exit(77);\n"),
    ProbeProgram("BEGIN { exit 77 }\n"),
    ProbeProgram("exit(77)\n"),
    ProbeProgram("(exit 77)\n"),
    ProbeProgram("quit(status = 77)\n"),
    ProbeProgram('("" | halt_error(77)) |\n', nothing=".\n"),
    # An option takes ten from it.
    ProbeProgram('("" | halt_error(87)) |\n', nothing=".\n"),
    ProbeProgram("q77\n"),
    # What cannot choose an exit code ends itself by a signal that nobody else sends.
    ProbeProgram("$(shell kill -s USR2 $$PPID)\n", nothing=".DEFAULT:;\nall:;\n"),
)

# Commands that shells execute.
_STATEMENTS = PROBES[:2]

# The ends of the paths at which languages look for a module, and what a module of that kind holds.
_MODULES: Mapping[str, ProbeProgram] = {
    ".py": _RAISE, "/__init__.py": _RAISE, "/__main__.py": _RAISE,
    ".js": _SCRIPT, ".mjs": _SCRIPT, ".cjs": _SCRIPT, ".ts": _SCRIPT, "/index.js": _SCRIPT,
    ".rb": _EXIT, ".pm": _EXIT, ".pl": _EXIT, ".tcl": _EXIT, ".sh": _EXIT,
    ".lua": _MEMBER, ".php": _TAG,
}  # fmt: skip
# Only for programs in known languages.
EXTENSIONS = {"", *(end for end in _MODULES if "/" not in end)}
_SEPARATORS = ("::", ".")


def likely_probes(extension: str) -> tuple[ProbeProgram, ...]:
    """Return the probes to try first for a program with an extension."""
    probe = _MODULES.get(extension, _EXIT)
    return _STATEMENTS if probe is _EXIT else (probe,)


def modules(
    name: str, *, extension: str = "", probes: Sequence[ProbeProgram] = PROBES, exports: str = ""
) -> Iterator[tuple[str, str]]:
    """
    Yield the relative path and the text of each file that provides a module which ends with the probe code.

    Args:
        name: The module, as programs write it.
        extension: The extension of the program that loads it.
        probes: The probes that the program's interpreter executes.
        exports: Text at the end of modules in JavaScript.
    """
    known = next((end for end in _MODULES if name.endswith(end)), None)
    stems = {name}
    if "/" not in name and known is None:
        stems |= {name.replace(separator, "/") for separator in _SEPARATORS}
    ends = {"": _MODULES[known]} if known else {extension: probes[0], **_MODULES}
    for stem in sorted(stems):
        for end, body in ends.items():
            # A folder would hide the file of the same name, and `__main__` is always a file.
            hides = end.startswith("/") and stem.endswith("__main__")
            if known or (end and body in probes and not hides):
                yield stem + end, body.holding() + (exports if body is _SCRIPT else "")
                if body is _SCRIPT:
                    yield f"node_modules/{stem}{end}", body.holding() + exports


def search_paths(folder: str) -> Mapping[str, str]:
    """Return the environment variables by which languages look for modules in a folder."""
    plain = dict.fromkeys(("PYTHONPATH", "NODE_PATH", "PERL5LIB", "RUBYLIB", "TCLLIBPATH"), folder)
    return {**plain, "LUA_PATH": f"{folder}/?.lua;;"}


def syntax_error(shell: Sequence[str], command: str) -> str:
    """Return what a shell says about the syntax of a command line, which it only reads; empty if nothing."""
    try:
        run = subprocess.run(
            [shell[0], "-n", *shell[1:], command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_READING,
            env={},
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return ""
    lines = run.stderr.decode("utf-8", "replace").splitlines()
    return lines[0].strip() if run.returncode and lines else ""
