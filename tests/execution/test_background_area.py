"""The background area, with real processes in every tier."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pytest_hookharness.execution.background.area import DETACH, BackgroundArea
from pytest_hookharness.execution.processes.sandbox import ExecutionError, Supervisor
from pytest_hookharness.execution.workspace.workspace import Workspace
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.model.scenario import Double, Scenario

from .toys import STAY

DEADLINE = 20.0
SCENARIO = Scenario(name="area", commands={DETACH: Double()})


@contextmanager
def opened(supervisor: Supervisor, base: Path, tier: Tier | None = None) -> Iterator[BackgroundArea]:
    """Open a background area in a fresh workspace."""
    if tier is not None and supervisor.tiers()[tier]:
        pytest.skip(f"no {tier.value} here")
    with (
        Workspace.create(SCENARIO, base) as place,
        BackgroundArea(place, supervisor, tier=tier, network=False) as area,
    ):
        yield area


def heard(area: BackgroundArea, *names: str) -> list[dict]:
    """Return all events until these processes have ended."""
    said: list[dict] = []
    end = time.monotonic() + DEADLINE
    while not set(names) <= {each["process"] for each in said if each["what"] == "exited"}:
        assert time.monotonic() < end, said
        said += [dict(each) for each in area.events(0.1)]
    return said


SLOW = pytest.mark.slow


@pytest.mark.nightly
@pytest.mark.parametrize(
    "tier", [Tier.NAMESPACES, pytest.param(Tier.SUBREAPER, marks=SLOW), pytest.param(Tier.GROUP, marks=SLOW)]
)
def test_a_process_is_watched_in_every_tier(supervisor, tmp_path, tier):
    """Start, lines of both streams, an unfinished last line, and the end are reported; nothing survives."""
    with opened(supervisor, tmp_path, tier) as area:
        area.start("one", "echo out; sleep 0.05; echo err >&2; sleep 0.05; printf rest; kill -KILL $$", None)
        # A session of its own is beyond the reach of the last tier, which says so.
        apart = "" if tier is Tier.GROUP else f"setsid sleep {STAY} &"
        area.start("two", f"{DETACH} other; {apart} exec sleep {STAY}", 0.2)
        said = heard(area, "one", "two")
        asked = [call.argv for call in area.requests()]

    assert asked == ([(DETACH, "other")] if tier is Tier.NAMESPACES else [])
    one = [each for each in said if each["process"] == "one"]
    assert [each["what"] for each in one] == ["started", "line", "line", "line", "exited"]
    assert [each["text"] for each in one[1:-1]] == ["out", "err", "rest"]
    assert (one[-1]["code"], one[-1]["lines"], one[-1]["tail"]) == (137, 3, ["out", "err", "rest"])
    # On a busy machine the one that is cut may end first.
    ended = {each["process"]: each["code"] for each in said if each["what"] == "exited"}
    assert ended == {"one": 137, "two": 143}


def test_an_end_without_a_watcher_is_reported_by_the_next(supervisor, tmp_path):
    """If one process ends while the watcher is dead and one lives on, the next watcher reports both."""
    with opened(supervisor, tmp_path) as area:
        area.start("quick", "echo before; until [ -e gone ]; do sleep 0.01; done; echo after; exit 3", None)
        area.start("slow", "until [ -e back ]; do sleep 0.01; done; echo late; exit 4", None)
        before = next(area.events(DEADLINE))
        area.kill_watcher()
        root = tmp_path / "area" / "workspace"
        (root / "gone").touch()
        end = time.monotonic() + DEADLINE
        while not area.has_ended("quick"):
            assert time.monotonic() < end
            area.pause()
        area.start_watcher()
        (root / "back").touch()
        said = heard(area, "quick", "slow")

    assert before["what"] == "started"
    ends = {each["process"]: each for each in said if each["what"] == "exited"}
    assert (ends["quick"]["code"], ends["quick"]["tail"]) == (3, ["before", "after"])
    assert (ends["slow"]["code"], ends["slow"]["lines"]) == (4, 1)
    assert [each["text"] for each in said if each["what"] == "line"] == ["late"]


def test_what_a_process_leaves_behind_is_counted(supervisor, tmp_path):
    """Descendants of a process that ended are still counted, and their output reported, until they end."""
    with opened(supervisor, tmp_path) as area:
        area.start("one", "{ until [ -e go ]; do sleep 0.01; done; echo late; } & exit 0", None)
        heard(area, "one")
        area.count()
        (others,) = area.events(DEADLINE)
        (tmp_path / "area" / "workspace" / "go").touch()
        late = [*area.events(DEADLINE)]

    assert any("until [ -e go ]" in words for words in others["commands"])
    assert [each["text"] for each in late] == ["late"]


@pytest.mark.slow
def test_a_long_line_is_cut(supervisor, tmp_path):
    """A line without an end takes no more memory than is shown of it."""
    with opened(supervisor, tmp_path) as area:
        area.start("long", "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo next", None)
        texts = [each["text"] for each in heard(area, "long") if each["what"] == "line"]

    assert [len(text) for text in texts] == [1000, 4]


def test_a_command_that_cannot_be_found_ends_with_127(supervisor, tmp_path):
    """A command that cannot be started has an exit code too."""
    with opened(supervisor, tmp_path) as area:
        area.start("missing", "exec no-such-command", None)

        assert heard(area, "missing")[-1]["code"] == 127


def test_a_process_that_kills_its_watcher_is_an_error(supervisor, tmp_path):
    """A process that ends the programs that watch it causes an error that is named, and no verdict."""
    with opened(supervisor, tmp_path, Tier.NAMESPACES) as area:
        area.start("killer", "kill -KILL -1", None)

        with pytest.raises(ExecutionError, match="lost"):
            heard(area, "killer")


def test_a_saved_text_is_loaded(supervisor, tmp_path):
    """A text is kept completely and replaces the one before it."""
    with opened(supervisor, tmp_path) as area:
        for text in ("first and longer", "second"):
            area.save(text)

        assert area.load() == "second"
        assert not [*tmp_path.rglob("*.new")]


@pytest.mark.parametrize("junk", ["{}", "7", '{"what": 1}', "[" * 20_000])
def test_an_unreadable_event_is_an_error(supervisor, tmp_path, junk):
    """What another process writes into the watcher's pipe is an error that is named, and not an event."""
    with opened(supervisor, tmp_path) as area:
        (events,) = tmp_path.rglob("events")
        events.write_text(f"{junk}\n")

        with pytest.raises(ExecutionError, match="the watcher of the background processes wrote"):
            [*area.events(DEADLINE)]
