"""
Parting: the difference of moments that are one lap apart, taken to parts.

Pure; bytes go in, values and bytes come out.
"""

from pytest_hookharness.judging.state_diff.file_series import Files
from pytest_hookharness.judging.state_diff.file_timestamps import (
    Stamps,
    find_stamps,
    same_but_for_stamps,
)
from pytest_hookharness.judging.state_diff.number_formats import SessionClock
from pytest_hookharness.judging.state_diff.pattern import Irregular, Pattern, recognise

__all__ = [
    "Files",
    "Irregular",
    "Pattern",
    "SessionClock",
    "Stamps",
    "find_stamps",
    "recognise",
    "same_but_for_stamps",
]
