"""The replacements of a moved clock behave as the builtin functions do, wherever programs use them."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_hookharness.execution.clock.clock import Clock

AHEAD = 90_000
PYTHONS = sorted(
    {
        sys.executable,
        *filter(None, [shutil.which("python3", path="/usr/bin:/usr/local/bin")]),
        *map(str, Path.home().glob(".pyenv/versions/3.*/bin/python")),
    }
)
NODE = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


@pytest.fixture
def clock(tmp_path):
    """A clock that is a day and an hour ahead."""
    made = Clock(tmp_path / "clock", tmp_path / "bin", {})
    made.advance(AHEAD)
    return made


def printed_by(env, *argv, cwd=None):
    """Return the lines that a program prints, with its errors."""
    done = subprocess.run(argv, env=env, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return (done.stdout + done.stderr).splitlines()


def both(clock, *argv, cwd=None):
    """Return what a program prints by the machine's clock, and by the one that is ahead."""
    env = {"PATH": os.environ["PATH"], "TZ": "UTC"}
    return printed_by(env, *argv, cwd=cwd), printed_by(clock.environment(env), *argv, cwd=cwd)


# Each line is an expression whose value is the same at any time.
PYTHON_USES = r"""
logged("%(asctime)s") == logged("%(asctime)s").strip() != ""
type("C", (), {"when": time.localtime})().when(0)[:6]
type("C", (), {"when": time.gmtime})().when(0)[:6]
type("C", (), {"when": time.time})().when() > 1e9
type("C", (), {"when": time.strftime})().when("%Y", time.gmtime(0))
type("C", (), {"when": datetime.datetime.now})().when().year > 2000
type("C", (), {"at": datetime.datetime, "day": datetime.date})().at(2020, 1, 1)
functools.partial(time.strftime, "%Y-%m")(time.gmtime(0))
functools.partial(datetime.datetime.now, datetime.timezone.utc)().tzinfo
functools.lru_cache(maxsize=None)(time.gmtime)(0)[:3]
functools.wraps(time.time)(lambda: 0).__name__
functools.singledispatch(lambda it: type(it).__name__)(time.time)
[pickle.loads(pickle.dumps(it, level)) is it for it in FUNCTIONS for level in LEVELS]
[pickle._loads(pickle._dumps(it, level)) is it for it in FUNCTIONS for level in LEVELS]
[pickle.dumps(it, level) for it in FUNCTIONS + KINDS for level in LEVELS]
[pickle.loads(pickle.dumps(it)) is it for it in KINDS]
pickle.loads(pickle.dumps(datetime.datetime.now)).__self__ is datetime.datetime
[type(pickle.loads(pickle.dumps(it.today()))) for it in (datetime.date, datetime.datetime)]
[copy.copy(it) is it and copy.deepcopy(it) is it for it in FUNCTIONS]
[repr(it)[:30] for it in FUNCTIONS]
[(it.__name__, it.__qualname__, it.__module__, it.__doc__, it.__self__ is time) for it in FUNCTIONS]
[type(it).__name__ for it in FUNCTIONS]
[isinstance(it, (types.BuiltinFunctionType, types.FunctionType)) for it in FUNCTIONS]
[(inspect.isbuiltin(it), inspect.isroutine(it), inspect.isfunction(it), callable(it)) for it in FUNCTIONS]
[failure(inspect.signature, it) for it in FUNCTIONS]
[hasattr(it, "__get__") for it in FUNCTIONS]
[it == it and hash(it) == hash(it) and {it: 1}[it] == 1 for it in FUNCTIONS]
[dir(it) for it in FUNCTIONS]
[weakref.ref(it)() is it for it in FUNCTIONS]
failure(setattr, time.time, "mine", 1)
[m.name for m in enum.Enum("E", {"at": 1})], type(make_enum().now).__name__
[time.time is it for it in (from_time, sys.modules["time"].time)]
threads(time.localtime, 0)
time.asctime(time.gmtime(0)), time.ctime(0), time.strftime("%c", time.gmtime(0))
[failure(time.localtime, "x"), failure(time.gmtime, 1, 2), failure(time.ctime, [])]
[failure(time.strftime), failure(time.strftime, "%Y", None), failure(time.asctime, None)]
[failure(time.clock_gettime, "x"), failure(time.clock_gettime, 999), failure(time.time, 1)[:9]]
failure(lambda: time.time(x=1))[:9], failure(lambda: time.localtime(seconds=1))[:9]
time.localtime(None)[0] > 2000 and time.gmtime(None)[0] > 2000
abs(time.clock_gettime(time.CLOCK_REALTIME) - time.time()) < 5
abs(time.clock_gettime_ns(time.CLOCK_REALTIME) - time.time_ns()) < 5e9 if hasattr(time, "time_ns") else True
abs(time.clock_gettime(time.CLOCK_MONOTONIC) - time.monotonic()) < 5
abs(datetime.datetime.now().timestamp() - time.time()) < 5
abs(datetime.datetime.now(ZONE).timestamp() - time.time()) < 5
datetime.datetime.now(ZONE).utcoffset(), datetime.datetime.now(tz=ZONE).tzname()
abs(datetime.datetime.today().timestamp() - time.time()) < 5
abs(calendar.timegm(quiet(datetime.datetime.utcnow).timetuple()) - time.time()) < 5
datetime.date.today() in map(datetime.date.fromtimestamp, (time.time() - 9, time.time()))
sys.version_info < (3, 7) or abs((uuid.uuid1().time - 0x01B21DD213814000) / 1e7 - time.time()) < 5
uuid.uuid1().version, uuid.uuid1().variant, uuid.uuid1() < uuid.uuid1()
[type(it) is kind for it, kind in zip(made(), (datetime.datetime,) * 6 + (datetime.date,))]
datetime.datetime is _datetime.datetime and datetime.date is _datetime.date
[kind.__mro__ for kind in KINDS], [kind.__module__ for kind in KINDS], [type(kind) for kind in KINDS]
[sorted(vars(kind)) for kind in KINDS]
[type(vars(kind)[name]).__name__ for kind, name in MEMBERS]
[isinstance(vars(kind)[name], type(vars(datetime.datetime)["fromtimestamp"])) for kind, name in MEMBERS]
[(getattr(kind, name).__name__, getattr(kind, name).__qualname__) for kind, name in MEMBERS]
[getattr(kind, name).__doc__ for kind, name in MEMBERS]
[getattr(kind, name).__self__ is kind for kind, name in MEMBERS]
[getattr(kind, name) == getattr(kind, name) for kind, name in MEMBERS]
[inspect.isbuiltin(getattr(kind, name)) for kind, name in MEMBERS]
[failure(inspect.signature, getattr(kind, name)) for kind, name in MEMBERS]
[(it.kind, it.defining_class) for it in inspect.classify_class_attrs(Plain) if it.name in ("now", "today")]
failure(setattr, datetime.datetime, "now", 1)[:9]
failure(datetime.datetime.now, 1)[:9], failure(datetime.datetime.now, 1, 2)[:9]
[type(it) for it in (Plain.now(), Plain.today(), quiet(Plain.utcnow), Plain.now() + datetime.timedelta(1))]
[type(it) for it in (Strict.now(), Strict.now(ZONE), quiet(Strict.utcnow), Day.today())]
Overriding.now(ZONE).year > 2000, Overriding.today()
super(Plain, Plain).now().year > 2000, Plain(2020, 1, 1).now().year > 2000
isinstance(datetime.datetime.now(), datetime.date), issubclass(Plain, datetime.datetime)
[mock.create_autospec(it) is not None for it in FUNCTIONS]
mocked("time.time"), mocked("time.localtime"), autospec("time.time")
dataclass_of(time.time)
email.utils.parsedate(email.utils.formatdate())[0] > 2000
warned()
"""
PYTHON_PRELUDE = r"""
import _datetime, calendar, copy, datetime, email.utils, enum, functools, inspect, io, logging, pickle, sys
import threading, time, types, uuid, warnings, weakref
from time import time as from_time
from unittest import mock
FUNCTIONS = [getattr(time, name) for name in
    "time time_ns clock_gettime clock_gettime_ns localtime gmtime ctime asctime strftime".split()
    if hasattr(time, name)]
KINDS = [datetime.datetime, datetime.date]
LEVELS = range(pickle.HIGHEST_PROTOCOL + 1)
ZONE = datetime.timezone(datetime.timedelta(hours=2), "two")
MEMBERS = [(datetime.datetime, name) for name in ("now", "utcnow", "today")] + [(datetime.date, "today")]
class Plain(datetime.datetime): pass
class Strict(datetime.datetime):
    def __new__(cls, *args, **named):
        assert len(args) + len(named) >= 7 and not (named.keys() - {"tzinfo", "fold"}), (args, named)
        return super().__new__(cls, *args, **named)
class Day(datetime.date): pass
class Overriding(datetime.datetime):
    @classmethod
    def fromtimestamp(cls, *args): return "mine"
def logged(form):
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter(form))
    handler.handle(logging.makeLogRecord({"created": 0.0, "msecs": 0}))
    logging.basicConfig(stream=stream, format=form, level="INFO")
    logging.info("said")
    return stream.getvalue().splitlines()[0]
def failure(function, *args):
    try: return str(function(*args))
    except Exception as error: return type(error).__name__ + ": " + str(error)
def quiet(function):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function()
def warned():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        datetime.datetime.utcnow()
    return [(str(it.message), it.category, it.filename, it.lineno) for it in seen]
def made():
    now = datetime.datetime.now
    utc = quiet(datetime.datetime.utcnow)
    return [now(), now(ZONE), utc, datetime.datetime.today(), now() + datetime.timedelta(1),
            now().replace(year=2000), datetime.date.today()]
def make_enum():
    class Way(enum.Enum):
        now = time.time
    return Way
def threads(function, *args):
    seen = []
    thread = threading.Thread(target=lambda: seen.append(function(*args)[:6]))
    thread.start()
    thread.join()
    return seen
def mocked(name):
    with mock.patch(name, return_value=5) as fake:
        module, _, function = name.partition(".")
        return getattr(sys.modules[module], function)()
def autospec(name):
    with mock.patch(name, autospec=True) as fake:
        fake.return_value = 7
        return time.time()
def dataclass_of(function):
    if sys.version_info < (3, 7): return None
    import dataclasses
    made = dataclasses.make_dataclass("D", [("at", float, dataclasses.field(default_factory=function)),
                                            ("ask", object, function)])
    return made().at > 1e9, made().ask is function
"""
PYTHON_PROGRAM = PYTHON_PRELUDE + "".join(
    f"print({line!r}, '->', failure(lambda: {line}))\n" for line in PYTHON_USES.strip().splitlines()
)


