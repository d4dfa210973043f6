"""
The proofs of the labels: each defect, shown by driving the hook that has it.

It shares nothing with the package. A proof starts the hook as a host would, and asserts what the label says.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from .drive import Project, Ran


def write(file: object, tool: str = "Write") -> dict[str, Any]:
    """Return the fields of an edit."""
    return {"tool_name": tool, "tool_input": {"file_path": str(file), "content": "text\n"}}


def run(command: str, tool: str = "Bash") -> dict[str, Any]:
    """Return the fields of a shell call."""
    return {"tool_name": tool, "tool_input": {"command": command}}


def always_refuses(
    project: Project, flags: tuple[bool, ...] = (False, True, True, True, True, True)
) -> list[Ran]:
    """Stop several times; each stop must be refused."""
    results = [ran for flag in flags for ran in project.run_hooks("Stop", stop_hook_active=flag)]
    refused = sum(ran.refused for ran in results)
    assert refused == len(flags), [(ran.status, ran.stdout, ran.stderr) for ran in results]
    return results


def without(*names: str, below: Path) -> str:
    """A folder of all programs but those of some names, to be used as PATH."""
    folder = below / "programs"
    folder.mkdir()
    for place in os.environ["PATH"].split(os.pathsep):
        for program in Path(place).iterdir() if Path(place).is_dir() else ():
            if program.name not in names and not (folder / program.name).is_symlink():
                (folder / program.name).symlink_to(program)
    return str(folder)


def lint_that_never_passes(project: Project, _: Path) -> None:
    always_refuses(project)


def two_wishes(project: Project, _: Path) -> None:
    note = project.root / "HANDOVER.md"
    for _lap in range(4):
        always_refuses(project, (True,))
        note.touch()
        always_refuses(project, (True,))
        note.unlink()


def back_and_forth(project: Project, _: Path) -> None:
    words = [ran.answer["reason"] for ran in always_refuses(project)]
    assert words[::2] == [words[0]] * 3
    assert words[1::2] == [words[1]] * 3
    assert words[0] != words[1]


def count_without_end(project: Project, _: Path) -> None:
    ends = [project.asks("Stop").refused for _stop in range(5)]
    assert ends == [True, True, True, False, False]
    assert not project.asks("Stop", session_id="another").refused
    shutil.copy("/dev/null", project.root / ".openhands" / "refusals")
    assert project.asks("Stop", session_id="another").refused


def lock_that_stays(project: Project, _: Path) -> None:
    assert project.asks("PreToolUse", **run("ls")).status == 0
    assert project.asks("PreToolUse", cut=2, **run("ls")).status is None


def watcher_on_stdout(project: Project, _: Path) -> None:
    ran = project.asks("SessionStart", cut=2)
    assert ran.status is None
    assert ran.stdout == "A watcher builds the pages while you work.\n"


def builder_left_running(project: Project, _: Path) -> None:
    assert project.asks("UserPromptSubmit", prompt="go").status == 0
    end = time.monotonic() + 10
    while not (left := started_in(project.root, "build-again.sh")) and time.monotonic() < end:
        pass
    for pid in left:
        os.killpg(os.getpgid(pid), signal.SIGKILL)
    assert left


def started_in(folder: Path, word: str) -> list[int]:
    """Return the processes that run in a folder and have a word in their command line."""
    table = subprocess.check_output(["ps", "-eo", "pid,args"], text=True).splitlines()
    numbers = [int(row.split()[0]) for row in table if word in row]
    places = {pid: Path(f"/proc/{pid}/cwd") for pid in numbers}
    return [pid for pid, cwd in places.items() if cwd.exists() and cwd.resolve() == folder.resolve()]


def words_before_the_answer(project: Project, _: Path) -> None:
    ran = project.asks("PreToolUse", **write(project.root / "migrations" / "0001.sql"))
    assert ran.status == 0
    assert ran.answer == {}
    assert '"permissionDecision": "deny"' in ran.stdout


def status_one(project: Project, _: Path) -> None:
    ran = project.asks("PreToolUse", **write("/x/.env"))
    assert (ran.status, ran.stdout, ran.refused) == (1, "", False)


def answer_for_another_host(project: Project, _: Path) -> None:
    answer = project.asks("BeforeTool", **write("/x/.env", "write_file")).answer
    assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert "decision" not in answer


def event_of_its_own(project: Project, _: Path) -> None:
    assert {handler.event for handler in project.handlers} == {"AfterEdit"}


def matcher_in_small_letters(project: Project, _: Path) -> None:
    assert {handler.matcher for handler in project.handlers} == {"edit|write"}
    assert project.asks("PreToolUse", **write("/x/.env")).refused


def script_of_another_name(project: Project, _: Path) -> None:
    assert project.asks("PreToolUse", **write("/x/.env")).status == 127


def not_executable(project: Project, _: Path) -> None:
    assert project.asks("PreToolUse", **write("/x/.env")).status == 126


def words_anywhere(project: Project, _: Path) -> None:
    edit = {"tool_name": "write_file", "tool_input": {"content": "Never use git push --force here.\n"}}
    assert project.asks("PreToolUse", **edit).refused
    assert project.asks("PreToolUse", **run("git push --force", "run_shell_command")).refused
    assert not project.asks("PreToolUse", **run("git push", "run_shell_command")).refused


def first_key_first(project: Project, _: Path) -> None:
    payload = write("/x/.env")
    other = {"tool_input": payload["tool_input"], "tool_name": "Write"}
    assert project.asks("PreToolUse", **payload).refused
    assert not project.asks("PreToolUse", **other).refused


def told_once_for_all(project: Project, _: Path) -> None:
    assert project.asks("UserPromptSubmit", prompt="go").stdout
    assert not project.asks("UserPromptSubmit", prompt="go", session_id="another").stdout


def count_of_calls(project: Project, below: Path) -> None:
    script = project.root / ".claude" / "hooks" / "count.py"
    source = script.read_text()
    # Two calls are held between reading and writing, until both have read: opening a named pipe waits for
    # its other end.
    os.mkfifo(below / "meeting")
    meeting = f"""
