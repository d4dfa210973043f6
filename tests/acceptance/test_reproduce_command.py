"""Claims about `hookharness reproduce`, with transcripts cut to the keys that are read, and real hooks."""

import json
import shutil
import subprocess

import pytest

from pytest_hookharness import scenario_files
from pytest_hookharness.campaigns.reproduce import loop_plays
from pytest_hookharness.campaigns.reproduce.reproduction_run import ReproductionRun
from pytest_hookharness.campaigns.run import simulate
from pytest_hookharness.frontends.cli import main

WHY = "TODO left: remove it before you stop"
CHECK = f"#!/bin/sh\nif grep -q TODO src.txt; then echo '{WHY}' >&2; exit 2; fi\n"
SETTINGS = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./check.sh"}]}]}}
OTHERS = {"SessionStart": [{"hooks": [{"type": "command", "command": "true"}]}]}
WORDS = "Done, cleaned up."


def git(folder, *words):
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.invalid", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def project(tmp_path):
    """A repository whose Stop hook refuses as long as a file says TODO."""
    folder = tmp_path / "project"
    for host, file in ((".claude", "settings.json"), (".codex", "hooks.json"), (".openhands", "hooks.json")):
        (folder / host).mkdir(parents=True)
        (folder / host / file).write_text(json.dumps(SETTINGS))
    settings = {"hooks": {**SETTINGS["hooks"], **OTHERS}}
    (folder / ".claude/settings.json").write_text(json.dumps(settings))
    (folder / "check.sh").write_text(CHECK)
    (folder / "check.sh").chmod(0o755)
    (folder / "src.txt").write_text("one\n# TODO two\n")
    (folder / "notes.txt").write_text("v0\n")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "Start")
    return folder


def claude(project, stops=4, commit="", reason=WHY):
    """A session of Claude Code: work, and stops that the hook refuses."""
    every = {"cwd": str(project), "version": "2.1.329", "sessionId": "0123456789", "type": "user"}
    status = {"context": {"gitStatus": f"Current branch: main\n\nRecent commits:\n{commit} Start"}}
    yield {**every, "type": "attachment", "attachment": {"type": "session_context", **status}}
    yield {**every, "message": {"content": "Clean up."}}
    for number in range(2):
        use = {"type": "tool_use", "id": str(number), "name": "Bash"}
        use["input"] = {"command": f"echo {number} >> {project}/notes.txt"}
        answer = {"type": "tool_result", "tool_use_id": str(number), "content": ""}
        yield {**every, "type": "assistant", "message": {"id": str(number), "content": [use]}}
        yield {**every, "message": {"content": [answer]}}
    for _ in range(stops):
        said = {"content": [{"type": "text", "text": WORDS}], "stop_reason": "end_turn"}
        yield {**every, "type": "assistant", "message": said}
        summary = {"subtype": "stop_hook_summary", "hookErrors": [f"[./check.sh]: {reason}\n"]}
        yield {**every, "type": "system", "hookInfos": [{"command": "./check.sh"}], **summary}


def codex(project, commit=""):
    """The same session of Codex."""

    def done(**item):
        return {"type": "event_msg", "payload": {"type": "item_completed", "item": item}}

    meta = {"cwd": str(project), "cli_version": "0.169.0", "id": "0123456789", "git": {"commit_hash": commit}}
    yield {"type": "session_meta", "payload": meta}
    yield done(type="UserMessage", content=[{"text": "Clean up."}])
    for _ in range(4):
        yield done(type="AgentMessage", content=[{"text": WORDS}])
        hook = f"stop:0:{project}/.codex/hooks.json"
        yield done(type="HookPrompt", fragments=[{"text": WHY, "hookRunId": hook}])


