"""Tables of a scenario's top-level keys, of its world, and of its variants."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pytest_hookharness.model.scenario import WORLD_FIELDS, AssumedCap, Double, Mask, Scenario
from pytest_hookharness.scenario_files.keys import campaigns, common, world
from pytest_hookharness.scenario_files.keys.expect import EXPECT
from pytest_hookharness.scenario_files.keys.moves import AGENT, MOVES_ALONE, REACTIONS, THEN
from pytest_hookharness.scenario_files.keys.world import LIMITS, PROCESSES
from pytest_hookharness.scenario_files.schema import texts
from pytest_hookharness.scenario_files.schema.shapes import (
    ChoiceShape,
    FlagShape,
    Folder,
    Key,
    Many,
    Named,
    Nothing,
    RecordShape,
    Text,
    Values,
    Whole,
    either,
    removable,
)

MAX_MODE = 0o7777


def check_double(values: Values) -> Iterator[tuple[str, str]]:
    """Yield a problem for each key that does not go with the others."""
    if "heals_after" in values and not values.get("exit"):
        yield "heals_after", "a command heals only if it fails at first; add an exit other than 0"
    if "does" in values and not values.get("agent"):
        yield "does", "only a fake agent makes moves; add its host, such as agent: claude-code"
    for name in ("heals_after", "hangs", "floods", "prompts", "stderr"):
        if values.get("agent") and values.get(name):
            yield name, f"a fake agent runs a session and cannot have {name}"
    if "module" in values and len(values) > 1:
        yield "module", "a module answers by itself; leave out the other keys"


def check_mask(values: Values) -> Iterator[tuple[str, str]]:
    """Yield a problem if a mask has both keys and text."""
    if "keys" in values and "text" in values:
        yield "text", "a mask has keys or text, not both; write two masks"


DOUBLE = common.record_of(
    Double,
    "a test double",
    {
        "exit": Whole(noun="an exit code", maximum=255),
        "floods": Whole(noun="a number of bytes"),
        "agent": common.HOST,
        "does": MOVES_ALONE,
        "module": Text(noun="a Python module", pattern=texts.MODULE, example="mypackage.hook"),
    },
    check=check_double,
)
GLOB = Text(noun="a glob over state paths", pattern=texts.WORDS, example="workspace/.state/**")
MASK = either(
    replace(GLOB, read=lambda glob: Mask(file=glob)),
    common.record_of(
        Mask,
        "a mask",
        {
            "file": GLOB,
            "keys": Many(noun="a list of JSON keys", item=Text(), at_least=1),
            "text": common.REGEX,
        },
        check=check_mask,
        besides={"not": {"required": ["keys", "text"]}},
    ),
)
MODE = either(
    Text(noun="an octal mode", pattern=texts.MODE, example="0755", read=texts.read_mode),
    Whole(noun="a mode", maximum=MAX_MODE, octal=True),
)
HOSTS = either(
    replace(common.HOST, read=lambda host: (host,)),
    Many(noun="a list of hosts", item=common.HOST, at_least=1, unique=True),
)
FLAG = either(
    ChoiceShape(
        noun="never, always, absent or a list of true, false, null and absent",
        words=("never", "always", "absent"),
        read=lambda word: (word if word == "absent" else word == "always",),
    ),
    Many(
        noun="a list of true, false, null and absent",
        item=either(
            FlagShape(), Nothing(), ChoiceShape(noun="true, false, null or absent", words=("absent",))
        ),
        at_least=1,
    ),
)
CAP = either(
    ChoiceShape(noun="the word none", words=("none",), read=lambda _: AssumedCap()),
    Whole(noun="a number of refusals", minimum=1, read=lambda number: AssumedCap(refusals=number)),
    common.record_of(
        AssumedCap,
        "a cap on refusals",
        {"refusals": Whole(noun="a number of refusals", minimum=1), "resets": "what resets the count"},
        required=("refusals",),
    ),
)
NAME = Text(noun="a name of letters, digits, -, _ and .", pattern=texts.NAME, example="stops-after-one-block")
_FIELDS = common.keys_of(
    Scenario,
    {
        "name": NAME,
        "host": HOSTS,
        "project": Folder(),
        "plugin": Folder(),
        "files": common.TEXTS,
        "modes": Named(noun="modes by path", key=common.INSIDE, value=MODE),
        "options": Named(
            noun="values by option",
            key=Text(noun="an option's name", pattern=texts.NAME, example="max_iteration_per_run"),
            value=either(FlagShape(), Whole(noun="a number", minimum=None), Text()),
        ),
        "flags": FLAG,
        "cap": CAP,
        "hooks": either(common.INSIDE, common.JSON_MAPPING),
        "commands": Named(
            noun="test doubles by name",
            key=Text(noun="a command's name", pattern=texts.COMMAND, example="npm"),
            value=DOUBLE,
        ),
        "env": Named(
            noun="texts by variable",
            key=Text(noun="a variable's name", pattern=texts.VARIABLE, example="CHECK_RERUN"),
            value=Text(noun="a text without NUL", pattern=texts.NO_NUL),
        ),
        "hidden": campaigns.COMMANDS,
        "unset": campaigns.VARIABLES,
        "order": Named(noun="orders by event", key=common.EVENT, value=campaigns.PLACES),
        "on_failure": world.ON_FAILURE,
        "stdin": world.DELIVERY,
        "terminal": world.TERMINAL,
        "script": AGENT,
        "processes": PROCESSES,
        "threads": LIMITS,
        "masks": Many(noun="a list of masks", item=MASK),
        "until": "an end",
        "turns": Whole(minimum=1),
        "hook_timeout": common.TIME_LIMIT,
        "parallel": campaigns.PARALLEL,
        "vary": campaigns.VARY,
        "explore": campaigns.EXPLORE,
        "expect": EXPECT,
        "answers": world.ANSWERS,
        "company": "a kind of company",
        "cover": Many(
            noun="a list of folders",
            item=Text(noun="an absolute folder", pattern=texts.ABSOLUTE, example="/opt/state"),
        ),
        "cwd": world.CWD,
        "full": world.STATE_PATHS,
        "home": common.TEXTS,
        "home_folder": Folder(),
        "nesting": world.NESTING,
        "payload": campaigns.SHAPING,
        "place": Text(noun="a folder's name", pattern=texts.STEP, example="my project"),
        "readonly": world.STATE_PATHS,
        "setup": "a kind of setup",
        "shell": Text(noun="a shell", pattern=texts.WORDS, example="dash"),
        "subfolder": Text(noun="a relative path without `..`", pattern=texts.INSIDE, example="packages/api"),
        "worktree": Text(noun="a worktree's name", pattern=texts.NAME, example="fix-the-build"),
    },
    names={"flags": "flag", "masks": "mask", "script": "agent"},
    without=("variant", "origin", "reach"),
    merges=("files", "modes", "options", "commands", "env", "processes", "home"),
)
_WHEN = Key("when", REACTIONS, "Moves of the agent in answer to certain messages, instead of its next move.")
WORLD = RecordShape(noun="a world", keys=tuple(key for key in _FIELDS if key.field in WORLD_FIELDS))
# What a variant adds to, for the key's description and the documentation.
MERGING = (
    "Its keys replace those of the base as a whole, `expect` too, but for "
    f"{', '.join(f'`{key.name}`' for key in _FIELDS if key.merges and key.name != 'home')}, `world` and "
    "`world.home`: there it adds to what the base has, key by key. `null` removes a key of the base."
)
_WORLD_KEY = Key(
    "world",
    WORLD,
    "Rarely needed settings of the machine and of the session in which hooks run.",
    merges=True,
)


def _common() -> Iterator[Key]:
    for key in _FIELDS:
        if key.field not in WORLD_FIELDS and key.field != "name":
            yield key
        if key.field == "script":
            yield _WHEN
            yield _WORLD_KEY


COMMON = tuple(_common())
VARIANT = RecordShape(noun="a variant", keys=tuple(map(removable, COMMON)))
SCENARIO = RecordShape(
    noun="a scenario",
    keys=(
        *(key for key in _FIELDS if key.field == "name"),
        *COMMON,
        Key(
            "variants",
            Named(noun="variants by name", key=replace(NAME, example="before-the-fix"), value=VARIANT),
            f"The same scenario with some keys changed. {MERGING}",
        ),
    ),
)
SCRIPT = RecordShape(
    noun="a script",
    keys=(
        Key("agent", field="script", shape=AGENT, doc="The acts.", required=True),
        Key("then", THEN, "What the agent does after the last act."),
        Key("when", REACTIONS, _WHEN.doc),
    ),
)
