"""A small project of its own for every acceptance test."""

import json
import os
import select
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import pytest_hookharness

# pytester forgets modules that a run imported first, so the next run would mix values of two classes.
PACKAGE = Path(pytest_hookharness.__file__).parent
for file in PACKAGE.rglob("*.py"):
    if not file.name.startswith("__"):
        import_module(".".join((PACKAGE.name, *file.relative_to(PACKAGE).with_suffix("").parts)))

LETS_GO = "#!/bin/sh\ngrep -q '\"stop_hook_active\":true' && exit 0\necho 'run the tests' >&2\nexit 2\n"
REFUSES = "#!/bin/sh\necho 'run never' >&2\nexit 2\n"

SCENARIO = """\
name: {name}
why: {name}, for a test.
files:
  hook.sh: |
    #!/bin/sh
    {body}
hooks: {{Stop: ./hook.sh}}
agent:
  - prompt: Go.
  - then: idle
expect:
  verdict: {verdict}
"""

# Plugins that pytest finds and that our tests do not need; they take most of a run's start-up time.
UNUSED = ("-p", "no:faker", "-p", "no:hypothesispytest", "-p", "no:cacheprovider")

POLITE = "grep -q '\"stop_hook_active\":true' && exit 0; echo 'run the tests' >&2; exit 2"
STUBBORN = "echo 'run never' >&2; exit 2"


@pytest.fixture
def project(pytester, monkeypatch):
    """A folder with scenarios and a Python test, on which pytest can be run, with lines of 100 columns."""
    monkeypatch.setenv("COLUMNS", "100")

    class Project:
        path = pytester.path

        def scenario(self, name, *, body=POLITE, verdict="terminated", folder="scenarios", text=""):
            file = pytester.path / folder / f"{name}.scenario.yaml"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text or SCENARIO.format(name=name, body=body, verdict=verdict))
            return file

        def write(self, path, text, mode=0o644):
            file = pytester.path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            file.chmod(mode)
            return file

        def run(self, *arguments):
            return pytester.runpytest_inprocess(*UNUSED, *arguments)

        def run_apart(self, *arguments):
            """In a process of its own, as what is read at its start is not read again."""
            return pytester.runpytest_subprocess(*UNUSED, *arguments)

    pytester.makeini("[pytest]\n")
    return Project()


SETTINGS = """\
{
  "hooks": {
    "Stop": [ {"hooks": [{"type": "command",   "command": "./hook.sh \\"a b\\""}]} ]
  }
}
"""


@pytest.fixture
def recorded(tmp_path_factory, monkeypatch):
    """A project with a hook, and a way to record it."""
    tmp_path = tmp_path_factory.mktemp("recorded")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
    sent = {"hook_event_name": "Stop"}
    (tmp_path / ".claude").mkdir()
    settings_file = tmp_path / ".claude" / "settings.json"
    settings_file.write_text(SETTINGS)
    hook = tmp_path / "hook.sh"
    hook.write_text('#!/bin/sh\ncat > seen.json\necho "$1"\necho why >&2\nexit 2\n')
    hook.chmod(0o755)

    class Recorded:
        path = tmp_path
        original = SETTINGS
        settings = settings_file
        journals = Path(os.environ["XDG_STATE_HOME"], "hookharness", "recordings")

        def begin(self, *arguments):
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "pytest_hookharness", "record", *arguments],
                cwd=tmp_path,
                stdout=subprocess.PIPE,
                text=True,
            )
            self.said = ""
            while "start the agent" not in self.said:
                line = process.stdout.readline()
                assert line
                self.said += line
            return process

        def end(self, process):
            process.send_signal(signal.SIGINT)
            said, _ = process.communicate(timeout=20)
            return process.returncode, said

        def run_hook(self, payload=sent, **env):
            (entry,) = json.loads(settings_file.read_text())["hooks"]["Stop"][0]["hooks"]
            return subprocess.run(
                ["/bin/sh", "-c", entry["command"]],
                cwd=tmp_path,
                env={**os.environ, **env},
                input=json.dumps(payload),
                capture_output=True,
                text=True,
                check=False,
            )

        def restored(self):
            for _ in range(2000):
                if settings_file.read_text() == self.original:
                    return True
                select.select([], [], [], 0.01)
            return False

        def records(self):
            files = sorted((tmp_path / "hook-recordings").glob("*-*.json"))
            return [json.loads(file.read_text()) for file in files]

    return Recorded()
