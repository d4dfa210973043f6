"""Values that valid files, texts and mappings become."""

import time
from pathlib import Path

import pytest

from pytest_hookharness import scenario_files
from pytest_hookharness.model import moves
from pytest_hookharness.model.agent_sessions import Nesting
from pytest_hookharness.model.expectations import CapExpectation, Expectation, FileExpectations, Range
from pytest_hookharness.model.mutations import WorkingFolder
from pytest_hookharness.model.scenario import Answer, AssumedCap, Double, Mask

HERE = Path("x.scenario.yaml")


def only(text):
    (scenario,) = scenario_files.loads(text, HERE)
    return scenario


def acts(text):
    return only("name: a\nagent:\n" + text).script.acts


def test_a_name_is_enough():
    """A file with only a name is an idle agent with one prompt that must be able to stop."""
    scenario = only("name: a\n")

    assert scenario.script == moves.Script(acts=(moves.Prompt(text="Please do the work."),))
    assert (scenario.id, scenario.expect.verdict) == ("a[claude-code]", "terminated")


def test_every_key_becomes_its_field(tmp_path):
    """All keys of a file become fields of the scenario."""
    (tmp_path / "project").mkdir()
    (tmp_path / "plugins" / "one").mkdir(parents=True)
    file = tmp_path / "x.scenario.yaml"
    file.write_text(
        """\
name: full
why: all of it
host: gemini-cli@1.2
project: project/
plugin: ./plugins/one
files: {a.txt: "x\\n", ./b/c.sh: "#!/bin/sh"}
modes: {a.txt: "0600", b: 0755, c: 755, d: 0o755, e: "644"}
git: true
hooks: {Stop: [./a.sh, {command: ./b.sh, timeout: 5}]}
commands:
  npm: {exit: 1, stderr: no, heals_after: 2}
  x: {hangs: true, floods: 10, prompts: "y?"}
  m: {module: a.b}
env: {A: "1"}
when:
- {event: Stop, reason: "lint: .*", do: [say: hm, run: make], times: 2}
mask: [tmp/**, transcript, {file: a, keys: [t]}, {file: b, text: x+}]
world:
  worktree: one
  setup: maintenance
  network: true
  answers: [{event: Stop, type: prompt, match: fine, reply: {ok: true}, times: 1}]
  cover: [/opt/state]
  cwd: {path: sub, removed: true}
  home: {.profile: x}
  nesting: {depth: 2}
  readonly: [workspace/a]
until: guard
turns: 9
hook_timeout: 250ms
""".replace("do: [say: hm, run: make]", "do: [{say: hm}, {run: make}]")
    )
    (scenario,) = scenario_files.load(file)

    assert (scenario.name, scenario.why, scenario.host) == ("full", "all of it", "gemini-cli@1.2")
    assert scenario.project == (tmp_path / "project").resolve()
    assert scenario.plugin == (tmp_path / "plugins" / "one").resolve()
    assert scenario.files == {"a.txt": "x\n", "b/c.sh": "#!/bin/sh"}
    assert scenario.modes == {"a.txt": 0o600, "b": 0o755, "c": 0o755, "d": 0o755, "e": 0o644}
    assert (scenario.git, scenario.network, scenario.until, scenario.turns) == (True, True, "guard", 9)
    assert (scenario.worktree, scenario.setup) == ("one", "maintenance")
    assert scenario.hooks == {"Stop": ["./a.sh", {"command": "./b.sh", "timeout": 5}]}
    assert scenario.commands == {
        "npm": Double(exit=1, stderr="no", heals_after=2),
        "x": Double(hangs=True, floods=10, prompts="y?"),
        "m": Double(module="a.b"),
    }
    assert scenario.env == {"A": "1"}
    assert scenario.script.reactions == (
        moves.Reaction(
            event="Stop",
            reason="lint: .*",
            moves=(moves.RunCommand(command="make", say="hm", label="when[0].do[1]"),),
            times=2,
        ),
    )
    assert scenario.answers == (
        Answer(event="Stop", type="prompt", match="fine", reply={"ok": True}, times=1),
    )
    assert scenario.masks == (
        Mask(file="tmp/**"),
        Mask(file="transcript"),
        Mask(file="a", keys=("t",)),
        Mask(file="b", text="x+"),
    )
    assert (scenario.cover, scenario.hook_timeout) == (("/opt/state",), 0.25)
    assert (scenario.cwd, scenario.nesting) == (WorkingFolder("sub", removed=True), Nesting(depth=2))
    assert (scenario.home, scenario.readonly) == ({".profile": "x"}, ("workspace/a",))


