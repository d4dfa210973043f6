"""Claims about the detectors on labelled streams that are generated from seeds."""

import sys
from pathlib import Path

import pytest

from pytest_hookharness.judging.detectors.messages import LoopLimits
from pytest_hookharness.judging.detectors.streams import detect


@pytest.fixture(scope="module")
def labelled():
    """Two hundred and more streams, and what they were built to be."""
    folder = str(Path(__file__).parents[2] / "benchmarks")
    sys.path.insert(0, folder)
    try:
        import streams  # noqa: PLC0415
    finally:
        sys.path.remove(folder)
    return list(streams.streams(8))


def wrong(labelled, limits=None):
    """Return the streams whose reported loops differ from those that they were built with."""
    reported = ((stream, {loop.title for loop in detect(stream.moments, limits)}) for stream in labelled)
    return [(stream.kind, stream.seed, titles) for stream, titles in reported if titles != stream.labels]


@pytest.mark.slow
def test_precision_and_recall_are_one(labelled):
    """Exactly the loops that a generated stream was built with are reported."""
    assert len(labelled) >= 200
    assert wrong(labelled) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "limits",
    [LoopLimits(repetitions=2), LoopLimits(window=9), LoopLimits(repetitions=4, failures=5, window=32)],
)
def test_labels_are_not_made_by_the_detectors(labelled, limits):
    """Detectors with other limits than those defined are distinguished by the labels."""
    assert wrong(labelled, limits)
