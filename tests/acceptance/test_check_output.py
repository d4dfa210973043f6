"""Claims about what ``hookharness check`` prints for machines, and about its baseline."""

import json
import re
from dataclasses import replace

import pytest

from pytest_hookharness.frontends import checkup
from pytest_hookharness.frontends.cli import check_command, main
from pytest_hookharness.frontends.cli.accepted_problems import accept, read_baseline, write_baseline
from pytest_hookharness.frontends.cli.check_output import check_words, locate, status
from pytest_hookharness.frontends.option_types import OptionError
from pytest_hookharness.model.checkup import CheckReport, Fix, HookSet, Problem, Symptom
from pytest_hookharness.model.protocol import Hook
from pytest_hookharness.model.scenario import Scenario

HOOK = '"$CLAUDE_PROJECT_DIR"/check.sh'
SETTINGS = json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": HOOK}]}]}}, indent=2)


@pytest.fixture
def report(tmp_path):
    """The report of a project with one problem of its one hook."""
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").write_text(SETTINGS)
    hooks = (Hook(event="Stop", command=HOOK),)
    place = HookSet(host="claude-code", root=tmp_path, files=(".claude/settings.json",), hooks=hooks)
    symptom = Symptom(kind="livelock", hook=HOOK, text="It is.")
    found = Problem(id="livelock-check", symptom=symptom, scenario=Scenario(name="check"))
    return CheckReport(place=place, problems=(found,))


def test_the_place_of_a_problem(report, tmp_path):
    """A problem is shown at the line of its command, or in its script if the project has it."""
    found = locate(report, report.problems[0])
    assert (found.file.name, found.line) == ("settings.json", 8)


@pytest.mark.parametrize(
    ("kind", "text", "place", "line"),
    [
        ("livelock", "It is.", "check.sh", 1),
        (
            "FAILS-OPEN",
            "it asks only `git diff` in check.sh, line 7, whether anything changed.",
            "check.sh",
            7,
        ),
        ("TIMEOUT-UNIT", "Its timeout is odd.", "settings.json", 8),
        ("NEVER-FIRED", "it never runs, because its matcher fits none.", "settings.json", 8),
        ("CONFIG-OFF", ".claude/settings.json: cannot be parsed (line 4, column 5).", "settings.json", 4),
    ],
)
def test_a_problem_of_the_settings_is_shown_there(report, tmp_path, kind, text, place, line):
    """A settings problem is shown at its entry, or at the line of the parse error."""
    (tmp_path / "check.sh").write_text("exit 2\n")
    known = replace(report.place, sources=(("check.sh", "exit 2\n"),))
    hook = "" if kind == "CONFIG-OFF" else HOOK
    problem = replace(report.problems[0], symptom=Symptom(kind=kind, hook=hook, text=text))
    found = locate(replace(report, place=known), problem)
    assert (found.file.name, found.line) == (place, line)


@pytest.mark.parametrize(
    ("words", "code"),
    [("any", 1), ("must-fix", 1), ("none", 0), ("livelock", 1), ("slow,capped", 1), ("HH004,slow", 0)],
)
def test_what_fails(report, words, code):
    """--fail-on names the problems that make the exit status 1."""
    assert status([report], check_words(words)) == code


@pytest.mark.parametrize("words", ["lifelock", "any,none", "", "HH999"])
def test_words_that_name_no_problem(words):
    """A name that no problem has is an error, with the nearest one."""
    with pytest.raises(OptionError, match="did you mean 'livelock'" if words == "lifelock" else "--fail-on"):
        check_words(words)


def test_an_accepted_problem(report, tmp_path):
    """An accepted problem does not fail the check and is listed with its reason."""
    file = tmp_path / "baseline.toml"
    file.write_text('[[accepted]]\nproblem = "livelock-check"\nreason = "We stop it by hand."\n')
    (accepted,) = accept([report], read_baseline(file), file)
    assert status([accepted], ("any",)) == 0
    assert [(one.problem.id, one.reason) for one in accepted.accepted] == [
        ("livelock-check", "We stop it by hand.")
    ]


