"""
What each well-behaved hook must do, and must not do.

It shares nothing with the package.
"""

from __future__ import annotations

import json
from pathlib import Path

from .drive import Project, Ran
from .prove import run, without, write


def silent(ran: Ran) -> bool:
    """Whether a hook had nothing to say and no complaint."""
    return (ran.status, ran.stdout, ran.stderr) == (0, "", "")


def to_agent(ran: Ran) -> str:
    """Return what a hook gives the agent without refusing anything."""
    assert ran.status == 0, ran.stderr
    assert not ran.refused
    return ran.answer.get("hookSpecificOutput", {}).get("additionalContext", ran.stdout)


def trim_edited_file(project: Project, below: Path) -> None:
    file, other = project.root / "src" / "app.py", below / "other.py"
    assert silent(project.asks("PostToolUse", **write(file)))
    file.write_text("x = 1  \n")
    other.write_text("x = 1  \n")
    assert "Blanks" in to_agent(project.asks("PostToolUse", **write(file)))
    assert silent(project.asks("PostToolUse", **write(other)))
    assert (file.read_text(), other.read_text()) == ("x = 1\n", "x = 1  \n")
    assert not list(project.temporary.iterdir())


def log_commands(project: Project, below: Path) -> None:
    assert silent(project.asks("PreToolUse", **run("ls\nrm x")))
    assert silent(project.asks("PreToolUse", path=without("jq", below=below), **run("pwd")))
    lines = (project.root / ".claude" / "log" / "commands.log").read_text().splitlines()
    assert [line.split("\t")[1:] for line in lines] == [["first", "ls rm x"], ["first", "pwd"]]


def notify_when_done(project: Project, below: Path) -> None:
    assert silent(project.asks("Stop"))
    shown = below / "bin" / "notify-send"
    shown.parent.mkdir()
    shown.write_text("#!/bin/sh\nsleep 60\n")
    shown.chmod(0o755)
    ran = project.asks("Notification", path=f"{shown.parent}:{without('notify-send', below=below)}")
    assert silent(ran)
    assert ran.seconds < 5


def branch_as_context(project: Project, _: Path) -> None:
    assert silent(project.asks("SessionStart", source="startup"))
    git = project.root / ".git"
    git.mkdir()
    (git / "objects").mkdir()
    (git / "refs").mkdir()
    (git / "HEAD").write_text("ref: refs/heads/topic\n")
    assert to_agent(project.asks("SessionStart", source="startup")) == "You are on the branch topic.\n"


def syntax_at_stop(project: Project, below: Path) -> None:
    ran = project.asks("Stop", stop_hook_active=False)
    assert ran.refused
    assert "scripts/release: line" in ran.stderr
    assert silent(project.asks("Stop", stop_hook_active=True))
    assert silent(project.asks("Stop", stop_hook_active=True, path=without("jq", below=below)))
    (project.root / "scripts" / "release").write_text("echo closed\n")
    assert silent(project.asks("Stop", stop_hook_active=False))


def protected_paths(project: Project, below: Path) -> None:
    listed = project.root / "schema" / "generated.json"
    assert project.asks("PreToolUse", **write(listed)).refused
    assert project.asks(
        "PreToolUse", **write(project.root / "schema" / ".." / "schema" / "generated.json")
    ).refused
    assert project.asks("PreToolUse", path=without("jq", below=below), **write(listed)).refused
    assert silent(project.asks("PreToolUse", **write(project.root / "schema" / "source.yaml")))
    assert silent(project.asks("PreToolUse", **write(project.root / "new" / "generated.json")))


def reminder_with_cooldown(project: Project, _: Path) -> None:
    assert "Tests come with" in to_agent(project.asks("UserPromptSubmit", prompt="go"))
    assert silent(project.asks("UserPromptSubmit", prompt="go"))
    assert "Tests come with" in to_agent(project.asks("UserPromptSubmit", prompt="go", session_id="second"))
    for stamp in project.temporary.glob("*/first"):
        stamp.write_text("not a time")
    assert "Tests come with" in to_agent(project.asks("UserPromptSubmit", prompt="go"))


def tests_before_finish(project: Project, _: Path) -> None:
    assert [project.asks("Stop").refused for _stop in range(4)] == [True, True, True, False]
    assert [project.asks("Stop", session_id="second").refused for _stop in range(2)] == [True, True]
    (project.root / "sum.txt").write_text("4\n")
    assert silent(project.asks("Stop"))


