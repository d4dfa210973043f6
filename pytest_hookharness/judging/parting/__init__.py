"""
This package is concerned with parting: the difference of moments that are one lap apart, taken to parts.

Middle floor: judging. Pure; bytes go in, values and bytes come out.
"""

from pytest_hookharness.judging.parting.ageing import Stamps, find_stamps, same_but_for_stamps
from pytest_hookharness.judging.parting.clock import Clock
from pytest_hookharness.judging.parting.pattern import Irregular, Pattern, recognise
from pytest_hookharness.judging.parting.threads import Files

__all__ = [
    "Clock",
    "Files",
    "Irregular",
    "Pattern",
    "Stamps",
    "find_stamps",
    "recognise",
    "same_but_for_stamps",
]
