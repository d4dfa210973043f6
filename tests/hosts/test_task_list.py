"""The task list of the host as values: what each call does with it, and its part in a session."""

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.hosts.rules.tools_and_transcript import TaskItem
from pytest_hookharness.model.moves import Prompt, Stop, ToolCall, Tools

ONE = TaskItem(id="1", subject="s", description="d")
DONE = TaskItem(id="2", subject="t", description="e", form="doing t", status="completed")
GONE = TaskItem(id="3", subject="u", status="deleted")
LIST = (ONE, DONE, GONE)


@pytest.fixture
def plan(profile):
    """What a call of Claude Code would do with a list of three tasks, one of them deleted."""
    return lambda name, **given: profile.tools.tasks(ToolCall(name=name, input=given), LIST)


def test_a_new_task_gets_the_next_number(plan):
    """A new task gets a number that no other task had, deleted ones included."""
    step = plan("TaskCreate", subject="v", description="f", activeForm="doing v")

    assert step.created == TaskItem(id="4", subject="v", description="f", form="doing v")
    assert step.items == (*LIST, step.created)
    assert step.result.response == {"task": {"id": "4", "subject": "v"}}


@pytest.mark.parametrize("status, completed", [("completed", "1"), ("in_progress", None), ("pending", None)])
def test_a_task_is_changed(plan, status, completed):
    """Only a task that becomes completed is returned as completed, and the other tasks stay as they are."""
    step = plan("TaskUpdate", taskId="1", status=status, description="more")

    assert (step.completed.id if step.completed else None) == completed
    assert [item.status for item in step.items] == [status, "completed", "deleted"]
    assert step.items[0].description == "more"


def test_a_task_is_completed_once(plan):
    """A completed task is not completed a second time."""
    assert plan("TaskUpdate", taskId="2", status="completed").completed is None


@pytest.mark.parametrize(
    "name, given",
    [
        ("TaskCreate", {"subject": "v"}),
        ("TaskCreate", {"description": "v"}),
        ("TaskUpdate", {"taskId": "9", "status": "completed"}),
        ("TaskUpdate", {"taskId": "3", "status": "completed"}),
        ("TaskUpdate", {"taskId": "1", "status": "done"}),
        ("TaskUpdate", {}),
    ],
)
def test_an_invalid_call_fails(plan, name, given):
    """A call without a required key, or about a missing task, fails and changes nothing."""
    step = plan(name, **given)

    assert step.result.failed
    assert step.items == LIST
    assert (step.created, step.completed) == (None, None)


def test_a_deleted_task_is_not_shown(plan):
    """The list and a single task are shown as they are, without deleted tasks."""
    assert plan("TaskList").result.text == "#1 [pending] s\n#2 [completed] t"
    assert plan("TaskGet", taskId="1").result.text == "Task #1: s\nStatus: pending\nDescription: d"
    assert plan("TaskGet", taskId="3").result.response == {"task": None}


def test_other_tools_leave_the_task_list_alone(plan):
    """A call of any other tool is not about the task list."""
    assert plan("Bash", command="true") is None


CREATE = Tools(calls=(ToolCall(name="TaskCreate", input={"subject": "s", "description": "d"}),))
REFUSAL = {"decision": "block", "reason": "no"}


def test_the_list_is_part_of_the_state(play):
    """A new task is part of the state, and a refused one is not."""
    acts = [Prompt(text="go"), CREATE, Stop()]

    let, refused = (
        play({"TaskCreated": "./x"}, acts, lambda *_, said=said: said) for said in (None, REFUSAL)
    )

    assert let.sessions[-1].visible["task list"] == [["1", "s", "d", "", "pending"]]
    assert refused.sessions[-1].visible["task list"] == []


def test_tasks_without_hooks(play):
    """A session without hooks keeps its task list and requests no performance of the call."""
    played = play({}, [Prompt(text="go"), CREATE, Stop()], lambda *_: None)

    assert [performed.result.text for performed in played.performed] == ["Task #1 created successfully: s"]
    assert not any(isinstance(request, hosts.PerformCall) for request in played.requests)


def test_the_agent_sees_which_event_refused_a_task(play):
    """The agent's history has a refused task with the event that refused it, so that the agent can react."""
    played = play({"TaskCreated": "./x"}, [Prompt(text="go"), CREATE, Stop()], lambda *_: REFUSAL)

    (message,) = played.observations[1]
    assert (message.kind, message.event, message.text) == (
        "refusal",
        "TaskCreated",
        "TaskCreated hook feedback:\nno",
    )
    assert played.sessions[-1].calls_refused