@pytest.mark.parametrize(
    ("entry", "left"),
    [
        ('problem = "capped-check"', 0),
        ('problem = "slow-check"', 1),
        (f'problem = "livelock-check"\nhooks = [{json.dumps(HOOK)}]', 0),
        ('problem = "livelock-check"\nhooks = ["./another.sh"]', 1),
    ],
    ids=["the same loop", "another problem", "the same hook", "another hook"],
)
def test_what_an_entry_accepts(report, tmp_path, entry, left):
    """A loop is accepted however it ended; a problem of a hook that the entry does not name is not."""
    file = tmp_path / "hooks.toml"
    file.write_text(f'[[accepted]]\n{entry}\nreason = "Known."\n')
    (accepted,) = accept([report], read_baseline(file), file)

    assert [one.id for one in accepted.problems].count("livelock-check") == left


def test_a_problem_that_is_accepted_twice(report, tmp_path):
    """Of two entries about one problem, for any host and for its host, the last one gives the reason."""
    file = tmp_path / "baseline.toml"
    entry = '[[accepted]]\nproblem = "livelock-check"\n'
    file.write_text(f'{entry}reason = "First."\n{entry}host = "claude-code"\nreason = "Last."\n')
    (accepted,) = accept([report], read_baseline(file), file)
    assert [one.reason for one in accepted.accepted] == ["Last."]
    assert accepted.open == ()


def test_an_accepted_problem_that_is_gone(report, tmp_path):
    """An entry whose problem was not seen is named, so that it can be removed."""
    file = tmp_path / "baseline.toml"
    file.write_text('[[accepted]]\nproblem = "slow-x"\nreason = "It is old."\n')
    (accepted,) = accept([report], read_baseline(file), file)
    assert status([accepted], ("any",)) == 1
    assert "slow-x is accepted in" in accepted.open[-1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[accepted]]\nproblem = "x"\n', "accepted problem 1: has no reason"),
        ('[[accepted]]\nproblem = "x"\nreason = " "\n', "accepted problem 1: has no reason"),
        ('[[accepted]]\nreason = "x"\n', "accepted problem 1: has no problem"),
        ('[[accepted]]\nwhy = "x"\n', "unknown key 'why'"),
        (2 * '[[accepted]]\nproblem = "x"\nreason = "y"\n', "problem 2: x is accepted twice; keep one entry"),
        ('[[accepted]]\nproblem = "x"\nreason = "y"\nhost = 5\n', "problem 1: host is no text"),
        ('[[accepted]]\nproblem = "x"\nreason = "y"\nhost = "codx"\n', "there is no host 'codx'"),
        ("accepted = 5\n", "expected only entries"),
        ("x = 5\n", "expected only entries"),
        ("{", "is not TOML"),
    ],
)
def test_a_wrong_baseline(tmp_path, text, message):
    """A baseline that cannot be read, or an entry without a reason, is an error that names the entry."""
    file = tmp_path / "baseline.toml"
    file.write_text(text)
    with pytest.raises(OptionError, match=re.escape(message)):
        read_baseline(file)


def test_a_new_baseline(report, tmp_path):
    """A new baseline has an entry for each problem and cannot be used before each has a reason."""
    file = tmp_path / "baseline.toml"
    assert write_baseline(file, [report]) == 1
    with pytest.raises(OptionError, match="has no reason"):
        read_baseline(file)
    file.write_text(file.read_text().replace('reason = ""', 'reason = "Because."'))
    (entry,) = read_baseline(file)
    assert (entry.problem, entry.host) == ("livelock-check", "claude-code")
    with pytest.raises(OptionError, match="exists already"):
        write_baseline(file, [report])


def test_a_new_baseline_after_fixes(report, tmp_path):
    """A problem whose fix was just written is no entry of a new baseline."""
    (left,) = report.problems
    fixed = replace(left, id="fixed", fix=Fix(text="Do it.", evidence="Seen.", written=("a.sh",)))
    file = tmp_path / "baseline.toml"
    assert write_baseline(file, [replace(report, problems=(left, fixed))]) == 1
    assert "fixed" not in file.read_text().partition("[[accepted]]")[2]