@pytest.mark.nightly
@pytest.mark.parametrize("python", PYTHONS)
def test_python_cannot_tell_the_replacements_from_the_builtin_functions(clock, tmp_path, python):
    """Each use of a function or class of time and datetime gives the same under both clocks."""
    program = tmp_path / "uses.py"
    program.write_text(PYTHON_PROGRAM)

    plain, ahead = both(clock, python, program)

    assert len(plain) == PYTHON_USES.strip().count("\n") + 1
    # The numbers of addresses differ from run to run.
    assert [re.sub("0x[0-9a-f]+", "0x", line) for line in ahead] == [
        re.sub("0x[0-9a-f]+", "0x", line) for line in plain
    ]
    assert not [line for line in ahead if line.endswith("-> False")]


@pytest.mark.parametrize("python", PYTHONS)
def test_python_warns_of_a_deprecated_function_at_the_line_that_called_it(clock, tmp_path, python):
    """A warning of utcnow is shown for the hook's own line, as without the clock."""
    program = tmp_path / "hook.py"
    program.write_text("import datetime\n\ndatetime.datetime.utcnow()\n")

    plain, ahead = both(clock, python, program)

    assert ahead == plain


def test_a_hook_keeps_modules_that_are_named_as_those_of_the_clock(clock, tmp_path):
    """A module of the hook's own that is called datetime or uuid is the one that it imports."""
    for name in ("datetime", "uuid", "calendar", "warnings_of_mine"):
        (tmp_path / f"{name}.py").write_text("mine = True\n")
    program = tmp_path / "hook.py"
    program.write_text("import datetime, uuid, calendar\nprint(datetime.mine, uuid.mine, calendar.mine)\n")

    plain, ahead = both(clock, sys.executable, program)

    assert plain == ahead == ["True True True"]


