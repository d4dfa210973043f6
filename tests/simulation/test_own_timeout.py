"""Hook runs that the harness cut although their host would have waited longer."""

from __future__ import annotations

import pytest

from pytest_hookharness.execution.paths import PACKAGE
from pytest_hookharness.model.verdicts import Capped, Hung, Livelock, Terminated, Undecided
from pytest_hookharness.reports.terminal.advice import advice

# They take longer than the hook timeout, and less than the host's limit.
DECIDES_LATER = [
    "sleep 30; echo more >&2; exit 2",
    "timeout 30 sleep 1000; exit 2",
    "perl -e 'alarm 30; exec @ARGV' sleep 1000; exit 2",
    "perl -e '$SIG{ALRM} = sub { exit 2 }; alarm 30; sleep 1000'; exit 2",
    "while :; do :; done",
    "while sleep 0.02; do :; done",
    "python3 -c 'import threading, time; threading.Thread(target=time.sleep, args=(30,)).start()'; exit 2",
]


@pytest.mark.nightly
@pytest.mark.parametrize("hook", DECIDES_LATER)
def test_a_run_that_might_decide_later_decides_nothing(play, hook):
    """A hook that might end between the hook timeout and the host's limit leaves the verdict open."""
    outcome = play(hooks={"Stop": hook}, hook_timeout=0.3, expect={"verdict": "undecided"})

    assert isinstance(outcome.verdict, Undecided)
    assert "would have decided in turn 1 is unknown: it was cut after the hook timeout" in outcome.verdict.why
    assert "--hook-timeout 601s" in advice(outcome)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "hook",
    [
        "sleep 86399",
        "sleep 86399 | cat",
        "sleep 86399 & wait",
        "kill -STOP $$",
        "mkfifo f; read x <f",
        "python3 -c 'import time; time.sleep(86399)'",
    ],
)
def test_a_run_that_waits_beyond_the_hosts_limit(play, hook):
    """A hook that surely waits until its host cuts it lets the stop pass, as there; this is an assumption."""
    outcome = play(hooks={"Stop": hook}, hook_timeout=0.3, expect={"findings": ["HUNG-HOOK"]})

    assert isinstance(outcome.verdict, Terminated)
    assert any("waits beyond the host's limit" in sentence for sentence in outcome.assumptions)


@pytest.mark.nightly
def test_another_hook_that_refuses_proves_nothing_beside_it(play):
    """A loop is not proved while another hook was cut that might have ended it."""
    late = {"command": "sleep 30; touch done", "matcher": ""}
    refusing = {"command": "[ -f done ] && exit 0; echo more >&2; exit 2", "matcher": ""}
    outcome = play(hooks={"Stop": [late, refusing]}, hook_timeout=0.3, turns=4)

    assert not isinstance(outcome.verdict, Livelock | Capped)
    assert "sleep 30; touch done" in outcome.verdict.why


@pytest.mark.slow
def test_a_hosts_own_shorter_limit_decides(play):
    """A hook that its host itself cuts has decided."""
    hook = {"command": "sleep 30; exit 2", "timeout": 0.3}
    outcome = play(hooks={"Stop": hook}, expect={"findings": ["HUNG-HOOK"]})

    assert isinstance(outcome.verdict, Terminated)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("hook", "verdict"), [("mkfifo f; read x <f", Hung), ("while :; do :; done", Undecided)]
)
def test_a_host_without_a_limit(play, hook, verdict):
    """A host that waits without end is stuck only with a hook that nothing wakes."""
    command = {"type": "command", "command": f"trap '' TERM; {hook}", "timeout": 300}
    outcome = play(host="gemini-cli", hooks={"AfterAgent": [{"hooks": [command]}]}, hook_timeout=1)

    assert isinstance(outcome.verdict, verdict)


@pytest.mark.nightly
def test_an_experiment_that_is_cut_shows_no_stop(play):
    """A turn that is played ahead and cut is not reported as a stop that the hooks allow."""
    hook = (
        "n=$(($(cat .n 2>/dev/null || echo 0)+1)); echo $n >.n\n"
        "[ $n -ge 900 ] && sleep 30\n"
        "echo more >&2; exit 2"
    )
    outcome = play(host="codex", hooks={"Stop": hook}, hook_timeout=0.5, turns=30)

    assert isinstance(outcome.verdict, Undecided)
    assert "allow the stop" not in outcome.verdict.why
    assert "is unknown: it was cut after the hook timeout" in outcome.verdict.why
    assert "do something else" not in outcome.verdict.why


@pytest.mark.nightly
@pytest.mark.parametrize("cap", [None, "none"])
def test_a_hook_that_is_cut_at_a_later_time_only(play, cap):
    """If a hook is cut only at a later time, the verdict says once that its decision then is unknown."""
    hook = (
        "start=$(cat .start 2>/dev/null || date +%s | tee .start)\n"
        '[ "$(date +%s)" -lt $((start + 3600)) ] || sleep 30\n'
        "echo more >&2; exit 2"
    )
    outcome = play(hooks={"Stop": hook}, hook_timeout=0.5, **({"cap": cap} if cap else {}))

    why = outcome.verdict.why if cap else outcome.verdict.without.why
    assert why.count("is unknown: it was cut after the hook timeout") == 1
    assert "do something else" not in why