def test_a_problem_of_one_of_several_hosts(report, tmp_path):
    """An entry without a host is about all hosts, so it is used if one of them shows its problem."""
    file = tmp_path / "baseline.toml"
    file.write_text('[[accepted]]\nproblem = "livelock-check"\nreason = "We stop it by hand."\n')
    other = CheckReport(place=replace(report.place, host="codex"))
    one, two = accept([report, other], read_baseline(file), file)
    assert (one.open, two.open) == ((), ())
    one, two = accept([replace(report, problems=()), other], read_baseline(file), file)
    assert (len(one.open), len(two.open)) == (0, 1)
    one, two = accept([replace(report, problems=(), untried=("x",)), other], read_baseline(file), file)
    assert (one.open, two.open) == ((), ())


def test_a_baseline_of_two_plugins(report, tmp_path):
    """Problems of one name in two plugins have an entry each, which names the plugin."""
    file = tmp_path / "baseline.toml"
    plugins = [replace(report, place=replace(report.place, part=f"plugins/{name}")) for name in "ab"]
    assert write_baseline(file, plugins) == 2
    first, second = file.read_text().replace('reason = ""', 'reason = "Because."').rsplit("\n[[accepted]]", 1)
    file.write_text(f"{first}\n[[accepted]]{second.replace('Because', 'Also')}")
    found = accept(plugins, read_baseline(file), file)
    assert [[one.reason for one in each.accepted] for each in found] == [["Because."], ["Also."]]