def test_programs_that_write_into_builtin_functions_get_the_real_ones(clock, tmp_path):
    """What imports time_machine, which needs the builtin functions, has them, and the machine's time."""
    (tmp_path / "_time_machine.py").write_text(
        "import time, datetime\n"
        "print(type(time.time), type(datetime.datetime.now), type(datetime.date.today))\n"
        "print(type(vars(datetime.datetime)['utcnow']))\n"
    )
    program = tmp_path / "hook.py"
    program.write_text("import time\nprint(time.time())\nimport _time_machine\nprint(time.time())\n")

    plain, ahead = both(clock, sys.executable, program)

    assert ahead[1:3] == plain[1:3]
    assert abs(float(ahead[0]) - float(ahead[3]) - AHEAD) < 60


def test_modules_that_were_loaded_before_the_clock_see_it(clock, tmp_path):
    """A module that a `.pth` file loads, and that took a function by its name, has the clock's time."""
    site = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", site], check=True)
    packages = next(site.glob("lib/python*/site-packages"))
    (packages / "early.py").write_text("from time import time\n")
    (packages / "early.pth").write_text("import early\n")

    plain, ahead = both(clock, str(site / "bin" / "python"), "-c", "import early; print(early.time())")

    assert abs(float(ahead[0]) - float(plain[0]) - AHEAD) < 60


