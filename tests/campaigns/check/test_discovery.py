"""Claims about where the hooks of a project are found."""

import json
from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.check.check_run import CheckRun
from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.grouping import summarise
from pytest_hookharness.campaigns.check.session_errors import play_session
from pytest_hookharness.campaigns.check.sessions import plan_each_event, plan_usual
from pytest_hookharness.campaigns.check.static_checks import check_statically
from pytest_hookharness.campaigns.check.tried_sessions import describe_corrections
from pytest_hookharness.frontends.node_ids import anchor
from pytest_hookharness.model.moves import WORKSPACE
from pytest_hookharness.reports.terminal.check_report import announcement, headline
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

TRUE = [{"hooks": [{"type": "command", "command": "true"}]}]
GROUPS = [{"matcher": "Bash", "hooks": [{"type": "command", "command": "hooks/guard.sh"}]}]


def at(folder, path, content):
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content if isinstance(content, str) else json.dumps(content))


def test_every_host_of_a_project(tmp_path):
    """Settings of several hosts are one hook set each, and a file that two hosts read belongs to one."""
    at(tmp_path, ".claude/settings.json", {"hooks": {"PreToolUse": GROUPS}})
    at(tmp_path, ".claude/settings.local.json", {"hooks": {"Stop": GROUPS}})
    at(tmp_path, ".gemini/settings.json", {"hooks": {"BeforeTool": GROUPS}})
    found = {place.host: place for place in find_hook_sets(tmp_path)}
    assert sorted(found) == ["claude-code", "gemini-cli"]
    assert len(found["claude-code"].hooks) == 2
    assert find_hook_sets(tmp_path, "gemini-cli") == (found["gemini-cli"],)


def test_files_that_another_host_reads_too(tmp_path):
    """Hooks of a file that is checked with another host are listed, because the sessions run them as well."""
    at(tmp_path, ".claude/settings.json", {"hooks": {"PreToolUse": GROUPS}})
    own = {"type": "command", "bash": "./own.sh"}
    at(tmp_path, ".github/hooks/own.json", {"version": 1, "hooks": {"agentStop": [own]}})
    found = {place.host: place for place in find_hook_sets(tmp_path)}
    copilot = found["copilot-cli"]
    assert [hook.command for hook in copilot.hooks] == ["./own.sh"]
    assert [hook.command for hook in copilot.shared] == ["hooks/guard.sh"]
    assert "hooks/guard.sh (from .claude/settings.json, which is checked" in announcement([copilot], "")
    assert found["claude-code"].shared == ()


def test_a_settings_file_in_another_place(tmp_path):
    """A settings file that an installer copies is read for the host that is named."""
    at(tmp_path, "shipped/settings.json", {"hooks": {"PreToolUse": GROUPS}})
    file = tmp_path / "shipped/settings.json"
    with pytest.raises(SimulationError, match="name the host that is meant with --host"):
        find_hook_sets(file)
    (place,) = find_hook_sets(file, "claude-code")
    assert [hook.command for hook in place.hooks] == ["hooks/guard.sh"]


def test_sources_are_the_scripts_of_the_project(tmp_path):
    """The texts of scripts that commands name are known, and files outside are not read."""
    at(
        tmp_path,
        ".claude/settings.json",
        {
            "hooks": {
                "PreToolUse": GROUPS,
                "Stop": [{"hooks": [{"type": "command", "command": "../../etc/passwd"}]}],
            }
        },
    )
    at(tmp_path, "hooks/guard.sh", "exit 0\n")
    (place,) = find_hook_sets(tmp_path)
    assert place.sources == (("hooks/guard.sh", "exit 0\n"),)


def test_words_that_can_name_no_file(tmp_path):
    """A command may hold a word that is too long for the name of a file; it names no script."""
    hook = {"type": "command", "command": f"hooks/guard.sh {'a' * 300}"}
    at(tmp_path, ".claude/settings.json", {"hooks": {"Stop": [{"hooks": [hook]}]}})
    at(tmp_path, "hooks/guard.sh", "exit 0\n")
    (place,) = find_hook_sets(tmp_path)
    assert [name for name, _ in place.sources] == ["hooks/guard.sh"]
    assert anchor(hook["command"], tmp_path) == f"{tmp_path}/hooks/guard.sh {'a' * 300}"


