"""What a variant adds to its base, what it replaces, and what it removes."""

from pathlib import Path

import pytest

from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.scenario_files import ScenarioErrors, loads
from pytest_hookharness.scenario_files.keys.scenario import COMMON, MERGING

BASE = """
name: a
env: {A: "1", B: "2"}
files: {x: "1", y: "2"}
modes: {x: "0755"}
commands: {npm: {exit: 1}, jq: {}}
options: {one: 1, two: 2}
processes: {p: {run: "true"}, q: {run: "false"}}
git: true
turns: 7
mask: [tmp/x]
hooks: {Stop: "true"}
expect: {verdict: livelock}
world: {home: {x: "1", y: "2"}, network: true, place: here}
variants:
  v: """


def variant(text):
    """Return the base and its variant."""
    return loads(BASE + text + "\n", Path("x.scenario.yaml"))


@pytest.mark.parametrize(
    ("text", "field", "expected"),
    [
        ("{env: {A: null}}", "env", {"B": "2"}),
        ("{env: {A: null, C: '3'}}", "env", {"B": "2", "C": "3"}),
        ("{env: {A: null, B: null}}", "env", {}),
        ("{env: null}", "env", {}),
        ("{env: }", "env", {}),
        ("{files: {x: null}}", "files", {"y": "2"}),
        ("{files: {./x: null}}", "files", {"y": "2"}),
        ("{modes: {x: null}}", "modes", {}),
        ("{options: {one: null}}", "options", {"two": 2}),
        ("{git: null}", "git", False),
        ("{turns: null}", "turns", Scenario(name="a").turns),
        ("{hooks: null}", "hooks", None),
        ("{mask: null}", "masks", ()),
        ("{expect: null}", "expect", Scenario(name="a").expect),
        ("{world: {home: {x: null}}}", "home", {"y": "2"}),
        ("{world: {network: null}}", "network", False),
        ("{world: {network: null}}", "place", "here"),
        ("{world: null}", "home", {}),
    ],
)
def test_null_removes_a_key_of_the_base(text, field, expected):
    """A variant is without what it sets to null, and has everything else; the base keeps it all."""
    base, changed = variant(text)

    assert getattr(changed, field) == expected
    assert base.env == {"A": "1", "B": "2"}
    assert base.home == {"x": "1", "y": "2"}


@pytest.mark.parametrize(("key", "left"), [("commands", "npm"), ("processes", "q")])
def test_null_removes_one_of_several_records(key, left):
    """A double or a process is removed by its name."""
    _, changed = variant(f"{{{key}: {{{'jq' if key == 'commands' else 'p'}: null}}}}")

    assert list(getattr(changed, key)) == [left]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{env: {AA: null}}", 'variants.v.env.AA: the base has no "AA" that could be removed'),
        ("{files: {z: null}}", "variants.v.files.z"),
        ("{pace: null}", 'variants.v.pace: the base has no "pace" that could be removed'),
        ("{world: {shell: null}}", "variants.v.world.shell"),
        ("{world: {home: {z: null}}}", "variants.v.world.home.z"),
    ],
)
def test_what_the_base_does_not_have_cannot_be_removed(text, message):
    """Removing a key that is not there is an error at its place, for a slip would leave the key in."""
    with pytest.raises(ScenarioErrors) as problem:
        variant(text)

    assert message in str(problem.value)


@pytest.mark.parametrize("text", ["env: {A: null}", "git: null", "world: {home: {x: null}}", "expect: null"])
def test_a_base_has_nothing_to_remove(text):
    """Outside of variants an empty value is an error, as before."""
    with pytest.raises(ScenarioErrors):
        loads(f"name: a\n{text}\n", Path("x.scenario.yaml"))


def test_every_key_of_a_base_can_be_removed():
    """Null stands for every key that a variant may have."""
    for key in COMMON:
        with pytest.raises(ScenarioErrors) as problem:
            loads(f"name: a\nvariants: {{v: {{{key.name}: null}}}}\n", Path("x.scenario.yaml"))
        assert "that could be removed" in str(problem.value)


def test_the_description_names_the_keys_that_are_merged():
    """What is said of merging names exactly the keys to which a variant adds."""
    merged = {key.name for key in COMMON if key.merges}

    assert all(f"`{name}`" in MERGING for name in merged)
    for name in merged - {"world"}:
        values = {"files": "{n: x}", "modes": "{n: '0644'}", "options": "{n: 3}", "env": "{n: x}"}
        _, changed = variant(
            f"{{{name}: {values.get(name, '{n: {}}' if name == 'commands' else '{n: {run: x}}')}}}"
        )
        assert len(getattr(changed, name)) > 1
    _, changed = variant("{world: {home: {n: x}}, expect: {blocks: 1}, order: {Stop: [1]}}")
    assert set(changed.home) == {"x", "y", "n"}
    assert changed.expect.verdict is None or changed.expect.verdict == "terminated"


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ("sub/../x", "sub/../x"),
        ("./x", "x"),
        ("a/b/../../c", "a/b/../../c"),
        ("a//b", "a//b"),
        ("..x/y", "..x/y"),
    ],
)
def test_a_path_of_a_tool_stays_as_it_is_written(written, path):
    """A path with .. in it that stays in the workspace is a path of edits and reads, as it is written."""
    text = f"name: a\nagent: [{{edit: {{file: '{written}', text: x}}}}, {{read: '{written}'}}]\n"
    (found,) = loads(text, Path("x.scenario.yaml"))

    assert [act.file for act in found.script.acts] == [path, path]


@pytest.mark.parametrize("path", ["../x", "a/../../x", "/etc/passwd", "a/..", ".", "a/../../a/x"])
def test_a_path_of_a_tool_that_leaves_is_refused(path):
    """A path any part of which leaves the workspace, or that is no file in it, is an error."""
    with pytest.raises(ScenarioErrors, match=r"leaves the workspace|is absolute|is the workspace itself"):
        loads(f"name: a\nagent: [{{edit: {{file: '{path}', text: x}}}}]\n", Path("x.scenario.yaml"))


@pytest.mark.parametrize("wait", ["36526d", "999999999h", "1e300", "4000000000.5"])
def test_no_duration_is_longer_than_clocks_can_show(wait):
    """A duration of more than a hundred years is an error at its place."""
    with pytest.raises(ScenarioErrors, match=r"longer than 36525d|out of range"):
        loads(f"name: a\nagent: [{{wait: {wait}}}]\n", Path("x.scenario.yaml"))


@pytest.mark.parametrize(("key", "git"), [("", True), ("git: false", False), ("git: true", True)])
def test_a_copy_of_a_repository_is_one(tmp_path, key, git):
    """A project with a `.git` becomes a repository unless the file says otherwise; any other does not."""
    (tmp_path / "own" / ".git").mkdir(parents=True)
    (tmp_path / "plain").mkdir()
    text = f"name: a\nproject: own\n{key}\nvariants:\n  v: {{project: plain}}\n"

    own, plain = loads(text, tmp_path / "x.scenario.yaml")

    assert (own.git, plain.git) == (git, key == "git: true")
