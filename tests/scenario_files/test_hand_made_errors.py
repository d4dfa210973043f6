"""Malformed files written by hand, and their error messages."""

from pathlib import Path

import pytest

from pytest_hookharness import scenario_files

FOLDERS = ("project", "plugin/hooks")


@pytest.fixture
def place(tmp_path):
    for folder in FOLDERS:
        (tmp_path / "here" / folder).mkdir(parents=True)
    (tmp_path / "here" / "file.txt").write_text("")
    (tmp_path / "outside").mkdir()
    (tmp_path / "here" / "link").symlink_to(tmp_path / "outside")
    (tmp_path / "here" / "loop").symlink_to(tmp_path / "here" / "loop")
    return tmp_path / "here" / "x.scenario.yaml"


def problems_of(text, place, **options):
    if isinstance(text, str):
        text = text.encode()
    place.write_bytes(text)
    with pytest.raises(scenario_files.ScenarioErrors) as caught:
        scenario_files.load(place, **options)
    return [
        str(problem).removeprefix(str(place)).removeprefix(":").lstrip() for problem in caught.value.problems
    ]


N = "name: a\n"
BYTES = [
    ("empty", b"", ["1:1: the file is empty"]),
    ("bom alone", b"\xef\xbb\xbf", ["1:1: the file is empty"]),
    ("comment alone", b"# nothing\n", ["1:1: the file is empty"]),
    ("not utf-8", b"name: a\nwhy: \xfc\n", ["2:6: the byte 0xFC is not UTF-8"]),
    ("not utf-8 after bom", b"\xef\xbb\xbfname: \xfc\n", ["1:7: the byte 0xFC is not UTF-8"]),
    ("repeated bad bytes", b"\xe2\x82\xac\xe2\xe2", ["1:2: the byte 0xE2 is not UTF-8"]),
    ("utf-16", "name: a".encode("utf-16"), ["1:1: the byte 0xFF is not UTF-8"]),
    ("nul", b"name: a\nwhy: b\x00c\n", ["2:7: YAML does not allow the character U+0000"]),
    ("escape character", b"name: \x1b[31m", ["1:7: YAML does not allow the character U+001B"]),
    ("too large", b"#" * (1 << 20) + b"\n", ["is larger than 1 MiB"]),
    ("ten megabytes", b"[" * 10_000_000, ["is larger than 1 MiB"]),
]
YAML = [
    ("tab at the start", "name: a\n\twhy: b\n", ["2:1 name: not YAML: "]),
    ("tab for indentation", N + "env:\n\tA: b\n", ["3:1 env: not YAML: "]),
    ("unclosed list", "name: [\n", ["2:1 name[0]: not YAML: "]),
    ("unclosed quote", 'name: "a\n', ["2:1 name: not YAML: "]),
    ("colon in a text", "name: a\nwhy: a: b\n", ["2:7: not YAML: mapping values are not allowed"]),
    ("two documents", "name: a\n---\nname: b\n", ["2:1: a second document starts here"]),
    ("a list", "- name: a\n", ["1:1: expected a scenario, got a list; allowed: a scenario as a mapping"]),
    ("a text", "hello\n", ['1:1: expected a scenario, got "hello"; allowed: a scenario as a mapping']),
    ("null", "~\n", ["1:1: expected a scenario, got an empty value"]),
    ("anchor", N + "why: &w hi\n", ["2:6 why: anchors (&) are not allowed"]),
    (
        "alias",
        N + "why: &w hi\nenv: {A: *w}\n",
        ["2:6 why: anchors (&)", "3:10 env.A: aliases (*) are not allowed"],
    ),
    ("tag", N + "why: !!str 3\n", ["2:6 why: tags (!) are not allowed; use quotes for a text"]),
    (
        "python tag",
        N + "why: !!python/object/apply:os.system [ls]\n",
        ["2:6 why: tags (!)", "2:6 why: expected a text, got a list"],
    ),
    ("merge key", N + "<<: {why: b}\n", ["2:1 <<: merge keys (<<) are not allowed"]),
    ("list as key", N + "? [a]\n: b\n", ["2:3: a key must be a single text"]),
    ("mapping as key", N + "{a: b}: c\n", ["2:1: "]),
    ("65 lists", N + "hooks: {a: " + "[" * 65 + "]" * 65 + "}\n", ["2:74 hooks.a[0]"]),
    ("deep bomb", "[" * 500_000, ["1:65 [0][0]"]),
    ("deep block bomb", "- " * 500_000, ["1:129 [0][0]"]),
    ("wide bomb", "name: [" + "0," * 500_000 + "]", ["1:40002 name[19997]: the file has more than 20000"]),
    ("long key", N + "? " + "k" * 5000 + "\n: 1\n", ["2:3: a key of 5000 characters; the maximum is 1000"]),
    (
        "long number",
        N + "turns: " + "9" * 5000 + "\n",
        ['2:8 turns: "' + "9" * 57 + '..." is too large for a number'],
    ),
    (
        "odd flag",
        N + "flag: sometimes\n",
        [
            (
                '2:7 flag: "sometimes" is not never, always, absent or a list of true, false, null and '
                "absent; allowed: never, always, absent"
            )
        ],
    ),
    ("no flags", N + "flag: []\n", ["2:7 flag: "]),
    (
        "infinity",
        N + "hook_timeout: .inf\n",
        ['2:15 hook_timeout: ".inf" is not a number that JSON has'],
    ),
    ("unknown directive", "%YAML 9.0\n---\nname: a\n", ["1:1: not YAML: found incompatible YAML document"]),
]
MEANING = [
    ("no name", "why: x\n", ['1:1: the key "name" is missing; allowed: a name of letters']),
    ("bad name", "name: a/b\n", ['1:7 name: "a/b" is not a name of letters']),
    (
        "near verdict",
        N + "expect:\n  verdict: livelok\n",
        [
            (
                '3:12 expect.verdict: "livelok" is not a verdict; did you mean "livelock"? allowed: '
                "terminated, capped, livelock, hung, recursing, lockout, undecided"
            )
        ],
    ),
    (
        "name in a report",
        N + "expect:\n  verdict: hook cut\n",
        [
            (
                '3:12 expect.verdict: "hook cut" is not a verdict; reports show it for `terminated` with a '
                "finding: expect that, such as `findings: [HUNG-HOOK]`; allowed: "
                "terminated, capped, livelock, hung, recursing, lockout, undecided"
            )
        ],
    ),
    (
        "quoted number",
        N + 'turns: "5"\n',
        ['2:8 turns: expected a whole number from 1, got "5" (write it without quotes)'],
    ),
    (
        "number for text",
        N + "env: {A: 1}\n",
        ['2:10 env.A: expected a text without NUL, got 1 (a number) (for a text write "1"'],
    ),
    ("yaml 1.1 switch", N + "git: yes\n", ['2:6 git: expected true or false, got "yes"']),
    (
        "two acts",
        N + "agent:\n- prompt: a\n  stop: b\n",
        ["4:3 agent[0].stop: expected one act per item, got prompt and stop"],
    ),
    (
        "act without value",
        N + "agent:\n- stop\n",
        ['3:3 agent[0]: "stop" needs a value; write it as a key, stop:'],
    ),
    ("act misspelt", N + "agent:\n- stopp: b\n", ['3:3 agent[0].stopp: unknown key "stopp"']),
    (
        "modifier alone",
        N + "agent:\n- expect: deny\n",
        ["3:3 agent[0]: expected an act, got a mapping without one; allowed: prompt, wait"],
    ),
    ("modifier of another", N + "agent:\n- stop: a\n  expect: deny\n", ["4:3 agent[0].expect: unknown key"]),
    (
        "say, stop",
        N + "agent:\n- say: a\n- stop: b\n",
        ["3:3 agent[0]: say must be followed by a tool call"],
    ),
    (
        "say at the end",
        N + "agent: [say: a]\n",
        ["2:9 agent[0]: say must be followed by a tool call, but the end"],
    ),
    (
        "then in the middle",
        N + "agent:\n- then: idle\n- stop: a\n",
        ["3:3 agent[0]: then must be the last item"],
    ),
    (
        "move after the end",
        N + "agent:\n- end: done\n- stop: a\n",
        ["3:3 agent[0]: end must be the last act, because nothing is played after"],
    ),
    (
        "no time for a run",
        N + "hook_timeout: 0\n",
        ["2:15 hook_timeout: 0 (a number) is out of range; allowed: a number of seconds from 0.001"],
    ),
    (
        "less time than a run takes",
        N + "hook_timeout: 0.9ms\n",
        ['2:15 hook_timeout: "0.9ms" is too short for anything to run; write 1ms or more'],
    ),
    (
        "then with two",
        N + "agent: [then: {fixing: {}, idle: {}}]\n",
        ["2:15 agent[0].then: expected a behaviour with its options, as in {fixing: {after: 2}}, got 2 keys"],
    ),
    (
        "event as reaction",
        N + "when: [{do: [wait: 1s]}]\n",
        ["2:14 when[0].do[0].wait: wait is an event"],
    ),
    (
        "then as reaction",
        N + "when: [{do: [then: idle]}]\n",
        ["2:14 when[0].do[0].then: then must be at the end"],
    ),
    (
        "bad regex",
        N + "when: [{reason: '(', do: [stop: a]}]\n",
        ['2:17 when[0].reason: "(" is not a regular'],
    ),
    (
        "bad regex alone",
        N + "expect: {reasons: '['}\n",
        ['2:19 expect.reasons: "[" is not a regular expression'],
    ),
    (
        "bad mask",
        N + "mask: [{file: a, text: '*'}]\n",
        ['2:24 mask[0].text: "*" is not a regular expression'],
    ),
    ("huge regex", N + "mask: [{file: a, text: 'a{99999999999999999999}'}]\n", ["2:24 mask[0].text: "]),
    (
        "mask of both",
        N + "mask: [{file: a, keys: [b], text: c}]\n",
        ["2:35 mask[0].text: a mask has keys or text"],
    ),
    ("bad duration", N + "agent: [wait: 5 min]\n", ['2:15 agent[0].wait: "5 min" is not a duration']),
    (
        "negative duration",
        N + "hook_timeout: -1\n",
        ["2:15 hook_timeout: -1 (a number) is out of range; allowed: a number of seconds from 0"],
    ),
    ("mode not octal", N + "modes: {a: 0999}\n", ["2:12 modes.a: 0999 (a number) is not octal"]),
    (
        "range upside down",
        N + "expect: {blocks: {min: 3, max: 1}}\n",
        ["2:32 expect.blocks.max: max 1 is below"],
    ),
    (
        "empty range",
        N + "expect: {leftovers: {}}\n",
        ["2:21 expect.leftovers: expected at least 1 key, got an empty mapping"],
    ),
    ("period of no cycle", N + "expect: {period: 1}\n", ["2:18 expect.period: period applies to a livelock"]),
    (
        "evidence without a livelock",
        N + "expect: {evidence: closed}\n",
        ["but the expected verdict is terminated; add `verdict: livelock`"],
    ),
    (
        "evidence of another verdict",
        N + "expect: {verdict: capped, evidence: closed}\n",
        ["but the expected verdict is capped; change it to `verdict: livelock`"],
    ),
    (
        "replace with nothing",
        N + "agent: [corrupt: {file: a, how: replace}]\n",
        ["2:18 agent[0].corrupt: how:"],
    ),
    (
        "heals unharmed",
        N + "commands: {x: {heals_after: 1}}\n",
        ["2:29 commands.x.heals_after: a command heals"],
    ),
    (
        "module with an exit",
        N + "commands: {x: {module: a.b, exit: 1}}\n",
        ["2:24 commands.x.module: a module answers by itself"],
    ),
    (
        "no module",
        N + "commands: {x: {module: a-b}}\n",
        ['2:24 commands.x.module: "a-b" is not a Python module'],
    ),
    (
        "no detector",
        N + "expect: {detectors: [cycle of 9]}\n",
        ['2:22 expect.detectors[0]: "cycle of 9" is not a loop'],
    ),
    (
        "moves of a plain double",
        N + "commands: {x: {does: [{run: ls}]}}\n",
        ["2:22 commands.x.does: only a fake agent makes moves"],
    ),
    (
        "agent that hangs",
        N + "commands: {x: {agent: claude-code, hangs: true}}\n",
        ["2:43 commands.x.hangs: a fake agent runs a session and cannot have hangs"],
    ),
    ("no depth", N + "world: {nesting: {depth: 0}}\n", ["2:26 world.nesting.depth: 0"]),
    (
        "key of the world",
        N + "cwd: sub\n",
        ['2:1 cwd: unknown key "cwd" here; it belongs under world; did you mean "world.cwd"? allowed: n'],
    ),
    (
        "key of the world in a variant",
        N + "variants: {v: {network: true}}\n",
        ['2:16 variants.v.network: unknown key "network" here; it belongs under world; '],
    ),
    (
        "plural of a key, which is also a key elsewhere",
        N + "hook: {Stop: 'true'}\n",
        ['2:1 hook: unknown key "hook"; did you mean "hooks"? allowed: n'],
    ),
    (
        "key of another level that resembles one of this level",
        N + "fires: {Stop: 1}\n",
        ['2:1 fires: unknown key "fires" here; it belongs under expect; did you mean "expect.fires"?'],
    ),
    (
        "key of other formats",
        N + "description: It ends.\n",
        ['2:1 description: unknown key "description"; did you mean "why"? allowed: n'],
    ),
    *(
        (
            f"act {act} beside the list of acts",
            f"{N}{act}: idle\n",
            [f'2:1 {act}: unknown key "{act}" here; it belongs in the list under agent; allowed: n'],
        )
        for act in ("stop", "then", "prompt", "edit")
    ),
    (
        "misspelt act beside the list of acts",
        N + "promt: Go.\n",
        ['2:1 promt: unknown key "promt"; did you mean "prompt in the list under agent"? allowed: n'],
    ),
    (
        "misspelt key of expect",
        N + "withn: 3\n",
        ['2:1 withn: unknown key "withn"; did you mean "expect.within"? allowed: n'],
    ),
    (
        "misspelt repository",
        N + "project: repositry\n",
        ['has no folder repositry; did you mean "repository"? allowed: repository'],
    ),
    (
        "folder outside",
        N + "project: ../shop\n",
        ["leaves the scenario's folder; for the repository that contains it, write `repository`"],
    ),
    ("command with a path", N + "commands: {bin/x: {}}\n", ['2:12 commands.bin/x: "bin/x" is not a command']),
    ("host twice", N + "host: [a, a]\n", ['2:11 host[1]: "a" is written twice']),
    ("no host", N + "host: []\n", ["2:7 host: expected at least 1 item, got an empty list"]),
    ("same path twice", N + "files: {a: x, ./a: y}\n", ['2:15 files../a: "./a" has the same meaning']),
    (
        "nested variants",
        N + "variants: {v: {variants: {}}}\n",
        ['2:16 variants.v.variants: unknown key "variants"'],
    ),
]
PATHS = [
    ("files up", N + "files: {../a: b}\n", ['2:9 files.../a: "../a" leaves the workspace']),
    ("files hidden up", N + "files: {a/../../b: c}\n", ['"a/../../b" leaves the workspace']),
    ("files absolute", N + "files: {/a: b}\n", ['2:9 files./a: "/a" is absolute']),
    ("files folder", N + "files: {a/: b}\n", ['2:9 files.a/: "a/" is not a path inside the workspace']),
    ("modes up", N + "modes: {../a: '0755'}\n", ["leaves the workspace"]),
    ("edit up", N + "agent: [edit: {file: ../a, text: b}]\n", ['2:22 agent[0].edit.file: "../a" leaves']),
    ("read absolute", N + "agent: [read: /etc/passwd]\n", ['2:15 agent[0].read: "/etc/passwd" is absolute']),
    ("corrupt up", N + "agent: [corrupt: {file: ../a}]\n", ['2:25 agent[0].corrupt.file: "../a" leaves']),
    ("hooks up", N + "hooks: ../settings.json\n", ['2:8 hooks: "../settings.json" leaves']),
    (
        "expected up",
        N + "expect: {files: {absent: [../a]}}\n",
        ['2:27 expect.files.absent[0]: "../a" leaves'],
    ),
    ("project up", N + "project: ../outside\n", ['2:10 project: "../outside" leaves the scenario\'s folder']),
    ("project absolute", N + "project: /tmp\n", ['2:10 project: "/tmp" is absolute; write it relative']),
    ("project by link", N + "project: link\n", ['2:10 project: "link" is a link that leaves']),
    ("project by loop", N + "project: loop\n", ['2:10 project: "loop" ']),
    ("project is a file", N + "project: file.txt\n", ['2:10 project: "file.txt" is not a folder']),
    ("project too long", N + "project: " + "x" * 5000 + "\n", ["cannot be looked up: File name too long"]),
    ("plugin with nul", N + 'plugin: "a\\0b"\n', ["is not a path"]),
]
ALL = [*BYTES, *YAML, *MEANING, *PATHS]