def test_one_file_alone(tmp_path):
    """A settings file that is named is read alone."""
    at(tmp_path, ".claude/settings.json", {"hooks": {"PreToolUse": GROUPS}})
    at(tmp_path, ".claude/settings.local.json", {"hooks": {"Stop": GROUPS}})
    (place,) = find_hook_sets(tmp_path / ".claude/settings.local.json")
    assert (place.only, place.root) == (".claude/settings.local.json", tmp_path)
    assert [hook.event for hook in place.hooks] == ["Stop"]


INLINE = {"PreToolUse": GROUPS}


@pytest.mark.parametrize(
    ("files", "hooks"),
    [
        ({".claude-plugin/plugin.json": {"name": "x"}, "hooks/hooks.json": {"hooks": INLINE}}, 1),
        ({"hooks/hooks.json": {"hooks": INLINE}}, 1),
        ({".claude-plugin/plugin.json": {"name": "x", "hooks": INLINE}}, 1),
        ({".claude-plugin/plugin.json": {"name": "x", "hooks": {"hooks": INLINE}}}, 1),
        ({".claude-plugin/plugin.json": {"hooks": "./own.json"}, "own.json": {"hooks": INLINE}}, 1),
        (
            {
                ".claude-plugin/plugin.json": {"hooks": ["./own.json", INLINE]},
                "own.json": {"hooks": INLINE},
                "hooks/hooks.json": {"hooks": INLINE},
            },
            3,
        ),
    ],
)
def test_a_plugin(tmp_path, files, hooks):
    """A plugin's hooks are found in its usual file, in its manifest and in files that the manifest names."""
    for path, content in files.items():
        at(tmp_path, path, content)
    (place,) = find_hook_sets(tmp_path)
    assert (place.plugin, place.part, len(place.hooks)) == (True, "", hooks)
    assert {hook.command for hook in place.hooks} == {"hooks/guard.sh"}


@pytest.mark.slow
def test_hooks_in_the_manifest_of_a_plugin_are_played(tmp_path, harness):
    """A session with a plugin runs the hooks in its manifest, with the plugin's folder in their commands."""
    hook = {"type": "command", "command": "sh ${CLAUDE_PLUGIN_ROOT}/stop.sh"}
    at(tmp_path, ".claude-plugin/plugin.json", {"hooks": {"Stop": [{"hooks": [hook]}]}})
    at(tmp_path, "stop.sh", "echo seen >seen.txt\n")
    (place,) = find_hook_sets(tmp_path)
    outcome = harness.simulate(plan_usual(place, 0).scenario)
    ((_, stop),) = outcome.trace.hooked("Stop")
    assert [hook_run.hook.command for hook_run in stop.hook_runs] == [hook["command"]]
    assert [change.path for change in stop.changes] == ["workspace/seen.txt"]


def test_each_plugin_of_a_marketplace(tmp_path):
    """The plugins that a marketplace names are one hook set each; others of its folder are none."""
    sources = ["./plugins/one", "./plugins/two", {"source": "github", "repo": "a/b"}, "../other"]
    plugins = [{"name": "x", "source": source} for source in sources]
    at(tmp_path, ".claude-plugin/marketplace.json", {"plugins": plugins})
    for name in ("one", "two", "three"):
        at(tmp_path, f"plugins/{name}/hooks/hooks.json", {"hooks": INLINE})
    found = find_hook_sets(tmp_path)
    assert [(place.part, place.root) for place in found] == [
        ("plugins/one", tmp_path / "plugins/one"),
        ("plugins/two", tmp_path / "plugins/two"),
    ]
    assert found[0].title == "claude-code (plugins/one)"


def test_plugins_below_a_folder(tmp_path):
    """Without a list of plugins, folders with a manifest are found as well."""
    at(tmp_path, "plugins/one/.claude-plugin/plugin.json", {"hooks": INLINE})
    (place,) = find_hook_sets(tmp_path)
    assert (place.part, place.plugin) == ("plugins/one", True)


FRONT = """---
name: planner
argument-hint: [file] [line]
hooks:
  Stop:
    - hooks:
        - type: command
          command: sh "${CLAUDE_SKILL_DIR}/gate.sh"
---
Plan first.
"""