@pytest.mark.nightly
def test_a_check_with_a_baseline(tmp_path, monkeypatch, capsys):
    """A check writes a baseline, says if it did not look for all, and passes with it once it has a reason."""
    folder = tmp_path / "p"
    (folder / ".claude").mkdir(parents=True)
    (folder / ".claude/settings.json").write_text(SETTINGS.replace("Stop", "PostToolUse"))
    (folder / "check.sh").write_text("#!/bin/sh\nexit 0\n")
    monkeypatch.chdir(folder)
    baseline = tmp_path / "baseline.toml"
    assert main.main(["check", "--yes", "--format", "github", "--write-baseline", str(baseline)]) == 1
    printed = capsys.readouterr()
    assert "::error file=check.sh,line=1,title=claude-code%3A not-run-check::" in printed.out
    assert printed.err.endswith("1 problem; give each a reason\n")
    other = str(tmp_path / "other.toml")
    assert main.main(["check", "--yes", "--only", "not-run-check", "--write-baseline", other]) == 1
    assert capsys.readouterr().err.endswith("incomplete, so a later one may find more problems.\n")
    baseline.write_text(baseline.read_text().replace('reason = ""', 'reason = "Because."'))
    assert main.main(["check", "--yes", "--format", "sarif", "--baseline", str(baseline)]) == 0
    (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    assert result["suppressions"] == [{"kind": "external", "justification": "Because."}]


@pytest.mark.nightly
def test_a_check_that_is_interrupted(tmp_path, monkeypatch, capsys):
    """Ctrl-C while the second host is checked prints the report of the first one, and exits with 2."""
    folder = tmp_path / "p"
    for place, event in ((".claude", "PostToolUse"), (".gemini", "AfterTool")):
        (folder / place).mkdir(parents=True)
        (folder / place / "settings.json").write_text(SETTINGS.replace("Stop", event))
    (folder / "check.sh").write_text("#!/bin/sh\nexit 0\n")
    monkeypatch.chdir(folder)

    def interrupted(hook_set, *rest, **more):
        if hook_set.host != "claude-code":
            raise KeyboardInterrupt
        return checked(hook_set, *rest, **more)

    checked = checkup.checked
    monkeypatch.setattr(checkup, "checked", interrupted)
    assert main.main(["check", "--yes"]) == 2
    printed = capsys.readouterr().out
    assert printed.count("NOT-RUN PostToolUse 1 (check.sh)") == 1
    assert printed.count("NOT-RUN AfterTool 1 (check.sh)") == 1
    assert printed.count("The check was interrupted.") == 1


@pytest.mark.slow
def test_an_interruption_before_the_first_session(tmp_path, monkeypatch, capsys):
    """Ctrl-C before anything was played prints what is certain without a run, of all hosts."""
    for place, event in ((".claude", "PostToolUse"), (".gemini", "AfterTool")):
        (tmp_path / place).mkdir()
        (tmp_path / place / "settings.json").write_text(SETTINGS.replace("Stop", event))

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(check_command, "with_looked_for", interrupted)
    assert main.main(["check", str(tmp_path), "--yes", "--format", "json"]) == 2
    reports = json.loads(capsys.readouterr().out)["checkups"]
    assert [[problem["name"] for problem in report["problems"]] for report in reports] == [["NOT-RUN"]] * 2
    assert [report["undecided"] for report in reports] == [["The check was interrupted."]] * 2


@pytest.mark.parametrize(("answer", "why"), [("n", "you did not agree"), ("Ctrl-C", "you pressed Ctrl-C")])
def test_without_consent_nothing_is_run(tmp_path, monkeypatch, capsys, answer, why):
    """If the person does not agree, what is certain without a run is printed, and the exit status is 2."""
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").write_text(SETTINGS)

    def asked(*_):
        if answer == "Ctrl-C":
            raise KeyboardInterrupt
        return False

    monkeypatch.setattr(check_command, "is_agreed", asked)
    assert main.main(["check", str(tmp_path), "--format", "json"]) == 2
    printed = capsys.readouterr()
    (report,) = json.loads(printed.out)["checkups"]
    assert [problem["name"] for problem in report["problems"]] == ["NOT-RUN"]
    assert report["undecided"] == [f"This is what the files alone show: nothing was run, because {why}."]
    assert f"nothing was run, because {why}" in printed.err


@pytest.mark.parametrize(
    ("option", "file"), [("--baseline", "none.toml"), ("--write-baseline", "old.toml"), ("--fail-on", "zzz")]
)
def test_a_wrong_option_is_refused_before_anything_is_run(tmp_path, capsys, option, file):
    """A baseline that cannot be read or written, and an unknown problem, are errors at once."""
    (tmp_path / "old.toml").touch()
    assert main.main(["check", str(tmp_path), "--yes", option, str(tmp_path / file)]) == 2
    printed = capsys.readouterr()
    assert f"{option}: " in printed.err
    assert "no hooks" not in printed.err


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["check", "p", "--write-baseline", "/proc/b.toml"], "--write-baseline: /proc"),
        (["init", "p"], "--output:"),
    ],
)
def test_an_output_that_cannot_be_written(tmp_path, monkeypatch, capsys, words, option):
    """An output that cannot be written is an error that names its option, before a hook is run."""
    for folder in ("p/.claude", "p/.git"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "p/.claude/settings.json").write_text(SETTINGS)
    (tmp_path / "p/scenarios").touch()
    monkeypatch.chdir(tmp_path)
    assert main.main(words) == 2
    said = capsys.readouterr().err
    assert option in said
    assert "name a folder that can be written" in said or "is not a folder" in said


@pytest.mark.nightly
def test_why_a_check_with_a_problem_ends_well(tmp_path, monkeypatch, capsys):
    """If --fail-on counts none of the problems, the check names the option that made it end with 0."""
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").write_text('{"hooks": {"Stop": [],}}')
    monkeypatch.chdir(tmp_path)
    assert main.main(["check", "--yes", "--fail-on", "NOT-RUN"]) == 0
    printed = capsys.readouterr()
    assert "line 1, column 22: a comma after the last value" in printed.out
    assert printed.err.endswith("exit 0: --fail-on NOT-RUN\n")
    assert main.main(["check", "--yes"]) == 1
    assert "--fail-on" not in capsys.readouterr().err