@pytest.mark.slow
@pytest.mark.parametrize("text, expected", [row[1:] for row in ALL], ids=[row[0] for row in ALL])
def test_a_malformed_file_has_the_expected_problems(text, expected, place):
    """Each malformed file has exactly the expected problems, each at its position."""
    found = problems_of(text, place)

    assert len(found) == len(expected), found
    for problem, words in zip(found, expected, strict=True):
        assert words in problem


def test_a_missing_folder_is_named_with_the_nearest_one(place):
    """A project that does not exist is reported with the existing folders, except caches, and the nearest."""
    (place.parent / ".pytest_cache").mkdir()
    (place.parent / "__pycache__").mkdir()
    (problem,) = problems_of(N + "project: projct/src\n", place)

    assert problem == (
        f'2:10 project: "projct/src" does not exist: {place.parent} has no folder projct; '
        'did you mean "project"? allowed: plugin, project'
    )


def test_all_problems_are_reported_together(place):
    """Every problem of a file is reported together, sorted by position."""
    found = problems_of("turns: 0\nwhyy: x\ngit: 3\nname: a\nexpect: {verdict: x}\n", place)

    assert [problem.split()[0] for problem in found] == ["1:8", "2:1", "3:6", "5:19"]


def test_an_unknown_host_is_named_with_the_nearest_one(place):
    """An unknown host is a problem at its position, in a list and in a variant too."""
    known = ["claude-code", "claude-code@2.1", "gemini-cli"]
    text = "name: a\nhost: [gemini-cli, claude-cod, claude-code@9]\nvariants: {v: {host: gemini}}\n"
    found = problems_of(text, place, known_hosts=known)

    assert found == [
        (
            '2:20 host[1]: "claude-cod" is not a known host; did you mean "claude-code"? allowed: '
            "claude-code, claude-code@2.1, gemini-cli"
        ),
        (
            '2:32 host[2]: "claude-code@9" is not a known host; did you mean "claude-code"? allowed: '
            "claude-code, claude-code@2.1, gemini-cli"
        ),
        (
            '3:22 variants.v.host: "gemini" is not a known host; did you mean "gemini-cli"? allowed: '
            "claude-code, claude-code@2.1, gemini-cli"
        ),
    ]