def openhands(_project):
    """The same session of OpenHands."""
    ran = {"hook_event_type": "Stop", "hook_command": "./check.sh", "blocked": True, "stderr": f"{WHY}\n"}
    yield {"kind": "MessageEvent", "source": "user", "llm_message": {"content": [{"text": "Clean up."}]}}
    for _ in range(4):
        yield {"kind": "MessageEvent", "source": "agent", "llm_message": {"content": [{"text": WORDS}]}}
        yield {"kind": "HookExecutionEvent", "source": "hook", **ran}


def claude_call(command):
    """A call of Claude Code and its result."""
    use = {"type": "tool_use", "id": "begin", "name": "Bash", "input": {"command": command}}
    answer = {"type": "tool_result", "tool_use_id": "begin", "content": ""}
    yield {"type": "assistant", "message": {"id": "begin", "content": [use]}}
    yield {"type": "user", "message": {"content": [answer]}}


def codex_call(command):
    """A call of Codex and its result."""
    given = {"name": "exec_command", "arguments": json.dumps({"cmd": command})}
    yield {"type": "response_item", "payload": {"type": "function_call", "call_id": "begin", **given}}
    answer = {"call_id": "begin", "output": "Process exited with code 0\nOutput:\n"}
    yield {"type": "response_item", "payload": {"type": "function_call_output", **answer}}


CALLS = {claude: claude_call, codex: codex_call}


@pytest.fixture
def reproduce(tmp_path, project, monkeypatch, capsys):
    """Run the command on records, and return its status and what it printed."""
    monkeypatch.chdir(tmp_path)

    def run(records, *words, given=project):
        file = tmp_path / "session.jsonl"
        file.write_text("".join(f"{json.dumps(record)}\n" for record in records))
        status = main.main(["reproduce", str(file), "--project", str(given), *words])
        printed = capsys.readouterr()
        return status, printed.out + printed.err

    return run


def load(folder, name):
    (scenario,) = scenario_files.load(folder / "reproduced" / f"{name}.scenario.yaml")
    return scenario


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("records", "name"),
    [
        (claude, "claude-code-stop-01234567"),
        pytest.param(codex, "codex-stop-01234567", marks=pytest.mark.nightly),
        pytest.param(openhands, "openhands-stop", marks=pytest.mark.nightly),
    ],
)
def test_a_loop_is_reproduced_and_shrunk(reproduce, project, tmp_path, records, name):
    """Each refusal is seen again, and the small scenario is a prompt, a stop and the files that matter."""
    status, printed = reproduce(records(project))

    assert status == 0, printed
    assert "4 of 4 refusals as recorded\n" in printed
    assert "each of them is needed" in printed
    small = load(tmp_path, name)
    assert [type(act).__name__ for act in small.script.acts] == ["Prompt", "Stop"]
    assert {path for path in small.files if not path.startswith(".")} == {"check.sh", "src.txt"}
    assert "SessionStart" not in str(small.files)


@pytest.mark.nightly
def test_scenario_fails_now_and_passes_once_the_hook_is_fixed(reproduce, project, tmp_path):
    """Both scenarios are red with the hook as it is, and green with a hook that allows the second stop."""
    assert reproduce(claude(project))[0] == 0
    for file in sorted((tmp_path / "reproduced").iterdir()):
        assert main.main(["run", f"{file}"]) == 1
        fixed = file.read_text().replace("if grep", "if ! grep -q '\"stop_hook_active\":true' && grep")
        file.write_text(fixed)
        assert main.main(["run", f"{file}"]) == 0


@pytest.mark.nightly
def test_project_at_the_recorded_commit(reproduce, project):
    """The hooks see the commit that the transcript names, or the one that is given, and not today's files."""
    before = git(project, "rev-parse", "HEAD")
    (project / "src.txt").write_text("one\ntwo\n")
    git(project, "commit", "-qam", "Finish")

    status, printed = reproduce(codex(project, before), "--no-shrink", "-o", "recorded")
    assert (status, f"at commit {before[:12]}" in printed) == (0, True), printed
    assert reproduce(codex(project), "--no-shrink", "--at", "HEAD~1", "-o", "given")[0] == 0
    status, printed = reproduce(claude(project, commit=before[:9]), "--at", "HEAD", "--no-shrink")
    assert (status, "0 of 4 refusals as recorded" in printed) == (1, True), printed


