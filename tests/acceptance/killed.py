"""
Kills a command at 100 random moments, and prints which of them lost something.

Run as a program, with the name of a command and an empty folder. Each time the command runs in a fork of this
process, as a start of Python would take most of the time.
"""

import contextlib
import io
import os
import random
import signal
import sys
import tempfile
import time
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import ClassVar

from pytest_hookharness import scenario_files
from pytest_hookharness.campaigns.check.scenario_export import export
from pytest_hookharness.execution.platform.current import system
from pytest_hookharness.frontends.cli import guardian, record
from pytest_hookharness.frontends.cli.main import main as main_command
from pytest_hookharness.frontends.pytest_plugin import update_files
from pytest_hookharness.model.checkup import CheckReport, HookSet, Problem, Symptom
from pytest_hookharness.model.moves import FIRST_PROMPT, Script
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.scenario_files.update.revise import ObservedRun

TIMES, SEED = 100, 17
PLACE = sys.argv[2]
# What a killed command leaves among temporary files goes with the folder of the test.
tempfile.tempdir = PLACE
SETTINGS = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./hook.sh"}]}]}}\n'
SCENARIO = """\
name: polite
hooks: {Stop: "true"}
agent: [{prompt: Go.}, {stop: Done.}]
expect: {verdict: terminated, within: 1}
"""


def dress(file, number):
    """Give every fourth file a mode and an attribute of its own, and have it link out of its project."""
    if number % 4 != 2:
        return
    outside = Path(tempfile.mkdtemp(prefix="outside-", dir=PLACE), "real")
    file.replace(outside)
    outside.chmod(0o604)
    # Not every file system has attributes.
    with contextlib.suppress(OSError):
        os.setxattr(outside, "user.note", b"mine")
    file.symlink_to(outside)


def look(file):
    """Return what has to stay of a file besides its contents."""
    status = file.stat()
    link = file.readlink() if file.is_symlink() else None
    attributes = {name: os.getxattr(file, name) for name in os.listxattr(file)}
    return link, status.st_mode, status.st_uid, status.st_gid, status.st_nlink, attributes


class Recording:
    """``record``: the settings are as before when all processes have ended, or after ``--restore``."""

    def __init__(self, folder, number):
        self.project = folder
        (folder / ".claude").mkdir()
        self.settings = folder / ".claude" / "settings.json"
        # More than the kernel writes in one piece.
        self.text = SETTINGS + " " * (10_000 if number % 2 else 0)
        self.settings.write_text(self.text)
        dress(self.settings, number)
        os.environ["XDG_STATE_HOME"] = str(folder / "state")
        # Its guardian is killed too, as when the machine ends.
        self.machine_ends = number % 4 == 0
        self.names = [self.settings]
        if number % 4 == 1:
            self.names.append(folder / "other")
            self.names[1].hardlink_to(self.settings)
        self.look = look(self.settings)

    def run(self):
        record.begin(self.project, "", self.project / "hook-recordings")[1].end()

    def flaw(self):
        if self.machine_ends:
            for _, files in guardian.journals():
                for wrapped in files:
                    if self.settings.read_bytes() not in (wrapped.before, wrapped.meanwhile):
                        return "torn"
            # Its lines are not the answer of this program.
            with contextlib.redirect_stdout(io.StringIO()):
                wrapped = "payload_recorder" in self.settings.read_text()
                if wrapped and record._restore_all(self.project, ""):
                    return "not restored"
        if {name.stat().st_ino for name in self.names} != {self.settings.stat().st_ino}:
            return "a link is lost"
        if look(self.settings) != self.look:
            return f"{look(self.settings)} and not {self.look}"
        return "" if self.settings.read_text() == self.text else "not as before"


class Update:
    """``--hook-update``: the file has its old or its new text."""

    def __init__(self, folder, number):
        self.file = folder / "polite.scenario.yaml"
        self.text = SCENARIO + "# a comment\n" * (1000 if number % 2 else 0)
        self.file.write_text(self.text)
        self.file.chmod(0o640)
        dress(self.file, number)
        self.names = [self.file]
        if number % 4 == 1:
            self.names.append(folder / "other")
            self.names[1].hardlink_to(self.file)
        self.look = look(self.file)

    def run(self):
        class Config:
            def getoption(self, _):
                return "changed"

        seen = ObservedRun(verdict="terminated", iterations=2).to_json()
        digest = sha256(self.text.encode()).hexdigest()
        one = {"file": str(self.file), "item": "claude-code", "digest": digest, "seen": seen}
        (scenario,) = scenario_files.loads(self.text, self.file)
        lines = [*update_files.Updates(Config())._write(self.file, [{**one, "item": scenario.id}])]
        if "changed; run it again" not in lines[0]:
            raise SystemExit(lines[0])

    def flaw(self):
        texts = (self.text, self.text.replace("within: 1", "within: 2"))
        if look(self.file) != self.look:
            return f"{look(self.file)} and not {self.look}"
        if {name.stat().st_ino for name in self.names} != {self.file.stat().st_ino}:
            return "a link is lost"
        return "" if self.file.read_text() in texts else "neither old nor new"