@pytest.mark.parametrize(
    "written, flags",
    [
        ("never", (False,)),
        ("always", (True,)),
        ("absent", ("absent",)),
        ("[false, true, null, absent]", (False, True, None, "absent")),
    ],
)
def test_flags(written, flags):
    """The value of `stop_hook_active` is set by never, always or a list."""
    (scenario,) = scenario_files.loads(f"name: a\nflag: {written}\n", Path("x"))

    assert scenario.flags == flags


@pytest.mark.parametrize(
    "written, cap",
    [
        ("none", AssumedCap()),
        ("3", AssumedCap(refusals=3)),
        ("{refusals: 3, resets: calls_tried}", AssumedCap(refusals=3, resets="calls_tried")),
    ],
)
def test_caps(written, cap):
    """The host's cap is set by none, a number, or a number with what resets its count."""
    (scenario,) = scenario_files.loads(f"name: a\ncap: {written}\n", Path("x"))

    assert scenario.cap == cap


ACTS = [
    ("prompt: hi", moves.Prompt(text="hi")),
    ("prompt: {text: hi}", moves.Prompt(text="hi")),
    ("wait: 301s", moves.Wait(seconds=301)),
    ("wait: 5m", moves.Wait(seconds=300)),
    ("wait: 2h", moves.Wait(seconds=7200)),
    ("wait: 1.5", moves.Wait(seconds=1.5)),
    ("compact: manual", moves.Compact(trigger="manual")),
    ("compact:", moves.Compact()),
    ("resume:", moves.Resume()),
    ("resume: true", moves.Resume()),
    ("resume: fork", moves.Resume(fork=True)),
    ("end: logout", moves.End(reason="logout")),
    ("end:", moves.End()),
    ("corrupt: {file: a}", moves.Corrupt(file="a")),
    ("corrupt: {file: a, how: chmod, text: '0000'}", moves.Corrupt(file="a", how="chmod", text="0000")),
    ("run: make", moves.RunCommand(command="make", label="agent[0]")),
    (
        "{run: make, expect: deny, result: {text: no, failed: true, response: [1]}}",
        moves.RunCommand(
            command="make",
            expect="deny",
            given=moves.ToolResult(text="no", failed=True, response=[1]),
            label="agent[0]",
        ),
    ),
    ("edit: {file: ./a, text: b}", moves.Edit(file="a", text="b", label="agent[0]")),
    (
        "{edit: {file: a, old: x, text: b}, result: ok}",
        moves.Edit(file="a", text="b", old="x", given=moves.ToolResult(text="ok"), label="agent[0]"),
    ),
    ("read: a", moves.Read(file="a", label="agent[0]")),
    ("read: {file: a}", moves.Read(file="a", label="agent[0]")),
    ("stop: bye", moves.Stop(text="bye", label="agent[0]")),
    ("stop:", moves.Stop(text="Done.", label="agent[0]")),
    ("subagent: look", moves.Subagent(prompt="look", label="agent[0]")),
    (
        "subagent: {kind: k, prompt: p, text: t}",
        moves.Subagent(kind="k", prompt="p", texts=("t",), label="agent[0]"),
    ),
    ("tool: {name: X}", moves.Tools(calls=(moves.ToolCall(name="X", input={}, label="agent[0]"),))),
    (
        "{tool: [{name: X, input: {a: 1}, expect: ask}, {name: Y}], expect: deny}",
        moves.Tools(
            calls=(
                moves.ToolCall(name="X", input={"a": 1}, expect="ask", label="agent[0].tool[0]"),
                moves.ToolCall(name="Y", input={}, expect="deny", label="agent[0].tool[1]"),
            )
        ),
    ),
]


@pytest.mark.parametrize("text, act", ACTS, ids=[row[0] for row in ACTS])
def test_an_act_becomes_its_value(text, act):
    """Each form of an act becomes an act of the model, labelled with its key path."""
    assert acts(f"- {text}\n") == (act,)


