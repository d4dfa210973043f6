"""Times: which texts and numbers are near the clock, and how they look when they are older."""

from datetime import UTC, datetime

import pytest

from pytest_hookharness.judging.state_diff.file_timestamps import find_timestamps
from pytest_hookharness.judging.state_diff.number_formats import SessionClock

NOW = datetime(2026, 11, 21, 12, 25, 41, tzinfo=UTC)
CLOCK = SessionClock(started=NOW.timestamp() - 60, now=NOW.timestamp())
SECONDS = int(NOW.timestamp())

FORMATS = [
    (f"{SECONDS}", f"{SECONDS - 3600}"),
    (f"{SECONDS}.25", f"{SECONDS - 3600}.25"),
    (f"{SECONDS}123", f"{SECONDS - 3600}123"),
    (f"{SECONDS}123456", f"{SECONDS - 3600}123456"),
    (f"{SECONDS}123456789", f"{SECONDS - 3600}123456789"),
    ("2026-11-21T12:25:41Z", "2026-11-21T11:25:41Z"),
    ("2026-11-21T12:25:41.123Z", "2026-11-21T11:25:41.123Z"),
    ("2026-11-21T12:25:41.123456789+00:00", "2026-11-21T11:25:41.123456789+00:00"),
    ("2026-11-21T14:25:41+02:00", "2026-11-21T13:25:41+02:00"),
    ("2026-11-21 07:25:41 -0500", "2026-11-21 06:25:41 -0500"),
    ("2026-11-21 12:25:41,123", "2026-11-21 11:25:41,123"),
    ("2026-11-21 12:25", "2026-11-21 11:25"),
    ("20261121T122541Z", "20261121T112541Z"),
    ("20261121-122541", "20261121-112541"),
    ("20261121122541", "20261121112541"),
    ("Sat, 21 Nov 2026 12:25:41 +0000", "Sat, 21 Nov 2026 11:25:41 +0000"),
    ("Sat Nov 21 12:25:41 UTC 2026", "Sat Nov 21 11:25:41 UTC 2026"),
    ("Sat Nov 21 12:25:41 PM UTC 2026", "Sat Nov 21 11:25:41 AM UTC 2026"),
    ("Sat Nov 21 12:25:41 2026", "Sat Nov 21 11:25:41 2026"),
    ("12:25:41", "11:25:41"),
]


@pytest.mark.parametrize(("text", "older"), FORMATS)
def test_a_time_ages_in_its_own_format(text, older):
    """A time near the clock is found, and an hour later it is written in the same format, zone included."""
    found = find_timestamps({"a": f'{{"at": "{text}", "n": 5}}\n'.encode()}, CLOCK)

    assert found.aged(3600) == {"a": f'{{"at": "{older}", "n": 5}}\n'.encode()}


@pytest.mark.parametrize(
    "text",
    [
        f"{SECONDS - 3600}",
        f"{SECONDS + 3600}",
        f"{SECONDS}1",
        f"x{SECONDS}99999999999",
        "2026-11-21T12:25:41-09:30",
        "2026-11-20T12:25:41Z",
        "2026-13-41T12:25:41Z",
        "Thu Jan  1 00:00:00 UTC 1970",
        "99:99:99",
        "deadbeef-2026",
    ],
)
def test_other_times_are_ignored(text):
    """A time outside of the session, or text that is no time, is neither found nor made older."""
    found = find_timestamps({"a": text.encode()}, CLOCK)

    assert found.texts == ()
    assert found.aged(60) == {}


def test_days_months_and_weekdays_are_carried():
    """A time that ages over midnight, month and year has the right day and weekday."""
    moment = datetime(2027, 1, 1, 0, 0, 10, tzinfo=UTC).timestamp()
    found = find_timestamps({"a": b"Fri Jan  1 00:00:10 UTC 2027"}, SessionClock(started=moment, now=moment))

    assert found.aged(20) == {"a": b"Thu Dec 31 23:59:50 UTC 2026"}


def test_no_time_is_before_1970():
    """However much time passes, numbers do not fall below 0 and texts not below 1970."""
    found = find_timestamps({"a": f"{SECONDS} 2026-11-21T12:25:41Z".encode()}, CLOCK)

    assert found.aged(1e13) == {"a": b"0 1970-01-01T00:00:00Z"}


def test_a_day_alone_is_near_the_whole_day():
    """A date without a time is near the clock on its whole day, and ages by whole days."""
    found = find_timestamps({"a": b"2026-11-21", "b": b"2026-11-19"}, CLOCK)

    assert found.aged(86400) == {"a": b"2026-11-20"}


def test_all_times_of_a_file_age():
    """All of a hundred times in one file are made older."""
    found = find_timestamps({"a": b"".join(b"%d x\n" % (SECONDS - at % 50) for at in range(100))}, CLOCK)

    assert found.aged(100)["a"].count(b"%d" % (SECONDS - 149)) == 2


def test_binary_files_have_no_times():
    """Missing and binary files are ignored."""
    assert find_timestamps({"a": None, "b": b"\0%d" % SECONDS, "c": b"\xff"}, CLOCK).aged(60) == {}