@pytest.mark.nightly
@pytest.mark.parametrize("hides", [f"|| {{ echo '{WHY}' >&2; exit 2; }}", "; [ $? = 1 ] && exit 2 || exit 0"])
def test_a_hook_that_hides_a_missing_tool(reproduce, project, hides):
    """A program that hooks call and that is not installed is named, whether or not they refuse without it."""
    lint = f"#!/bin/sh\nlint() {{ echo-lint $1; }}\nno-such-linter src.txt >/dev/null 2>&1 {hides}\n"
    (project / "check.sh").write_text(lint)
    git(project, "commit", "-qam", "Lint")
    status, printed = reproduce(claude(project), "--no-shrink")

    refuses = "echo" in hides
    assert (status, f"{4 * refuses} of 4 refusals as recorded" in printed) == (1 - refuses, True), printed
    assert "not installed here, but called by hooks: `no-such-linter`\n" in printed
    assert refuses or "likely cause: not installed here" in printed


@pytest.mark.nightly
def test_a_slow_hook_is_shrunk_quickly(reproduce, project, tmp_path, monkeypatch):
    """Only the play of the whole session and that of the result look for what changes a decision."""
    probed = []

    def play(scenario, settings, resources):
        probed.append(settings.probes)
        return simulate(scenario, settings, resources)

    monkeypatch.setattr(loop_plays, "simulate", play)
    (project / "check.sh").write_text(f"#!/bin/sh\ndate > now\n{CHECK}")
    git(project, "commit", "-qam", "Look at the time")
    status, printed = reproduce(claude(project))

    assert status == 0, printed
    assert (len(probed) > 5, sum(probed) <= 3) == (True, True)
    assert len(load(tmp_path, "claude-code-stop-01234567").script.acts) == 2


@pytest.mark.nightly
def test_a_session_that_is_too_long(reproduce, project, tmp_path):
    """If the budget ends before the session does, a few of its moves are played, and show the loop."""
    first, prompt, call, answer, *others = claude(project)
    status, printed = reproduce([first, prompt, *[call, answer] * 5000, *others], "--budget", "15")

    assert (status, "0 of 4 refusals as recorded" in printed) == (0, True), printed
    assert "likely cause: the replay ended in turn " in printed
    assert "left out: the whole session: it takes longer than --budget allows" in printed
    assert len(load(tmp_path, "claude-code-stop-01234567").script.acts) == 2


@pytest.mark.nightly
def test_two_loops(reproduce, project, tmp_path):
    """Each loop has scenarios of its own, which fail now and pass once the hook of that loop is fixed."""
    guard = "grep -q 'rm build' && { echo 'never delete build' >&2; exit 2; }; exit 0"
    both = {**SETTINGS["hooks"], "PreToolUse": [{"hooks": [{"type": "command", "command": guard}]}]}
    (project / ".claude/settings.json").write_text(json.dumps({"hooks": both}))
    git(project, "commit", "-qam", "Guard")
    denied = []
    for number in range(5):
        use = {"type": "tool_use", "id": f"d{number}", "name": "Bash", "input": {"command": "rm build"}}
        text = f"PreToolUse:Bash hook error: [{guard}]: never delete build"
        answer = {"type": "tool_result", "tool_use_id": f"d{number}", "is_error": True, "content": text}
        denied.append({"type": "assistant", "message": {"id": f"d{number}", "content": [use]}})
        denied.append({"type": "user", "message": {"content": [answer]}})
    records = [*claude(project)]
    status, printed = reproduce([*records[:2], *denied, *records[2:], "no object"])

    assert status == 0, printed
    assert "recorded: PreToolUse refused 5 times in a row" in printed
    assert "also recorded: Stop refused 4 times in a row" in printed
    assert printed.count("9 of 9 refusals as recorded") == 2
    assert "reproduced: PreToolUse was refused 5 times with this text by " in printed
    assert printed.count("If the refusal is right, the agent is at fault: expect deny, or delete") == 1
    text = (tmp_path / "reproduced/claude-code-pretooluse-01234567.scenario.yaml").read_text()
    assert "# This test expects that the hook allows the call." in text
    assert "left out: in the scenarios of this loop, hooks of other loops: `./check.sh`" in printed
    assert "left out: not read, no JSON object: 1 record" in printed
    fixes = {"pretooluse": ("'rm build'", "'no such call'"), "stop": ("q TODO", "q DONE")}
    for event, (old, new) in fixes.items():
        files = sorted(tmp_path.glob(f"reproduced/claude-code-{event}-*"))
        assert len(files) == 2
        for file in files:
            assert main.main(["run", str(file)]) == 1
            file.write_text(file.read_text().replace(old, new))
            assert main.main(["run", str(file)]) == 0


