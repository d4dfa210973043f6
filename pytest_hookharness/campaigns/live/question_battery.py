"""The questions about a host, generated from the rules of its profile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_hookharness.campaigns.live.question import Question
from pytest_hookharness.campaigns.live.question_writer import LONG, SPECIAL, QuestionWriter
from pytest_hookharness.hosts.rules.profile import EventRule, Profile
from pytest_hookharness.hosts.rules.turns import Role
from pytest_hookharness.model.moves import Act, Edit, Prompt, Resume, RunCommand, Stop, Tools
from pytest_hookharness.model.processes import Exited, TimedOut
from pytest_hookharness.model.protocol import Json, Payload

# These questions are answered by what is in one place of one session.
_PLACES = "matchers and surroundings"
# Cases of `explain` that two hooks of one event are, and which of them is slower.
_REFUSAL, _OTHER_REFUSAL, _CONTEXT = "decision block", "exit 2, text on stderr", "a text for the agent"
_PAIRS = (
    *((_REFUSAL, _OTHER_REFUSAL, "first"), (_REFUSAL, _OTHER_REFUSAL, "second")),
    *((_REFUSAL, _CONTEXT, "second"), (_CONTEXT, _CONTEXT, "first"), (_REFUSAL, "continue false", "second")),
    *((_OTHER_REFUSAL, "exit 1, text on stderr", "second"), (_OTHER_REFUSAL, "exit 0, silent", "first")),
    ("ask", _OTHER_REFUSAL, "second"),
)
# Scripts of hooks, with `$refusal` for a refusal as JSON.
_ODD = {
    "a refusal after a line of text": r'printf "hello\n%s" "$refusal"',
    "a refusal after blank lines": r'printf "\n\n  %s" "$refusal"',
    "a refusal before a line of text": r'printf "%s\nhello\n" "$refusal"',
    "two refusals": r'printf "%s\n%s" "$refusal" "$refusal"',
    "a refusal after a byte order mark": r'printf "\357\273\277%s" "$refusal"',
    "a refusal and invalid UTF-8": r'printf "%s\377" "$refusal"',
    "a refusal in a list": 'printf "[%s]" "$refusal"',
    "an empty object": "echo '{}'",
    "a number": "echo 5",
    "a JSON text": """echo '"words"'""",
    "NaN": """echo '{"a": NaN}'""",
    "an unknown key": """echo '{"hello": 1}'""",
    "an unknown decision": """echo '{"decision": "no", "reason": "words"}'""",
    "a decision in capitals": """echo '{"decision": "BLOCK", "reason": "words"}'""",
    "a key in capitals": """echo '{"Decision": "block", "reason": "words"}'""",
    "no decision": """echo '{"decision": null, "reason": "words"}'""",
    "a refusal without a reason": """echo '{"decision": "block"}'""",
    "a number as reason": """echo '{"decision": "block", "reason": 5}'""",
    "a text as continue": """echo '{"continue": "false"}'""",
    "a message for the user": """echo '{"systemMessage": "words"}'""",
    "the name of another event": """echo '{"hookSpecificOutput": {"hookEventName": "Other"}}'""",
    "a refusal on standard error": 'echo "$refusal" >&2',
    "a refusal on standard error and exit 2": 'echo "$refusal" >&2; exit 2',
    "blanks on standard error and exit 2": "printf '  ' >&2; exit 2",
    "text on both streams and exit 2": "echo out; echo err >&2; exit 2",
    "text on both streams": "echo out; echo err >&2",
    "ended by SIGKILL": "kill -9 $$",
    "ended by SIGTERM": "kill -15 $$",
    **{f"a refusal and exit {code}": f'echo "$refusal"; exit {code}' for code in (1, 2, 3)},
    **{f"exit {code}": f"echo words >&2; exit {code}" for code in (4, 126, 130, 137, 143, 255)},
}
_LATE = {
    "a refusal, then its timeout": f'echo "$refusal"; sleep {LONG}',
    "exit 2 on SIGTERM at its timeout": f"trap 'exit 2' TERM; sleep {LONG} & wait",
    "a child that holds its output open": "sleep 3 & echo words",
}


def generate_battery(profile: Profile) -> tuple[Question, ...]:
    """Return the questions about a host; those that may share a session have the same group."""
    return tuple(_questions(QuestionWriter(profile)))


def _questions(writer: QuestionWriter) -> Iterator[Question]:
    yield from _answers(writer)
    yield from _inputs(writer)
    for rule in writer.events:
        if rule.role is Role.BEFORE_TOOL:
            yield from _odd_answers(writer, rule)
            yield from _repeated_calls(writer, rule)
        if rule.role in (Role.BEFORE_TOOL, Role.STOP):
            yield from _late_answers(writer, rule)
        if rule.role in (Role.BEFORE_TOOL, Role.AFTER_TOOL, Role.STOP):
            yield from _pairs(writer, rule)
        if rule.role in (Role.BEFORE_TOOL, Role.PROMPT, Role.STOP):
            yield from _long_texts(writer, rule)
        if rule.target and rule.role in (Role.BEFORE_TOOL, Role.SESSION_START):
            yield from _matchers(writer, rule)
        if rule.role in (Role.BEFORE_TOOL, Role.STOP, Role.SESSION_START):
            yield from _surroundings(writer, rule)
            yield from _order(writer, rule)
        if rule.role is Role.STOP:
            yield from _caps(writer, rule)


def _answers(writer: QuestionWriter) -> Iterator[Question]:
    """Ask about every case that `explain` explains, on every event."""
    for rule in writer.events:
        # Those that end the session come last, because the others share one.
        for name, case in sorted(
            writer.cases[rule.name].items(), key=lambda pair: "ends" in pair[1].meaning.action
        ):
            mark = writer.mark()
            script = case.script(f"words of {mark}")
            own: dict[str, Any] = {"replies": {rule.name: script}}
            # With a hook for permissions all calls need one.
            group = f"{rule.name}: {name}" if rule.role is Role.PERMISSION else name
            if isinstance(case.end.ending, TimedOut):
                own = {"group": group, "replies": {"late": script}}
                own["hooks"] = {rule.name: (writer.entry("./hook.sh late", **writer.limit),)}
            elif case.end.ending == Exited(127):
                own = {"group": group, "hooks": {rule.name: (writer.entry("./no-such-hook"),)}}
                # Where this refuses, it refuses every stop, and some hosts search long sessions for loops.
                own["turns"] = 20
            elif writer.waits_for_person(rule, name):
                own["group"] = f"{rule.name}: {name}"
            elif rule.role is Role.STOP and not case.meaning.refuses:
                # Such a stop ends the session, so the question shares one with those about other events.
                own["group"] = name
            yield writer.ask(rule, name, mark, rules=(case.meaning.rule,), **own)


def _inputs(writer: QuestionWriter) -> Iterator[Question]:
    """Ask about the input of every event, in one session that is resumed."""
    acts: tuple[Act, ...] = (
        RunCommand(command="echo one", say="First this."),
        Edit(file="new.txt", text="one\n"),
        Edit(file="new.txt", text="two", old="one"),
        RunCommand(command="ls missing"),
    )
    again: tuple[Act, ...] = (Stop(), Resume(), Prompt(text="Go on."))
    for rule in writer.events:
        if rule.role is Role.PERMISSION:
            continue
        occasion = writer.occasion(rule, "words") if rule.role in SPECIAL else {}
        occasion["acts"] = (*acts, *again, *occasion.get("acts", ()))
        for what, end in (("keys of its input", "$"), ("values of its input", ": ")):
            place = rf"^{rule.name} .*, run \d+{end}"
            own: dict[str, Any] = {**occasion, "mark": "", "behaviour": False, "payload": place}
            yield writer.ask(rule, what, group="input", rules=(rule.fields.rule,), **own)


def _odd_answers(writer: QuestionWriter, rule: EventRule) -> Iterator[Question]:
    """Ask about output and exit codes beside those of `explain`."""
    refusal = f"refusal={writer.cases[rule.name][_REFUSAL].output}\n"
    for name, script in _ODD.items():
        yield writer.ask(rule, name, writer.mark(), replies={rule.name: f"{refusal}{script}\n"})


def _late_answers(writer: QuestionWriter, rule: EventRule) -> Iterator[Question]:
    refusal = f"refusal={writer.cases[rule.name][_REFUSAL].output}\n"
    for name, script in _LATE.items():
        timed = "timeout" in name
        hook = "late" if timed else "child"
        yield writer.ask(
            rule,
            name,
            writer.mark(),
            hooks={rule.name: (writer.entry(f"./hook.sh {hook}", **(writer.limit if timed else {})),)},
            replies={hook: f"{refusal}{script}\n"},
            group=f"{rule.name}: timeouts",
            rules=(writer.profile.replies.rules["timed out"],) if timed else (),
        )


def _pairs(writer: QuestionWriter, rule: EventRule) -> Iterator[Question]:
    """Ask how the replies of two hooks of one event are merged."""
    cases = writer.cases[rule.name]
    for first, second, slower in _PAIRS:
        if first not in cases or second not in cases:
            continue
        mark = writer.mark()
        texts = {
            place: ("sleep 1\n" if slower == place else "") + cases[name].script(f"{place} words of {mark}")
            for name, place in ((first, "first"), (second, "second"))
        }
        both = (writer.profile.replies.rules[rule.merging.several],) if second == _OTHER_REFUSAL else ()
        yield writer.ask(
            rule,
            f"{first}, and {second} of another hook; {slower} slower",
            mark,
            group=f"{rule.name}: pairs",
            hooks={rule.name: (writer.entry("./hook.sh second"),)},
            replies={rule.name: texts["first"], "second": texts["second"]},
            rules=both if first == _REFUSAL else (),
        )


def _long_texts(writer: QuestionWriter, rule: EventRule) -> Iterator[Question]:
    """Ask what is cut of a text of the longest length that reaches the model, and far beyond it."""
    limit = writer.profile.replies.text_limit
    fact = (writer.profile.replies.rules["text limit"],) if limit else ()
    for name in (_REFUSAL, _CONTEXT, "exit 0, plain text"):
        for size in (limit.most, 6 * limit.most) if limit else (60_000,):
            mark = writer.mark()
            text = f"{mark} ".ljust(size - 4, "x") + " end"
            script = writer.cases[rule.name][name].script(text)
            title = f"{name} of {size} characters"
            yield writer.ask(rule, title, mark, replies={rule.name: script}, rules=fact)


def _matchers(writer: QuestionWriter, rule: EventRule) -> Iterator[Question]:
    """Ask which matchers match, all in one session."""
    word = "startup"
    if rule.role is Role.BEFORE_TOOL:
        word = writer.profile.tools.call(RunCommand(command="echo words"), "/").name
    texts = (
        *("", "*", ".*", word, word.lower(), word.upper(), word[:3], f"{word[:3]}.*", f"^{word}$"),
        *(f"other|{word}", f"other,{word}", f"other, {word}", f"{word}|", f"|{word}", f" {word} "),
        *(f"(?i){word.upper()}", f"^(?!{word}).*$", f"[{word}", "(", f"({word})", "other"),
        *(f"/{word}/", word.replace("s", r"\w").replace("t", r"\w")),
    )
    for number, text in enumerate(dict.fromkeys(texts)):
        hook = f"./hook.sh {rule.name}-{number}"
        yield writer.ask(
            rule,
            f"matcher {text!r}",
            group=_PLACES,
            hooks={rule.name: (writer.entry(hook, matcher=text),)},
            place=rf": {rule.name} `{hook}`$",
            rules=((rule.matchers or writer.profile.matchers).rule,),
        )


def _surroundings(writer: QuestionWriter, rule: EventRule) -> Iterator[Question]:
    """Ask about working folder and environment of hooks, which note them in files."""
    notes = {f"environment variable {name}": f'"${name}"' for name in writer.profile.process.env}
    for number, (what, text) in enumerate({"working folder": '"$(pwd)"', **notes}.items()):
        file = f"noted-{rule.name}-{number}.txt"
        hook = writer.entry(f"printf '%s\\n' {text} > {file}")
        yield writer.ask(rule, what, group=_PLACES, hooks={rule.name: (hook,)}, place=f"/{file}$")


def _order(writer: QuestionWriter, rule: EventRule) -> Iterator[Question]:
    slow, quick = f"{rule.name}-slow", f"{rule.name}-quick"
    known = writer.profile.process.rules
    yield writer.ask(
        rule,
        "whether two hooks run at the same time",
        writer.mark(),
        group="two hooks",
        hooks={rule.name: tuple(writer.entry(f"./hook.sh {name}") for name in (slow, quick))},
        replies={slow: f"sleep 2\n[ -e {quick} ] && : > {slow}\n", quick: f": > {quick}\n"},
        rules=tuple(known[name] for name in ("parallel", "order") if name in known),
    )
    if rule.role is Role.BEFORE_TOOL:
        operations = (RunCommand(command="echo one"), RunCommand(command="echo two"))
        calls = tuple(writer.profile.tools.call(one, "/") for one in operations)
        what = "the order of hooks of two calls in one message"
        yield writer.ask(rule, what, group=what, acts=(Tools(calls=calls),))


def _repeated_calls(writer: QuestionWriter, rule: EventRule) -> Iterator[Question]:
    stuck = writer.profile.stuck
    if stuck is not None:
        what, acts = "the same call ten times", (RunCommand(command="echo again"),) * 10
        yield writer.ask(rule, what, group=what, acts=acts, rules=(stuck.rule,))


def _caps(writer: QuestionWriter, rule: EventRule) -> Iterator[Question]:
    """Ask how often a stop can be refused, and what resets the count."""
    cap = writer.profile.cap
    rounds = (cap.cap if cap.cap and cap.cap < 20 else 6) + 3
    known = cap.rules
    block = {rule.name: (writer.entry("echo again >&2; exit 2"),)}

    def ask(what: str, fact: str = "", **own: Any) -> Question:
        name = f"refused always{what}"
        given: dict[str, Any] = {"acts": (), "hooks": block, "turns": 2 * rounds, **own}
        rules = (known[fact],) if fact in known else ()
        return writer.ask(rule, name, group=name, payload=": stop_hook_active$", rules=rules, **given)

    yield ask("", "cap" if cap.cap else "no cap")
    for call, command in (("", "echo {}"), ("failed ", "ls missing-{}"), ("refused ", "echo {}")):
        acts = [
            act for number in range(rounds) for act in (Stop(), RunCommand(command=command.format(number)))
        ]
        hooks: dict[str, tuple[Payload, ...]] = dict(block)
        for one in writer.profile.for_role(Role.BEFORE_TOOL) if call == "refused " else ():
            hooks[one.name] = (writer.entry("echo never >&2; exit 2"),)
        yield ask(f", a {call}call after each", "reset", hooks=hooks, acts=tuple(acts))
    resumed = (*(Stop() for _ in range(rounds)), Resume(), Prompt(text="Go on."))
    if cap.cap:
        yield ask(", then resumed", acts=resumed, turns=3 * rounds)
    for value in ("2", "0") if cap.variable else ():
        yield ask(f", {cap.variable}={value}", "off" if value == "0" else "", env={cap.variable: value})
    for number in (2, 0) if cap.setting else ():
        settings: Json = number
        for key in reversed(cap.setting):
            settings = {key: settings}
        yield ask(f", {'.'.join(cap.setting)}: {number}", settings=settings)
