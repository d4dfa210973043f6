"""
The tables of a scenario's top-level keys, and of its variants.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_hookharness.model.agent_sessions import Nesting
from pytest_hookharness.model.scenario import Answer, Double, Mask
from pytest_hookharness.scenario_files.keys import campaigns
from pytest_hookharness.scenario_files.keys.background import LIMITS, PROCESSES
from pytest_hookharness.scenario_files.keys.common import DURATION, EVENT, INSIDE, JSON_MAPPING, REGEX, TIMES
from pytest_hookharness.scenario_files.keys.expect import EXPECT
from pytest_hookharness.scenario_files.keys.moves import THEN
from pytest_hookharness.scenario_files.keys.script import AGENT, MOVES_ALONE, REACTIONS
from pytest_hookharness.scenario_files.keys.world import (
    CWD,
    DELIVERY,
    ON_FAILURE,
    PLACE,
    STATE_PATHS,
    TERMINAL,
)
from pytest_hookharness.scenario_files.schema import patterns
from pytest_hookharness.scenario_files.schema.shapes import (
    ChoiceShape,
    Either,
    FlagShape,
    Folder,
    Key,
    Many,
    Named,
    RecordShape,
    Text,
    Values,
    Whole,
)

MOST_MODE = 0o7777


def check_double(values: Values) -> Iterator[tuple[str, str]]:
    """
    Only what fails can heal, and only an agent does anything.
    """
    if "heals_after" in values and not values.get("exit"):
        yield "heals_after", "a command heals only if it fails at first; add an exit other than 0"
    if "does" in values and not values.get("agent"):
        yield "does", "only a stand-in for an agent does something; say of which: agent: claude-code"
    for name in ("heals_after", "hangs", "floods", "prompts", "stderr"):
        if values.get("agent") and values.get(name):
            yield name, f"a stand-in for an agent plays a session and cannot have {name}"


def check_command(values: Values) -> Iterator[tuple[str, str]]:
    """
    A module does what it does; nothing else is said of it.
    """
    yield from check_double(values)
    if "module" in values and len(values) > 1:
        yield "module", "a module answers by itself; leave out the other keys"


def check_mask(values: Values) -> Iterator[tuple[str, str]]:
    """
    A mask leaves out keys or text, not both.
    """
    if "keys" in values and "text" in values:
        yield "text", "a mask has keys or text, not both; write two masks"


DOUBLE = RecordShape(
    noun="a double",
    keys=(
        Key(name="exit", shape=Whole(noun="an exit code", maximum=255), doc="Its exit code."),
        Key(name="stdout", shape=Text(), doc="What it prints."),
        Key(name="stderr", shape=Text(), doc="What it prints on standard error."),
        Key(name="heals_after", shape=Whole(), doc="It fails this many times and then succeeds."),
        Key(name="hangs", shape=FlagShape(), doc="It never returns."),
        Key(name="floods", shape=Whole(noun="a number of bytes"), doc="Bytes it prints before it ends."),
        Key(name="prompts", shape=Text(), doc="A question that it asks on the terminal, and waits."),
        Key(
            name="agent",
            shape=Text(noun="a host", pattern=patterns.HOST, example="claude-code"),
            doc="It stands in for this agent: it plays a session with its hooks; stdout is the answer.",
        ),
        Key(name="does", shape=MOVES_ALONE, doc="What the agent of that session does before it answers."),
        Key(
            name="module",
            shape=Text(noun="a Python module", pattern=patterns.MODULE, example="mypackage.hook"),
            doc="A module of the Python that runs the harness, which is run in its place.",
        ),
    ),
    build=Double,
    check=check_command,
)
GLOB = Text(
    noun="a glob over state paths",
    pattern=patterns.WORDS,
    example="workspace/.state/**",
)
MASK = Either(
    shapes=(
        Text(noun=GLOB.noun, pattern=GLOB.pattern, example=GLOB.example, read=lambda glob: Mask(file=glob)),
        RecordShape(
            noun="a mask",
            keys=(
                Key(name="file", shape=GLOB, doc="A glob over state paths.", required=True),
                Key(
                    name="keys",
                    shape=Many(noun="a list of JSON keys", item=Text(), at_least=1),
                    doc="JSON keys whose values are left out.",
                ),
                Key(name="text", shape=REGEX, doc="Matches of this are left out."),
            ),
            build=Mask,
            check=check_mask,
            besides={"not": {"required": ["keys", "text"]}},
        ),
    )
)
NESTING = RecordShape(
    noun="limits of sessions within sessions",
    keys=(
        Key(name="depth", shape=Whole(minimum=1), doc="How many may lie within each other."),
        Key(name="sessions", shape=Whole(minimum=1, maximum=150), doc="How many one event may lead to."),
    ),
    build=Nesting,
)
ANSWER = RecordShape(
    noun="an answer",
    keys=(
        Key(name="event", shape=EVENT, doc="The event of the handler.", required=True),
        Key(
            name="type",
            shape=ChoiceShape(noun="a type of handler", words=("prompt", "http", "agent", "mcp_tool")),
            doc="The type of the handler.",
            required=True,
        ),
        Key(name="match", shape=Text(), doc="A word that its prompt, address or name holds."),
        Key(name="reply", shape=JSON_MAPPING, doc="What it answers.", required=True),
        Key(name="times", shape=TIMES, doc="Answer only this often."),
    ),
    build=Answer,
)
MODE = Either(
    shapes=(
        Text(noun="an octal mode", pattern=patterns.MODE, example="0755", read=patterns.read_mode),
        Whole(noun="a mode", maximum=MOST_MODE, octal=True),
    )
)
HOST = Text(noun="a host", pattern=patterns.HOST, example="claude-code")
HOSTS = Either(
    shapes=(
        Text(noun=HOST.noun, pattern=HOST.pattern, example=HOST.example, read=lambda host: (host,)),
        Many(noun="a list of hosts", item=HOST, at_least=1, unique=True),
    )
)
FLAG = Either(
    shapes=(
        ChoiceShape(
            noun="a word or list for the flag",
            words=("never", "always"),
            read=lambda word: (word == "always",),
        ),
        Many(noun="a list of true and false", item=FlagShape(), at_least=1),
    )
)
NAME = Text(
    noun="a name of letters, digits, -, _ and .",
    pattern=patterns.NAME,
    example="lets-go-after-one-block",
)
BARE_NAME = Text(noun=NAME.noun, pattern=NAME.pattern, example="before-the-fix")

COMMON = (
    Key(name="why", shape=Text(), doc="What this shows."),
    Key(name="host", shape=HOSTS, doc="A host, with or without @version, or a list of them."),
    Key(
        name="project",
        shape=Folder(),
        doc="A folder that is copied fresh into the workspace, or `repository`.",
    ),
    Key(
        name="plugin",
        shape=Folder(),
        doc="A plugin folder, or `repository`, loaded beside the project's own hooks.",
    ),
    Key(
        name="files",
        shape=Named(noun="texts by path", key=INSIDE, value=Text()),
        doc="Files that are written into the workspace.",
        merges=True,
    ),
    Key(
        name="home",
        shape=Named(noun="texts by path", key=INSIDE, value=Text()),
        doc="Files that are written into the home folder.",
        merges=True,
    ),
    Key(
        name="modes",
        shape=Named(noun="modes by path", key=INSIDE, value=MODE),
        doc="Permission bits of files.",
        merges=True,
    ),
    Key(name="git", shape=FlagShape(), doc="Whether the workspace is a committed repository."),
    Key(
        name="worktree",
        shape=Text(noun="a worktree's name", pattern=patterns.NAME, example="fix-the-build"),
        doc="The session works in a worktree of this name, which a hook or git makes.",
    ),
    Key(
        name="setup",
        shape=ChoiceShape(noun="a kind of setup", words=("init", "maintenance")),
        doc="What the session sets up before it starts.",
    ),
    Key(
        name="options",
        shape=Named(
            noun="values by option",
            key=Text(noun="an option's name", pattern=patterns.NAME, example="max_iteration_per_run"),
            value=Either(shapes=(FlagShape(), Whole(noun="a number", minimum=None), Text())),
        ),
        doc="Options that the host is started with, by its own names.",
        merges=True,
    ),
    Key(
        name="flag",
        field="flags",
        shape=FLAG,
        doc="When hooks of stops are told that stop_hook_active is true, whatever the host would say.",
    ),
    Key(
        name="hooks",
        shape=Either(shapes=(INSIDE, JSON_MAPPING)),
        doc="The host's own hook configuration: a path in the workspace, or its content.",
    ),
    Key(
        name="commands",
        shape=Named(
            noun="doubles by name",
            key=Text(noun="a command's name", pattern=patterns.COMMAND, example="npm"),
            value=DOUBLE,
        ),
        doc="Stand-in commands, first on the PATH.",
        merges=True,
    ),
    Key(name="nesting", shape=NESTING, doc="How far sessions of stand-ins may start sessions."),
    Key(
        name="env",
        shape=Named(
            noun="texts by variable",
            key=Text(noun="a variable's name", pattern=patterns.VARIABLE, example="CHECK_RERUN"),
            value=Text(noun="a text without NUL", pattern=patterns.NO_NUL),
        ),
        doc="Variables of the host's environment.",
        merges=True,
    ),
    Key(name="hidden", shape=campaigns.COMMANDS, doc="Commands that are on no folder of PATH."),
    Key(name="unset", shape=campaigns.VARIABLES, doc="Variables that are not in the environment."),
    Key(
        name="shell",
        shape=Text(noun="a shell", pattern=patterns.WORDS, example="dash"),
        doc="The shell of the hooks' command lines, and of scripts that only ask for sh.",
    ),
    Key(
        name="order",
        shape=Named(noun="orders by event", key=EVENT, value=campaigns.PLACES),
        doc="Hooks of an event one after the other, by their places in the configuration from 1.",
    ),
    Key(
        name="company",
        shape=ChoiceShape(noun="a company", words=("session", "agent")),
        doc="Who else sends every event: another session, or another agent of the same one.",
    ),
    Key(name="relaunched", shape=FlagShape(), doc="Every fire comes from a new process of the host."),
    Key(
        name="payload", shape=campaigns.SHAPING, doc="How the JSON of standard input differs from the host's."
    ),
    Key(name="on_failure", shape=ON_FAILURE, doc="What hooks must do when they cannot decide."),
    Key(name="cwd", shape=CWD, doc="Where hooks are started."),
    Key(name="place", shape=PLACE, doc="The last part of the workspace's path."),
    Key(name="readonly", shape=STATE_PATHS, doc="State paths that hooks cannot write to."),
    Key(name="full", shape=STATE_PATHS, doc="State paths of empty folders without room for one byte."),
    Key(name="stdin", shape=DELIVERY, doc="How the hooks' standard input is written."),
    Key(name="terminal", shape=TERMINAL, doc="A terminal that hooks can open; or what is typed on it."),
    Key(name="network", shape=FlagShape(), doc="Whether the hooks may reach the network."),
    Key(name="agent", shape=AGENT, doc="What the agent does, and what happens to it."),
    Key(name="when", shape=REACTIONS, doc="What the agent does when it is shown something."),
    Key(
        name="processes",
        shape=PROCESSES,
        doc="Processes that `detach NAME` starts, and the hooks by which they spawn threads.",
        merges=True,
    ),
    Key(name="threads", shape=LIMITS, doc="What holds the threads of process hooks back."),
    Key(name="answers", shape=Many(item=ANSWER), doc="Replies of handlers that are not commands."),
    Key(
        name="mask",
        field="masks",
        shape=Many(noun="a list of masks", item=MASK),
        doc="Parts of the state that are declared irrelevant.",
    ),
    Key(
        name="cover",
        shape=Many(
            noun="a list of folders",
            item=Text(noun="an absolute folder", pattern=patterns.ABSOLUTE, example="/opt/state"),
        ),
        doc="Further folders that belong to the state.",
    ),
    Key(
        name="until",
        shape=ChoiceShape(noun="an end", words=("lasso", "guard")),
        doc="Whether the proof of a livelock ends the run, or the host's guard.",
    ),
    Key(name="pace", shape=DURATION, doc="Time that passes for the hooks before each turn of the agent."),
    Key(name="turns", shape=Whole(minimum=1), doc="Most turns that are played."),
    Key(
        name="hook_timeout",
        shape=DURATION,
        doc="End a hook run after this time although its host would wait longer.",
    ),
    Key(name="parallel", shape=campaigns.PARALLEL, doc="Fires side by side, and where each must be counted."),
    Key(
        name="vary", shape=campaigns.VARY, doc="What must not matter: it is played again with that different."
    ),
    Key(name="explore", shape=campaigns.EXPLORE, doc="What a free agent can do is explored for lock-outs."),
    Key(name="expect", shape=EXPECT, doc="The promise."),
)
VARIANT = RecordShape(noun="a variant", keys=COMMON)
SCENARIO = RecordShape(
    noun="a scenario",
    keys=(
        Key(name="name", shape=NAME, doc="The scenario's name, as in node ids.", required=True),
        *COMMON,
        Key(
            name="variants",
            shape=Named(noun="variants by name", key=BARE_NAME, value=VARIANT),
            doc="The same scenario with some keys changed; expect is replaced as a whole.",
        ),
    ),
)
MERGED = frozenset(key.name for key in COMMON if key.merges)
SCRIPT = RecordShape(
    noun="a script",
    keys=(
        Key(name="agent", shape=AGENT, doc="The acts.", required=True),
        Key(name="then", shape=THEN, doc="How the agent goes on at its end."),
        Key(name="when", shape=REACTIONS, doc="The reactions."),
    ),
)
