"""
Finding codes that need more than one look at a single hook run.

In groups: pitfalls that one run shows, pitfalls that need a second run with one difference, faults, and
what only `check` reports. Last come the bad ends of a session, which have a name and no number.
`finding_catalogue` has the other codes and the complete list.
"""

from __future__ import annotations

from pytest_hookharness.model.verdicts import FindingCode

# Found in a single run.
EARLY_EXIT = FindingCode(
    "HH101",
    "EARLY-EXIT",
    "A hook decided, but did not change a file that the scenario expects to change with that decision; or a "
    "loop of a Stop hook ends before its limit.",
    "A helper that prints the decision and exits ends the whole script. Code after it never runs: a counter "
    "does not rise, a marker stays, and the next decision uses old state. A loop that allows every stop "
    "where `stop_hook_active` is true ends after one round.",
    "Write the state first and print the decision last.",
)
STUCK_PHASE = FindingCode(
    "HH106",
    "STUCK-PHASE",
    "A session that starts in the wrong phase can do nothing, or a phase outlives its session.",
    "If the agent must read a file to set a marker, but may not read before the marker is set, it can never "
    "continue. A marker that nobody clears switches the hook off in all later sessions.",
    "Allow reads in every phase, store the session's id with the marker, and clear it when a session starts.",
)
STDOUT_DENIES = FindingCode(
    "HH108",
    "STDOUT-DENIES",
    "A hook exited with code 0 and no refusal, but the host treats its output as a refusal.",
    "This host has no way to print only a warning: it refuses a call that the hook allowed, and gives the "
    "agent no reason or a wrong one.",
    "Print nothing, or print an answer that explicitly allows the call; write notes to a file.",
)
PROMPT_NOISE = FindingCode(
    "HH111",
    "PROMPT-NOISE",
    "A hook printed plain text on a prompt, and this host does not pass it to the agent.",
    "Text that was meant as context is shown to the user, or to nobody. Hosts differ, so a hook that works "
    "on one host can be ignored on another.",
    "Answer in JSON with `additionalContext` and the event's name, which most hosts accept.",
)
UNSEEN_REASON = FindingCode(
    "HH112",
    "UNSEEN-REASON",
    "A hook allows a call and puts text for the agent where the agent never sees it.",
    "Hosts tell the agent the reason of a refusal, but not the reason of an allow. Most do not tell it the "
    "plain output of a hook that exits with 0 either. Rules or advice there are lost without an error.",
    "Send the text as `additionalContext` after the call (PostToolUse), or refuse once and give it as the "
    "reason.",
)
DOUBLE_NOISE = FindingCode(
    "HH114",
    "DOUBLE-NOISE",
    "Several hooks of one event print the same text, or several write to standard error without deciding.",
    "The user sees each line once per hook on every call, and soon reads none of them.",
    "Let one hook print for the event: join the scripts, register each one once, and log to a file.",
)
SINGLE_RUN_CODES = (EARLY_EXIT, STUCK_PHASE, STDOUT_DENIES, PROMPT_NOISE, UNSEEN_REASON, DOUBLE_NOISE)

