"""Claims about generated texts."""

import os
import subprocess
import sys

import pytest


@pytest.mark.nightly
def test_nothing_is_left_where_texts_are_made_up(tmp_path):
    """Hypothesis generates texts without writing into the current folder."""
    pytest.importorskip("hypothesis")
    made = (
        "from pytest_hookharness.campaigns.check.corpora import hostile_texts; print(len(hostile_texts(0)))"
    )
    environment = {name: text for name, text in os.environ.items() if not name.startswith("HYPOTHESIS")}
    done = subprocess.run(
        [sys.executable, "-c", made],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) > 12
    assert not [*tmp_path.iterdir()]
