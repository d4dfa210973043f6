"""Claims about the rules hook of scenarios/infinite-block-command, each made with real processes."""

import contextlib
import itertools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from pytest_hookharness.agents import BEHAVIOURS

HERE = Path(__file__).parents[2] / "scenarios" / "infinite-block-command"
STATUSES = ("queued", "passed", "failed", "skipped")
ACTIONS = ("prompt", "command")


class Project:
    """A committed copy of the scenario's project, and the hook in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        shutil.copytree(HERE / "project", root)
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(root.parent),
            "CLAUDE_PROJECT_DIR": str(root),
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        self.git("init", "--quiet")
        self.git("config", "user.name", "A")
        self.git("config", "user.email", "a@example.invalid")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "start")

    def git(self, *words: str) -> str:
        env = {name: value for name, value in self.env.items() if not name.startswith("GIT_DIR")}
        done = subprocess.run(
            ["git", *words], cwd=self.root, env=env, check=True, capture_output=True, text=True
        )
        return done.stdout

    def write(self, path: str, text: str = "changed\n") -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def start(self, **env: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-B", str(self.root / ".claude/hooks/rules")],
            cwd=self.root,
            env=self.env | env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run_hook(
        self,
        says: str | None = "Done.",
        *,
        again: bool = False,
        env: dict[str, str] | None = None,
        **more: object,
    ):
        payload = {"session_id": "one", "stop_hook_active": again, **more}
        if says is not None:
            payload["last_assistant_message"] = says
        process = self.start(**(env or {}))
        out, err = process.communicate(json.dumps(payload) + "\n", timeout=30)
        assert (0, "") == (process.returncode, err)
        return json.loads(out) if out else {}

    @property
    def queue(self) -> Path:
        return self.root / ".rules" / "state" / "queue.json"

    def status(self, rule: str, session: str = "one") -> str:
        return json.loads(self.queue.read_text())[session]["entries"][rule]["status"]


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path / "project")


@pytest.mark.slow
def test_failing_command_is_shown_once(project):
    """A command that always fails is shown in the first run, and the second run allows the stop."""
    project.write("src/app.py")

    answers = [project.run_hook(), project.run_hook(again=True), project.run_hook()]

    assert ["block", None, None] == [answer.get("decision") for answer in answers]
    assert "FAILED" == project.status("Always fails")


def test_prompt_is_shown_once(project):
    """A prompt that is never answered is shown in the first run, and the second run allows the stop."""
    project.write("docs/manual.md")

    answers = [project.run_hook(), project.run_hook(again=True), project.run_hook()]

    assert ["block", None, None] == [answer.get("decision") for answer in answers]
    assert "FAILED" == project.status("Review the docs")


@pytest.mark.nightly
@pytest.mark.parametrize(
    "switch, file, rule",
    [
        ("RULES_RERUN_FAILED", "src/app.py", "Always fails"),
        ("RULES_RERUN_QUEUED", "docs/manual.md", "Review the docs"),
    ],
)
def test_before_the_fix_it_never_allows_the_stop(project, switch, file, rule):
    """Before the fix every run blocks, with or without a promise, and leaves the queue unchanged."""
    project.write(file)
    seen = set()

    for says in itertools.islice(itertools.cycle(["Done.", f"<promise>{rule}</promise>"]), 12):
        assert "block" == project.run_hook(says, again=bool(seen), env={switch: "1"})["decision"]
        seen.add(project.queue.read_bytes())

    assert 1 == len(seen)


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        lambda project: project.write("src/app.py"),
        lambda project: project.write("src/new.py"),
        lambda project: (project.write("src/new.py"), project.git("add", "src/new.py")),
        lambda project: (project.root / "src/app.py").unlink(),
        lambda project: project.git("mv", "src/app.py", "app.py"),
        lambda project: project.write("src/sp ace\n\u00e9.py"),
    ],
    ids=["tracked", "untracked", "staged", "removed", "moved away", "odd name"],
)
def test_every_kind_of_change_counts(project, change):
    """Tracked, staged, untracked, removed and moved files trigger a rule, and the index stays as it is."""
    change(project)
    index = (project.root / ".git/index").read_bytes()

    assert "block" == project.run_hook()["decision"]

    assert index == (project.root / ".git/index").read_bytes()


@pytest.mark.slow
def test_nothing_changed_nothing_said(project):
    """A clean tree, and a change that no rule names, let the agent stop at once."""
    assert {} == project.run_hook()
    project.write("README")
    assert {} == project.run_hook()


@pytest.mark.slow
def test_foreign_repository_is_not_asked(project, tmp_path):
    """Inherited variables of git do not lead the hook to another repository."""
    project.write("src/app.py")

    assert "block" == project.run_hook(env={"GIT_DIR": str(tmp_path / "elsewhere")})["decision"]


@pytest.mark.slow
def test_no_commit_yet(project):
    """In a repository without a commit all that is staged or untracked has changed."""
    shutil.rmtree(project.root / ".git")
    project.git("init", "--quiet")
    project.git("add", "src")

    assert "Always fails" in project.run_hook()["reason"]


RELEASES = [
    "<promise>Always fails</promise>",
    "Done.\n<promise> Always fails </promise> because it must fail",
    'I saw "Always fails". <promise>Always fails</promise>',
]
DOES_NOT = [
    'You said: "<promise>Always fails</promise>"',
    "You said: “<promise>Always fails</promise>”",
    "The tag `<promise>Always fails</promise>` would release it.",
    "```\n<promise>Always fails</promise>\n```",
    "> <promise>Always fails</promise>\nI will not.",
    "<promise>Another</promise>",
    'A quote that is left open: "<promise>Always fails</promise>',
]


@pytest.mark.parametrize(
    "says, status", [(text, "SKIPPED") for text in RELEASES] + [(text, "FAILED") for text in DOES_NOT]
)
def test_promise(project, says, status):
    """A promise in the last message releases its rule; one that is quoted does not."""
    project.write("src/app.py")

    project.run_hook(says)

    assert status == project.status("Always fails")


@pytest.mark.slow
def test_echo_is_no_promise(project):
    """A quote of the hook's own words, with the promise tag in it, is no promise."""
    project.write("docs/manual.md")
    reason = project.run_hook()["reason"]
    assert "<promise>Review the docs</promise>" in reason

    project.run_hook(f'You said: "{reason}"', again=True)

    assert "FAILED" == project.status("Review the docs")


