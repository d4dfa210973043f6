"""Claims about Stop hooks that start a check of the project, which test doubles stand in for."""

import pytest

from pytest_hookharness.campaigns.check.check_run import CheckRun
from pytest_hookharness.campaigns.check.failing_gates import kept_gates, plan_failing_gates
from pytest_hookharness.campaigns.check.grouping import PlayedSession
from pytest_hookharness.campaigns.check.session_errors import play_session

GATE = """#!/bin/bash
{guard}
changed=$(git diff --name-only; git ls-files --others --exclude-standard)
echo "$changed" | grep -qE '\\.(ts|tsx)$' || exit 0
out=$(pnpm check 2>&1) || {{ echo "Fix this first: $out" >&2; exit 2; }}
"""
FLAG = """[ "$(jq -r .stop_hook_active)" = true ] && exit 0"""
PYTHON = """import subprocess, sys
if subprocess.run(["npm", "test"], capture_output=True).returncode:
    print("The tests fail.", file=sys.stderr)
    sys.exit(2)
"""


@pytest.fixture
def gates(plugin, harness):
    """The sessions with failing checks that are kept for a Stop hook."""

    def make(name, program, text):
        hook_set = plugin(f'{program} "${{CLAUDE_PLUGIN_ROOT}}/{name}"', **{name: text})
        return [*kept_gates([played(one) for one in plan_failing_gates(hook_set, hook_set.hooks)])]

    def played(session):
        return PlayedSession(session, play_session(session, harness.settings, harness.resources))

    return make


@pytest.mark.parametrize(
    ("name", "program", "text", "started"),
    [
        ("gate.sh", "bash", GATE.format(guard=""), ["pnpm"]),
        ("gate.py", "python3", PYTHON, ["npm"]),
    ],
)
def test_a_gate_whose_check_fails(gates, harness, name, program, text, started):
    """A stop is refused again and again while the check fails, whichever files the gate looks for."""
    (session,) = gates(name, program, text)
    assert [*session.scenario.commands] == started
    assert session.way_out == f"makes its check succeed ({', '.join(started)})"
    outcome = play_session(session, harness.settings, harness.resources)
    assert outcome.verdict_name in ("livelock", "capped")


@pytest.mark.parametrize(
    "text",
    [
        "#!/bin/bash\npnpm check || true\n",
        "#!/bin/bash\necho 'run pnpm check' >&2\nexit 2\n",
        "#!/bin/bash\n# pnpm check\nexit 0\n",
        "#!/bin/bash\npnpm check || echo failed\nexit 2\n",
    ],
)
def test_hooks_that_no_check_decides(gates, text):
    """Nothing is kept if the hook starts no check, or decides the same when it succeeds."""
    assert not gates("gate.sh", "bash", text)


def test_what_starts_the_hook_itself(gates):
    """What starts the script of a hook has no stand-in."""
    assert not gates("gate.sh", "npx bash", "#!/bin/bash\nnpx tsc || exit 2\n")


@pytest.mark.slow
@pytest.mark.parametrize(("guard", "kinds"), [("", [True]), (FLAG, [])])
def test_what_is_reported_of_a_gate(plugin, harness, guard, kinds):
    """A gate that ignores that it refused before is worth knowing, one that does not is no problem."""
    text = GATE.format(guard=guard)
    hook_set = plugin('bash "${CLAUDE_PLUGIN_ROOT}"/gate.sh', **{"gate.sh": text})
    report = CheckRun(hook_set, harness.settings, harness.resources).run()
    found = [one.symptom for one in report.problems if one.symptom.kind in ("livelock", "capped", "no-end")]
    assert [one.avoidable for one in found] == kinds
    assert all("makes its check succeed (pnpm)" in one.text for one in found)
