"""
What popular libraries make of a clock that is ahead: each call is made with it and without it, and compared.

The libraries are installed from the package index into an environment of their own. One that cannot be
installed is skipped.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from pytest_hookharness.execution.clock.clock import Clock

pytestmark = pytest.mark.nightly
AHEAD = 180_000
# Parts of a day: what a library rounds to days, hours or minutes is rounded at another moment.
TOLERANCE = {"day": 86_400, "minute": 120}
MARKS = tuple(f"{mark}: " for mark in (*TOLERANCE, "own"))

LIBRARIES = yaml.safe_load(Path(__file__).with_name("library_clocks.yaml").read_text())

# Prints type and seconds of the epoch (or, of what is no time, its text) of each expression.
PROGRAM = r"""
import calendar, datetime as dt, json, sys, time, warnings
warnings.simplefilter("ignore")
def raised(function):
    try: return "fine: " + str(function())
    except Exception as error: return type(error).__name__
def seconds(value):
    if isinstance(value, bool): return None
    if isinstance(value, str):
        try: return seconds(dt.datetime.fromisoformat(value))
        except ValueError: pass
        try: return seconds(dt.datetime.strptime(value, "%a, %d %b %Y %H:%M:%S GMT"))
        except ValueError: return None
    if isinstance(value, dt.datetime):
        value = value if value.tzinfo else value.replace(tzinfo=dt.timezone.utc)
        return value.timestamp()
    if isinstance(value, dt.date): return calendar.timegm(value.timetuple())
    if hasattr(value, "float_timestamp"): return value.float_timestamp
    return float(value) if isinstance(value, (int, float)) and 1e9 < value < 1e11 else None
scope = {"raised": raised, "__name__": "hook"}
first, *rest = json.load(sys.stdin)
exec(first, scope)
for expression in rest:
    value = eval(expression, scope)
    when = seconds(value)
    kind = type(value)
    print(json.dumps([kind.__module__ + "." + kind.__qualname__, when if when else repr(value)]))
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """The Python of an environment for libraries."""
    place = tmp_path_factory.mktemp("libraries") / "venv"
    subprocess.run([sys.executable, "-m", "venv", place], check=True)
    return str(place / "bin" / "python")


def printed(argv, env, text=""):
    """Return the type and the time or text of each call, as a program prints them."""
    done = subprocess.run(argv, input=text, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def marked(calls):
    """Return the marks of calls (empty for most), and the calls."""
    pairs = [next(iter(call.items())) if isinstance(call, dict) else ("", call) for call in calls]
    pairs = [tuple(text.split(": ", 1)) if text.startswith(MARKS) else (mark, text) for mark, text in pairs]
    return zip(*pairs, strict=True)


def compare(marks, texts, plain, ahead):
    """Check that each call gave the same kind of value, later by as much as the clock is ahead."""
    for mark, text, (kind, before), (kind_ahead, after) in zip(marks, texts, plain, ahead, strict=True):
        assert kind_ahead == kind, text
        if isinstance(before, str):
            assert after == before, text
        else:
            moved = after - before
            assert abs(moved - AHEAD) <= TOLERANCE.get(mark, 60) or (mark == "own" and abs(moved) < 60), text


@pytest.mark.parametrize("library", LIBRARIES)
def test_libraries_work_by_a_clock_that_is_ahead(tmp_path, python, library):
    """Each call of the library gives the same kind of value by the clock, later by as much as it is ahead."""
    pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--prefer-binary", library]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"{library} cannot be installed: {done.stderr.strip().splitlines()[-1:]}")
    marks, texts = marked(LIBRARIES[library]["calls"])
    calls = json.dumps(["\n".join(LIBRARIES[library]["setup"]), *texts])
    clock = Clock(tmp_path / "clock", tmp_path / "bin", {})
    clock.advance(AHEAD)
    env = {"PATH": os.environ["PATH"], "TZ": "UTC", "HOME": str(tmp_path)}

    plain, ahead = (printed([python, "-c", PROGRAM], each, calls) for each in (env, clock.environment(env)))

    compare(marks, texts, plain, ahead)


PACKAGES = yaml.safe_load(Path(__file__).with_name("library_clocks_npm.yaml").read_text())
# Prints type and milliseconds of the epoch (or, of what is no time, its JSON) of each expression.
JAVASCRIPT = """
const show = (value) => {
  const when = typeof value === "string" ? Date.parse(value) : value;
  const isTime = typeof when === "number" && when > 1e12 && when < 1e14;
  console.log(JSON.stringify([typeof value, isTime ? when / 1000 : JSON.stringify(value)]));
};
"""


@pytest.fixture(scope="module")
def node_modules(tmp_path_factory):
    """A folder for packages of npm."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    return tmp_path_factory.mktemp("packages")


@pytest.mark.parametrize("library", PACKAGES)
def test_packages_of_node_work_by_a_clock_that_is_ahead(tmp_path, node_modules, library):
    """Each call of the package gives the same kind of value by the clock, later by as much as it is ahead."""
    npm = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(node_modules), library]
    done = subprocess.run(npm, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"{library} cannot be installed: {done.stderr.strip().splitlines()[-1:]}")
    marks, texts = marked(PACKAGES[library]["calls"])
    program = node_modules / f"{library.replace('/', '-')}.js"
    lines = [JAVASCRIPT, *PACKAGES[library]["setup"], *(f"show({text});" for text in texts)]
    program.write_text("\n".join(lines))
    clock = Clock(tmp_path / "clock", tmp_path / "bin", {})
    clock.advance(AHEAD)
    env = {"PATH": os.environ["PATH"], "TZ": "UTC"}

    plain, ahead = (printed(["node", program], each) for each in (env, clock.environment(env)))

    compare(marks, texts, plain, ahead)
