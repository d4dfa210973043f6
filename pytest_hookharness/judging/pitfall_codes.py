"""
This module is concerned with the codes of pitfalls that show only when something is different.

Middle floor: judging. Data only. Each is found by playing a scenario again with one thing varied.
"""

from __future__ import annotations

from pytest_hookharness.model.code import Code

STATUS_LEAK = Code(
    "HH102",
    "STATUS-LEAK",
    "A hook that usually ends with status 0 ended with another, without a word and without a decision.",
    "The status of the last command leaks out: people see an error that says nothing, and some hosts take it "
    "for a refusal.",
    "End every path with an explicit `exit 0`, and answer a helper that fails where it is called.",
)
STRICT_SHELL = Code(
    "HH103",
    "STRICT-SHELL",
    "A script fails where a variable is absent, where a count is still 0, or under another shell.",
    "Under `set -eu` such a script ends before it decides, and on most hosts that lets everything through.",
    "Write `${NAME:-}` for what may be unset, `n=$((n + 1))` instead of `((n++))`, "
    '`${list[@]+"${list[@]}"}` for a list that may be empty, and name the shell that the script needs in its '
    "first line.",
)
ORDER = Code(
    "HH104",
    "ORDER",
    "What the hooks of one event decide together depends on their order.",
    "Most hosts start them at once, and a line that is moved in the settings changes what is refused.",
    "Let each hook decide by itself; what two of them share belongs into one hook.",
)
LOST_UPDATES = Code(
    "HH105",
    "LOST-UPDATES",
    "Fires side by side leave less in a file than one after the other, or refuse more often.",
    "Each reads, changes and writes back for itself: where tools are called in parallel, counts are lost.",
    "Hold a lock (`flock`) from before the read until after the write, or append one line in one write.",
)
RAW_JSON = Code(
    "HH107",
    "RAW-JSON",
    "A decision depends on the order of JSON keys, or on which field holds a word.",
    "No host promises an order, and a word in a description is no command.",
    "Parse the input, and match in the one field that is meant: `jq -r .tool_input.command`.",
)
UNGUARDED_TOOL = Code(
    "HH109",
    "UNGUARDED-TOOL",
    "A command that is missing, fails or hangs changes what a hook decides, or holds it up.",
    "On another machine the guard is off or in everybody's way, and nothing says why.",
    "Ask for it first (`command -v`), limit its time, and decide on purpose what its failure means.",
)
TEXT_MATCH = Code(
    "HH110",
    "TEXT-MATCH",
    "A guard refuses words that are only data, or lets the same words through as another form of code.",
    "It stands in the way of commit messages and notes, and stops nobody who writes `sh -c`.",
    "Split the command line as a shell would: leave out quoted text and heredocs, and look into what a shell "
    "is given to run.",
)
BASENAME = Code(
    "HH113",
    "BASENAME",
    "A second file is not handled because one of the same base name was.",
    "A nested file of another content is passed over in silence.",
    "Remember files by their whole path.",
)
WRONG_KEY = Code(
    "HH115",
    "WRONG-KEY",
    "A count of one agent goes on in another's, or is lost when its host's process changes.",
    "A subagent is refused for what its parent did, and a limit that is kept by process number is never met.",
    "Key what is counted by `session_id` and `agent_id` together: a subagent's call has both, its parent's "
    "the first alone. Agents of one session may share a transcript, and a process number is anybody's.",
)
TORN_STATE = Code(
    "HH116",
    "TORN-STATE",
    "Fires side by side leave a file that is broken: JSON that cannot be read, or parts of lines.",
    "Each writes in pieces, and others write between them: the next fire reads nonsense, or begins anew.",
    "Write to a file of another name and rename it when it is whole, or append each line by one write; and "
    "hold a lock (`flock`) from before the read until after the write.",
)

PITFALL_CODES = (
    STATUS_LEAK,
    STRICT_SHELL,
    ORDER,
    LOST_UPDATES,
    RAW_JSON,
    UNGUARDED_TOOL,
    TEXT_MATCH,
    BASENAME,
    WRONG_KEY,
    TORN_STATE,
)
