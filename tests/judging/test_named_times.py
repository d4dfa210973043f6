"""Which times scripts name, from the fields of the calendar that they ask for and the values in them."""

import time

import pytest

from pytest_hookharness.judging.probing.limits import MOST, find_named_times

# A Monday, 00:20.
NOW = 1_795_393_200.0


def named(script):
    """The times that a script names, in words."""
    moments = (NOW + seconds for seconds in find_named_times([script.encode()], NOW))
    return [time.strftime("%a %d %b %H:%M", time.gmtime(moment)) for moment in moments]


@pytest.mark.parametrize(
    ("script", "moment"),
    [
        ('[ "$(date +%a%H)" = Sun04 ] && exit 0', "Sun 29 Nov 04:00"),
        ('[ "$(date +%H)" -eq 3 ] && [ "$(date +%u)" = 7 ]', "Sun 29 Nov 03:00"),
        ("now.hour == 3 and now.weekday() == 6", "Sun 29 Nov 03:00"),
        ("now.getHours() === 3 && now.getDay() === 0", "Sun 29 Nov 03:00"),
        ('[ "$(date +%d%H)" = 1304 ]', "Sun 13 Dec 04:00"),
        ('[ "$(date +%H:%M)" = 03:30 ]', "Mon 23 Nov 03:30"),
        ("[ $(date +%m-%d) = 12-24 ]", "Thu 24 Dec 00:00"),
    ],
)
def test_a_time_of_several_fields_is_found(script, moment):
    """An hour of one day of the week, of the month or of the year is found in a script of any language."""
    assert moment in named(script)


@pytest.mark.parametrize(
    "script", ["date >> log", "date '+%Y-%m-%d %H:%M:%S' >> log", "date +%H", "[ $(date +%H) = 3 ]", "exit 2"]
)
def test_a_script_that_only_writes_the_time_names_none(script):
    """A logger names no time, and an hour alone is tried in any case."""
    assert named(script) == []


def test_few_times_are_named():
    """A script full of numbers names no more times than are tried."""
    assert len(named(f"now.hour now.day {' '.join(map(str, range(40)))}")) == MOST
