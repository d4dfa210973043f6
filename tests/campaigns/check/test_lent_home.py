"""Claims about what of a person's HOME is lent to hooks."""

import json
import shutil
from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.grouping import ENDLESS
from pytest_hookharness.campaigns.check.home_search import with_looked_for
from pytest_hookharness.campaigns.check.lent_home import find_installed, find_lent, lent_home
from pytest_hookharness.campaigns.check.session_errors import hindered_hooks
from pytest_hookharness.frontends.checkup import check
from pytest_hookharness.frontends.cli.consent import lend
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Exited, Output, ProcessResult
from pytest_hookharness.model.protocol import Basis, Decision, Hook, Reply, Rule, Ruling
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import HookEvent, HookRun, Step, Trace
from pytest_hookharness.model.verdicts import Terminated
from pytest_hookharness.reports.terminal.check_report import announcement


@pytest.fixture
def person(tmp_path, monkeypatch):
    """The HOME of a person, with files by their paths in it."""
    home = tmp_path / "person"
    monkeypatch.setenv("HOME", str(home))

    def have(**files):
        for path, text in files.items():
            file = home / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            file.chmod(0o755)
        return home

    have()
    return have


def lent(*commands, sources=()):
    hooks = [Hook(event="Stop", command=command) for command in commands]
    return find_lent(hooks, [("x", text) for text in sources])


@pytest.mark.parametrize(
    ("command", "source", "found"),
    [
        ("cat ~/.mytool.toml", "", [".mytool.toml"]),
        ('"$HOME/.mytool.toml"', "", [".mytool.toml"]),
        ("x", 'os.path.expanduser("~/.mytool.toml")', [".mytool.toml"]),
        ("x", 'path.join(os.homedir(), ".config", "mine.json")', [".config/mine.json"]),
        ("x", 'Path.home() / ".config" / "mine.json"', [".config/mine.json"]),
        ('"${HOME}"/.mine/run.sh now', "", [".mine"]),
        ("~/.claude/run.sh", "", [".claude/run.sh"]),
        ("~/.factory/run.sh", "", [".factory/run.sh"]),
        ("cat ~/.nothing ~/../other a~/.mytool.toml", "", []),
        ("cat ~/.mine ~/.claude ~/.mine/lib", "", []),
        ("test -f x && sh ~/.mine/run.sh", "", [".mine"]),
        ("cat ~/.mine/run.sh", "", [".mine/run.sh"]),
        ("cat ~/.mine/id_rsa ~/.env ~/.plain ~/.assigned", "", []),
    ],
)
def test_what_is_lent(person, command, source, found):
    """Named files and the folder of a started program are lent, but no secrets and no folder of a host."""
    person(
        **{
            ".mytool.toml": "a = 1\n",
            ".config/mine.json": "{}",
            ".mine/run.sh": "",
            ".mine/id_rsa": "key",
            ".claude/run.sh": "",
            ".factory/run.sh": "",
            ".env": "A=1",
            ".plain": "-----BEGIN OPENSSH PRIVATE KEY-----",
            ".assigned": "export DB_PASSWORD=s3cret-word\n",
        }
    )
    assert [*lent(command, sources=[source])] == found


def test_caches_of_package_runners(person):
    """The cache of a package runner is lent if a command starts it."""
    person(**{".cache/uv/x": "", ".npm/x": ""})
    assert lent("uv run a.py", "cd x && npx -y tool") == (".cache/uv", ".npm")
    assert lent("uvx ruff check") == (".cache/uv",)
    assert lent("node -e \"spawn('npx', words)\"") == (".npm",)
    assert lent("echo uv", "./uv run") == ()


def test_package_runners_find_their_cache(person, tmp_path):
    """A hook that starts a package runner is told where its cache is, if there is one."""
    person(**{".npm/x": ""})
    settings = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./check.sh"}]}]}}
    (tmp_path / "project/.claude").mkdir(parents=True)
    (tmp_path / "project/.claude/settings.json").write_text(json.dumps(settings))
    (tmp_path / "project/check.sh").write_text("# yarn, or npx prettier\nnpx tool\nuv run x.py\n")
    (hook_set,) = find_hook_sets(tmp_path / "project")
    assert hook_set.lent == (".npm",)
    with lent_home(hook_set, tmp_path, caches=True) as ready:
        assert ready.lent_env == {"npm_config_cache": str(tmp_path / "person/.npm")}
    with lent_home(hook_set, tmp_path, caches=False) as ready:
        assert ready.lent_env == {}