@pytest.mark.nightly
def test_two_hooks_that_never_allow_a_stop(reproduce, project, tmp_path):
    """Two hooks that refuse the same stops, in any order, are two loops in files with a number."""
    both = [{"hooks": [{"type": "command", "command": f"echo {word} >&2; exit 2"}]} for word in "ab"]
    (project / ".claude/settings.json").write_text(json.dumps({"hooks": {"Stop": both}}))
    git(project, "commit", "-qam", "Two")
    records = [*claude(project)]
    for number, record in enumerate(one for one in records if one.get("subtype")):
        errors = [f"[echo {word} >&2; exit 2]: {word}\n" for word in "ab"]
        record["hookErrors"] = errors if number % 2 else errors[::-1]
    status, printed = reproduce(records, "--no-shrink")

    assert (status, printed.count("8 of 8 refusals as recorded")) == (0, 2), printed
    for number, (own, other) in (("", "ab"), ("-2", "ba")):
        file = tmp_path / "reproduced" / f"claude-code-stop-01234567{number}-full.scenario.yaml"
        assert main.main(["run", str(file)]) == 1
        assert f"echo {other} >&2" not in file.read_text()
        file.write_text(file.read_text().replace(f"echo {own} >&2; exit 2", "exit 0"))
        assert main.main(["run", str(file)]) == 0


@pytest.mark.nightly
@pytest.mark.parametrize("given", ["", "packages/api"])
@pytest.mark.parametrize("records", [claude, codex])
def test_a_session_in_a_folder_of_the_repository(reproduce, project, tmp_path, records, given):
    """Hooks run in the folder in which the session ran, and calls elsewhere in the repository are made."""
    inner = project / "packages" / "api"
    inner.mkdir(parents=True)
    for name in (".claude", "src.txt", "notes.txt"):
        (project / name).rename(inner / name)
    check = CHECK.replace("src.txt", "$(git rev-parse --show-toplevel)/begun ../../packages/api/src.txt")
    (project / "check.sh").write_text(check)
    settings = json.dumps(SETTINGS).replace("./check.sh", "../../check.sh")
    # Codex reads the settings at the top, Claude Code those of the folder.
    (inner / ".claude/settings.json").write_text(settings)
    (project / ".codex/hooks.json").write_text(settings)
    git(project, "add", "-A")
    git(project, "commit", "-qm", "Move")
    meta, prompt, *others = records(inner)
    begin = f"echo TODO > {project}/begun; sed -i s/TODO/done/ src.txt"
    status, printed = reproduce([meta, prompt, *CALLS[records](begin), *others], given=project / given)

    assert (status, "4 of 4 refusals as recorded" in printed) == (0, True), printed
    assert "in its folder packages/api" in printed
    (small,) = tmp_path.glob("reproduced/*01234567.scenario.yaml")
    assert "subfolder" in small.read_text()
    assert main.main(["run", str(small)]) == 1