@pytest.mark.parametrize(
    ("files", "part", "event"),
    [
        ([".claude/skills/planner/SKILL.md"], ".claude/skills/planner/SKILL.md", "Stop"),
        ([".claude/commands/plan.md", ".claude/commands/plan2.md"], ".claude/commands/plan.md", "Stop"),
        ([".claude/agents/team/planner.md"], ".claude/agents/team/planner.md", "SubagentStop"),
        (
            [".claude-plugin/plugin.json", "skills/planner/SKILL.md"],
            "skills/planner/SKILL.md",
            "Stop",
        ),
    ],
)
def test_hooks_in_front_matter(tmp_path, files, part, event):
    """Hooks in the front matter of a skill, a command or a subagent are a hook set; equal ones are one."""
    for path in files:
        at(tmp_path, path, FRONT if path.endswith(".md") else {"name": "x"})
    (place,) = find_hook_sets(tmp_path)
    assert (place.part, place.env["CLAUDE_SKILL_DIR"]) == (part, f"{WORKSPACE}/{part.rpartition('/')[0]}")
    assert [(hook.event, hook.command) for hook in place.hooks] == [
        (event, 'sh "${CLAUDE_SKILL_DIR}/gate.sh"')
    ]
    assert plan_usual(place, 0).scenario.hooks == place.inline


def test_a_link_to_a_folder_of_components(tmp_path):
    """A skill that is found in two folders, as one is a link to the other, is one hook set."""
    at(tmp_path, ".claude-plugin/plugin.json", {"name": "x"})
    at(tmp_path, ".claude/skills/planner/SKILL.md", FRONT)
    (tmp_path / "skills").symlink_to(".claude/skills")
    (place,) = find_hook_sets(tmp_path)
    assert place.files == (".claude/skills/planner/SKILL.md",)


def test_one_unknown_event_in_several_components(tmp_path):
    """An unknown event of several skills is one cause, which names their files; a good skill stays alone."""
    for name, event in (("a", "pre_tool"), ("b", "post_tool"), ("c", "pre_tool"), ("d", "Stop")):
        text = FRONT.replace("Stop", event).replace("gate.sh", f"{name}.sh")
        at(tmp_path, f".claude/skills/{name}/SKILL.md", text)
    flawed, good = find_hook_sets(tmp_path)
    assert (flawed.part, good.part) == (".claude/skills", ".claude/skills/d/SKILL.md")
    places = [finding.text.partition(": ")[0] for finding in flawed.findings]
    assert places == [
        ".claude/skills/a/SKILL.md, .claude/skills/c/SKILL.md, hooks.pre_tool",
        ".claude/skills/b/SKILL.md, hooks.post_tool",
    ]
    assert [symptom.text.partition(": ")[0] for symptom in check_statically(flawed).symptoms] == places


def test_settings_whose_hooks_are_all_wrong_are_a_place(tmp_path):
    """Settings whose only hook has an unknown event are a hook set with a flaw."""
    at(tmp_path, ".claude/settings.json", {"hooks": {"BeforeEverything": GROUPS}})
    (place,) = find_hook_sets(tmp_path)
    assert not place.hooks
    assert "BeforeEverything" in place.flaws[0]


@pytest.mark.nightly
def test_hooks_that_are_switched_off_are_tried_as_if_they_were_on(tmp_path, harness):
    """A switch that turns all hooks off is no problem: the sessions have the settings without it."""
    at(tmp_path, ".claude/settings.json", {"disableAllHooks": True, "hooks": {"Stop": TRUE}})
    (place,) = find_hook_sets(tmp_path)
    assert [hook.event for hook in place.hooks] == ["Stop"]
    report = CheckRun(place, harness.settings, harness.resources).run()
    assert not report.problems
    (told,) = report.untried
    assert told.endswith("turns off all hooks (1); they were tried without this setting")
    assert any("hook run" in line for line in report.tried)


def test_a_switch_in_another_language_stays(tmp_path, harness):
    """Hooks that settings in TOML turn off could not be tried."""
    hook = "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = 'command'\ncommand = 'true'\n"
    at(tmp_path, ".codex/config.toml", f"[features]\nhooks = false\n\n{hook}")
    (place,) = find_hook_sets(tmp_path, "codex")
    report = CheckRun(place, harness.settings, harness.resources).run()
    assert headline(report) == "codex: all hooks are off, so none could be tried"
    assert "so none could be tried" in report.untried[0]


@pytest.mark.parametrize("text", ["{}", '{"permissions": {}}'])
def test_nothing_to_check(tmp_path, text):
    """A project without a hook is refused with the places where hooks were looked for."""
    at(tmp_path, ".claude/settings.json", text)
    looked = (
        r"no hooks of any host are configured below it; looked for\n  .claude/settings.json\n(.*\n)*.*hooks/"
    )
    with pytest.raises(SimulationError, match=looked):
        find_hook_sets(tmp_path)


