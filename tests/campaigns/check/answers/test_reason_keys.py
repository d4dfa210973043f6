"""Claims about where hosts read the reason of a refusal."""

from pathlib import Path

import pytest

from pytest_hookharness.campaigns.check.answers.reason_keys import reason_keys, with_reason_keys
from pytest_hookharness.campaigns.check.reads.shared_symptoms import symptom_of
from pytest_hookharness.judging.findings.finding_catalogue import CRASHED, SILENT_REFUSAL
from pytest_hookharness.model.checkup import CheckReport, HookSet, Problem
from pytest_hookharness.model.scenario import Scenario


@pytest.mark.parametrize(
    ("host", "event", "keys"),
    [
        ("cursor", "beforeShellExecution", ("agent_message",)),
        ("gemini-cli", "BeforeTool", ("reason",)),
        ("claude-code", "PreToolUse", ("hookSpecificOutput.permissionDecisionReason", "reason")),
        ("claude-code", "NoSuchEvent", ()),
    ],
)
def test_where_a_reason_is_read(host, event, keys):
    """The keys are those of the host's own rules for the event."""
    assert reason_keys(host, event) == keys


@pytest.mark.parametrize(("code", "named"), [(SILENT_REFUSAL, True), (CRASHED, False)])
def test_only_a_refusal_without_a_reason_is_told_of_them(code, named):
    """The advice about a refusal without a reason names the key, and that about another problem does not."""
    symptom = symptom_of(code, "./x.sh", "beforeShellExecution was refused without a reason.", "Say why.")
    place = HookSet(host="cursor", root=Path("/x"), files=(".cursor/hooks.json",))
    problem = Problem(id="x", symptom=symptom, scenario=Scenario(name="x"))
    (told,) = with_reason_keys(CheckReport(place=place, problems=(problem,))).problems
    assert ("`agent_message`" in told.symptom.advice) is named