@pytest.mark.nightly
def test_what_was_found_stays_if_a_narrower_experiment_is_cut(play):
    """A time after which the stop is allowed is reported, though runs at times before it are cut."""
    hook = (
        "start=$(cat .start 2>/dev/null || date +%s | tee .start)\n"
        "age=$(($(date +%s) - start))\n"
        "[ $age -ge 5000 ] && exit 0\n"
        "[ $age -ge 600 ] && [ $age -lt 3000 ] && sleep 30\n"
        "echo more >&2; exit 2"
    )
    outcome = play(hooks={"Stop": hook}, hook_timeout=0.5, cap="none", turns=12)

    assert isinstance(outcome.verdict, Undecided)
    assert "it would allow the stop after" in outcome.verdict.why


COUNTS = "n=$(($(cat .n 2>/dev/null || echo 0) + 1)); echo $n >.n\n"


@pytest.mark.nightly
def test_a_run_without_the_cap_that_is_cut_shows_nothing(play):
    """A hook that is cut beyond the host's cap is not reported as one that allows the stop."""
    hook = COUNTS + "[ $n -ge 12 ] && sleep 30\necho more >&2; exit 2"
    verdict = play(hooks={"Stop": hook}, hook_timeout=0.5, turns=30).verdict

    assert isinstance(verdict, Capped)
    assert verdict.without.name == "undecided"


@pytest.mark.nightly
@pytest.mark.parametrize(
    "hook",
    [
        COUNTS + "[ $(date +%a) = Sun ] && sleep 30\n[ $n -gt 2 ] && exit 0\necho more >&2; exit 2",
        (
            "s=$(cat start 2>/dev/null || { date +%s >start; echo more >&2; exit 2; }) || exit 2\n"
            "[ $(($(date +%s) - s)) -ge 1800 ] && sleep 30\nexit 0"
        ),
    ],
    ids=["on a day", "after a time"],
)
def test_another_time_at_which_a_hook_is_cut_shows_nothing(play, hook):
    """A hook that is only slower at another time is no finding about the clock."""
    outcome = play(hooks={"Stop": hook}, hook_timeout=0.5)

    assert {"CLOCK", "FLAKY"}.isdisjoint(finding.name for finding in outcome.findings)


@pytest.mark.nightly
def test_a_difference_in_the_world_that_makes_a_hook_slow_shows_nothing(play):
    """A guard that is cut because a program is missing is not reported as one that allows the call."""
    guard = "cat >/dev/null; command -v jq >/dev/null || sleep 30; echo no >&2; exit 2"
    calls = [{"run": "rm x", "expect": "deny"}, {"stop": "Done."}]
    outcome = play(hooks={"PreToolUse": guard}, agent=calls, hook_timeout=0.5, vary=["tools"])

    assert outcome.verdict_name == "terminated"
    assert "UNGUARDED-TOOL" not in {finding.name for finding in outcome.findings}


@pytest.mark.slow
def test_a_hook_after_the_session_decides_nothing(play):
    """A hook of the end of the session that is cut leaves the verdict on the session as it is."""
    outcome = play(hooks={"SessionEnd": "sleep 30"}, hook_timeout=0.3, expect={"findings": ["HUNG-HOOK"]})

    assert isinstance(outcome.verdict, Terminated)


@pytest.mark.slow
def test_a_process_left_running_may_wake_a_hook(play):
    """A hook that waits for a FIFO is not taken for endless while a process left behind might write to it."""
    waits = "[ -p f ] || mkfifo f; read x <f; exit 2"
    outcome = play(
        hooks={"UserPromptSubmit": "(sleep 20; echo go >f) >&- 2>&- & exit 0", "Stop": waits},
        hook_timeout=0.3,
        agent=[{"prompt": "Go."}, {"stop": "Done."}],
    )

    assert isinstance(outcome.verdict, Undecided)


ANSWER = 'python3 -c "print(chr(123) + chr(34) + chr(120) * 5000000 + chr(34))"'


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize(
    ("hook", "name"),
    [
        (ANSWER, "undecided"),
        # Text that is no JSON answer decides nothing, and exit code 2 refuses beside any output.
        (ANSWER.replace("chr(123)", "chr(120)"), "terminated"),
        (f"{ANSWER}; echo more >&2; exit 2", "livelock"),
    ],
)
@pytest.mark.parametrize("event", ["Stop", "PreToolUse"])
def test_an_answer_that_the_harness_does_not_keep_is_unknown(play, hook, name, event):
    """A JSON answer of which the harness keeps only the beginning decides nothing that is known."""
    acts = [{"prompt": "Go"}, {"run": "true"}, {"stop": "Done"}]
    outcome = play(hooks={event: hook}, agent=acts, expect={"findings": ["OUTPUT-CUT"]})

    ends = event == "PreToolUse" and name == "livelock"
    assert outcome.verdict_name == ("terminated" if ends else name)
    if name == "undecided":
        assert "is unknown: the harness keeps 4194304 of the 5000004 bytes" in outcome.verdict.why
        assert advice(outcome) == ""


@pytest.mark.slow
def test_what_the_harness_compiles_is_no_write_of_a_hook(play):
    """Where the package is not compiled, what describes a hook that was cut is not told as its file."""
    for compiled in PACKAGE.glob("execution/processes/__pycache__/activities.*"):
        compiled.unlink(missing_ok=True)

    outcome = play(hooks={"Stop": "sleep 30"}, hook_timeout=0.2, expect={"verdict": "undecided"})

    assert isinstance(outcome.verdict, Undecided)
    assert not any("activities" in sentence for sentence in outcome.assumptions)