def test_settings_that_no_host_looks_for(tmp_path):
    """Where nothing is found, files that look like settings are tried with their hosts, equal ones once."""
    at(tmp_path, "templates/settings.json", {"hooks": {"Stop": GROUPS}})
    at(tmp_path, "templates/mac.json", {"hooks": {"Stop": GROUPS}})
    at(tmp_path, "gemini.json", {"hooks": {"AfterAgent": GROUPS}})
    at(tmp_path, "package.json", {"hooks": {"Stop": "make stop"}})
    at(tmp_path, "node_modules/x/settings.json", {"hooks": {"Stop": GROUPS}})
    at(tmp_path, "src/tests/settings.json", {"hooks": {"Stop": TRUE}})
    with pytest.raises(SimulationError, match=r"gemini\.json looks like hooks of gemini-cli"):
        find_hook_sets(tmp_path)
    found = find_hook_sets(tmp_path, copies=True)
    assert [(one.host, one.part) for one in found] == [
        ("gemini-cli", "gemini.json"),
        ("claude-code", "templates/mac.json"),
    ]
    assert all(one.elsewhere for one in found)
    assert "gemini.json, where gemini-cli does not look; tried as if it were there" in announcement(
        found[:1], ""
    )
    (place,) = find_hook_sets(tmp_path / "templates/settings.json", "claude-code")
    assert [hook.event for hook in place.hooks] == ["Stop"]
    at(tmp_path, ".claude/settings.json", {"hooks": {"Stop": TRUE}})
    (place,) = find_hook_sets(tmp_path)
    assert (place.files, place.elsewhere) == ((".claude/settings.json",), False)


def test_settings_of_another_host_are_no_copy(tmp_path):
    """A host that finds no hooks is not tried with settings at a place of another host."""
    at(tmp_path, ".claude/settings.json", {"hooks": {"Stop": TRUE}})
    with pytest.raises(SimulationError, match="no hooks of codex@"):
        find_hook_sets(tmp_path, "codex", copies=True)


def test_a_project_below_a_folder_without_hooks(tmp_path):
    """Settings at a place of their host in a project below are found as those of that project."""
    at(tmp_path, "app/.claude/settings.json", {"disableAllHooks": True, "hooks": {"Stop": TRUE}})
    (place,) = find_hook_sets(tmp_path, copies=True)
    assert (place.root, place.elsewhere) == (tmp_path / "app", False)
    assert place.title == "claude-code (app)"
    assert [hook.event for hook in place.hooks] == ["Stop"]


@pytest.mark.parametrize(("key", "host"), [("command", "cursor"), ("bash", "copilot-cli")])
def test_an_event_that_two_hosts_know(tmp_path, key, host):
    """Of two hosts that know the events of a file, the one is meant that knows the key of its commands."""
    at(tmp_path, "hooks.json", {"version": 1, "hooks": {"preToolUse": [{key: "hooks/guard.sh"}]}})
    (place,) = find_hook_sets(tmp_path, copies=True)
    assert (place.host, place.only) == (host, "hooks.json")


@pytest.mark.parametrize(
    ("folder", "found"), [(".github/hooks", []), ("./.github//hooks/", []), ("tools", ["NOT-RUN"])]
)
def test_a_script_below_the_folder_of_its_hook(tmp_path, folder, found):
    """Copilot starts a hook in the folder that its entry names, so its script is looked for there."""
    entry = {"type": "command", "bash": "./scripts/log.sh", "cwd": folder}
    at(tmp_path, ".github/hooks/a.json", {"version": 1, "hooks": {"sessionStart": [entry]}})
    at(tmp_path, ".github/hooks/scripts/log.sh", "#!/bin/sh\nexit 0\n")
    (tmp_path / ".github/hooks/scripts/log.sh").chmod(0o755)
    (place,) = find_hook_sets(tmp_path)
    assert [one.kind for one in check_statically(place).symptoms] == found
    assert [path for path, _ in place.sources] == [".github/hooks/scripts/log.sh"]