def test_say_belongs_to_the_next_call():
    """The text of `say` becomes part of the call after it, and of no other."""
    assert acts("- say: hi\n- run: a\n- run: b\n") == (
        moves.RunCommand(command="a", say="hi", label="agent[1]"),
        moves.RunCommand(command="b", label="agent[2]"),
    )


@pytest.mark.parametrize(
    "text, behaviour",
    [
        ("idle", moves.Behaviour(name="idle")),
        ("{fixing: {after: 2}}", moves.Behaviour(name="fixing", options={"after": 2})),
    ],
)
def test_the_end_of_the_script_is_a_behaviour(text, behaviour):
    """`then` names a behaviour, alone or with its options."""
    script = only(f"name: a\nagent:\n- stop: x\n- then: {text}\n").script

    assert (script.then, len(script.acts)) == (behaviour, 1)


EXPECTATIONS = [
    ("verdict: hung", Expectation(verdict="hung")),
    ("within: 3", Expectation(verdict="terminated", within=3)),
    ("blocks: 2", Expectation(verdict="terminated", blocks=Range(2, 2))),
    ("blocks: {max: 2}", Expectation(verdict="terminated", blocks=Range(None, 2))),
    ("blocks: {Stop: {min: 1}}", Expectation(verdict="terminated", blocks={"Stop": Range(1)})),
    ("fires: {a.sh: 1}", Expectation(verdict="terminated", hook_runs={"a.sh": Range(1, 1)})),
    (
        "decisions: {Stop: [deny, none]}",
        Expectation(verdict="terminated", decisions={"Stop": ("deny", "none")}),
    ),
    ("guard: none", Expectation(verdict="terminated", cap=CapExpectation(present=False))),
    ("guard: present", Expectation(verdict="terminated", cap=CapExpectation())),
    ("guard: {overrides: 9}", Expectation(verdict="terminated", cap=CapExpectation(overrides=9))),
    (
        "{verdict: livelock, period: 1, evidence: closed}",
        Expectation(verdict="livelock", period=1, evidence="closed"),
    ),
    ("reasons: a+", Expectation(verdict="terminated", reasons=("a+",))),
    ("reasons: [a, b]", Expectation(verdict="terminated", reasons=("a", "b"))),
    ("findings: [HH001, HUNG-HOOK]", Expectation(verdict="terminated", findings=("HH001", "HUNG-HOOK"))),
    (
        "files: {equal: {a: b}, contain: {c: d}, absent: [e], unchanged: [f]}",
        Expectation(
            verdict="terminated",
            files=FileExpectations(equal={"a": "b"}, contain={"c": "d"}, absent=("e",), unchanged=("f",)),
        ),
    ),
    ("leftovers: {min: 1}", Expectation(verdict="terminated", leftovers=Range(1))),
    ("sometimes: [Stop:deny]", Expectation(verdict="terminated", sometimes=("Stop:deny",))),
    ("told: a+", Expectation(verdict="terminated", told=("a+",))),
    ("effects: {Stop:deny: [a]}", Expectation(verdict="terminated", effects={"Stop:deny": ("a",)})),
    ("sessions_alike: true", Expectation(verdict="terminated", sessions_alike=True)),
]


@pytest.mark.parametrize("text, expected", EXPECTATIONS, ids=[row[0] for row in EXPECTATIONS])
def test_an_expectation_becomes_its_value(text, expected):
    """Each form of an expectation becomes the expectation of the model."""
    inner = text if text.startswith("{") else f"{{{text}}}"

    assert only(f"name: a\nexpect: {inner}\n").expect == expected


