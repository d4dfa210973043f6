"""Files that hooks read, larger than a pipe; and guard hooks that corrupt state disables."""

import pytest

from pytest_hookharness.campaigns.stress.mutations.large_files import LargeFile
from pytest_hookharness.execution.workspace.agent_tools import corrupt
from pytest_hookharness.model.moves import Corrupt

AGENT = [{"prompt": "x"}, {"run": "true"}, {"run": "true"}, {"run": "true"}, {"stop": "Done."}]
FROZEN = "release: frozen\nowner: somebody\n"
# `grep -q` ends at the first line that matches; then `cat` is ended by SIGPIPE, and the pipe has failed.
PIPED = """#!/bin/bash
set -o pipefail
if cat release.txt | grep -q frozen; then echo "the release is frozen" >&2; exit 2; fi
exit 0
"""
DIRECT = PIPED.replace("cat release.txt | grep -q frozen", "grep -q frozen release.txt")
# The third call is refused; a counter that is no number disables that.
COUNTS = """#!/bin/bash
n=$(cat .count 2>/dev/null || echo 0)
echo $((n + 1)) >.count
[ "$n" -ge 1 ] 2>/dev/null && { echo "too many calls" >&2; exit 2; }
exit 0
"""
UNSAFE = COUNTS.replace("n=$(cat .count 2>/dev/null || echo 0)", "n=$(tr -cd 0-9 <.count 2>/dev/null)")
CAREFUL = COUNTS.replace(
    "echo $((n + 1))", '[[ $n =~ ^[0-9]+$ ]] || { echo "broken counter" >&2; exit 2; }\necho $((n + 1))'
)


def tried(outcome, word):
    return {row.mutation: row.outcome for row in outcome.trial_results if word in row.mutation}


@pytest.mark.nightly
@pytest.mark.parametrize(("hook", "outcome"), [(PIPED, "fail-open"), (DIRECT, "as declared")])
def test_a_guard_that_reads_a_large_file_through_a_pipe_is_found(play, hook, outcome):
    """A guard that a file of 200 KB turns around fails open; one that reads the file itself does not."""
    played = play(
        files={"hook.sh": hook, "release.txt": FROZEN, "other.txt": "x\n"},
        hooks={"PreToolUse": "./hook.sh"},
        agent=AGENT,
        vary=[{"faults": ["state"]}],
    )

    assert tried(played, "release.txt of")["release.txt of 200 KB, with blank lines at its end"] == outcome
    assert tried(played, "other.txt of") == {}
    assert ("FAILS-OPEN" in [finding.name for finding in played.findings]) == (outcome == "fail-open")


@pytest.mark.parametrize("size", [64, 200])
def test_a_file_grows_at_its_end(tmp_path, size):
    """A grown file has its old text first, and exactly the size."""
    (tmp_path / "file").write_text(FROZEN)
    corrupt(tmp_path, Corrupt(file="file", how="grow", text=str(size * 1024)))

    grown = (tmp_path / "file").read_text()
    assert len(grown) == size * 1024
    assert grown.rstrip() + "\n" == FROZEN
    assert str(LargeFile("file", size)).startswith(f"file of {size} KB")


@pytest.mark.nightly
@pytest.mark.parametrize(("hook", "found"), [(UNSAFE, True), (CAREFUL, False)])
def test_a_guard_that_a_corrupt_state_file_disables_is_found(play, hook, found):
    """A guard whose refusals end once its state is overwritten is a finding; one that refuses then is not."""
    played = play(files={"hook.sh": hook}, hooks={"PreToolUse": "./hook.sh"}, agent=AGENT, vary=["state"])

    texts = [finding.text for finding in played.findings if finding.name == "FAILS-OPEN"]
    assert [".count overwritten" in text and "no longer refused" in text for text in texts] == [True] * found
