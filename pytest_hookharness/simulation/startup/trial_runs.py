"""The trials of a start check: runs of the deciding program, with other programs in the place of its own."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from pytest_hookharness.execution.paths import WorkspaceError, confine, lies_in, make_folders, write_bytes
from pytest_hookharness.execution.startup.process_trace import TracedProcess
from pytest_hookharness.execution.startup.programs import PROBE_CODE, PROBE_SIGNAL
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.processes import Exited, ProcessResult, ProcessSpec, Signaled, Stdin, Tier
from pytest_hookharness.model.reads import LookKind, PathLook
from pytest_hookharness.model.start_failures import FINDS_PROGRAMS
from pytest_hookharness.simulation.testbed.host_actions import run_again
from pytest_hookharness.simulation.testbed.testbed import Testbed

_LIMIT = 5.0
# A shell passes on the end of its child by a signal as a code of its own.
_PROBED = (PROBE_CODE, -PROBE_SIGNAL, 128 + PROBE_SIGNAL)
_EXECUTABLE = 0o755
_LONGEST_PROGRAM = 1 << 20
# Parts of a path. Each further one is a folder that would have to be made and removed for every trial.
_DEEPEST = 100
# Stands for the paths of a simulation, which differ from one to the next.
ANY_PATH = "\N{SYMBOL FOR NULL}"
_DIGITS = re.compile(r"\d+")
# Node spreads a list over several lines if the paths in it are long, as those of copies are.
_SPREAD = re.compile(r"(?<=[\[{,])\s*\n\s*|\s*\n\s*(?=[\]}])")


@dataclass(frozen=True, slots=True)
class Trial:
    """The end of one run; only its exit code (negative for a signal) and standard error are compared."""

    code: int | None
    stderr: str
    stdout: str = ""

    @classmethod
    def of(cls, run: ProcessResult) -> Trial:
        """Return the end of a run."""
        match run.own_ending:
            case Exited(code):
                number: int | None = code
            case Signaled(signal):
                number = -signal
            case _:
                number = None
        return cls(number, run.stderr.text, run.stdout.text)

    @property
    def probed(self) -> bool:
        """Whether a probe program was executed."""
        return self.code in _PROBED

    def differs_from(self, other: Trial) -> bool:
        """Return whether a run that ended by itself has another code than one before."""
        return self.code is not None and self.code != other.code

    def renamed(self, names: Mapping[str, str]) -> Trial:
        """Return the same end with some names in its text replaced."""
        texts = [self.stderr, self.stdout]
        for name in sorted(names, key=len, reverse=True):
            texts = [text.replace(name, names[name]) for text in texts]
        return Trial(self.code, *texts)

    def is_same(self, other: Trial) -> bool:
        """Return whether another run ended with the same code and the same text; numbers count as equal."""
        return self.code == other.code and _lines(self.stderr) == _lines(other.stderr)

    def ends_like(self, other: Trial) -> bool:
        """
        Return whether another run ended with the same code, and its text ends as all of this text reads.

        Numbers count as equal. Runs without a text are like no other.
        """
        mine, others = _lines(self.stderr), _lines(other.stderr)
        return self.code == other.code and bool(mine) and others[-len(mine) :] == mine


def digest(text: str) -> str:
    """Return a short name for a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _lines(text: str) -> list[str]:
    joined = _SPREAD.sub(" ", text)
    return [_DIGITS.sub("0", line).rstrip() for line in joined.splitlines() if line.strip()]


