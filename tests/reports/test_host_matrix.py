"""One scenario on several hosts: the verdicts side by side, and the facts behind the differences."""

from pytest_hookharness.reports.terminal.host_matrix import HostRun, render_matrix


def turn(number, result, fact):
    """One turn of a path."""
    return {
        "turn": number,
        "result": result,
        "event": "Stop",
        "fact": fact,
        "basis": "observed",
        "source": "seen",
    }


def run(host, verdict, *turns, scenario="loop"):
    """One scenario on one host."""
    last = {
        "turn": 0,
        "result": verdict,
        "fact": "it has no guard",
        "basis": "documented",
        "source": "its pages",
    }
    return HostRun(scenario, host, verdict, [*turns, last])


REFUSED = turn(1, "refused", "exit code 2 refuses")


def test_verdicts_are_side_by_side():
    """Each scenario has a line with the verdict on each host, or a dash for a host without a run."""
    text = render_matrix([run("a@1", "livelock"), run("b@2", "livelock"), run("a@1", "hung", scenario="x")])

    assert [line.split() for line in text.splitlines()] == [
        ["scenario", "a@1", "b@2"],
        ["loop", "livelock", "livelock"],
    ]


def test_the_fact_behind_a_difference_is_named():
    """If verdicts differ, the first turn with different results is shown, with the fact behind each."""
    text = render_matrix(
        [
            run("a@1", "livelock", REFUSED, turn(2, "refused", "a refusal on Stop makes the agent go on")),
            run("b@2", "terminated", REFUSED, turn(2, "allowed", "the second refusal is not asked for")),
        ]
    )

    assert "HH018 DIVERGE  loop: livelock on a@1; terminated on b@2" in text
    assert "a@1: in turn 2 refused: a refusal on Stop makes the agent go on (observed: seen)" in text
    assert "b@2: in turn 2 allowed: the second refusal is not asked for (observed: seen)" in text
    assert "turn 1" not in text


def test_each_reason_is_given_once():
    """Hosts with one verdict share a line if they have one reason, and have two lines otherwise."""
    flag, code = turn(1, "allowed", "the flag is set"), turn(1, "allowed", "exit code 2 means nothing")
    runs = [run("a@1", "livelock", REFUSED), *(run(host, "terminated", code) for host in ("c@3", "d@4"))]
    text = render_matrix([*runs, run("b@2", "terminated", flag)])
    turned = render_matrix([runs[1], run("b@2", "terminated", flag), runs[0]])

    assert "c@3, d@4: in turn 1 allowed: exit code 2 means nothing (observed: seen)" in text
    assert "b@2: in turn 1 allowed: the flag is set (observed: seen)" in text
    assert text.count("a@1: in turn 1 refused") == 1
    assert "b@2: in turn 1 allowed: the flag is set" in turned


def test_many_hosts_are_rows():
    """More than six hosts have a line each, and scenarios are the columns."""
    lines = render_matrix([run(f"h@{number}", "hung") for number in range(7)]).splitlines()

    assert [line.split() for line in lines[:2]] == [["scenario", "loop"], ["h@0", "hung"]]
    assert len(lines) == 8


def test_hosts_that_differ_only_at_the_end_differ_by_their_last_fact():
    """If all turns are equal, the fact behind the verdict is shown."""
    text = render_matrix([run("a@1", "livelock", REFUSED), run("b@2", "capped", REFUSED)])

    assert "a@1: livelock: it has no guard (documented: its pages)" in text


def test_hosts_that_agree_have_no_reasons():
    """If all hosts have one verdict, no facts are shown."""
    assert "DIVERGE" not in render_matrix([run("a@1", "livelock", REFUSED), run("b@2", "livelock")])


def test_a_refusal_that_one_host_ignores_is_a_difference():
    """Sessions with one verdict differ if only one host refused, and the note there is the reason."""
    unheard = {**turn(1, "allowed", "the word deny refuses"), "note": "ignored: block is no refusal"}
    text = render_matrix([run("a@1", "terminated", REFUSED), run("b@2", "terminated", unheard)])

    assert "DIVERGE  loop: terminated, 1 refused on a@1; terminated, 0 refused on b@2" in text
    assert "b@2: in turn 1 allowed (ignored: block is no refusal): the word deny refuses" in text


def test_different_input_is_a_difference():
    """If hooks were given different flags, or none, this is shown for both hosts."""
    flagged = {**REFUSED, "flag": "false"}
    other = {**turn(1, "allowed", "silence is no opinion"), "flag": "true"}
    text = render_matrix([run("a@1", "livelock", flagged), run("b@2", "terminated", other)])

    assert "a@1: in turn 1 refused, with stop_hook_active false: exit code 2 refuses" in text
    assert "b@2: in turn 1 allowed, with stop_hook_active true: silence" in text
    assert "without stop_hook_active" in render_matrix(
        [run("a@1", "livelock", REFUSED), run("b@2", "terminated", other)]
    )
    halted = {**turn(1, "halted", "x"), "flag": "false"}
    assert "stop_hook_active" not in render_matrix(
        [run("a@1", "livelock", flagged), run("b@2", "hung", halted)]
    )


def test_hooks_that_are_no_longer_run_differ_by_the_cap():
    """If a host no longer runs the hooks of a stop, the fact is that of its cap."""
    unasked = turn(1, "no hook was asked", "")
    text = render_matrix([run("a@1", "livelock", REFUSED), run("b@2", "capped", unasked)])

    assert "b@2: in turn 1 no hook was asked: it has no guard (documented: its pages)" in text
    assert "stop_hook_active" not in text


def test_scenarios_whose_hosts_agree_are_counted():
    """Scenarios whose hosts agree are only counted."""
    agreeing = [run(host, "hung", scenario=name) for host in ("a@1", "b@2") for name in ("x", "y")]
    text = render_matrix([run("a@1", "livelock"), run("b@2", "capped"), *agreeing])

    assert "same result on all hosts: 2 scenarios" in text
    assert "hung" not in text
    assert render_matrix(agreeing) == "same result on all hosts: 2 scenarios"
    one = [played for played in agreeing if played.scenario == "x"]
    text = render_matrix([run("a@1", "livelock"), run("b@2", "capped"), *one])
    assert "same result on all hosts: 1 scenario\n" in text


def test_one_host_is_not_compared():
    """Nothing is printed if no scenario was played on two hosts."""
    assert render_matrix([run("a@1", "livelock"), run("b@2", "livelock", scenario="other")]) == ""


def test_hostile_names_stay_text():
    """Control characters in a scenario's name or a fact are not passed on."""
    text = render_matrix([run("a@1", "livelock", turn(1, "refused", "\x1b[31mred"), scenario="x\x1b[0m"),
                   run("b@2", "hung", scenario="x\x1b[0m")])  # fmt: skip

    assert "\x1b" not in text
