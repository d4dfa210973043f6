"""Claims about shrinking a scenario, with a judge that looks at scenarios and plays none."""

import json

from pytest_hookharness.campaigns.shrinking.scenario_parts import named_files
from pytest_hookharness.campaigns.shrinking.scenario_shrinker import MOST_PLAYS, Shrinker
from pytest_hookharness.model.moves import FIRST_PROMPT, Edit, Prompt, RunCommand, Script, Stop
from pytest_hookharness.model.scenario import Scenario

HOOK = {"hooks": [{"type": "command", "command": "./check.sh"}]}
SETTINGS = json.dumps({"hooks": {"Stop": [HOOK], "SessionStart": [{"hooks": []}]}})
FILES = {
    ".claude/settings.json": SETTINGS,
    "check.sh": "grep TODO src.txt",
    "src.txt": "TODO",
    "a.md": "",
    "b": "",
}
LAST = Stop(text="Really done.")
ACTS = (Prompt(text="Clean up."), *(RunCommand(command=f"echo {n}") for n in range(12)), LAST)


def shrink(shows, files=FILES, **more):
    scenario = Scenario(name="n", files=files, script=Script(acts=ACTS), **more)
    shrinker = Shrinker(shows=shows, best=scenario, kept=LAST)
    shrinker.shrink()
    return shrinker


def needs(*paths, command=""):
    def shows(some):
        return {*paths} <= {*some.files} and command in str(some.script.acts)

    return shows


def test_what_the_loop_needs_is_left():
    """Prompt, refused stop, and the files that matter are left, with short texts and without other hooks."""
    small = shrink(needs(".claude/settings.json", "check.sh", "src.txt"))

    assert small.best.script.acts == (FIRST_PROMPT, Stop())
    assert [*small.best.files] == [".claude/settings.json", "check.sh", "src.txt"]
    assert [*json.loads(small.best.files[".claude/settings.json"])["hooks"]] == []
    assert small.describe() == "2 acts and 3 files; each of them is needed"


def test_a_move_that_matters_is_left():
    """A move without which the loop does not show stays, in its place."""
    small = shrink(needs(command="echo 7"))
    assert [type(act) for act in small.best.script.acts] == [Prompt, RunCommand, Stop]


def test_texts_that_matter_are_shortened():
    """A prompt that the loop needs stays, and half a text is enough where the rest does not matter."""
    long = Edit(file="src.txt", text="some words before TODO and many more behind it")

    def shows(some):
        return some.script.acts[0] == ACTS[0] and "TODO" in str(some.script.acts)

    scenario = Scenario(name="n", script=Script(acts=(*ACTS[:3], long, LAST)))
    shrinker = Shrinker(shows=shows, best=scenario, kept=LAST)
    shrinker.shrink()
    prompt, edit, stop = shrinker.best.script.acts
    assert (prompt, stop) == (ACTS[0], Stop())
    assert "TODO" in edit.text
    assert len(edit.text) < len(long.text) / 2


def test_hooks_and_environment_that_do_not_matter_are_left_out():
    """Of several hooks, variables and commands only those without which the loop does not show stay."""
    other = {"type": "command", "command": "./other.sh"}
    settings = {"hooks": {"Stop": [{"hooks": [other, HOOK["hooks"][0]]}], "PreToolUse": [HOOK]}}

    def shows(some):
        text = some.files.get(".claude/settings.json", "")
        return text.count("check.sh") > 0 and "Stop" in text and "NEEDED" in some.env

    files = {".claude/settings.json": json.dumps(settings)}
    environment = {"env": {"NEEDED": "1", "OTHER": "2"}, "git": True, "hidden": ("jq",)}
    best = shrink(shows, files, **environment).best
    assert json.loads(best.files[".claude/settings.json"]) == {"hooks": {"Stop": [HOOK]}}
    assert (best.env, best.git, best.hidden) == ({"NEEDED": "1"}, False, ())


def test_what_is_ruled_out_is_not_played():
    """A scenario that cannot show the loop takes none of the plays."""
    scenario = Scenario(name="n", script=Script(acts=ACTS))
    small = Shrinker(shows=lambda _: True, best=scenario, kept=LAST, rules_out=lambda _: True)
    small.shrink()
    assert (small.best, small.plays) == (scenario, 0)
    assert "each of them is needed" in small.describe()


def test_result_is_1_minimal():
    """Without any one part of a result of which each is called needed, the loop is not seen."""
    shows = needs("check.sh", command="echo 3")
    small = shrink(shows)

    assert "each of them is needed" in small.describe()
    assert not any(shows(some) for some in small.smaller())


def test_few_plays_and_no_claim_beyond_them():
    """The number of plays is limited; a search that ended early does not call its result minimal."""
    many = {f"{n}.txt": "" for n in range(60)}
    small = shrink(needs(*many), many)

    assert small.plays == MOST_PLAYS
    assert "perhaps not minimal" in small.describe()


def test_undecided_plays_prove_nothing():
    """If a smaller scenario ended undecided, the result is not called minimal."""
    small = shrink(lambda some: None if len(some.files) < 2 else True)
    assert "perhaps not minimal" in small.describe()


def test_files_that_settings_name():
    """The settings of the host, and what these and each other name, are found; settings of others are not."""
    scenario = Scenario(name="n", files={**FILES, ".codex/hooks.json": SETTINGS})
    assert named_files(scenario) == (".claude/settings.json", "check.sh", "src.txt")