def line(kind: str, text: str, **more: object) -> str:
    content = [{"type": "text", "text": text}]
    return json.dumps({"type": kind, "message": {"role": kind, "content": content}, **more}) + "\n"


PROMISE = "<promise>Always fails</promise>"


@pytest.mark.slow
@pytest.mark.parametrize(
    "lines, status",
    [
        (
            [line("assistant", "First."), line("assistant", PROMISE), line("user", "Stop hook feedback")],
            "SKIPPED",
        ),
        ([line("assistant", PROMISE), line("assistant", "Done.")], "FAILED"),
        ([line("assistant", "Done."), line("user", PROMISE)], "FAILED"),
        ([line("assistant", "Done."), line("assistant", PROMISE, isSidechain=True)], "FAILED"),
        ([line("assistant", PROMISE), '{"type": "assis'], "SKIPPED"),
        ([], "FAILED"),
    ],
    ids=["last", "older", "by the person", "by a subagent", "half a line behind it", "empty"],
)
def test_promise_in_the_transcript(project, tmp_path, lines, status):
    """Without the message itself only the assistant's last line in the transcript counts."""
    project.write("src/app.py")
    transcript = tmp_path / "transcript.jsonl"
    transcript.write_text("".join(lines))

    project.run_hook(None, transcript_path=str(transcript))

    assert status == project.status("Always fails")


@pytest.mark.slow
def test_fixed_command_passes(project):
    """A command that passes after the agent's fix ends PASSED."""
    project.write("lib/answer.py")
    assert "LICENSE" in project.run_hook()["reason"]
    project.write("lib/LICENSE")

    assert {} == project.run_hook(again=True)

    assert "PASSED" == project.status("Licensed")


def commands_running():
    """Return the command lines of all processes, but of those that end meanwhile."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found.append(file.read_bytes())
    return found


@pytest.mark.slow
def test_slow_command_is_cut(project):
    """A command that sleeps is cut at the rule's own limit, reported, and leaves nothing running."""
    mark = f"30.{os.getpid()}"
    rule = f"name: Slow\ntrigger: slow/*\ncommand: echo begun; sleep {mark}\nlimit: 0.2"
    project.write(".rules/too-slow.md", f"---\n{rule}\n---\n")
    project.write("slow/one")

    reason = project.run_hook()["reason"]

    assert "was cut after 0.2 s" in reason
    assert "begun" in reason
    assert not [command for command in commands_running() if mark.encode() in command.split(b"\0")]


@pytest.mark.slow
def test_first_new_failure_ends_the_round(project):
    """The second of two failing commands waits in the queue, and is shown in the next run."""
    project.write("lib/answer.py", "# TODO\n")

    first = project.run_hook()["reason"]
    waiting = project.status("Licensed")
    second = project.run_hook(again=True)["reason"]

    assert ("TODO" in first, "QUEUED", "LICENSE" in second) == (True, waiting, True)
    assert {} == project.run_hook(again=True)