TRAPS = {
    **{text: text for text in ("on", "no", "yes", "off", "y", "12:30", "1:2:3", "2026-01-02", "=", "1_000")},
    **{text: text for text in ("0b1", "1e", "e1", ".", "+", "0o8", "0xg", "nUll", "tRue", "1.2.3")},
    **dict.fromkeys(("~", "null", "Null", "NULL", ""), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    "0o17": 15,
    "0x1F": 31,
    "017": 17,
    "-3": -3,
    "+3": 3,
    "1e3": 1000.0,
    ".5": 0.5,
    "1.": 1.0,
    "-1.5E-1": -0.15,
    '"1"': "1",
    "'true'": "true",
    '""': "",
}


@pytest.mark.parametrize("text", TRAPS)
def test_scalars_follow_the_core_rules_of_yaml_1_2(text):
    """Only null, true, false and numbers are not texts; `yes`, times and dates are."""
    hooks = only(f"name: a\nhooks:\n  key: {text}\n").hooks

    assert hooks == {"key": TRAPS[text]}
    assert type(hooks["key"]) is type(TRAPS[text])


@pytest.mark.parametrize("key", ["on", "null", "1", "true", "2026-01-02"])
def test_a_key_is_always_the_text_that_was_written(key):
    """Keys are texts, even if they look like numbers."""
    assert only(f"name: a\nhooks: {{{key}: 1}}\n").hooks == {key: 1}


def test_a_variant_adds_to_the_world():
    """Keys of a variant's world replace those of the base one by one; files of the home folder are added."""
    text = """\
name: a
world: {cwd: one, network: true, home: {x: "1", y: "2"}}
variants:
  v: {world: {cwd: two, home: {y: "3"}}}
"""
    base, variant = scenario_files.loads(text, HERE)

    assert (base.cwd, base.network, base.home) == (WorkingFolder("one"), True, {"x": "1", "y": "2"})
    assert (variant.cwd, variant.network, variant.home) == (WorkingFolder("two"), True, {"x": "1", "y": "3"})


def test_variants_and_hosts_multiply():
    """Base and variants run on each host, variants with their keys on top of the base's."""
    text = """\
name: a
host: [one, two@3]
env: {A: "1", B: "1"}
files: {x: "1"}
turns: 5
expect: {verdict: capped, within: 3}
agent: [stop: base]
variants:
  v:
    env: {B: "2"}
    files: {y: "2"}
    expect: {findings: [HH001]}
  w: {agent: [stop: mine], host: three}
"""
    found = scenario_files.loads(text, HERE)

    assert [one.id for one in found] == ["a[one]", "a[two@3]", "a[v-one]", "a[v-two@3]", "a[w-three]"]
    assert (found[2].env, found[2].files) == ({"A": "1", "B": "2"}, {"x": "1", "y": "2"})
    assert found[2].expect == Expectation(verdict="terminated", findings=("HH001",))
    assert (found[2].turns, found[4].expect) == (5, found[0].expect)
    assert found[4].script.acts == (moves.Stop(text="mine", label="variants.w.agent[0]"),)


def test_hosts_that_are_given_replace_those_of_the_file():
    """Hosts from the command line replace those of the file."""
    text = "name: a\nhost: [one, two]\nvariants: {v: {host: three}}\n"
    found = scenario_files.loads(text, HERE, hosts=["four"])

    assert [one.id for one in found] == ["a[four]", "a[v-four]"]


def test_marks_name_the_place_of_each_value():
    """The origin has line and column of every value, in variants too."""
    text = "name: a\n" + 'why: "ää"\nagent:\n- tool: {name: "ü", input: {}}\n'
    text += "variants:\n  v:\n    expect: {verdict: hung}\n"
    base, variant = scenario_files.loads("\ufeff" + text.replace("\n", "\r\n"), HERE)

    assert base.origin.marks["agent[0].tool.name"] == (4, 16)
    assert base.origin.marks["agent[0].tool.input"] == (4, 28)
    assert variant.mark("expect.verdict") == "variants.v.expect.verdict"
    assert variant.origin.line(variant.mark("expect.verdict")) == 7
    assert variant.origin.file == HERE


def test_plain_data_gives_the_same_scenario():
    """A mapping in Python code gives the same scenario as a file."""
    data = {
        "name": "a",
        "agent": ({"prompt": "x"}, {"wait": 5}, {"stop": "y"}, {"then": "obedient"}),
        "hooks": {"Stop": ["./a.sh"]},
        "modes": {"a": 0o644},
        "expect": {"blocks": 1},
    }
    scenario = scenario_files.scenario_from(data)

    assert scenario.script.acts[1:] == (moves.Wait(seconds=5), moves.Stop(text="y", label="agent[2]"))
    assert (scenario.script.then.name, scenario.modes) == ("obedient", {"a": 0o644})
    assert (scenario.hooks, scenario.origin) == ({"Stop": ["./a.sh"]}, None)


def test_a_path_object_may_be_anywhere(tmp_path):
    """Python code can name a folder outside with a path object, but not with a text."""
    file = tmp_path / "here" / "test_x.py"
    file.parent.mkdir()
    assert (
        scenario_files.scenario_from({"name": "a", "project": tmp_path}, path=file).project
        == tmp_path.resolve()
    )

    with pytest.raises(scenario_files.ScenarioErrors, match="is absolute"):
        scenario_files.scenario_from({"name": "a", "project": str(tmp_path)}, path=file)


@pytest.mark.parametrize(
    "data, words",
    [
        ({"name": "a", "variants": {}}, "variants: variants belong in a file"),
        ({"name": "a", "host": ["x", "y"]}, "host: several hosts belong in a file"),
        ({"name": "a", "hooks": {1: 2}}, "hooks: expected a text as key, got int"),
        ({"name": "a", "hooks": {"a": object()}}, "hooks.a: a value of type object is not allowed"),
        ({"name": "a", "hooks": {"a": b"x"}}, "hooks.a: bytes are not allowed"),
        ({"name": "a", "hooks": {"a": float("nan")}}, "hooks.a: nan is not a number"),
        ({"name": "a", "why": "\udc80"}, "why: .* half a surrogate pair"),
        ([], "expected a scenario, got an empty list"),
    ],
)
def test_plain_data_that_is_not_json_is_refused(data, words):
    """Data that is not JSON, or not one scenario, is a problem with its key path."""
    with pytest.raises(scenario_files.ScenarioErrors, match=words):
        scenario_files.scenario_from(data)


def test_plain_data_that_contains_itself_is_refused():
    """A mapping that contains itself is refused because of its depth."""
    data = {}
    data["hooks"] = data
    with pytest.raises(scenario_files.ScenarioErrors, match="more than 64 levels"):
        scenario_files.scenario_from({"name": "a", "hooks": data})


def test_a_script_is_made_of_plain_acts():
    """Acts, behaviour and reactions in Python code give a script."""
    script = scenario_files.script_from(
        [{"run": "make"}, {"stop": "x"}],
        then={"fixing": {"after": 2}},
        when=[{"event": "Stop", "do": [{"stop": "y"}]}],
    )

    assert script == moves.Script(
        acts=(moves.RunCommand(command="make", label="agent[0]"), moves.Stop(text="x", label="agent[1]")),
        then=moves.Behaviour(name="fixing", options={"after": 2}),
        reactions=(moves.Reaction(event="Stop", moves=(moves.Stop(text="y", label="when[0].do[0]"),)),),
    )


def test_a_script_without_acts_starts_with_a_prompt():
    """A script with only a behaviour gets a prompt."""
    assert scenario_files.script_from([], then="obedient") == moves.Script(
        acts=(moves.Prompt(text="Please do the work."),), then=moves.Behaviour(name="obedient")
    )


@pytest.mark.parametrize(
    "arguments, words",
    [
        (([{"stopp": "x"}],), r'agent\[0\].stopp: unknown key "stopp"; did you mean "stop"'),
        (([{"stop": "x"}], 3), "then: expected a behaviour .*, got 3 .a number."),
        (([{"then": "idle"}], "idle"), "then: then is given twice"),
    ],
)
def test_a_bad_script_is_a_value_error_with_the_key_path(arguments, words):
    """A mistake in plain acts is a ValueError with its key path."""
    with pytest.raises(ValueError, match=words):
        scenario_files.script_from(arguments[0], then=arguments[1] if len(arguments) > 1 else None)


@pytest.mark.nightly
def test_a_thousand_files_are_read_within_a_second(tmp_path):
    """Reading a thousand small files takes less than a second of CPU time."""
    text = "name: a\nhost: claude-code\nhooks: {Stop: ./a.sh}\nagent:\n- prompt: go\n- stop: done\n"
    files = [tmp_path / f"{number}.scenario.yaml" for number in range(1000)]
    for file in files:
        file.write_text(text)
    began = time.process_time()
    for file in files:
        scenario_files.load(file)

    assert time.process_time() - began < 1


def test_names_that_are_not_limited_are_all_allowed(tmp_path):
    """Without known names a file may name any host; a misspelt argument is an error."""
    file = tmp_path / "a.scenario.yaml"
    file.write_text('name: a\nhost: no-such-host\nhooks: {Stop: "true"}\nagent: [{stop: Done.}]\n')
    assert scenario_files.load(file, known_hosts=None, known_findings=None, known_behaviours=None)
    with pytest.raises(TypeError, match="knwon_hosts"):
        scenario_files.load(file, knwon_hosts=())
