"""The hooks' clock: the time that real programs see, and the times of files."""

import os
import select
import shutil
import subprocess
import sys
import time

import pytest

from pytest_hookharness.execution.clock.clock import Clock, Moment, next_tick
from pytest_hookharness.execution.clock.shims import Shims
from pytest_hookharness.execution.paths import WorkspaceError
from pytest_hookharness.model.processes import Exited, ProcessResult
from pytest_hookharness.model.reads import Reads

AHEAD = 301
NEAR, HOUR = 60, 3600


@pytest.fixture
def place(tmp_path):
    """A folder with files of a hook."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def clock(tmp_path, place):
    """A clock that was never moved."""
    return Clock(tmp_path / "clock", tmp_path / "bin", {"workspace": place})


def printed_by(clock, *argv, **more):
    """Return what a program prints that sees the clock."""
    env = clock.environment({"PATH": os.environ["PATH"], "TZ": "UTC", **more})
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=True)
    assert not done.stderr
    return done.stdout.strip()


PYTHON = """
import datetime, time
when = time.time(), time.time_ns() / 1e9, time.mktime(time.localtime()), datetime.datetime.now().timestamp()
utc = datetime.datetime.now(datetime.timezone.utc)
assert isinstance(utc, datetime.date) and type(utc + datetime.timedelta(1)) is datetime.datetime
assert time.gmtime(0).tm_year == datetime.datetime.fromtimestamp(0, datetime.timezone.utc).year == 1970
print(*when, utc.timestamp())
"""
NODE = "[Date.now(), Number(new Date()), Date.parse(Date())].map((ms) => ms / 1000).join(' ')"


@pytest.mark.parametrize(
    "argv",
    [
        ("date", "+%s"),
        ("date", "-u", "-d", "now", "+%s"),
        ("bash", "-c", "printf '%(%s)T %(%s)T' -1 -1"),
        ("bash", "-c", "printf -v now '%(%s)T'; echo $now"),
        (sys.executable, "-c", PYTHON),
        pytest.param(
            ("node", "-p", NODE),
            marks=pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed"),
            id="node",
        ),
    ],
)
def test_programs_see_a_later_time(clock, argv):
    """Every way to ask a program that has a shim gives the clock's time, and the machine's before that."""
    before = [float(word) for word in printed_by(clock, *argv).split()]
    clock.advance(AHEAD)
    after = [float(word) for word in printed_by(clock, *argv).split()]

    assert all(abs(word - time.time()) < NEAR for word in before)
    assert all(abs(word - time.time() - AHEAD) < NEAR for word in after)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-d", "5 minutes ago"), AHEAD - 300),
        (("-ud", "+2 hours"), AHEAD + 7200),
        (("--date=yesterday",), AHEAD - 86400),
        (("-d@100",), None),
        (("--date", "1970-01-01 00:01:40Z"), None),
    ],
)
def test_only_relative_dates_are_relative_to_the_clock(clock, words, said):
    """A `date` relative to now is shifted, and one that names a moment is not."""
    clock.advance(AHEAD)

    shown = float(printed_by(clock, "date", *words, "+%s"))

    assert shown == 100 if said is None else abs(shown - time.time() - said) < NEAR


def test_the_environment_is_as_it_was_while_the_clock_is_the_machines(clock):
    """Hooks see nothing of the clock until it is moved, and nothing once it was put back."""
    env = {"PATH": "/usr/bin"}
    assert clock.environment(env) is env

    clock.advance(AHEAD)
    assert clock.environment(env) != env
    clock.set_shift(0.0)

    assert clock.environment(env) is env


def test_doubles_stay_first_on_the_path(tmp_path):
    """A test double named date is found before the shim."""
    shims = Shims(tmp_path / "clock")

    path = shims.environment({"PATH": "/bin"}, tmp_path / "bin")["PATH"]
    ours = shims.environment({"PATH": f"{tmp_path}/bin:/bin"}, tmp_path / "bin")["PATH"]

    assert path.split(":") == [f"{tmp_path}/clock/bin", "/bin"]
    assert ours.split(":") == [f"{tmp_path}/bin", f"{tmp_path}/clock/bin", "/bin"]


def test_a_hidden_date_stays_hidden(tmp_path):
    """No date is put on the path of a scenario that hides it."""
    Clock(tmp_path / "clock", tmp_path / "bin", {}, hidden=["date"]).advance(AHEAD)

    assert not (tmp_path / "clock" / "bin" / "date").exists()


def test_own_customizing_of_python_and_bash_still_happens(clock, tmp_path):
    """The user's own sitecustomize and BASH_ENV are read as they are without a moved clock."""
    (tmp_path / "sitecustomize.py").write_text("import builtins; builtins.mine = 'python'\n")
    (tmp_path / "env.sh").write_text("mine=bash\n")
    clock.advance(AHEAD)

    python = printed_by(clock, sys.executable, "-c", "print(mine)", PYTHONPATH=str(tmp_path))
    bash = printed_by(clock, "bash", "-c", "echo $mine", BASH_ENV=str(tmp_path / "env.sh"))

    assert (python, bash) == ("python", "bash")