PROJECT = """\
[project]
name = "demo"
version = "0.1.0"
requires-python = ">=3.11"
dependencies = []
"""
SCRIPT = """\
# /// script
# requires-python = ">=3.11"
# dependencies = {}
# ///
import sys
print("Called.", file=sys.stderr)
sys.exit(2)
"""


@pytest.mark.nightly
@pytest.mark.skipif(not (shutil.which("uv") and shutil.which("npx")), reason="needs uv and npx")
def test_programs_that_package_runners_start(tmp_path, harness):
    """A script that uv runs and a tool of the project that npx finds work; what is not there is not tried."""
    commands = {
        "Stop": "uv run hooks/gate.py",
        "PreToolUse": "uv run --script hooks/alone.py",
        "PostToolUse": "npx mytool",
        "UserPromptSubmit": "npx -y a-package-that-nobody-has",
        "SessionStart": "uv run --script hooks/needing.py",
    }
    hooks = {event: {"type": "command", "command": words} for event, words in commands.items()}
    settings = {event: [{"hooks": [hook]}] for event, hook in hooks.items()}
    files = {
        ".claude/settings.json": json.dumps({"hooks": settings}),
        "pyproject.toml": PROJECT,
        "hooks/gate.py": SCRIPT.format("[]"),
        "hooks/alone.py": SCRIPT.format("[]").replace("exit(2)", "exit(0)"),
        "hooks/needing.py": SCRIPT.format('["no-such-package"]').replace("sys", "no_such_package, sys", 1),
        "node_modules/.bin/mytool": "#!/usr/bin/env node\nconsole.log('Called.');\n",
    }
    for name, text in files.items():
        file = tmp_path / "project" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)
    (hook_set,) = find_hook_sets(tmp_path / "project")
    report = check(hook_set, harness)
    assert {*commands.values()} <= {*report.triggered}
    assert [problem.symptom.kind for problem in report.problems if problem.symptom.must_fix] == ["livelock"]
    why = "failed, as it needs the network, which sessions do not have"
    assert {*report.untried} == {
        f"SessionStart 1 (needing.py) {why}",
        f"UserPromptSubmit 1 ({commands['UserPromptSubmit']}) {why}",
    }


def test_a_secret_beside_a_program(person, tmp_path):
    """Of the folder of a program, secrets stay with the person, and what was announced is what is lent."""
    person(
        **{
            ".mine/run.sh": "echo 1",
            ".mine/lib/a.sh": "",
            ".mine/token.txt": "t",
            ".mine/b": "ghp_" + 30 * "a",
        }
    )
    settings = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "~/.mine/run.sh"}]}]}}
    (tmp_path / "project/.claude").mkdir(parents=True)
    (tmp_path / "project/.claude/settings.json").write_text(json.dumps(settings))
    (hook_set,) = find_hook_sets(tmp_path / "project")
    assert "  lends ~/.mine (read-only)" in announcement([hook_set], "").splitlines()
    with lent_home(hook_set, tmp_path, caches=True) as ready:
        assert sorted(
            str(path.relative_to(ready.home)) for path in ready.home.rglob("*") if path.is_file()
        ) == [
            ".mine/lib/a.sh",
            ".mine/run.sh",
        ]


@pytest.fixture
def searching(person, tmp_path):
    """A hook set whose hook looks for files that no text names, and a HOME that has them."""
    person(**{".mytool.toml": "a = 1\n", ".mytool/rules.txt": "", ".mytool-token": "t", ".other": ""})
    person(**{".bashrc": "exit 1\n"})
    names = "mytool.toml mytool/rules.txt mytool mytool-token no.lock bashrc"
    script = f'for name in {names}; do cat "$HOME/."$name; done'
    settings = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": script}]}]}}
    (tmp_path / "project/.claude").mkdir(parents=True)
    (tmp_path / "project/.claude/settings.json").write_text(json.dumps(settings))
    (hook_set,) = find_hook_sets(tmp_path / "project")
    return hook_set


@pytest.mark.nightly
def test_what_hooks_look_for(searching, harness):
    """What hooks look for below HOME in vain is lent, but no secret and no file of a shell."""
    assert searching.lent == ()
    (found,) = with_looked_for([searching], harness.settings, harness.resources)
    assert found.lent == (".mytool.toml", ".mytool")


