"""The hooks that call a program whose absence shows in what another hook decides."""

from pathlib import Path

import pytest

from pytest_hookharness.campaigns.check.lone_programs.callers import with_callers
from pytest_hookharness.model.checkup import HookSet, Problem, Symptom
from pytest_hookharness.model.protocol import Hook
from pytest_hookharness.model.scenario import Scenario

COUNT = "#!/bin/bash\n[ $(jq -r .tool_name) = Edit ] && touch dirty\n"
GATE = "#!/bin/bash\n[ -e dirty ] || exit 0\necho 'Run the tests.' >&2\nexit 2\n"


@pytest.mark.parametrize(
    ("gate", "hooks"),
    [
        (GATE, "./count.sh, ./gate.sh"),
        (GATE.replace("exit 0", ". ./lib.sh"), "./gate.sh"),
        (GATE.replace("[ -e dirty ]", "jq -e .x"), "./gate.sh"),
        (GATE.replace("#!/bin/bash", "#!/bin/bash\n# It needs no jq."), "./count.sh, ./gate.sh"),
    ],
    ids=["only the other hook calls it", "a loaded file may call it", "it calls it itself", "a comment"],
)
def test_the_hook_that_calls_the_program_is_named(gate, hooks):
    """The hook that calls a missing program is named beside the one whose decision changed."""
    scripts = {"./count.sh": ("PostToolUse", COUNT), "./gate.sh": ("Stop", gate)}
    hook_set = HookSet(
        host="claude-code",
        root=Path(),
        files=(),
        hooks=tuple(Hook(event=event, command=command) for command, (event, _) in scripts.items()),
        sources=tuple((command[2:], text) for command, (_, text) in scripts.items()),
    )
    text = "Stop in turn 3: refuses (exit 2); with no `jq` on the PATH, allows (exit 0)."
    symptom = Symptom(kind="UNGUARDED-TOOL", hook="./gate.sh", text=text)
    problem = Problem(id="x", symptom=symptom, scenario=Scenario(name="check"))
    (found,) = with_callers(hook_set, [problem])
    assert found.symptom.hook == hooks