def no_rm_of_everything(project: Project, _: Path) -> None:
    for command in (
        "rm -rf /",
        "cd x && sudo rm -fr ~/",
        "sh -c 'rm -rf *'",
        "rm --recursive $HOME",
        'echo "$(rm -rf .)"',
        "ls | xargs rm -rf ..",
        "bash <<EOF\nrm -rf /\nEOF",
        "eval 'rm -r -f /'",
    ):
        assert project.asks("PreToolUse", **run(command)).refused, command
    for command in (
        "rm -rf build",
        "rm notes.txt",
        "git commit -m 'never rm -rf /'",
        "echo 'rm -rf /'",
        "cat <<EOF >notes\nrm -rf /\nEOF",
        "echo 'not closed",
        "",
    ):
        assert silent(project.asks("PreToolUse", **run(command))), command


def no_secrets(project: Project, _: Path) -> None:
    for name in (".env", ".env.local", "id_rsa"):
        assert project.asks("PreToolUse", **write(project.root / name)).refused
    for name in (".env.example", "environment.py", "env"):
        assert silent(project.asks("PreToolUse", **write(project.root / name)))


def notes_at_start(project: Project, _: Path) -> None:
    assert "half done" in to_agent(project.asks("SessionStart", source="startup"))
    (project.root / "NOTES.md").write_text("long\n" * 5000)
    assert len(to_agent(project.asks("SessionStart", source="startup"))) < 4200
    (project.root / "NOTES.md").unlink()
    assert silent(project.asks("SessionStart", source="startup"))


def audit_in_home(project: Project, _: Path) -> None:
    assert silent(project.asks("PostToolUse", **run("ls")))
    log = project.home / ".local" / "state" / "agent-audit" / "calls.jsonl"
    assert json.loads(log.read_text())["tool"] == "Bash"


def unit_tests_at_stop(project: Project, _: Path) -> None:
    ran = project.asks("Stop", stop_hook_active=False)
    assert ran.refused
    assert "test_add" in ran.answer["reason"]
    assert silent(project.asks("Stop", stop_hook_active=True))
    (project.root / "src" / "sums.py").write_text("def add(a, b):\n    return a + b\n")
    assert silent(project.asks("Stop", stop_hook_active=False))
    assert not list(project.root.rglob("__pycache__"))


def no_unverified_commits(project: Project, _: Path) -> None:
    for command in ("git commit --no-verify -m x", "git commit -nm x", "bash -c 'git commit -n'"):
        assert project.asks("PreToolUse", **run(command, "run_shell_command")).refused, command
    for command in ("git commit -m --no-verify", "git commit -am new", "echo git commit -n", "git log -n 3"):
        assert silent(project.asks("PreToolUse", **run(command, "run_shell_command"))), command


def session_times(project: Project, _: Path) -> None:
    assert silent(project.asks("SessionStart", source="startup"))
    assert silent(project.asks("SessionEnd", reason="other"))
    assert silent(project.asks("SessionEnd", reason="other", session_id="unknown"))
    assert [path.name for path in (project.root / ".claude" / "log").iterdir()] == ["sessions.log"]


def tidy_json(project: Project, _: Path) -> None:
    file = project.root / "package.json"
    assert silent(project.asks("PostToolUse", **write(file)))
    file.write_text('{"a": [1]}')
    assert "laid out" in to_agent(project.asks("PostToolUse", **write(file)))
    file.write_text('{"a": ')
    assert silent(project.asks("PostToolUse", **write(file)))
    assert file.read_text() == '{"a": '


def no_private_keys(project: Project, _: Path) -> None:
    assert project.asks("beforeReadFile", file_path="/x/server.pem").refused
    assert project.asks("beforeReadFile", file_path="/x/server.pub").answer == {"permission": "allow"}


def vendor_is_not_ours(project: Project, _: Path) -> None:
    assert project.asks("BeforeTool", **write("vendor/lib/index.js", "write_file")).refused
    assert project.asks("BeforeTool", **write(project.root / "vendor" / "a", "replace")).refused
    assert silent(project.asks("BeforeTool", **write("vendored.js", "write_file")))
    assert silent(project.asks("BeforeTool", **write("vendor.sh", "write_file")))


def deploy_page_on_demand(project: Project, _: Path) -> None:
    assert "make release" in to_agent(project.asks("UserPromptSubmit", prompt="Deploy it, please"))
    assert silent(project.asks("UserPromptSubmit", prompt="Mend the test"))
    (project.root / "docs" / "deploy.md").unlink()
    assert silent(project.asks("UserPromptSubmit", prompt="Deploy it, please"))


def no_debugger_left(project: Project, _: Path) -> None:
    ran = project.asks("Stop", stop_hook_active=False)
    assert ran.refused
    assert "src/index.js:2" in ran.answer["reason"]
    assert silent(project.asks("Stop", stop_hook_active=True))
    (project.root / "src" / "index.js").write_text("export const a = 'debugger;';\n")
    assert silent(project.asks("Stop", stop_hook_active=False))


BEHAVIOURS = {
    name.replace("_", "-"): value
    for name, value in list(globals().items())
    if getattr(value, "__module__", "") == __name__ and value.__code__.co_argcount == 2
}