@pytest.mark.slow
def test_scripts_that_are_copied_with_their_settings(tmp_path, harness):
    """A script that settings name at its later place is tried there, with what lies beside it."""
    command = '"$CLAUDE_PROJECT_DIR"/.claude/hooks/mine/end.sh'
    at(
        tmp_path,
        "kit/settings.json",
        {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}},
    )
    at(tmp_path, "other/settings.txt", {})
    for name, text in {
        "end.sh": '#!/bin/sh\n. "${0%/*}/say.sh"\nexit 2\n',
        "say.sh": "echo no >&2\n",
    }.items():
        (tmp_path / "kit" / name).write_text(text)
    (place,) = find_hook_sets(tmp_path, copies=True)
    assert sorted(place.texts) == [
        ".claude/hooks/mine/end.sh",
        ".claude/hooks/mine/say.sh",
        ".claude/hooks/mine/settings.json",
    ]
    assert [path for path, _ in place.sources] == [".claude/hooks/mine/end.sh"]
    assert not any(one.kind == "NOT-RUN" for one in check_statically(place).symptoms)
    outcome = harness.simulate(plan_usual(place, 0).scenario)
    runs = [one for _, one in outcome.trace.hook_runs()]
    assert {one.run.stderr.text for one in runs} == {"no\n"}


def test_data_above_a_script_that_is_copied(tmp_path):
    """Data that a copied script names, and that a kit keeps above it, lies beside the copy."""
    command = '"$CLAUDE_PROJECT_DIR"/.claude/hooks/mine/end.py'
    group = {"hooks": [{"type": "command", "command": command}]}
    at(tmp_path, "kit/python/settings.json", {"hooks": {"PreToolUse": [group]}})
    at(tmp_path, "kit/python/end.py", "#!/usr/bin/env python3\nopen(FOLDER / 'rules.yaml')\n")
    at(tmp_path, "kit/rules.yaml", "rules: []\n")
    at(tmp_path, "kit/others.yaml", "others: []\n")
    beside = ".claude/hooks/mine/rules.yaml"
    # Nothing is read that lies outside of a repository, or of the folder of the settings if there is none.
    assert beside not in find_hook_sets(tmp_path / "kit" / "python", copies=True)[0].texts
    (tmp_path / ".git").mkdir()
    (place,) = find_hook_sets(tmp_path / "kit" / "python", copies=True)
    assert place.texts[beside] == "rules: []\n"
    assert ".claude/hooks/mine/others.yaml" not in place.texts
    # What the project has stays, and no link leads out.
    at(place.root, beside, "own: []\n")
    assert beside not in find_hook_sets(tmp_path / "kit" / "python", copies=True)[0].texts
    (place.root / beside).unlink()
    (tmp_path / "kit" / "rules.yaml").unlink()
    (tmp_path / "kit" / "rules.yaml").symlink_to("/etc/hostname")
    assert beside not in find_hook_sets(tmp_path / "kit" / "python", copies=True)[0].texts


@pytest.mark.parametrize("word", ["sh {}/x.sh", "./{}.sh", "~/{}/x.sh", "cat $HOME/.config/{}/x.toml", "/{}"])
def test_a_command_with_a_path_that_is_too_long(tmp_path, word):
    """A path that is too long for any file is one of no file, and what else is certain is found."""
    command = word.format("a" * 300)
    at(
        tmp_path,
        ".claude/settings.json",
        {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}},
    )
    (place,) = find_hook_sets(tmp_path)
    assert check_statically(place).errors == ()


def test_files_of_the_project_that_a_copy_would_replace(tmp_path):
    """What a project has at the place of a copied file stays; a path that is too long is no file."""
    command = "sh .claude/hooks/end.sh " + "x/" * 400 + "y.sh " + "z" * 300 + "/y.sh"
    at(
        tmp_path,
        "kit/settings.json",
        {"hooks": {"Stop": [{"hooks": [{"command": command, "type": "command"}]}]}},
    )
    for name in ("kit/lib/end.sh", "kit/lib/say.sh", "kit/.claude/hooks/say.sh"):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text("exit 0\n")
    (place,) = find_hook_sets(tmp_path, copies=True)
    assert (place.root, [*place.texts]) == (tmp_path / "kit", [".claude/hooks/end.sh"])


def test_a_plugin_of_cursor(tmp_path):
    """A plugin with a manifest of Cursor is checked with Cursor alone, and its hooks start in its folder."""
    at(tmp_path, ".cursor-plugin/plugin.json", {"name": "p", "hooks": "./hooks/of-cursor.json"})
    at(tmp_path, "hooks/of-cursor.json", {"version": 1, "hooks": {"stop": [{"command": "./hooks/x.sh"}]}})
    at(tmp_path, "hooks/hooks.json", {"hooks": {"Stop": TRUE}})
    script = tmp_path / "hooks/x.sh"
    script.write_text("#!/bin/sh\necho '{}'\n")
    script.chmod(0o755)
    (place,) = find_hook_sets(tmp_path)
    assert (place.host, [hook.event for hook in place.hooks]) == ("cursor", ["stop"])
    assert not check_statically(place).symptoms


