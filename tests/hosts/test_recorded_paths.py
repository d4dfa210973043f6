"""Claims about recorded inputs: their paths lead into the workspace."""

import pytest

from pytest_hookharness.hosts.session_state.facts import Facts
from pytest_hookharness.simulation.session.single_event import move_recorded

HERE = Facts(
    session_id="s",
    workspace="/t/workspace",
    home="/t/home",
    tmp="/t/tmp",
    transcript_path="/t/home/.claude/s",
)
OLD = "/home/dev/.claude/projects/-home-dev-web-shop/x.jsonl"


@pytest.mark.parametrize(
    ("given", "moved"),
    [
        ("/home/dev/web.shop", "/t/workspace"),
        ("/home/dev/web.shop/a b.py", "/t/workspace/a b.py"),
        ("cat /home/dev/web.shop/a.py > /home/dev/out", "cat /t/workspace/a.py > /t/home/out"),
        ("/home/dev/web.shop-old/a", "/t/home/web.shop-old/a"),
        ("/home/dev.old/a", "/home/dev.old/a"),
        (OLD, "/t/home/.claude/s"),
        ({"list": ["/home/dev/web.shop"], "n": 1}, {"list": ["/t/workspace"], "n": 1}),
        ("/tmp/a /var/folders/x1/y_2/T/b /tmpfs", "/t/tmp/a /t/tmp/b /tmpfs"),
        ("/private/tmp/a /private/var/tmp/b /private/etc", "/t/tmp/a /t/tmp/b /private/etc"),
        ("/private/var/folders/x1/y_2/T/c", "/t/tmp/c"),
        ("/home/dev/work/_temp/a /home/dev/work/_tempo", "/t/tmp/a /t/home/work/_tempo"),
    ],
)
def test_recorded_paths_lead_into_the_workspace(given, moved):
    """Project, home folder and transcript are replaced wherever they stand; what looks alike is not."""
    fields = {"cwd": "/home/dev/web.shop", "transcript_path": OLD, "tool_input": given}
    assert move_recorded(fields, HERE)["tool_input"] == moved


def test_a_folder_in_the_project():
    """If the agent was in a folder of the project, the hook starts in the same folder of the workspace."""
    fields = {"cwd": "/home/dev/web.shop/api", "transcript_path": OLD}
    assert move_recorded(fields, HERE)["cwd"] == "/t/workspace/api"


@pytest.mark.parametrize("cwd", ["/home/dev", "/tmp/shop", "/srv/shop"])
def test_any_folder_of_a_session_is_the_workspace(cwd):
    """The session's folder leads into the workspace wherever it was, and whatever the host calls it."""
    moved = move_recorded({"working_dir": cwd, "message": f"{cwd}/a /home/dev/x"}, HERE)
    home = "/t/workspace" if cwd == "/home/dev" else "/home/dev"
    assert moved == {"working_dir": "/t/workspace", "message": f"/t/workspace/a {home}/x"}


@pytest.mark.parametrize(
    ("cwd", "file"),
    [("/private/tmp/shop", "/tmp/shop/a"), ("/var/shop", "/private/var/shop/a")],
)
def test_a_project_with_two_names(cwd, file):
    """On macOS a path in /tmp or /var is one in /private too; both names of a project are replaced."""
    assert move_recorded({"cwd": cwd, "file": file}, HERE) == {
        "cwd": "/t/workspace",
        "file": "/t/workspace/a",
    }


@pytest.mark.parametrize("cwd", ["/t/workspace", "/t/workspace/api", "api", None])
def test_fields_of_this_run_stay(cwd):
    """Fields of no recorded session, or of one in a folder of this run, are not changed."""
    fields = {"cwd": cwd, "file": "/home/dev/x"}
    assert move_recorded(fields, HERE) == fields
    fields = {"cwd": "/home/dev/shop", "file": "/t/workspace/a", "other": "/t/tmp/b"}
    assert move_recorded(fields, HERE) == {**fields, "cwd": "/t/workspace"}


def test_a_transcript_without_a_folder():
    """A recorded transcript becomes that of this run also if nothing says where the session ran."""
    assert move_recorded({"transcript_path": OLD, "file": "/home/dev/x"}, HERE) == {
        "transcript_path": "/t/home/.claude/s",
        "file": "/t/home/x",
    }


def test_folders_of_this_machine():
    """Home folders and the folder for temporary files of this machine are known wherever they are."""
    fields = {"workspace_roots": ["/data/me/shop"], "file": "/data/me/.x /scratch/y /data/me/shop/z /srv/w"}
    assert move_recorded(fields, HERE, homes=("/data/me",), temporary="/scratch") == {
        "workspace_roots": ["/t/workspace"],
        "file": "/t/home/.x /t/tmp/y /t/workspace/z /srv/w",
    }
