"""
The command lines of hosts, read as the hosts read them.

The effect of an unknown option is not guessed: it is reported by name.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from pytest_hookharness.hosts.rules.profile import CallRules, FinalAnswer
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Basis, Json, Rule


def _rules(source: str, basis: Basis = Basis.ASSUMED, **assumed: str) -> dict[str, Rule]:
    return {
        "options": Rule("the options and the output formats", basis, f"{source}: command line reference"),
        **{topic: Rule(text, Basis.ASSUMED, source) for topic, text in assumed.items()},
    }


def _text(answer: FinalAnswer) -> tuple[Json, ...]:
    return (answer.text,)


def _claude_result(answer: FinalAnswer) -> Json:
    return {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "num_turns": answer.turns,
        "result": answer.text,
        "session_id": answer.session,
    }


def _claude_stream(answer: FinalAnswer) -> tuple[Json, ...]:
    content: Json = [{"type": "text", "text": answer.text}]
    message: Json = {"role": "assistant", "content": content}
    return (
        {"type": "system", "subtype": "init", "session_id": answer.session},
        {"type": "assistant", "message": message, "session_id": answer.session},
        _claude_result(answer),
    )


def _options(without_effect: str, **effects: str) -> dict[str, str]:
    """Return options by name, each with its effect; the names in a text are separated by blanks."""
    effects = {"": without_effect, **effects}
    return {name: effect for effect, names in effects.items() for name in names.split()}


CLAUDE = CallRules(
    flags=_options(
        "-p --print --verbose -c --continue --dangerously-skip-permissions --no-session-persistence "
        "--strict-mcp-config --include-partial-messages --debug",
        hookless="--bare --safe-mode",
        version="-v --version",
    ),
    valued=_options(
        "--model --fallback-model --append-system-prompt --system-prompt --max-turns --permission-mode "
        "--max-budget-usd --session-id -r --resume --agents --effort --json-schema --input-format "
        "--append-system-prompt-file --system-prompt-file",
        settings="--settings",
        sources="--setting-sources",
        form="--output-format",
    ),
    listed=frozenset(
        {"--allowedTools", "--allowed-tools", "--disallowedTools", "--disallowed-tools", "--add-dir"}
        | {"--tools", "--mcp-config"}
    ),
    source_paths={
        "user": "home/.claude/settings.json",
        "project": "workspace/.claude/settings.json",
        "local": "workspace/.claude/settings.local.json",
    },
    answer={
        "": _text,
        "text": _text,
        "json": lambda answer: (_claude_result(answer),),
        "stream-json": _claude_stream,
    },
    rules=_rules(
        "Claude Code",
        Basis.DOCUMENTED,
        nested=(
            "a session starts although CLAUDECODE is set; versions from about 2.1.40 to 2.1.70 refused "
            "that, and hooks unset the variable for them"
        ),
        stdin=(
            "piped standard input is added after the prompt; without a terminal the host works as with "
            "--print"
        ),
    ),
)

CODEX = CallRules(
    verb="exec",
    flags=_options(
        "--full-auto --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox --yolo "
        "--dangerously-bypass-hook-trust --ephemeral --oss",
        json="--json",
        version="-V --version",
    ),
    valued=_options(
        "-m --model -s --sandbox -c --config -p --profile -a --ask-for-approval -o --output-last-message "
        "--output-schema --color -i --image --add-dir --enable --disable",
        folder="-C --cd",
    ),
    joined="{prompt}\n\n<stdin>\n{stdin}\n</stdin>",
    answer={
        "": _text,
        "json": lambda answer: (
            {"type": "thread.started", "thread_id": answer.session},
            {"type": "item.completed", "item": {"type": "agent_message", "text": answer.text}},
            {"type": "turn.completed"},
        ),
    },
    rules=_rules("Codex", stdin="piped standard input is added after the prompt, or is the prompt"),
)

GEMINI = CallRules(
    flags=_options("-y --yolo -d --debug -s --sandbox --skip-trust", version="-v --version"),
    valued=_options(
        "-m --model --approval-mode --allowed-mcp-server-names -r --resume",
        prompt="-p --prompt",
        form="-o --output-format",
    ),
    listed=frozenset({"--include-directories", "-e", "--extensions", "--allowed-tools"}),
    joined="{stdin}\n\n{prompt}",
    answer={
        "": _text,
        "text": _text,
        "json": lambda answer: ({"session_id": answer.session, "response": answer.text, "stats": {}},),
    },
    rules=_rules("Gemini CLI", stdin="piped standard input is added before the prompt"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLine:
    """
    What the command line of a host asks for.

    Attributes:
        folder: The working folder; empty for the current one.
        settings: Additional settings, each a file or JSON.
        sources: The settings files to read, by state path; ``None`` for all.
        unknown: The first unknown word, and the known ones; empty if every word is known.
    """

    prompt: str = ""
    form: str = ""
    folder: str = ""
    settings: tuple[str, ...] = ()
    sources: tuple[str, ...] | None = None
    hookless: bool = False
    version: bool = False
    unknown: str = ""


def read_command_line(rules: CallRules, words: Sequence[str]) -> CommandLine:
    """Return what the words after a host's name ask for."""
    remaining, line, prompt_words = [*words], CommandLine(), list[str]()
    if rules.verb and remaining and rules.flags.get(remaining[0]) != "version":
        if remaining[0] != rules.verb:
            return replace(line, unknown=f"{remaining[0]!r}; known here is {rules.verb!r}")
        del remaining[0]
    while remaining:
        word = remaining.pop(0)
        name, equals, value = word.partition("=")
        if word == "--":
            prompt_words += remaining
            break
        if word == "-" or not word.startswith("-"):
            prompt_words.append(word)
        elif name in rules.listed:
            while remaining and not remaining[0].startswith("-"):
                del remaining[0]
        elif name in rules.valued:
            value = value if equals else remaining.pop(0) if remaining else ""
            line = _set(rules, line, rules.valued[name], value)
        else:
            line = _flag(rules, line, word)
    # "-" stands for standard input, which join_prompt adds.
    prompt = line.prompt or " ".join(word for word in prompt_words if word != "-")
    if line.form not in rules.answer and not line.unknown:
        unknown = f"the output format {line.form!r}; known here are {_sorted_list(rules.answer)}"
        line = replace(line, unknown=unknown)
    return replace(line, prompt=prompt)