def test_what_hooks_look_for_is_lent_only_with_consent(searching, tmp_path, monkeypatch, capsys):
    """What was looked for is listed, and is not lent if nobody agrees."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = (replace(searching, lent=(".mytool.toml",)),)
    assert lend(tmp_path, (searching,), found, agreed=True) == found
    assert capsys.readouterr().err == "Hooks also look for ~/.mytool.toml.\n"
    assert [*lend(tmp_path, (searching,), found, agreed=False)] == [searching]
    assert [*lend(tmp_path, found, found, agreed=False)] == [*found]


@pytest.mark.parametrize("lent", [(), (".mytool.toml",)])
def test_what_hooks_look_for_in_the_project_needs_no_consent(searching, tmp_path, monkeypatch, lent):
    """What was looked for in the project is known to the check, whether or not anything is lent."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = replace(searching, lent=lent, looked_for=(".claude/loop.json",))
    (ready,) = lend(tmp_path, (searching,), (found,), agreed=False)
    assert ready == replace(searching, looked_for=(".claude/loop.json",))


@pytest.mark.nightly
def test_a_program_of_its_owner(person, tmp_path, harness):
    """A hook that starts a program below HOME works in the sessions, and leaves that program as it is."""
    words = '. "${0%/*}/words"; cat >/dev/null; echo "# x" >>"$HOME/.mine/words"; echo "$words" >&2; exit 2'
    home = person(
        **{".mine/run.sh": f"#!/bin/sh\n{words}\n", ".mine/words": 'words="Run the tests of x first."\n'}
    )
    settings = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": '"$HOME/.mine/run.sh"'}]}]}}
    (tmp_path / "project/.claude").mkdir(parents=True)
    (tmp_path / "project/.claude/settings.json").write_text(json.dumps(settings))
    (hook_set,) = find_hook_sets(tmp_path / "project")
    report = check(hook_set, harness)
    printed = [problem.symptom.text for problem in report.problems if problem.symptom.kind in ENDLESS]
    assert "Run the tests of x first." in printed[0]
    assert (home / ".mine/words").read_text() == 'words="Run the tests of x first."\n'


@pytest.mark.parametrize(
    ("said", "codes", "found"),
    [
        (b"curl: (6) Could not resolve host: example.com", [6, 6], "the network"),
        (b"curl: (6) Could not resolve host: example.com", [6, 0], "the network"),
        # Before sessions set its executable bit, nothing of it ran.
        (b"npm error code ENOTCACHED", [126, 1, 1], "the network"),
        (b"/bin/sh: 1: no-such-runner: not found", [127, 127], "no-such-runner is not on PATH"),
        (b"./x.sh: line 3: no-such-runner: command not found", [1, 1], "no-such-runner is not on PATH"),
        (b"./x.sh: line 3: no-such-runner: command not found", [1, 2], ""),
        (b"env: 'no-such-runner': No such file or directory", [127], "no-such-runner is not on PATH"),
        (b"xargs: no-such-runner: No such file or directory", [127], "no-such-runner is not on PATH"),
        (
            b"timeout: failed to run command 'no-such-runner': No such file or directory",
            [127],
            "no-such-runner",
        ),
        (b"xargs: no-such-folder/x: No such file or directory", [127], ""),
        (b"error: Failed to inspect Python interpreter at /usr/bin/python3", [2], "uv starts no Python"),
        (b"./x.sh: line 3: no-such-runner: command not found", [0, 0], "no-such-runner is not on PATH"),
        (b"./x.sh: line 3: no-such-runner: command not found", [0, 2], ""),
        (b"./x.sh: line 3: sh: command not found", [0], ""),
        (b"curl: (6) Could not resolve host: example.com", [0], ""),
        (b"./x.sh: 3: source: not found", [127], ""),
        (b"./x.sh: 3: sh: not found", [127], ""),
        (b"./x.sh: 3: ./y.sh: not found", [127], ""),
        (b"no such key", [6, 6], ""),
    ],
)
def test_hooks_that_lack_something(said, codes, found):
    """A hook that says at each failure that it has no network, program or Python could not be tried."""
    hook, rule = Hook(event="Stop", command="./x.sh"), Rule("nothing said", Basis.DOCUMENTED, "a page")
    steps = []
    for turn, code in enumerate(codes, 1):
        # Where it also fails, it says nothing in a run that goes well.
        told = said if code or not any(codes) else b""
        stderr = Output(data=told, total=len(told))
        run = ProcessResult(ending=Exited(code), wall=0.1, stderr=stderr)
        ruling = Ruling.DENY if code == 2 else Ruling.NONE
        hook_run = HookRun(hook=hook, payload={}, run=run, reply=Reply(ruling=ruling, rule=rule))
        decision = Decision(event="Stop", rule=rule)
        event = HookEvent(event="Stop", hook_runs=(hook_run,), decision=decision)
        steps.append(Step(number=turn, turn=turn, exchange=event))
    outcome = Outcome(
        scenario=Scenario(name="x"), host="x@1", trace=Trace(steps=tuple(steps)), verdict=Terminated(turn=1)
    )
    lacking = hindered_hooks([outcome])
    assert [*lacking] == (["./x.sh"] if found else [])
    assert found in lacking.get("./x.sh", "")


