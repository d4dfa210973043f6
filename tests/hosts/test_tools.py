"""The tools of Claude Code: calls, their operations, and the form of their results."""

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.model.moves import Edit, Performance, Read, RunCommand, ToolCall, ToolResult


@pytest.fixture
def tools():
    """The tools of Claude Code."""
    return hosts.find("claude-code").tools


@pytest.mark.parametrize(
    "operation, name",
    [
        (RunCommand(command="ls"), "Bash"),
        (Edit(file="a.txt", text="x"), "Write"),
        (Edit(file="a.txt", text="x", old="y"), "Edit"),
        (Read(file="a.txt"), "Read"),
    ],
)
def test_operations_and_calls_are_inverse(tools, operation, name):
    """An operation becomes the host's call, and the call is read as the same operation."""
    call = tools.call(operation, "/project")

    assert call.name == name
    assert tools.operation(call, "/project") == operation


@pytest.mark.parametrize(
    "path, file", [("/project/a", "a"), ("/project2/a", "/project2/a"), ("/etc/x", "/etc/x")]
)
def test_paths_outside_the_workspace_stay_absolute(tools, path, file):
    """A path in the workspace becomes relative to it, and any other path stays as it is."""
    assert tools.operation(ToolCall(name="Read", input={"file_path": path}), "/project").file == file


@pytest.mark.parametrize("call", [ToolCall(name="WebFetch", input={}), ToolCall(name="Bash", input={})])
def test_other_calls_are_no_operations(tools, call):
    """A tool that the harness does not know, or an input without a required key, is no operation."""
    assert tools.operation(call, "/project") is None


@pytest.mark.parametrize(
    "done, text, failed",
    [
        (Performance(exit=0, stdout="a\n", stderr="b\n"), "a\nb", False),
        (Performance(exit=0), "(Bash completed with no output)", False),
        (Performance(exit=3), "Exit code 3", True),
        (Performance(exit=1, stderr="no\n"), "Exit code 1\nno", True),
        (Performance(stdout="half"), "Command was interrupted\nhalf", True),
        (Performance(error="it was cut"), "it was cut", True),
    ],
)
def test_results_of_commands(tools, done, text, failed):
    """The agent reads standard output and standard error, and a failure has its exit code."""
    result = tools.result(ToolCall(name="Bash", input={"command": "x"}), done, "/project")

    assert (result.text, result.failed) == (text, failed)


@pytest.mark.parametrize(
    "call, key",
    [
        (ToolCall(name="Bash", input={"command": "x"}), "stdout"),
        (ToolCall(name="Write", input={"file_path": "/project/a", "content": "x"}), "filePath"),
        (ToolCall(name="Edit", input={"file_path": "/project/a", "old_string": "x"}), "oldString"),
        (ToolCall(name="Read", input={"file_path": "/project/a"}), "file"),
    ],
)
def test_given_results_have_the_form_of_the_tool(tools, call, key):
    """A result that the scenario gives as text gets the form that hooks of this tool expect."""
    result = tools.given(call, ToolResult(text="given"))

    assert result.text == "given"
    assert key in result.response


@pytest.mark.parametrize("given", [ToolResult(text="x", failed=True), ToolResult(text="x", response=[1])])
def test_given_results_with_a_form_are_kept(tools, given):
    """A result that is given as failed, or with its structured form, stays as it is."""
    assert tools.given(ToolCall(name="Bash", input={}), given) is given


@pytest.mark.parametrize(
    "error, text",
    [
        (
            "a: there is no such file",
            "File does not exist. Note: your current working directory is /project.",
        ),
        ("a: is not UTF-8 text", "a: is not UTF-8 text"),
    ],
)
def test_a_file_that_cannot_be_read(tools, error, text):
    """A missing file is reported in the host's words, and any other failure as it is."""
    call = tools.call(Read(file="a"), "/project")

    assert tools.result(call, Performance(error=error), "/project").text == text


def test_an_overwritten_file_is_an_update(tools):
    """An existing file is updated, and the patch shows the changed lines."""
    call = tools.call(Edit(file="a", text="one\nTWO\n"), "/project")
    done = Performance(original="one\ntwo\n", content="one\nTWO\n")

    response = tools.result(call, done, "/project").response

    assert (response["type"], response["originalFile"]) == ("update", "one\ntwo\n")
    assert response["structuredPatch"][0]["lines"] == [" one", "-two", "+TWO"]


def test_an_edit_says_what_was_replaced(tools):
    """The result of an edit has both passages and the text before."""
    call = tools.call(Edit(file="a", text="b", old="a"), "/project")

    response = tools.result(call, Performance(original="a", content="b"), "/project").response

    assert (response["oldString"], response["newString"], response["originalFile"]) == ("a", "b", "a")


def test_a_read_file_is_numbered(tools):
    """The agent reads a file with line numbers, and hooks get the whole file."""
    call = tools.call(Read(file="a"), "/project")

    result = tools.result(call, Performance(content="x\ny\n"), "/project")

    assert result.text.splitlines() == ["1\tx", "2\ty", "3\t"]
    assert result.response["file"]["content"] == "x\ny\n"