def test_plugins_that_a_marketplace_of_cursor_names(tmp_path):
    """The plugins of a marketplace of Cursor are found in the common folder that it names."""
    plugins = {"metadata": {"pluginRoot": "plugins"}, "plugins": [{"name": "a", "source": "a"}]}
    at(tmp_path, ".cursor-plugin/marketplace.json", plugins)
    at(tmp_path, "plugins/a/.cursor-plugin/plugin.json", {"name": "a"})
    at(tmp_path, "plugins/a/hooks/hooks.json", {"hooks": {"stop": [{"command": "true"}]}})
    (place,) = find_hook_sets(tmp_path)
    assert (place.host, place.part) == ("cursor", "plugins/a")


@pytest.mark.parametrize("source", ["x" * 300, "a\0b", "../../etc", "no/such/folder"])
def test_plugins_of_a_marketplace_that_are_not_there(tmp_path, source):
    """What a marketplace names and what is no folder in it is left out, and the other plugins are found."""
    plugins = {"metadata": {"pluginRoot": "p"}, "plugins": [{"source": source}, {"source": "a"}]}
    at(tmp_path, ".claude-plugin/marketplace.json", plugins)
    at(tmp_path, "p/a/hooks/hooks.json", {"hooks": {"Stop": TRUE}})
    (place,) = find_hook_sets(tmp_path)
    assert place.part == "p/a"


def test_a_marketplace_that_is_nested_too_deeply(tmp_path):
    """A marketplace that cannot be read as JSON is an error that names it, whatever it has."""
    file = tmp_path / ".claude-plugin/marketplace.json"
    file.parent.mkdir()
    file.write_text("[" * 200_000)
    with pytest.raises(SimulationError, match=r"marketplace\.json: expected an object"):
        find_hook_sets(tmp_path)


BLOCKS = 'echo \'{"decision": "block", "reason": "Run the tests in tests/ first."}\''
LOOP = [{"hooks": [{"type": "command", "command": BLOCKS}]}]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('// Ours.\n{"hooks": {"stop": [{"command": "echo //x"}]}}', ["echo //x"]),
        ('{"hooks": {/* Ours, */ "stop": [{"command": "true",},]}}', ["true"]),
        ('{"hooks": {"stop": [{"command": "true"}]}', []),
    ],
)
def test_settings_with_comments(tmp_path, text, found):
    """Hooks of JSON with comments are tried without them, and the comments are reported as the flaw."""
    at(tmp_path, ".cursor/hooks.json", text)
    (place,) = find_hook_sets(tmp_path)
    assert [hook.command for hook in place.hooks] == found
    assert [*place.texts] == [".cursor/hooks.json"][: len(found)]
    assert "cannot be parsed" in place.flaws[0]
    assert "it is assumed that the host runs none of its hooks" in place.flaws[0]


def test_a_report_says_that_comments_were_left_out(tmp_path, harness):
    """The report names the corrections in sessions of settings with comments, and only those."""
    at(tmp_path, ".cursor/hooks.json", '// Ours.\n{"hooks": {"stop": [{"command": "true"}]}}')
    (place,) = find_hook_sets(tmp_path)
    outcome = play_session(plan_each_event(place), harness.settings, harness.resources)
    (told,) = describe_corrections(place, [outcome])
    assert told.startswith("In all sessions, the settings had no comments")
    assert [*describe_corrections(replace(place, flaws=()), [outcome])] == []


@pytest.mark.parametrize("file", [".claude/settings.json", "hooks/hooks.json"])
@pytest.mark.nightly
def test_hooks_beside_a_malformed_entry_are_tried(tmp_path, harness, file):
    """An entry that turns off all hooks of its file is a problem; the other hooks are tried without it."""
    at(tmp_path, file, {"hooks": {"PostToolUse": [{"hooks": ["x.sh"]}], "Stop": LOOP}})
    (place,) = find_hook_sets(tmp_path)
    report = CheckRun(place, harness.settings, harness.resources).run()
    kinds = {one.symptom.kind for one in report.problems}
    assert {"CONFIG-OFF", "livelock"} <= kinds
    assert "NEVER-FIRED" not in kinds


@pytest.mark.parametrize("wrong", [{"hooks": "x"}, {"hooks": [5, 6]}, {"matcher": 3, "hooks": []}, {}, 7])
def test_a_malformed_entry_is_left_out_whole(tmp_path, wrong):
    """An entry is left out with all it has: without the wrong part alone it would be another hook."""
    at(tmp_path, ".claude/settings.json", {"hooks": {"Stop": [wrong, LOOP[0], wrong], "Setup": [wrong]}})
    (place,) = find_hook_sets(tmp_path)
    assert [(hook.event, hook.command) for hook in place.hooks] == [("Stop", BLOCKS)]
    assert "CONFIG-OFF" in {one.name for one in place.findings}