@pytest.mark.nightly
def test_hooks_run_as_if_their_collection_were_installed(tmp_path, person, harness):
    """Scripts below HOME that only the project has are run from a copy, with what is beside them."""
    person()
    root = tmp_path / "collection"
    (root / ".claude").mkdir(parents=True)
    (root / "hooks").mkdir()
    (root / "hooks/words.txt").write_text("Tests are missing.")
    (root / "hooks/outside.txt").symlink_to("/etc/hostname")
    (root / "hooks/again.sh").write_text('#!/bin/sh\ncat "$(dirname "$0")/words.txt" >&2\nexit 2\n')
    entry = {"hooks": [{"type": "command", "command": "sh ~/.claude/hooks/again.sh"}]}
    (root / ".claude/settings.json").write_text(json.dumps({"hooks": {"Stop": [entry]}}))
    (found,) = find_hook_sets(root)

    assert found.installed == ((".claude/hooks/again.sh", "hooks/again.sh"),)
    assert "copies hooks/again.sh to ~/.claude/hooks/again.sh" in announcement([found], "")
    with lent_home(found, tmp_path, caches=False) as ready:
        assert sorted(path.name for path in (ready.home / ".claude/hooks").iterdir()) == [
            "again.sh",
            "words.txt",
        ]
    report = check(found, harness)
    assert [problem.symptom.kind for problem in report.problems] == ["livelock"]
    assert "Tests are missing." in report.problems[0].symptom.text


@pytest.mark.nightly
def test_a_plugin_that_looks_for_itself_where_it_is_installed(tmp_path, plugin, person, harness):
    """A hook that looks for its plugin's scripts where the host installs plugins finds them there."""
    person()
    find = "find ~/.claude/plugins/cache -name again.sh -exec cat {} + | sh"
    found = plugin(find, **{"again.sh": "echo Tests are missing. >&2\nexit 2\n"})

    ((path, named),) = found.installed
    assert (path.startswith(".claude/plugins/cache/"), named) == (True, ".")
    assert f"copies the plugin to ~/{path}, as its installer would" in announcement([found], "")
    report = check(found, harness)
    assert ["Tests are missing." in problem.symptom.text for problem in report.problems] == [True]


def test_a_plugin_that_does_not_look_for_itself(plugin, person):
    """A plugin whose hooks find their scripts by its own folder is not copied to HOME."""
    person()
    assert plugin("sh ${CLAUDE_PLUGIN_ROOT}/x.sh", **{"x.sh": "ls ~/.claude/plugins\n"}).installed == ()


@pytest.mark.parametrize("given", ["person", "link", "above"])
def test_what_is_not_installed_from_a_project(tmp_path, person, given):
    """Not taken from a project: what the person has, what lies outside of it, a path that leads up."""
    person(**({".claude/hooks/x.sh": ""} if given == "person" else {}))
    root = tmp_path / "collection"
    (root / "hooks").mkdir(parents=True)
    if given == "link":
        (tmp_path / "x.sh").write_text("")
        (root / "hooks/x.sh").symlink_to(tmp_path / "x.sh")
    else:
        (root / "hooks/x.sh").write_text("")
    path = "~/../hooks/x.sh" if given == "above" else "~/.claude/hooks/x.sh"

    assert find_installed([Hook(event="Stop", command=f"sh {path}")], root) == ()


def test_the_folders_around_a_script_are_installed_with_it(tmp_path, person):
    """Of the folders that the path below HOME has too, the largest that is small is copied."""
    person()
    root = tmp_path / "collection"
    entry = {"hooks": [{"type": "command", "command": "python3 ~/.mine/kit/tools/hooks/a.py"}]}
    files = {
        ".claude/settings.json": json.dumps({"hooks": {"Stop": [entry]}}),
        **dict.fromkeys(("top.txt", "kit/paths.py", "kit/tools/hooks/a.py", "kit/tools/shared.py"), ""),
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (found,) = find_hook_sets(root)
    with lent_home(found, tmp_path, caches=False) as ready:
        copied = {str(path.relative_to(ready.home)) for path in ready.home.rglob("*") if path.is_file()}
    assert copied == {f".mine/kit/{name}" for name in ("paths.py", "tools/hooks/a.py", "tools/shared.py")}