@pytest.mark.parametrize("written", [False, True])
def test_an_interruption(reproduce, project, tmp_path, monkeypatch, written):
    """After Ctrl-C, the command says what was written, or that nothing was."""

    def interrupted(run):
        if written:
            run.output.mkdir()
            (run.output / "one.scenario.yaml").touch()
        raise KeyboardInterrupt

    monkeypatch.setattr(ReproductionRun, "run", interrupted)
    status, printed = reproduce(claude(project))

    assert status == 2
    what = "wrote reproduced/one.scenario.yaml" if written else "nothing was written"
    assert printed.endswith(f"hookharness: interrupted: {what}\n")


@pytest.mark.slow
def test_another_project(reproduce, project):
    """If the script that refused is not in the project, the likely cause begins with that."""
    for host in (".claude", ".codex", ".openhands"):
        shutil.rmtree(project / host)
    (project / "check.sh").unlink()
    status, printed = reproduce(claude(project))

    assert status == 1
    said = printed.partition("likely cause: ")[2].partition("\n")[0]
    assert said.startswith(f"`./check.sh`, which refused, is not in {project} as it is now")
    assert "is this the right project?" in said


@pytest.mark.nightly
def test_a_missing_tool_is_the_first_cause(reproduce, project):
    """A hook that cannot run its tool here is no reproduction; the missing tool is named."""
    (project / "check.sh").write_text("#!/bin/sh\nno-such-linter src.txt || exit 2\n")
    git(project, "commit", "-qam", "Lint")
    status, printed = reproduce(claude(project))

    assert status == 1
    assert "first difference: refusal 1" in printed
    assert "no-such-linter" in printed.partition("likely cause: ")[2].partition("\n")[0]


@pytest.mark.nightly
def test_a_subagent_that_may_not_stop(reproduce, project, tmp_path):
    """Refusals of a subagent's stops are read from its own file, and seen again with a simulated subagent."""
    (project / ".claude/settings.json").write_text(json.dumps(SETTINGS).replace("Stop", "SubagentStop"))
    every, *_ = claude(project)
    use = {"type": "tool_use", "id": "t", "name": "Task", "input": {"prompt": "Look."}}
    call = {**every, "type": "assistant", "message": {"id": "t", "content": [use]}}
    below = tmp_path / "session" / "subagents" / "agent-a1.jsonl"
    below.parent.mkdir(parents=True)
    lines = [{**line, "agentId": "a1"} for line in claude(project) if line["type"] != "attachment"]
    below.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    status, printed = reproduce([every, call])

    assert status == 0, printed
    assert "SubagentStop refused 4 times in a row" in printed
    assert "4 of 4 refusals as recorded" in printed


@pytest.mark.nightly
def test_a_loop_that_came_to_an_end(reproduce, project, tmp_path):
    """A hook that refused often and then allowed is reproduced; the scenario passes once it refuses less."""
    counts = "n=$(cat .n 2>/dev/null || echo 0); echo $((n + 1)) > .n; [ $n -gt 3 ] || {\n"
    (project / "check.sh").write_text(f"#!/bin/sh\n{counts}  echo '{WHY}' >&2; exit 2; }}\n")
    git(project, "commit", "-qam", "Count")
    allowed = [*claude(project, stops=5)][-2:]
    allowed[1]["hookErrors"] = []
    status, printed = reproduce([*claude(project), *allowed])

    assert (status, "4 of 4 refusals as recorded" in printed) == (0, True), printed
    small = tmp_path / "reproduced" / "claude-code-stop-01234567.scenario.yaml"
    assert "blocks: {Stop: {max: 2}}" in small.read_text()
    assert main.main(["run", str(small)]) == 1
    small.write_text(small.read_text().replace("-gt 3", "-gt 0"))
    assert main.main(["run", str(small)]) == 0