class Export:
    """``--write-scenarios``: each file is complete, the copy too, and the user's own file stays."""

    # The texts of the first run, which is not killed.
    complete: ClassVar[dict[str, str]] = {}

    def __init__(self, folder, _):
        self.project, self.folder = folder / "project", folder / "scenarios"
        self.project.mkdir()
        self.folder.mkdir()
        for number in range(20):
            (self.project / f"{number}.sh").write_text("true\n" * 1000)
        self.mine = self.folder / "claude-code-one.scenario.yaml"
        self.mine.write_text("mine")

    def run(self):
        script = Script(acts=(FIRST_PROMPT,))
        scenario = Scenario(name="check", host="claude-code", project=self.project, script=script)
        one = Problem(id="one", symptom=Symptom(kind="livelock", text="It is."), scenario=scenario)
        problems = (one, replace(one, id="two"), replace(one, id="three"))
        place = HookSet(host="claude-code", root=self.project, files=())
        export(CheckReport(place=place, problems=problems), self.folder, lambda *_: True)

    def flaw(self):
        copy = self.folder / "project"
        if copy.exists() and [file.stat().st_size for file in copy.iterdir()] != [5000] * 20:
            return "half a copy"
        for name in ("two", "three"):
            file = self.folder / f"claude-code-{name}.scenario.yaml"
            if file.exists() and file.read_text() != self.complete.setdefault(name, file.read_text()):
                return "half a scenario"
        return "" if self.mine.read_text() == "mine" else "not as before"


GUARD = "[ $(cat n 2>/dev/null | wc -l) -ge 4 ] && exit 0; echo x >>n; echo no >&2; exit 2\n"


class Check:
    """``check --write-scenarios`` as a whole, from when it begins to write."""

    complete: ClassVar[dict[str, str]] = {}

    def __init__(self, folder, number):
        self.project, self.folder = folder / "project", folder / "scenarios"
        (self.project / ".claude").mkdir(parents=True)
        self.folder.mkdir()
        (self.project / ".claude" / "settings.json").write_text(SETTINGS)
        (self.project / "hook.sh").write_text(GUARD)
        (self.project / "hook.sh").chmod(0o755)
        for each in range(50):
            (self.project / f"{each}.txt").write_text("true\n" * 1000)
        taken = "claude-code-empty-advice-hook.scenario.yaml" if number % 8 == 3 else "mine.scenario.yaml"
        self.mine = self.folder / taken
        self.mine.write_text("mine")
        self.mine.chmod(0o604)
        dress(self.mine, number)
        self.look, self.before = look(self.mine), contents(self.project)

    def has_begun(self):
        return len([*self.folder.iterdir()]) > 1

    def run(self):
        os.environ["TMPDIR"] = str(self.project.parent)
        words = ["check", self.project, "--yes", "--only", "empty-advice-hook", "--budget", "60s"]
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            main_command([*map(str, words), "--write-scenarios", str(self.folder)])

    def flaw(self):
        copy = self.folder / "project"
        if contents(self.project) != self.before:
            return "the project is another one"
        if copy.exists() and contents(copy) != self.before:
            return "half a copy"
        for file in self.folder.glob("*.scenario.yaml"):
            text = file.read_text()
            if file != self.mine and text != self.complete.setdefault(file.name, text):
                return "half a scenario"
        # If the name of its only scenario is taken, it removes the copy again.
        if not self.has_begun() and self.mine.name == "mine.scenario.yaml":
            return "it ended before it wrote"
        return "" if (self.mine.read_text(), look(self.mine)) == ("mine", self.look) else "not as before"


def contents(folder):
    return {file.relative_to(folder): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


KINDS = {"record": Recording, "update": Update, "export": Export, "check": Check}


def descendants(pid):
    for child in system.children(pid):
        yield from descendants(child)
        yield child


def trial(kind, folder, number, delay):
    """Run a command, kill it after a delay, and return what is wrong, and how long it took."""
    folder.mkdir()
    case = kind(folder, number)
    began = time.monotonic()
    child = os.fork()
    if not child:
        # Its end must not be that of this program.
        try:
            case.run()
        finally:
            os._exit(0)
    if hasattr(case, "has_begun"):
        # Most of its time it writes nothing.
        while not case.has_begun() and not os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            time.sleep(0.001)
        began = time.monotonic()
    if delay is not None:
        time.sleep(delay)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        if getattr(case, "machine_ends", False):
            for pid in descendants(os.getpid()):
                os.kill(pid, signal.SIGKILL)
    # Everything that it started is inherited by this process.
    try:
        while True:
            os.wait()
    except ChildProcessError:
        return case.flaw(), time.monotonic() - began


def main(name, folder):
    system.become_subreaper()
    # The first run imports what is imported late.
    took = min(trial(KINDS[name], folder / f"whole-{number}", number, None)[1] for number in range(4, 7))
    rng = random.Random(SEED)  # noqa: S311 -- the same moments in each run
    wrong = {}
    for number in range(TIMES):
        delay = rng.uniform(0, took * 1.1)
        flaw, _ = trial(KINDS[name], folder / str(number), number, delay)
        if flaw:
            wrong[number] = flaw
    sys.stdout.write(f"{wrong or f'nothing lost in {TIMES}'}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