@pytest.mark.nightly
@pytest.mark.parametrize("file", ["src/new-{}.py", "docs/new-{}.md", ".rules/new-{}.md"])
def test_new_file_in_every_turn(project, file):
    """An agent that makes a new matching file, or a new rule, in every turn is blocked once all the same."""
    rule = '---\nname: New {0}\ntrigger: src/*\ncommand: "false"\n---\n'
    project.write("src/app.py")
    project.run_hook()
    blocks = []
    for number in range(10):
        project.write(file.format(number), rule.format(number))
        blocks.append(project.run_hook(again=True).get("decision"))

    assert 1 >= len([block for block in blocks if block])
    assert [None] * 8 == blocks[2:]


@pytest.mark.slow
@pytest.mark.parametrize("harm", ["", "{", "[]", '{"one": 1}', '{"one": {}}', None])
def test_lost_memory_allows_the_stop(project, harm):
    """A queue that is gone or unreadable in mid-turn does not make the hook block again."""
    project.write("src/app.py")
    project.run_hook()
    if harm is None:
        shutil.rmtree(project.queue.parent)
    else:
        project.queue.write_text(harm)

    assert "decision" not in project.run_hook(again=True)
    assert "decision" not in project.run_hook(again=True)


@pytest.mark.slow
def test_lost_memory_is_why(project):
    """Without the host's flag the same loss makes the hook begin anew, so the flag ends the loop."""
    project.write("src/app.py")
    project.run_hook()
    project.queue.unlink()

    assert "block" == project.run_hook(again=False)["decision"]


def run_at_once(project, sessions):
    processes = [(session, project.start()) for session in sessions]
    for session, process in processes:
        process.stdin.write(json.dumps({"session_id": session, "last_assistant_message": "Done."}) + "\n")
    for _, process in processes:
        process.stdin.flush()
    return [process.communicate(timeout=60)[0] for _, process in processes]


@pytest.mark.nightly
def test_parallel_sessions_lose_nothing(project):
    """Twenty parallel runs for twenty sessions leave twenty sessions in the queue."""
    project.write("src/app.py")
    sessions = [f"session-{number}" for number in range(20)]

    answers = run_at_once(project, sessions)

    assert 20 == len([answer for answer in answers if "block" in answer])
    assert {"FAILED"} == {project.status("Always fails", session) for session in sessions}
    assert {"lock", "queue.json"} == {file.name for file in project.queue.parent.iterdir()}


@pytest.mark.nightly
@pytest.mark.parametrize("file", ["src/app.py", "docs/manual.md"])
def test_parallel_runs_show_a_rule_once(project, file):
    """Exactly one of twenty parallel runs for one session shows the rule."""
    project.write(file)

    answers = run_at_once(project, ["one"] * 20)

    assert 1 == len([answer for answer in answers if "block" in answer])


@pytest.mark.slow
def test_input_without_an_end(project):
    """The hook answers as soon as it has read one document, although its input stays open."""
    project.write("src/app.py")
    process = project.start()
    process.stdin.write('{"session_id": "one",\n "last_assistant_message": "Done."}\n')
    process.stdin.flush()

    answer = process.stdout.read()

    assert "block" in answer
    assert 0 == process.wait(10)
    process.stdin.close()
    process.stdout.close()
    process.stderr.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "no front matter",
        "---\nname: X\n---\n",
        "---\nname: X\ntrigger: a\nprompt: p\ncommand: c\n---\n",
        "---\nname: X\ntrigger: a\nprompt: p\nlimit: soon\n---\n",
    ],
)
def test_a_malformed_rule_is_shown_to_the_person(project, text):
    """A rule that cannot be read is shown to the user, and the other rules still count."""
    project.write(".rules/broken.md", text)
    project.write("src/app.py")

    answer = project.run_hook()

    assert "block" == answer["decision"]
    assert ".rules/broken.md" in answer["systemMessage"]


@pytest.mark.slow
def test_garbage_on_standard_input(project):
    """Input that is not JSON fails the hook with exit code 1, which no host takes for a refusal."""
    process = project.start()
    _, err = process.communicate("{", timeout=30)

    assert 1 == process.returncode
    assert "no complete JSON document" in err


def variants(name: str) -> set[str]:
    return set(yaml.safe_load((HERE / f"{name}.scenario.yaml").read_text())["variants"])


def test_no_pair_is_forgotten():
    """There is one variant for each pair of status and action."""
    assert {f"{status}-{action}" for status in STATUSES for action in ACTIONS} == variants("status-pairs")


@pytest.mark.parametrize("name", ["infinite-block-command", "infinite-block-prompt"])
def test_no_behaviour_is_forgotten(name):
    """There is one variant for each behaviour that an agent can have; the base is idle."""
    assert set(BEHAVIOURS) - {"idle"} <= variants(name)