def test_printf_is_unchanged_where_it_prints_no_time(clock):
    """A script that prints no times has bash's own printf, and one that does prints all else unchanged."""
    clock.advance(AHEAD)

    plain = printed_by(clock, "bash", "-c", "type -t printf; printf '%s %d' -- -1")
    mixed = printed_by(clock, "bash", "-c", "printf '%s|%d' -1 -2; : '%(%s)T'; printf -- '-%s' x")

    assert plain == "builtin\n-- -1"
    assert mixed == "-1|-2-x"


def test_files_written_since_are_as_young_as_they_are(clock, place):
    """A file has the clock's time if it was written since the clock was moved, and keeps its own if not."""
    old, new, chosen = place / "old", place / "new", place / "chosen"
    old.write_text("")
    kept = old.stat().st_mtime_ns
    clock.advance(AHEAD)
    new.write_text("")
    chosen.write_text("")
    os.utime(chosen, (1000, 1000))

    clock.settle()
    clock.settle()

    assert old.stat().st_mtime_ns == kept
    assert abs(new.stat().st_mtime - time.time() - AHEAD) < NEAR
    assert chosen.stat().st_mtime == 1000


def test_each_advance_holds_for_what_is_written_after_it(clock, place):
    """Files written before a second advance are older by as much than those after it."""
    first, second = place / "first", place / "second"
    clock.advance(AHEAD)
    first.write_text("")
    clock.advance(AHEAD)
    second.write_text("")

    clock.settle()

    assert abs(second.stat().st_mtime - first.stat().st_mtime - AHEAD) < NEAR


def test_a_short_shift_is_made_once(clock, place):
    """A file that the machine's clock has caught up with since it was shifted is not shifted again."""
    clock.advance(0.05)
    file = place / "file"
    file.write_text("")
    clock.settle()
    kept = file.stat().st_mtime_ns
    while time.time_ns() <= kept:
        select.select([], [], [], 0.01)

    clock.settle()

    assert file.stat().st_mtime_ns == kept


def test_files_are_told_apart_within_one_tick(clock, place):
    """A file is shifted once, and again only if it is written again, however soon after it was looked at."""
    clock.advance(AHEAD)
    kept, written, moved = place / "kept", place / "written", place / "moved"
    for file in (kept, written, moved):
        file.write_text("")
    for _ in range(30):
        clock.settle()
        before = kept.stat().st_mtime_ns
        kept.chmod(kept.stat().st_mode ^ 0o100)
        written.write_text("x")
        moved.rename(moved.with_name("moving"))
        moved.with_name("moving").rename(moved)

        clock.settle()

        assert kept.stat().st_mtime_ns == before
        assert abs(written.stat().st_mtime - time.time() - AHEAD) < NEAR
        assert abs(moved.stat().st_mtime - time.time() - AHEAD) < NEAR


