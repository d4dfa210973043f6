"""A small project of its own for every acceptance test."""

import pkgutil
from importlib import import_module

import pytest

import pytest_hookharness

# pytester forgets modules that a run imported first, so the next run would mix values of two classes.
for module in pkgutil.walk_packages(pytest_hookharness.__path__, "pytest_hookharness."):
    import_module(module.name)

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
def project(pytester):
    """A folder with scenarios and a Python test, on which pytest can be run."""

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