# Found by repeating a scenario with one difference.
STATUS_LEAK = FindingCode(
    "HH102",
    "STATUS-LEAK",
    "A hook that usually exits with status 0 exited with another status, without a message or a decision.",
    "The exit status of the script's last command became that of the hook. The user sees an error without a "
    "cause, and some hosts treat it as a refusal.",
    "End every path with an explicit `exit 0`, and handle a failing helper where it is called.",
)
STRICT_SHELL = FindingCode(
    "HH103",
    "STRICT-SHELL",
    "A script fails if a variable is unset, if a counter is still 0, or under another shell.",
    "With `set -eu` such a script exits before it decides, and most hosts then allow everything.",
    "Write `${NAME:-}` for a variable that may be unset, `n=$((n + 1))` instead of `((n++))`, "
    '`${list[@]+"${list[@]}"}` for a list that may be empty, and name the shell that the script needs in its '
    "first line.",
)
ORDER = FindingCode(
    "HH104",
    "ORDER",
    "The joint decision of the hooks of one event depends on their order, or one of them rewrites files that "
    "another reads.",
    "Most hosts start these hooks at the same time, and a new order in the settings changes what is refused. "
    "Tests may read a file that a formatter has half rewritten.",
    "Let each hook decide on its own; put what must happen in an order into one hook.",
)
LOST_UPDATES = FindingCode(
    "HH105",
    "LOST-UPDATES",
    "Hook runs in parallel leave less in a file than the same runs in sequence, or refuse more often.",
    "Each run reads, changes and rewrites the file on its own. If tools are called in parallel, one run "
    "overwrites the change of another, or takes it for its own.",
    "Hold a lock (`flock`) from before the read until after the write, or append one line in one write.",
)
RAW_JSON = FindingCode(
    "HH107",
    "RAW-JSON",
    "A decision depends on the order of JSON keys, or on which field contains a word.",
    "Hosts do not guarantee an order of keys, and a word in a description is not a command.",
    "Parse the input, and match only the field that matters: `jq -r .tool_input.command`.",
)
UNGUARDED_TOOL = FindingCode(
    "HH109",
    "UNGUARDED-TOOL",
    "A missing, failing or hanging command changes a hook's decision or delays it.",
    "On another machine the guard hook allows everything or refuses everything, and no message says why.",
    "Check that the command exists (`command -v`), limit its time, and decide what its failure means.",
)
TEXT_MATCH = FindingCode(
    "HH110",
    "TEXT-MATCH",
    "A guard hook refuses words that are only data, or allows the same command in another form.",
    "It blocks commit messages and notes, but does not stop anybody who writes `sh -c`.",
    "Split the command line as a shell does: ignore quoted text and heredocs, and inspect code passed to "
    "a shell.",
)
BASENAME = FindingCode(
    "HH113",
    "BASENAME",
    "A hook handled one file and then ignored another file with the same base name.",
    "A file in another folder, with other content, is skipped without a message.",
    "Remember files by their whole path.",
)
WRONG_KEY = FindingCode(
    "HH115",
    "WRONG-KEY",
    "A hook applies the counter or loop of one agent or session to another, or loses it when the host's "
    "process ends.",
    "A subagent is refused for actions of its parent, a loop holds sessions that did not start it, or "
    "a limit that is stored by process id is never reached.",
    "Store counters by `session_id` and `agent_id` together: a call of a subagent has both, a call of its "
    "parent only the first. Store the `session_id` of a loop, too. Agents of one session may share a "
    "transcript, and process ids are reused.",
)
TORN_STATE = FindingCode(
    "HH116",
    "TORN-STATE",
    "Hook runs in parallel leave a damaged file: unreadable JSON, or parts of lines.",
    "Each run writes in pieces, and others write in between. The next run reads invalid data or starts anew.",
    "Write to a file with another name and rename it when it is complete, or append each line in one write. "
    "Hold a lock (`flock`) from before the read until after the write.",
)
PITFALL_CODES = (
    STATUS_LEAK, STRICT_SHELL, ORDER, LOST_UPDATES, RAW_JSON, UNGUARDED_TOOL, TEXT_MATCH, BASENAME, WRONG_KEY,
    TORN_STATE,
)  # fmt: skip