@pytest.mark.parametrize(
    ("host", "event", "variable"),
    [("claude-code", "PostToolUse", "CLAUDE_PLUGIN_ROOT"), ("cursor", "postToolUse", "CURSOR_PLUGIN_ROOT")],
)
def test_a_file_of_which_a_build_makes_a_plugin(tmp_path, host, event, variable):
    """Hooks that name the plugin's folder are tried in the one that has their scripts."""
    entry = {"type": "command", "command": f"bash ${{{variable}}}/hooks/scripts/track.sh"}
    entries = [{"hooks": [entry]}] if host == "claude-code" else [entry]
    at(tmp_path, f"hooks/{host}-hooks.json", {"version": 1, "hooks": {event: entries}})
    at(tmp_path, "hooks/scripts/track.sh", "#!/bin/bash\nexit 0\n")
    (tmp_path / ".git").mkdir()
    (place,) = find_hook_sets(tmp_path / "hooks", copies=True)
    assert (place.host, place.root, [*place.env]) == (host, tmp_path, [variable])
    said = f"sets  {variable} to the project, as if a build made a plugin of it"
    assert said in announcement([place], "")
    assert not [one for one in check_statically(place).symptoms if one.kind == "NOT-RUN"]
    (tmp_path / "hooks/scripts/track.sh").unlink()
    (without,) = find_hook_sets(tmp_path / "hooks", copies=True)
    assert not without.env
    assert said not in announcement([without], "")


def test_the_project_of_a_settings_file_elsewhere(tmp_path):
    """A settings file that is copied belongs to the folder of its repository in which its scripts are."""
    group = [{"hooks": [{"type": "command", "command": "sh hooks/x.sh"}]}]
    at(tmp_path, "a/b/settings.json", {"hooks": {"Stop": group}})
    (tmp_path / ".git").mkdir()
    (place,) = find_hook_sets(tmp_path / "a/b/settings.json", "claude-code")
    assert place.root == tmp_path / "a/b"
    (tmp_path / "hooks").mkdir()
    (tmp_path / "hooks/x.sh").write_text("exit 0\n")
    (place,) = find_hook_sets(tmp_path / "a/b/settings.json", "claude-code")
    assert (place.root, place.only) == (tmp_path, "a/b/settings.json")
    assert [hook.event for hook in place.hooks] == ["Stop"]


def test_scripts_beside_a_settings_file_elsewhere(tmp_path):
    """Scripts that lie beside the file belong to the folder from which the commands lead to them."""
    at(tmp_path, "hooks/cursor.json", {"version": 1, "hooks": {"stop": [{"command": "./hooks/stop"}]}})
    at(tmp_path, "hooks/stop", "#!/bin/sh\n")
    (tmp_path / ".git").mkdir()
    (place,) = find_hook_sets(tmp_path / "hooks/cursor.json", "cursor")
    assert (place.root, [path for path, _ in place.sources]) == (tmp_path, ["hooks/stop"])


@pytest.mark.parametrize(
    "before", ["$CLAUDE_PROJECT_DIR/", "${CLAUDE_PROJECT_DIR:-$(git rev-parse --show-toplevel)}/", "$(pwd)/"]
)
def test_the_scripts_of_a_template(tmp_path, before):
    """Scripts elsewhere in the repository are copied to where the settings name them."""
    (tmp_path / ".git").mkdir()
    hook = {"type": "command", "command": f'sh "{before}.claude/hooks/x.sh"'}
    at(tmp_path, "kit/templates/settings.default.json", {"hooks": {"Stop": [{"hooks": [hook]}]}})
    at(tmp_path, "kit/hooks/x.sh", "exit 0\n")
    (place,) = find_hook_sets(tmp_path, copies=True)
    assert place.texts == {".claude/hooks/x.sh": "exit 0\n"}