class TrialRuns:
    """Where the program that decided a hook run is run again, with changes; a cut one shows nothing."""

    def __init__(self, testbed: Testbed, spec: ProcessSpec, decider: TracedProcess) -> None:
        self.spec = spec
        self.decider = decider
        self._testbed = testbed
        self._scratch = testbed.workspace.tmp / f"probe-{secrets.token_hex(4)}"
        self._count = 0
        self._looks: list[PathLook] | None = None
        self.cut = False

    def write(self, name: str, text: str) -> str:
        """Write a new file, alone in a folder; return its path."""
        self._count += 1
        path = self._scratch / str(self._count) / name.lstrip("/")
        _write_program(path, text)
        return str(path)

    def folder(self, files: Mapping[str, str]) -> str:
        """Write new files, but those whose names are too long, to a folder of their own; return its path."""
        self._count += 1
        folder = self._scratch / str(self._count)
        make_folders(folder)
        for name, text in files.items():
            with suppress(WorkspaceError, OSError):
                _write_program(confine(folder / name.lstrip("/"), [folder]), text)
        return str(folder)

    def run(
        self,
        variants: Sequence[Sequence[str]],
        *,
        env: Mapping[str, str] | None = None,
        folder: str = "",
        stdin: Stdin | None = None,
    ) -> list[Trial]:
        """Run the deciding program with other arguments, and perhaps another input, all at once."""
        specs = [
            replace(
                self._bounded,
                argv=tuple(argv),
                env={**self.decider.environment, **(env or {})},
                cwd=folder or self.decider.folder,
                stdin=stdin or self.spec.stdin,
            )
            for argv in variants
        ]
        return [self._end(run) for run in run_again(self._testbed, specs)]

    def run_decider(self, seen: Trial) -> Trial:
        """Return the end of the deciding program alone, whose message the hook may hide."""
        (alone,) = self.run([self.decider.argv])
        return alone if alone.code == seen.code else seen

    def run_hook(self, *, env: Mapping[str, str] | None = None, argv: Sequence[str] = ()) -> Trial:
        """Run the whole hook again, perhaps with other arguments."""
        env, argv = {**self.spec.env, **(env or {})}, tuple(argv) or self.spec.argv
        return self._end(run_again(self._testbed, [replace(self._bounded, env=env, argv=argv)])[0])

    def _end(self, run: ProcessResult) -> Trial:
        end = Trial.of(run)
        self.cut |= end.code is None
        return end

    @property
    def _bounded(self) -> ProcessSpec:
        limit = min(self.spec.limit, self.spec.hook_timeout, _LIMIT)
        return replace(self.spec, hook_timeout=limit, exact=False, terminal=None)

    def with_word(self, word: str, other: str) -> list[str]:
        """Return the arguments of the deciding program with one of them replaced, or one word of them."""
        argv = self.decider.argv
        if word in argv:
            return [other if each == word else each for each in argv]
        return [" ".join(other if part == word else part for part in each.split(" ")) for each in argv]

    def interpretation(self, word: str, *more: str) -> tuple[str, ...]:
        """Return what decides how a word is interpreted: the same in all workspaces for the same answer."""
        base, words = str(self._testbed.workspace.base), self.with_word(word, ANY_PATH)[1:]
        words = [re.sub(rf"{re.escape(str(self._scratch))}/\d+", ANY_PATH, each) for each in words]
        others = [self.read(self.path(each)) or "" for each in words if self.may_write(self.path(each))]
        return (
            self.program,
            *(each.replace(base, ANY_PATH) for each in words),
            *map(digest, others),
            *(f"{name}={value.replace(base, ANY_PATH)}" for name, value in self._variables),
            *more,
        )

    @property
    def _variables(self) -> list[tuple[str, str]]:
        return [one for one in sorted(self.decider.environment.items()) if FINDS_PROGRAMS.search(one[0])]

    @property
    def depends_on_workspace(self) -> bool:
        """Whether the deciding program, or a path in its variables, belongs to this simulation."""
        base = str(self._testbed.workspace.base)
        # PATH and HOME always name folders of the workspace.
        named = (value for name, value in self._variables if name not in ("PATH", "HOME"))
        return self.is_of_project() or any(base in value for value in named)

    @property
    def program(self) -> str:
        """The file of the deciding program, through all links."""
        first = self.decider.argv[0]
        found = shutil.which(first, path=self.decider.environment.get("PATH")) if "/" not in first else None
        return os.path.realpath(Path(self.decider.folder, found or first))

    def is_of_project(self) -> bool:
        """Return whether the deciding program itself is a file of the throw-away folders."""
        return self.may_write(Path(self.program))

    def looked_for(self, *kinds: LookKind, existing: bool = False) -> list[Path]:
        """Return the files that the hook looked for in some ways, missing or in ``existing``, last first."""
        if self._looks is None:
            (run,) = run_again(self._testbed, [replace(self._bounded, observed=True)])
            self._looks = (
                [look for program in run.reads.programs for look in program.looks] if run.reads else []
            )
        found = (look for look in self._looks if look.kind in kinds and look.existed is existing)
        paths = dict.fromkeys(Path(look.path) for look in found if not look.own)
        if (cwd := self._testbed.scenario.cwd) is not None:
            # The harness makes or removes this folder before the hook starts.
            paths.pop(self._testbed.workspace.root / cwd.path, None)
        return [path for path in reversed(paths) if self.may_write(path)]

    def shown(self, path: Path) -> str:
        """Return a path as the hook would write it, from its folder."""
        return os.path.relpath(path, self.spec.cwd)

    def path(self, word: str) -> Path:
        """Return the path that an argument of the deciding program means."""
        return Path(self.decider.folder, word)

    def folders_above(self, path: Path) -> list[Path]:
        """Return the folders above a file that belong to the throw-away folders, the nearest first."""
        own = self._real_folders()
        return [folder for folder in path.parents if _leads_into(own, folder)]

    def may_write(self, path: Path) -> bool:
        """Return whether a file belongs to the throw-away folders, through all links."""
        return _leads_into(self._real_folders(), path)

    def _real_folders(self) -> list[str]:
        return [os.path.realpath(each) for each in self._testbed.workspace.written]

    def read(self, path: Path) -> str | None:
        """Return the text of a program; ``None`` if it cannot be read or is too long."""
        hidden = self._testbed.workspace.private if self._testbed.sandbox.tier is Tier.NAMESPACES else ()
        try:
            # Behind a private folder, processes see another file at this path.
            if lies_in(path, hidden) and not self.may_write(path):
                return None
            data = path.read_bytes() if path.stat().st_size <= _LONGEST_PROGRAM else None
        except (OSError, ValueError):
            return None
        return None if data is None else data.decode("utf-8", "surrogateescape")

    @contextmanager
    def present(self, files: Mapping[Path, str]) -> Generator[bool]:
        """
        Have new files in the throw-away folders for a block; gives whether there are any.

        A file that exists is left alone.
        """
        # Looked up once: only the files of this block are written between two of them.
        folders = self._real_folders()
        files = {path: text for path, text in files.items() if len(path.parts) <= _DEEPEST}
        made = {above for path in files for above in path.parents if not os.path.lexists(above)}
        written = [
            path
            for path, text in files.items()
            if lies_in(os.path.realpath(path), folders) and not os.path.lexists(path) and self.put(path, text)
        ]
        try:
            yield bool(written)
        finally:
            for path in written:
                path.unlink(missing_ok=True)
            # A folder may be a target of make, or a package, also if only compiled files are left in it.
            for folder in made:
                shutil.rmtree(folder, ignore_errors=True)

    def put(self, path: Path, text: str) -> bool:
        """Write a file of the throw-away folders; return whether that was possible."""
        if len(path.parts) > _DEEPEST:
            return False
        try:
            make_folders(path.parent)
            write_bytes(
                confine(path, self._testbed.workspace.written), text.encode("utf-8", "surrogateescape")
            )
        except (OSError, WorkspaceError):
            return False
        return True


def _write_program(path: Path, text: str) -> None:
    make_folders(path.parent)
    write_bytes(path, text.encode("utf-8", "surrogateescape"))
    path.chmod(_EXECUTABLE)


def _leads_into(folders: Sequence[str], path: Path) -> bool:
    """Return whether a path lies in some folders, through all links."""
    return lies_in(os.path.realpath(path), folders)