@pytest.mark.nightly
def test_no_more_than_a_hundred_problems_are_kept(place):
    """For a file with thousands of mistakes the first hundred are reported, and the report says so."""
    place.write_text("".join(f"k{number}: 1\n" for number in range(9000)))
    with pytest.raises(scenario_files.ScenarioErrors) as caught:
        scenario_files.load(place)

    assert len(caught.value.problems) == 100
    assert str(caught.value).endswith("Only the first 100 problems are listed.")


@pytest.mark.parametrize("name", ["absent.scenario.yaml", ".", "file.txt/x", "/dev/zero", "nul\0"])
def test_a_path_that_is_not_a_file_is_a_problem(name, place):
    """A missing path, a folder or a device is a problem, not a traceback."""
    with pytest.raises(scenario_files.ScenarioErrors, match="cannot be read: "):
        scenario_files.load(Path(place.parent) / name)


def test_findings_are_looked_up(place):
    """An expected finding that is unknown, or that no single run can have, is a problem with its line."""
    text = (
        "name: a\nexpect:\n  findings: [MANGELD, HUNG, OTHERS]\nvariants: {b: {expect: {findings: [HH2]}}}\n"
    )
    known = {"MANGLED": "", "HUNG": "", "OTHERS": "is found elsewhere"}
    found = problems_of(text, place, known_findings=known)

    assert ["3:14 expect.findings[0]", "3:29 expect.findings[2]", "4:36 variants.b.expect.findings[0]"] == [
        problem.partition(": ")[0] for problem in found
    ]
    assert "MANGLED" in found[0]
    assert "is found elsewhere" in found[1]


def test_behaviours_are_looked_up(place):
    """An unknown behaviour is a problem with its line and the nearest one, in variants too."""
    text = (
        "name: a\nagent:\n- then: obediant\n"
        "variants:\n  b: {agent: [{then: {fixng: {after: 2}}}]}\n  c: {agent: [{then: idle}]}\n"
    )
    found = problems_of(text, place, known_behaviours=("fixing", "idle", "obedient"))

    assert [problem.partition(": ")[0] for problem in found] == [
        "3:9 agent[0].then",
        "5:23 variants.b.agent[0].then",
    ]
    assert found[0].endswith('did you mean "obedient"? allowed: fixing, idle, obedient')


@pytest.mark.parametrize(
    "trigger, says", [("on_output_match: ''", "every line"), ("on_timeout: 0", "longer than 0 s")]
)
def test_a_trigger_that_always_fires_is_refused(place, trigger, says):
    """A trigger that every process fires at once is refused."""
    text = f"name: a\nprocesses: {{p: {{run: x, hooks: [{{{trigger}}}]}}}}\n"

    assert says in problems_of(text, place)[0]