def _set(rules: CallRules, line: CommandLine, what: str, value: str) -> CommandLine:
    match what:
        case "prompt":
            return replace(line, prompt=value)
        case "folder":
            return replace(line, folder=value)
        case "settings":
            return replace(line, settings=(*line.settings, value))
        case "sources":
            paths = (rules.source_paths.get(word.strip(), "") for word in value.split(","))
            return replace(line, sources=tuple(paths))
        case "form":
            return replace(line, form=value)
        case _:
            return line


def _flag(rules: CallRules, line: CommandLine, word: str) -> CommandLine:
    match rules.flags.get(word):
        case "version":
            return replace(line, version=True)
        case "hookless":
            return replace(line, hookless=True)
        case "json":
            return replace(line, form="json")
        case None if not line.unknown:
            # Only the first unknown word is reported.
            known = _sorted_list((*rules.flags, *rules.valued, *rules.listed))
            return replace(line, unknown=f"the option {word!r}; known here are {known}")
        case _:
            return line


def _sorted_list(words: Iterable[str]) -> str:
    return ", ".join(sorted(filter(None, words)))


def join_prompt(rules: CallRules, prompt: str, stdin: str) -> str:
    """Return the whole prompt: that of the command line and the text of standard input."""
    if not stdin.strip() or not prompt:
        return prompt or stdin
    return rules.joined.format(prompt=prompt, stdin=stdin)


def write_answer(rules: CallRules, form: str, answer: FinalAnswer) -> str:
    """Return what the host prints at the end."""
    lines = rules.answer[form](answer)
    return "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