try:
    Path({str(below)!r}, "first").touch(exist_ok=False)
    end = "r"
except FileExistsError:
    end = "w"
open(Path({str(below)!r}, "meeting"), end).close()
"""
    marked = source.replace("tool = asked", meeting + "tool = asked")
    assert marked != source
    held = below / "held.py"
    held.write_text(marked)
    payload = below / "payload.json"
    payload.write_text(json.dumps(run("ls")))
    variables = {**os.environ, "CLAUDE_PROJECT_DIR": str(project.root)}
    subprocess.run(
        ["sh", "-c", '"$1" "$2" <"$3" & "$1" "$2" <"$3"; wait', "sh", "python3", held, payload],
        env=variables,
        check=True,
        timeout=20,
    )
    assert json.loads((project.root / ".claude" / "calls.json").read_text()) == {"Bash": 1}


def refusal_without_words(project: Project, _: Path) -> None:
    answer = project.asks("PreToolUse", **write("/x/.env")).answer["hookSpecificOutput"]
    assert (answer["permissionDecision"], answer["permissionDecisionReason"]) == ("deny", "")


def log_beside_the_project(project: Project, _: Path) -> None:
    project.asks("PostToolUse", **run("ls"))
    assert (project.root.parent / "agent-calls.log").read_text().endswith(" Bash\n")


def commits_by_itself(project: Project, _: Path) -> None:
    git = ["git", "-C", str(project.root), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run([*git, "init", "--quiet"], check=True)
    subprocess.run([*git, "add", "src"], check=True)
    subprocess.run([*git, "commit", "--quiet", "-m", "Begin"], check=True)
    (project.root / "mine.txt").write_text("not the agent's\n")
    project.asks("PostToolUse", **write(project.root / "src" / "app.py"))
    assert subprocess.check_output([*git, "rev-list", "--count", "HEAD"], text=True).strip() == "2"
    assert "mine.txt" in subprocess.check_output([*git, "show", "--stat", "HEAD"], text=True)


def off_without_jq(project: Project, below: Path) -> None:
    payload = write("/x/.env")
    assert project.asks("PreToolUse", **payload).refused
    ran = project.asks("PreToolUse", path=without("jq", below=below), **payload)
    assert (ran.status, ran.stdout, ran.stderr) == (0, "", "")


def tool_of_another_name(project: Project, _: Path) -> None:
    for tool in ("Edit", "Write", "MultiEdit", "NotebookEdit"):
        assert not project.asks("PreToolUse", **write("/x/.env", tool)).refused
    assert project.asks("PreToolUse", **write("/x/.env", "WriteFile")).refused


def summary_by_an_agent(project: Project, below: Path) -> None:
    fake_agent = below / "bin" / "claude"
    fake_agent.parent.mkdir()
    calls = below / "calls"
    (handler,) = project.handlers
    # The end of the agent that is started triggers the hook again; twenty are enough.
    fake_agent.write_text(
        f'#!/bin/sh\necho once >>"{calls}"\n[ "$(wc -l <"{calls}")" -ge 20 ] && exit 0\n'
        f"echo '{{}}' | {handler.command}\n"
    )
    fake_agent.chmod(0o755)
    project.asks("SessionEnd", path=f"{fake_agent.parent}{os.pathsep}{os.environ['PATH']}", reason="other")
    assert calls.read_text().count("once") == 20


def slow_before_every_call(project: Project, _: Path) -> None:
    (handler,) = project.handlers
    ran = project.asks("PreToolUse", **run("ls"))
    assert ran.status == 0
    assert ran.seconds > handler.limit > 0


def state_must_be_whole(project: Project, _: Path) -> None:
    assert not project.asks("PreToolUse", **run("ls")).refused
    state = project.root / ".claude" / "budget.json"
    state.write_text(state.read_text()[:-3])
    assert project.asks("PreToolUse", **run("rm .claude/budget.json")).refused


def nothing_may_be_done(project: Project, _: Path) -> None:
    assert not project.asks("preToolUse", **run("npm test", "Shell")).refused
    assert project.asks("preToolUse", **write("/x/a.txt")).refused
    assert project.asks("preToolUse", tool_name="Read", tool_input={"file_path": "/x/a.txt"}).refused


def flag_that_is_not_told(project: Project, _: Path) -> None:
    refusals = [project.asks("Stop", stop_hook_active=None).refused for _stop in range(6)]
    assert refusals == [True] * 6
    assert not project.asks("Stop", stop_hook_active=True).refused


def word_in_the_transcript(project: Project, _: Path) -> None:
    always_refuses(project)
    (project.home / "transcript.jsonl").write_text(
        '{"text": "I would say \\"ALL TESTS PASS\\" if they did"}\n'
    )
    assert not project.asks("Stop", stop_hook_active=True).refused


def import_taken_away(project: Project, _: Path) -> None:
    file = project.root / "src" / "app.py"
    for _lap in range(3):
        file.write_text("import time\n" + file.read_text())
        ran = project.asks("PostToolUse", **write(file, "Edit"))
        assert (ran.stdout, ran.stderr) == ("", "")
        assert "import time" not in file.read_text()


PROOFS = {
    name.replace("_", "-"): value
    for name, value in list(globals().items())
    if getattr(value, "__code__", None)
    and value.__code__.co_varnames[:1] == ("project",)
    and name != "always_refuses"
}