# Found by repeating a scenario with a fault.
FAILS_OPEN = FindingCode(
    "HH201",
    "FAILS-OPEN",
    "With one fault in its environment, a guard hook allows what it normally refuses.",
    "A missing tool, another folder or a longer input disables the guard hook, and no message says so.",
    "Refuse if the hook cannot decide, or declare that this is intended: `on_failure: allow`.",
)
FAILS_CLOSED = FindingCode(
    "HH202",
    "FAILS-CLOSED",
    "With one fault in its environment, a hook refuses what it normally allows.",
    "The fault blocks all work, including the work that would repair it.",
    "Allow if the hook cannot decide and tell the user, or declare that this is intended: "
    "`on_failure: block`.",
)
INERT = FindingCode(
    "HH203",
    "INERT",
    "With one fault in its environment, a hook cannot be run at all.",
    "A hook that does not run decides nothing, so nothing is guarded, whichever way it should have failed.",
    "Quote the path in the settings, build it from the host's variable for the project folder, and keep the "
    "executable bit and LF line ends in the repository (`.gitattributes`).",
)
HANGS = FindingCode(
    "HH204",
    "HANGS",
    "With one fault in its environment, a hook does not end.",
    "The agent waits until the host stops the hook, and most hosts then allow the call.",
    "Read one line or set a limit (`timeout 5 cat`), never ask on a terminal, and limit the time of tools.",
)
FAULT_CODES = (FAILS_OPEN, FAILS_CLOSED, INERT, HANGS)