@pytest.mark.slow
@NODE
def test_node_cannot_tell_the_replacements_from_the_builtin_functions(clock):
    """Each use of Date, performance and Intl gives the same under both clocks."""
    plain, ahead = both(clock, "node", Path(__file__).with_name("clock_uses.js"))

    assert ahead == plain
    assert len(plain) > 20


@pytest.mark.slow
@NODE
@pytest.mark.parametrize("name", ["module.mjs", "worker.js"])
def test_node_sees_the_clock_in_modules_and_workers(clock, tmp_path, name):
    """The clock is ahead in an ECMAScript module, and in a worker thread, by every way to ask."""
    asked = (
        "[Date.now(), +new Date(), performance.timeOrigin, Date.parse(new Intl.DateTimeFormat().format())]"
    )
    program = tmp_path / name
    program.write_text(
        f"console.log(...{asked})"
        if name.endswith(".mjs")
        else f"new (require('worker_threads').Worker)(`console.log(...{asked})`, {{eval: true}})"
    )

    plain, ahead = both(clock, "node", program)

    moved = [float(b) - float(a) for a, b in zip(plain[0].split(), ahead[0].split(), strict=True)]
    assert all(abs(by / 1000 - AHEAD) < 60 for by in moved[:3])
    assert moved[3] in {86_400_000, 2 * 86_400_000}


@NODE
def test_node_sees_the_clock_in_temporal_where_it_has_it(clock):
    """`Temporal.Now` follows the clock, if this node has one."""
    asked = "typeof Temporal === 'undefined' ? '' : Temporal.Now.instant().epochMilliseconds - Date.now()"

    for line in printed_by(clock.environment(dict(os.environ)), "node", "--harmony-temporal", "-p", asked):
        assert not line.strip() or abs(float(line)) < 5000