@pytest.mark.parametrize(("second", "copied"), [("exit 0\n", True), ("exit 1\n", False)])
def test_equal_copies_of_the_script_of_a_template(tmp_path, second, copied):
    """A script without an ending is copied, also if the project has it twice, but not two different ones."""
    (tmp_path / ".git").mkdir()
    hook = {"type": "command", "command": '"$CLAUDE_PROJECT_DIR"/.claude/hooks/block-push'}
    at(tmp_path, "claude/settings.json", {"hooks": {"PreToolUse": [{"hooks": [hook]}]}})
    at(tmp_path, "skills/guard/scripts/block-push", "exit 0\n")
    at(tmp_path, ".agents/guard/scripts/block-push", second)
    (place,) = find_hook_sets(tmp_path, copies=True)
    assert place.texts == ({".claude/hooks/block-push": "exit 0\n"} if copied else {})


def test_folders_that_a_marketplace_does_not_list(tmp_path):
    """Beside the listed plugins, folders like them are tried too, and one with the list alone is none."""
    (tmp_path / ".git").mkdir()
    at(tmp_path, ".claude-plugin/marketplace.json", {"plugins": [{"name": "a", "source": "./plugins/a"}]})
    for folder, script in (("plugins/a", "hooks/a.sh"), ("skills/b", "hooks/b.sh"), (".", "c.sh")):
        hook = {"type": "command", "command": f"sh ${{CLAUDE_PLUGIN_ROOT}}/{script}"}
        at(tmp_path, f"{folder}/hooks/hooks.json", {"hooks": {"Stop": [{"hooks": [hook]}]}})
        at(tmp_path, f"{folder}/hooks/{script.rpartition('/')[2]}", "exit 0\n")
    found = find_hook_sets(tmp_path, copies=True)
    assert [(one.part, one.root, one.elsewhere) for one in found] == [
        ("plugins/a", tmp_path / "plugins/a", False),
        ("hooks/hooks.json", tmp_path / "hooks", True),
        ("skills/b/hooks/hooks.json", tmp_path / "skills/b", True),
    ]
    assert not [one for place in found for one in check_statically(place).symptoms if one.kind == "NOT-RUN"]
    (listed,) = find_hook_sets(tmp_path)
    assert listed.part == "plugins/a"


@pytest.mark.parametrize(
    ("folder", "host"), [("codex", "codex"), (".gemini/copy", "gemini-cli"), ("other", "claude-code")]
)
def test_a_folder_with_the_name_of_a_host(tmp_path, folder, host):
    """Settings that fit several hosts are for the one whose name the folder has."""
    at(tmp_path, f"{folder}/hooks.json", {"hooks": {"SessionStart": GROUPS}})
    (place,) = find_hook_sets(tmp_path, copies=True)
    assert place.host == host


def test_a_machine_without_git(tmp_path, monkeypatch):
    """Without git no session asks for a repository, and the report says that this was not tested."""
    at(tmp_path, ".claude/settings.json", {"hooks": {"Stop": GROUPS}})
    (place,) = find_hook_sets(tmp_path)
    assert plan_usual(place, 0).scenario.git
    monkeypatch.setenv("PATH", str(tmp_path))
    (place,) = find_hook_sets(tmp_path)
    assert not plan_usual(place, 0).scenario.git
    assert "Git is not installed here" in summarise(place, []).open[-1]


def test_one_command_in_two_entries(tmp_path):
    """An entry that no session triggered is named alone, also if another one has the same command."""
    groups = [
        {"matcher": name, "hooks": [{"type": "command", "command": "./x.sh"}]} for name in ("Bash", "Wirte")
    ]
    at(tmp_path, ".claude/settings.json", {"hooks": {"PreToolUse": groups}})
    (place,) = find_hook_sets(tmp_path)
    said = [text.partition(",")[0] for text in summarise(place, []).open if "No session triggered" in text]
    assert said == [
        "No session triggered PreToolUse 1 (x.sh) with the matcher `Bash`",
        "No session triggered PreToolUse 2 (x.sh) with the matcher `Wirte`",
    ]


def test_a_plugin_for_two_hosts(tmp_path):
    """A plugin with a manifest of Codex has the hooks that this names, and not those of Claude Code."""
    hooks = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}
    files = {
        ".claude-plugin/plugin.json": {"name": "p"},
        ".codex-plugin/plugin.json": {"name": "p", "hooks": "./hooks/codex.json"},
        "hooks/hooks.json": hooks,
        "hooks/codex.json": hooks,
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(json.dumps(content))
    found = {one.host: one for one in find_hook_sets(tmp_path)}
    assert {host: one.files for host, one in found.items()} == {
        "claude-code": ("hooks/hooks.json",),
        "codex": ("hooks/codex.json",),
    }
    (hook,) = found["codex"].hooks
    assert hook.env == {"PLUGIN_ROOT": str(tmp_path)}