def test_what_was_written_in_the_tick_of_an_advance_is_older(clock, place):
    """A file has the time that the clock had when it was written, however soon the clock is moved then."""
    for number in range(20):
        before, after = place / f"before{number}", place / f"after{number}"
        before.write_text("")
        clock.advance(AHEAD)
        after.write_text("")
        clock.settle()
        assert abs(after.stat().st_mtime - before.stat().st_mtime - AHEAD) < NEAR


def test_the_clock_waits_for_no_tick_to_settle_files(clock, place, monkeypatch):
    """Neither to settle files nor to let time pass is a tick of the kernel waited for."""

    def wait(since: int | None = None) -> int:
        raise AssertionError(since)

    monkeypatch.setattr("pytest_hookharness.execution.clock.clock.next_tick", wait)
    for _ in range(3):
        (place / "file").write_text("")
        clock.advance(AHEAD)
        (place / "file").write_text("x")
        clock.settle()


def shown_by_kernel(clock):
    """Let the kernel show a clock; nothing is started."""
    clock.show_by_kernel(lambda specs: tuple(ProcessResult(ending=Exited(0), reads=Reads()) for _ in specs))


def test_returning_to_a_moment_takes_the_time_back_that_passed_since(clock):
    """In a session that begins ahead, what is tried takes no time."""
    shown_by_kernel(clock)
    clock.begin_ahead(HOUR)
    before = clock.moment
    minute_ago = Moment(before.ahead, before.machine - 60)

    clock.return_to(minute_ago)

    assert clock.moment.since(minute_ago) == pytest.approx(0, abs=1)
    assert clock.now - time.time() == pytest.approx(HOUR - 60, abs=1)


def test_a_clock_that_only_shims_show_begins_at_the_machines_time(clock):
    """Other programs would disagree with it, and with the times of new files, from the start."""
    clock.begin_ahead(HOUR)

    assert clock.seconds == 0
    assert not clock.moved


def test_files_keep_their_own_times_where_the_kernel_shows_later_ones(clock, place):
    """Neither to let time pass nor to settle files changes a time of a file; to shift them does."""
    shown_by_kernel(clock)
    clock.begin_ahead(HOUR)
    old, new = place / "old", place / "new"
    old.write_text("")
    os.utime(old, (1, 1))
    new.write_text("")
    clock.advance(AHEAD)
    clock.settle()

    assert old.stat().st_mtime == 1
    assert new.stat().st_mtime == pytest.approx(time.time(), abs=1)
    clock.shift(5, clock.now - AHEAD - 60)
    assert old.stat().st_mtime == 1
    assert new.stat().st_mtime == pytest.approx(time.time() + HOUR + 5, abs=1)


def test_in_other_sessions_the_time_goes_on(clock):
    """A clock that was only moved on later shows the time that passed."""
    clock.advance(AHEAD)
    before = clock.moment
    clock.advance(AHEAD)

    clock.return_to(before)

    assert clock.now - time.time() == pytest.approx(AHEAD, abs=NEAR)
    assert before.later(5).since(before) == 5


@pytest.mark.slow
def test_the_next_tick_separates_what_was_written_before_from_what_is_written_later(place):
    """Files written before have earlier stamps, and later ones not, however finely the kernel stamps them."""
    before, later = place / "before", place / "later"
    for number in range(60):
        # A file whose times were read since it was written gets a finer stamp next.
        if number % 3:
            before.write_text("")
            before.stat()
        before.write_text("x")
        tick = next_tick()
        later.write_text("x")

        assert before.stat().st_ctime_ns < tick <= later.stat().st_ctime_ns
        if not number % 2:
            later.unlink()


def test_restored_times_are_not_shifted_again(clock, place):
    """A file that was restored with a time between two looks keeps it once the times were accepted."""
    file = place / "file"
    clock.advance(AHEAD)
    file.write_text("")
    kept = file.stat().st_mtime_ns

    clock.accept()
    clock.settle()

    assert file.stat().st_mtime_ns == kept


def test_without_gnu_date_the_clock_is_an_error(clock, monkeypatch):
    """Where date cannot add seconds, moving the clock is an error."""
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)

    with pytest.raises(WorkspaceError, match="GNU date"):
        clock.advance(AHEAD)
