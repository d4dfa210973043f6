"""Code that runs without warnings, in several threads."""

from __future__ import annotations

import threading
import warnings

from pytest_hookharness.model.regex import without_warnings


def test_threads_restore_the_warning_filters():
    """Whichever thread ends first, afterwards warnings are shown as before."""
    before = [*warnings.filters]
    first_is_in, second_is_in, first_is_out = (threading.Event() for _ in range(3))

    def first():
        with without_warnings():
            first_is_in.set()
            # The other one cannot come in before the end of this block.
            second_is_in.wait(0.05)
        first_is_out.set()

    def second():
        first_is_in.wait(10)
        with without_warnings():
            second_is_in.set()
            first_is_out.wait(10)

    threads = [threading.Thread(target=run) for run in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert warnings.filters == before
