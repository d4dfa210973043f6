"""
The codes of pitfalls that a single run shows.

Data only. Each is found by what processes did and what the host's rules say of it.

The codes of pitfalls that show only when something is different.

Data only. Each is found by playing a scenario again with one thing varied.

The codes of what a check-up finds beside all others.

Data only. Who writes a scenario may want what these name, so no single run calls it a
defect.

The codes of faults: what hooks do where something is wrong around them.

Data only. Each is found by playing a scenario again with one thing wrong.
"""

from __future__ import annotations

from pytest_hookharness.model.verdicts import FindingCode

STATUS_LEAK = FindingCode(
    "HH102",
    "STATUS-LEAK",
    "A hook that usually ends with status 0 ended with another, without a word and without a decision.",
    "The status of the last command leaks out: people see an error that says nothing, and some hosts take it "
    "for a refusal.",
    "End every path with an explicit `exit 0`, and answer a helper that fails where it is called.",
)
STRICT_SHELL = FindingCode(
    "HH103",
    "STRICT-SHELL",
    "A script fails where a variable is absent, where a count is still 0, or under another shell.",
    "Under `set -eu` such a script ends before it decides, and on most hosts that lets everything through.",
    "Write `${NAME:-}` for what may be unset, `n=$((n + 1))` instead of `((n++))`, "
    '`${list[@]+"${list[@]}"}` for a list that may be empty, and name the shell that the script needs in its '
    "first line.",
)
ORDER = FindingCode(
    "HH104",
    "ORDER",
    "What the hooks of one event decide together depends on their order.",
    "Most hosts start them at once, and a line that is moved in the settings changes what is refused.",
    "Let each hook decide by itself; what two of them share belongs into one hook.",
)
LOST_UPDATES = FindingCode(
    "HH105",
    "LOST-UPDATES",
    "Fires side by side leave less in a file than one after the other, or refuse more often.",
    "Each reads, changes and writes back for itself: where tools are called in parallel, counts are lost.",
    "Hold a lock (`flock`) from before the read until after the write, or append one line in one write.",
)
RAW_JSON = FindingCode(
    "HH107",
    "RAW-JSON",
    "A decision depends on the order of JSON keys, or on which field holds a word.",
    "No host promises an order, and a word in a description is no command.",
    "Parse the input, and match in the one field that is meant: `jq -r .tool_input.command`.",
)
UNGUARDED_TOOL = FindingCode(
    "HH109",
    "UNGUARDED-TOOL",
    "A command that is missing, fails or hangs changes what a hook decides, or holds it up.",
    "On another machine the guard is off or in everybody's way, and nothing says why.",
    "Ask for it first (`command -v`), limit its time, and decide on purpose what its failure means.",
)
TEXT_MATCH = FindingCode(
    "HH110",
    "TEXT-MATCH",
    "A guard refuses words that are only data, or lets the same words through as another form of code.",
    "It stands in the way of commit messages and notes, and stops nobody who writes `sh -c`.",
    "Split the command line as a shell would: leave out quoted text and heredocs, and look into what a shell "
    "is given to run.",
)
BASENAME = FindingCode(
    "HH113",
    "BASENAME",
    "A second file is not handled because one of the same base name was.",
    "A nested file of another content is passed over in silence.",
    "Remember files by their whole path.",
)
WRONG_KEY = FindingCode(
    "HH115",
    "WRONG-KEY",
    "A count of one agent goes on in another's, or is lost when its host's process changes.",
    "A subagent is refused for what its parent did, and a limit that is kept by process number is never met.",
    "Key what is counted by `session_id` and `agent_id` together: a subagent's call has both, its parent's "
    "the first alone. Agents of one session may share a transcript, and a process number is anybody's.",
)
TORN_STATE = FindingCode(
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


CARRIED_OUT = FindingCode(
    "HH301",
    "CARRIED-OUT",
    "A hook carried out what stood in its input: in a command, a text or the name of a file.",
    "Whoever writes a file or a page that the agent reads runs programs on this machine, past every guard.",
    "Pass values as arguments or variables in quotes, and never build code of them: no `eval`, no "
    "`sh -c` with the value inside, no template of a script.",
)
STAGED = FindingCode(
    "HH302",
    "STAGED",
    "A hook changed the index, the refs or the stash of the repository.",
    "What the person had staged is mixed with what was not, and a commit appears that nobody asked for.",
    "Look with `git diff` and `git status --porcelain` only; to compare, use an index of the hook's own "
    "(`GIT_INDEX_FILE`) below a temporary folder.",
)

BLOCKS_EVERYTHING = FindingCode(
    "HH303",
    "BLOCKS-EVERYTHING",
    "A guard refuses work that nobody would object to: each look at a file, each edit, and most commands.",
    "The agent can do nothing, so people switch the guard off, and with it what it is for.",
    "Ask for the tool's name first, and let through all that the guard has no rule about; a list of what is "
    "allowed must hold every tool that the matcher lets through.",
)
INERT_GUARD = FindingCode(
    "HH304",
    "INERT-GUARD",
    "A hook asks for tools by names that its host does not have, so it never does anything.",
    "It looks like a guard and lets everything through; each host calls its tools otherwise.",
    "Use the host's own names of tools, as they stand in the input that it writes (`hookharness explain`), "
    "and test the guard with a call that it must refuse.",
)
SLOW = FindingCode(
    "HH305",
    "SLOW",
    "A hook takes more than half of the time that its host gives it.",
    "On a busier machine the host cuts it, and a guard that is cut guards nothing on most hosts.",
    "Do less at each fire: keep results, look only at the files of this call; or raise the hook's `timeout`.",
)

CHECK_CODES = (CARRIED_OUT, STAGED, BLOCKS_EVERYTHING, INERT_GUARD, SLOW)


FAILS_OPEN = FindingCode(
    "HH201",
    "FAILS-OPEN",
    "With one thing wrong around it, a guard lets through what it refuses otherwise.",
    "A missing tool, another folder or a longer input switches the guard off, and nothing says so.",
    "Refuse where the guard cannot decide, or say that it is meant so: `on_failure: allow`.",
)
FAILS_CLOSED = FindingCode(
    "HH202",
    "FAILS-CLOSED",
    "With one thing wrong around it, a hook refuses what it lets through otherwise.",
    "A fault of the hook's own stands in the way of everything, also of what would mend it.",
    "Let go where the hook cannot decide and tell people, or say that it is meant so: `on_failure: block`.",
)
INERT = FindingCode(
    "HH203",
    "INERT",
    "With one thing wrong around it, a hook cannot be run at all.",
    "A hook that never ran decided nothing: whatever it guards is open, whichever way it was meant to fail.",
    "Quote the path in the settings, name it by the host's variable for the project, keep the executable bit "
    "and plain line ends in the repository (`.gitattributes`).",
)
HANGS = FindingCode(
    "HH204",
    "HANGS",
    "With one thing wrong around it, a hook does not come to its end.",
    "The agent stands still until the host cuts the hook, and a hook that is cut guards nothing.",
    "Read one line or with a limit (`timeout 5 cat`), never ask on a terminal, and limit the time of tools.",
)

FAULT_CODES = (FAILS_OPEN, FAILS_CLOSED, INERT, HANGS)


EARLY_EXIT = FindingCode(
    "HH101",
    "EARLY-EXIT",
    "A hook decided, and a file that it promised to change on that decision stayed as it was.",
    "A helper that prints the decision and exits ends the whole script: a count that stands behind it never "
    "rises, a mark is never cleared, and the next decision is made from what is out of date.",
    "Write the state first and decide last, and put branches that change state first.",
)
STUCK_PHASE = FindingCode(
    "HH106",
    "STUCK-PHASE",
    "A session that begins in the wrong phase is locked out, or one phase outlives its session.",
    "A mark that must be set before the agent may read locks out an agent that must read to set it; "
    "a mark that nobody clears switches the hook off for every session to come.",
    "Let reads through in every phase, tie the mark to the session's id, and clear it when a session starts.",
)
STDOUT_DENIES = FindingCode(
    "HH108",
    "STDOUT-DENIES",
    "A hook ended with exit code 0 and no refusal, and its host takes what it printed for one.",
    "There is no channel for a mere warning on that host: the call is refused although the hook let it "
    "through, and the agent is told no reason, or the wrong one.",
    "Print nothing, or one answer that says allow in so many words; keep notes in a file.",
)
PROMPT_NOISE = FindingCode(
    "HH111",
    "PROMPT-NOISE",
    "A hook printed plain text on a prompt, and this host does not give that to the agent.",
    "The text that was meant as context is shown to the person as noise, or to nobody; hosts differ, so what "
    "works on one is lost on the next.",
    "Answer in JSON with `additionalContext` beside the event's name, which most hosts take.",
)
UNSEEN_REASON = FindingCode(
    "HH112",
    "UNSEEN-REASON",
    "A hook allows a call and gives the agent something to read in the reason, which the agent never sees.",
    "Hosts pass on the reason of a refusal, and not that of an allow: rules, files and advice that a hook "
    "hands out in this way are dropped without a word.",
    "Give it as `additionalContext` after the call (PostToolUse), or refuse once with it as the reason.",
)
DOUBLE_NOISE = FindingCode(
    "HH114",
    "DOUBLE-NOISE",
    "Several hooks of one event say the same, or several speak on standard error although none decides.",
    "The person reads every line once for each hook at every call, and soon reads none of them.",
    "Let one hook speak for the event: join the scripts, register each once, and log to a file instead.",
)

SINGLE_RUN_CODES = (EARLY_EXIT, STUCK_PHASE, STDOUT_DENIES, PROMPT_NOISE, UNSEEN_REASON, DOUBLE_NOISE)