# Found by `check` alone: a scenario's author may want this behaviour, so a single run does not report it.
CARRIED_OUT = FindingCode(
    "HH301",
    "CARRIED-OUT",
    "A hook executed text from its input: from a command, a message or a file name.",
    "Anybody who can write a file or a page that the agent reads can run programs on this machine, past "
    "every guard hook.",
    "Pass values as arguments or as quoted variables, and never build code from them: no `eval`, no "
    "`sh -c` with the value inside, no script template.",
)
STAGED = FindingCode(
    "HH302",
    "STAGED",
    "A hook changed the index, the refs or the stash of the repository.",
    "Changes that the user staged are mixed with others, or a commit appears that nobody asked for.",
    "Only read with `git diff` and `git status --porcelain`; to compare, use a separate index "
    "(`GIT_INDEX_FILE`) in a temporary folder.",
)
BLOCKS_EVERYTHING = FindingCode(
    "HH303",
    "BLOCKS-EVERYTHING",
    "A guard hook refuses harmless work: every read, every edit, and most commands.",
    "The agent can do nothing, so users switch the guard hook off and lose its protection.",
    "Check the tool's name first, and allow everything that the hook has no rule about; a list of allowed "
    "tools must contain every tool that the matcher selects.",
)
INERT_GUARD = FindingCode(
    "HH304",
    "INERT-GUARD",
    "A hook compares the tool's name with a name that its host never sends, so that part of the hook "
    "never runs.",
    "It looks like a guard hook, but it allows the calls that it should refuse; each host has its "
    "own names for tools.",
    "Use the tool names from the host's own hook input (`hookharness explain`), and test the hook with a "
    "call that it must refuse.",
)
SLOW = FindingCode(
    "HH305",
    "SLOW",
    "A hook takes more than half of its host's time limit.",
    "On a busy machine the host stops it, and most hosts then allow the call.",
    "Do less in each run: cache results, read only the files of this call; or raise the hook's `timeout`.",
)
TIMEOUT_UNIT = FindingCode(
    "HH306",
    "TIMEOUT-UNIT",
    "A hook's timeout seems to be written in another unit than its host counts in, or is shorter than a "
    "limit in the hook's own script.",
    "Hosts count seconds or milliseconds. A timeout of hours never stops a hook that hangs, and one of a few "
    "milliseconds stops every run. A hook that its host ends before its own limit prints no answer.",
    "Write the timeout in the host's unit, and longer than all limits in the script together.",
)
UNQUOTED_PATH = FindingCode(
    "HH307",
    "UNQUOTED-PATH",
    "A command contains the variable of the project's or the plugin's folder without quotes.",
    "In a folder with a space in its path the shell makes two words of it: the script is not found, and a "
    "guard hook is off, or refuses everything where an interpreter exits with 2.",
    'Put the variable in double quotes, as in `"${CLAUDE_PLUGIN_ROOT}"/hooks/check.sh`.',
)
RELATIVE_PATH = FindingCode(
    "HH308",
    "RELATIVE-PATH",
    "A command names its script by a relative path, and the host starts it in the agent's current folder.",
    "After the agent's `cd` the script is not found: a guard hook is off, or refuses everything where an "
    "interpreter exits with 2.",
    'Begin the path with the project\'s folder: `"$CLAUDE_PROJECT_DIR"/hooks/check.sh`.',
)
BYPASS = FindingCode(
    "HH309",
    "BYPASS",
    "A guard hook refuses a command, but allows the same command in another common spelling; or it refuses "
    "an edit of a file, but allows another usual way to change the same file; or a Stop hook refuses "
    "the stop after a change, but not if the file is new or the change is committed.",
    "Agents write `cd sub && rm -rf build`, `rm -r -f build` and `git -C . push` without intent, and change "
    "files by `sed -i` where an edit is refused. The guard hook does not stop them.",
    "Split the line at `&&`, `||`, `;` and `|` and look at each command; skip `cd` and options such as `-C`, "
    "and compare options as a set, whether they are written together or apart.",
)
UNASKED = FindingCode(
    "HH310",
    "UNASKED",
    "A hook answers `allow` to calls about which it has no rule, so the host does not ask the user.",
    "On most hosts `allow` skips the question that the host would ask the user. Such a hook lets more calls "
    "through than no hook. It may answer so to every call that it does not refuse, or to a line of several "
    "commands of which it knows one.",
    "Print nothing and exit with 0 for calls about which the hook has no rule; the host then asks as usual. "
    "Answer `allow` to a line only if each command in it is known.",
)
OVERBLOCK = FindingCode(
    "HH311",
    "OVERBLOCK",
    "A guard hook refuses harmless commands or edits that resemble what it is meant to refuse, or a Stop "
    "hook refuses the stop of a session that changed nothing.",
    "The agent is kept from usual work, looks for a way around, or is told that it did something dangerous.",
    "Split the line into commands and words. Compare the program, its options and each path as a whole "
    "instead of looking for a few letters anywhere in the line.",
)
MISSED_SECRET = FindingCode(
    "HH312",
    "MISSED-SECRET",
    "A guard hook keeps a file with secrets from one tool of the agent, and another tool may read it.",
    "An agent that may not read a file with one tool tries the next one, so the secrets reach the model.",
    "Let the guard hook look at all tools that show files: at the path of those that read or search, and at "
    "the words of a shell's command. Or deny the file in the host's own permissions.",
)
MISSING_INPUT = FindingCode(
    "HH313",
    "MISSING-INPUT",
    "A script reads something that is never there: a variable that the host does not set, a key or "
    "value that it does not send, a record that no transcript has, or standard input that an earlier "
    "command has already read, or that is opened by a name (`/dev/stdin`) though it is a socket.",
    "The value is always empty, so a guard allows everything, and a formatter or linter gets no file.",
    "Let the script read what the host sends (`hookharness explain` shows the input of each event), "
    "then test the hook with a call that it must act on.",
)
FALSE_ADVICE = FindingCode(
    "HH314",
    "FALSE-ADVICE",
    "A refusal gives advice that does not help: a variable or a command that is refused too, or a file that "
    "the project does not have.",
    "An agent that follows the advice is refused again, tries other ways, or gives up.",
    "Follow the advice of each refusal once, as an agent would, and correct advice that does not help.",
)
CHECK_CODES = (
    CARRIED_OUT,
    STAGED,
    BLOCKS_EVERYTHING,
    INERT_GUARD,
    SLOW,
    TIMEOUT_UNIT,
    UNQUOTED_PATH,
    RELATIVE_PATH,
    BYPASS,
    UNASKED,
    OVERBLOCK,
    MISSED_SECRET,
    MISSING_INPUT,
    FALSE_ADVICE,
)