@pytest.mark.nightly
def test_a_project_with_many_files_is_shrunk(reproduce, project, tmp_path):
    """Of a project with a binary file, the small scenario has the settings and what they name."""
    (project / "logo").write_bytes(b"\xff\x00")
    status, printed = reproduce(codex(project))

    assert status == 0, printed
    assert set(load(tmp_path, "codex-stop-01234567").files) == {".codex/hooks.json", "check.sh", "src.txt"}


@pytest.mark.nightly
def test_a_project_that_does_not_fit_into_a_scenario(reproduce, project):
    """A project with binary files is copied beside the scenario, without ignored files, and played."""
    (project / "logo").write_bytes(b"\xff\x00")
    (project / ".gitignore").write_text("reproduced\n")
    output = project / "reproduced"
    status, printed = reproduce(codex(project), "--no-shrink", "-o", str(output))

    assert status == 0, printed
    assert (output / "codex-stop-01234567-project" / "logo").is_file()
    assert main.main(["run", str(output / "codex-stop-01234567-full.scenario.yaml")]) == 1


@pytest.mark.nightly
def test_a_hook_that_reads_a_secret(reproduce, project, tmp_path):
    """What stands in the place of a secret is one word, so a file of settings can still be read."""
    value = "q7Kx2mVb9LpT4wZs8RnY"
    (project / ".env").write_text(f"API_KEY={value}\nURL=postgres://me:{value}@db.example.com/x\n")
    (project / "check.sh").write_text(CHECK.replace("if", ". ./.env\nif", 1))
    git(project, "add", "-A")
    git(project, "commit", "-qm", "Configure")
    status, printed = reproduce(claude(project))

    assert (status, "4 of 4 refusals as recorded" in printed) == (0, True), printed
    assert "left out: secrets in .env: hooks see placeholders" in printed
    for file in (tmp_path / "reproduced").iterdir():
        assert value not in file.read_text()
        assert "API_KEY=redacted-API_KEY\n" in file.read_text()


@pytest.mark.slow
def test_no_secret_is_written(reproduce, project, tmp_path, monkeypatch):
    """Secrets in the transcript, and in the files of the project, are not in the scenarios."""
    monkeypatch.setenv("MY_TOKEN", "very-secret-value")
    (project / "notes.txt").write_text("key: very-secret-value\n")
    records = [*claude(project)]
    records[1]["message"]["content"] = "Use very-secret-value, or ghp_abcdefghijklmnopqrstuvwxyz0123456789."

    assert reproduce(records, "--no-shrink")[0] == 0
    (written,) = (tmp_path / "reproduced").iterdir()
    assert "very-secret" not in written.read_text()
    assert "ghp_" not in written.read_text()


def test_a_session_without_a_loop(reproduce, project):
    """A transcript without refusals, or with few, has no loop: that is said, and the status is 0."""
    status, printed = reproduce(claude(project, stops=2))

    assert status == 0
    assert "no loop to reproduce: 2 refusals, no three in a row with one text" in printed


@pytest.mark.parametrize(
    ("records", "words", "said"),
    [
        ([{"a": 1}], (), "none of the first 1 records has the form of a known transcript"),
        ([], (), "it is empty or no JSON"),
        ([*claude("/p")], ("--at", "no-such-commit"), "--at no-such-commit: "),
        ([*openhands("")], ("--project", "/nowhere"), "--project /nowhere does not exist"),
    ],
)
def test_what_cannot_be_read_or_found(reproduce, records, words, said):
    """No transcript, a missing project and a missing commit end with one message and the status 2."""
    status, printed = reproduce(records, *words)
    assert (status, said in printed) == (2, True), printed


def test_nothing_is_overwritten(reproduce, project, tmp_path):
    """A scenario that exists is an error before anything is played."""
    (tmp_path / "reproduced").mkdir()
    (tmp_path / "reproduced/codex-stop-01234567.scenario.yaml").touch()
    status, printed = reproduce(codex(project))
    assert (status, "exists already" in printed) == (2, True)
