"""The recorded results of the real hosts, row by row, replayed with real hooks in real processes."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from zlib import crc32

import pytest
import yaml

from pytest_hookharness import hosts
from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.simulation.testbed.run_settings import Settings

from .replay import REPLAYS, differences
from .rows import rows

KNOWN = {profile.id for profile in hosts.known()}
ROWS = [row for row in rows() if row.host in KNOWN and row.table in REPLAYS]
# Tables with hooks that take long, so that the host waits for them.
WAITING = ("timeouts", "process")
QUICK = [row for row in ROWS if row.table not in WAITING]
TIMED = [row for row in ROWS if row.table in WAITING]
LISTS = sorted((Path(__file__).parent / "unreached").glob("*.yaml"))
UNREACHED = {host: why for list_ in LISTS for host, why in yaml.safe_load(list_.read_text()).items()}


def row_param(row):
    """Return a row as a parameter: some rows of the first host, and an eighth of the others, run in CI."""
    chosen = crc32(row.id.encode())
    often = row.in_quick_run and row.host.startswith("claude-code@")
    if often:
        marks = (pytest.mark.slow,) if chosen % 4 else ()
    else:
        marks = (pytest.mark.nightly if chosen % 8 else pytest.mark.slow,)
    return pytest.param(row, marks=marks, id=row.id)


def objection(row, differs):
    """Return the difference of a row from what is recorded and listed as not reached; empty for none."""
    why = UNREACHED.get(row.host, {}).get(row.key)
    if why and not differs:
        return f"{row.id} matches its recording, but is listed as not reached: {why}"
    if differs and not why:
        terms = (f"  {term}: recorded {then!r}, seen {now!r}" for term, (then, now) in differs.items())
        return "\n".join([f"{row.id} differs from its recording:", *terms])
    return ""


@pytest.mark.parametrize("row", [row_param(row) for row in QUICK])
def test_row_matches_its_recording(row, simulate, tally):
    """Real hooks that behave as in a recorded row lead the simulated host to the recorded result."""
    differs = differences(row, simulate)

    tally(row.id, not differs)
    message = objection(row, differs)
    if message:
        pytest.fail(message, pytrace=False)


def host_param(host):
    """Return a host as a parameter; the rows with timeouts of the first host are in a quick run too."""
    quick, long = host.startswith("claude-code@"), host.startswith(("gemini-cli@", "openhands@"))
    marks = () if quick else (pytest.mark.slow, *([pytest.mark.nightly] if long else ()))
    return pytest.param(host, marks=marks)


@pytest.mark.nightly
@pytest.mark.parametrize("host", [host_param(host) for host in sorted({row.host for row in TIMED})])
def test_rows_with_limits_match_their_recording(host, folder, tally):
    """Hooks that take too long, ignore signals or leave children behind have the recorded effect."""

    def play(row):
        base = folder / row.id.replace("/", "-")
        base.mkdir()
        # The times of a row are those of one play.
        with Harness(Settings(base=base, paces=False)) as harness:
            return row, differences(row, harness.simulate)

    # The rows wait most of the time, so several can run at once.
    with ThreadPoolExecutor(max_workers=5) as pool:
        played = list(pool.map(play, [row for row in TIMED if row.host == host]))

    for row, differs in played:
        tally(row.id, not differs)
    objections = [message for row, differs in played if (message := objection(row, differs))]
    if objections:
        pytest.fail("\n".join(objections), pytrace=False)


def test_listed_rows_exist():
    """Every row that is listed as not reached was recorded, and every reason is a text."""
    recorded = {(row.host, row.key) for row in rows()}
    listed = {(host, key) for host, reasons in UNREACHED.items() for key in reasons}

    assert listed <= recorded
    assert all(len(reason) > 20 for reasons in UNREACHED.values() for reason in reasons.values())


@pytest.mark.parametrize("host", sorted(KNOWN & {row.host for row in ROWS}))
def test_few_rows_are_listed(host):
    """At most 2 % of the rows of a host are listed as not reached."""
    whole = [row for row in ROWS if row.host == host]

    assert 50 * len(UNREACHED.get(host, {})) <= len(whole)


def test_a_fifth_is_set_aside():
    """A digest of their names sets about a fifth of all rows aside, the same ones in every run."""
    aside = [row for row in rows() if row.set_aside]

    assert 0.17 < len(aside) / len(rows()) < 0.23
    assert len({row.id for row in rows()}) == len(rows())


@pytest.mark.parametrize("key, term", [("pre/exit2_err", "outcome"), ("stop/block_json_0", "continued")])
def test_another_recording_is_noticed(key, term, simulate):
    """With another recorded result, the replay of the same hook reports that term as different."""
    row = next(row for row in ROWS if row.key == key)
    other = replace(row, recorded={**row.recorded, term: "another"})

    assert list(differences(other, simulate)) == [term]
