"""
State diff: what changes from one repetition of a cycle to the next, and how it would continue.

Hooks that count, log or write the time never leave the same state twice, although their session repeats.
This package splits the difference between such states into *parts* and predicts each part. With the
predictions the prober writes states that no run has reached yet and plays one repetition from there.

From files to parts, and back to files:

- `file_series` follows each changed file through three or more states, also if it is renamed or if every
  repetition creates a new one, and reads its parts from files that were seen later.
- `timestamps` cuts a text into tokens and finds times; `number_formats` parses and formats numbers.
- `template_inference` aligns the tokens of consecutive texts (`appended_blocks`) and builds a template
  (`templates`): fixed text, slots with changing values, and blocks that grow by one chunk.
- `progressions` describes how a value changes: it counts, varies, is the current time, or is random.
- `part_locations` gives each slot and block a name for reports.
- `pattern` combines all this. `extrapolate` writes the files of a perturbation, and `deviation`
  compares them with files that were seen later and drops refuted steps.
- `file_timestamps` handles times in files that do not change.

Why a probe is sound: a template must reproduce every observed text, and every changing value needs a
progression. One file without them makes the state `Irregular`, and nothing is concluded from it. A step
counts as confirmed after two equal steps, and replaying one repetition can still refute it. What remains
uncertain is that hooks might treat a state that they never wrote themselves differently; therefore the
verdict says `driven` if they may be read, and lists its assumptions.
"""

from pytest_hookharness.judging.state_diff.file_series import Files
from pytest_hookharness.judging.state_diff.file_timestamps import (
    FileTimestamps,
    equal_except_timestamps,
    find_timestamps,
)
from pytest_hookharness.judging.state_diff.number_formats import SessionClock
from pytest_hookharness.judging.state_diff.pattern import Irregular, Pattern, find_pattern

__all__ = [
    "FileTimestamps",
    "Files",
    "Irregular",
    "Pattern",
    "SessionClock",
    "equal_except_timestamps",
    "find_pattern",
    "find_timestamps",
]
