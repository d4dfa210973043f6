"""
Commands that a guard refuses, and allows in another spelling: as common, and with the same effect.

Such a guard is bypassed by accident. Forms that take intent, such as `sh -c`, are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytest_hookharness.judging.checkup.refused_work import (
    CallTurns,
    call_turns,
    refusal_word,
    shell_text,
    symptom_in_turn,
)
from pytest_hookharness.judging.comparison.traces import refusing_runs
from pytest_hookharness.judging.findings import codes
from pytest_hookharness.model.checkup import Symptom
from pytest_hookharness.model.expectations import first_few
from pytest_hookharness.model.moves import Edit, Move, Read, RunCommand
from pytest_hookharness.model.outcome import Outcome

# Programs whose options of one letter may be written together or apart.
_JOINED = re.compile(r"(rm|git clean) -([A-Za-z]{2,3}) (?=[^-])")
# An option of Git in front of other words, which Git also takes after them.
_IN_FRONT = re.compile(r"(git (?:push|commit)) (--force|-f|--no-verify) ([^;&|<>#]+)")
_SHORT = (
    ("git push --force", "git push -f"),
    ("git commit --no-verify", "git commit -n"),
    ("git add -A", "git add --all"),
    ("git reset --hard", "git reset -q --hard"),
    ("git branch -D", "git branch --delete --force"),
    ("rm -rf", "rm --recursive --force"),
    ("docker compose down -v", "docker compose down --volumes"),
    ("docker system prune -af", "docker system prune --all --force"),
    ("kubectl delete namespace", "kubectl delete ns"),
    ("terraform destroy", "terraform apply -destroy"),
)
# Commands, or beginnings of commands, and others with the same effect that are as usual.
_ALIKE = (
    (r"git push origin main$", ("git push origin HEAD:main", "git push -u origin main")),
    (r"git commit -m (?=[\"'])", ("git commit -am ", "git commit --message=")),
    (r"git commit (?:--no-verify|-n) -m ", ("git commit -nm ", "git commit -anm ")),
    (r"git checkout -b (?=\S+$)", ("git switch -c ",)),
    (r"git checkout (?=[\w-]+$)", ("git switch ",)),
    (r"git push (?:--force|-f)$", ("git push origin HEAD --force", "git push origin +HEAD")),
    (r"git checkout -- \.$", ("git checkout .", "git restore .", "git checkout HEAD -- .")),
    (r"npm install (?=\S)", ("npm i ",)),
    (r"pip install (?=\S)", ("pip3 install ", "python3 -m pip install ")),
    (r"cat (?=\S+$)", ("head ", "grep . ", "sed -n p ")),
    (r"cat (?=[\w.-]+$)", ("cat ./",)),
    (r"cat (?=\.env$)", ("cat .env.example ",)),
    (r"curl (?=https?:)", ("curl -fsSL ", "wget -qO- ")),
    (r"chmod -R 777 ", ("chmod 777 -R ", "chmod -R a+rwx ")),
    (r'psql -c "DROP TABLE ', ('psql -c "drop table ',)),
    (r"echo text > (?=\S+$)", ("echo text >", "echo text | tee ", "printf text > ")),
    (r"npm (?=[a-z])", ("npm --prefix . ",)),
    (r"pnpm (?=[a-z])", ("pnpm --dir . ",)),
    (r"terraform (?=\w)", ("terraform -chdir=. ",)),
    (r"kubectl (?=\w)", ("kubectl --namespace default ",)),
)
# A command that removes one folder. A guard may look only at the first of several, or only at the last
# command of a line.
_REMOVES_ONE = re.compile(r"(rm -\w*[rR]\w*) ([^\s;&|<>-][^\s;&|<>]*)")
_BESIDE, _BEHIND = ("node_modules", "dist/", "target/"), " && rm -f notes.tmp"
_SIMPLE = re.compile(r"[a-z][\w.-]* [^;&|<>#\n]+")
# Texts that agents write before and after commands.
_AROUND = (("timeout 60 ", ""), ("CI=1 ", ""), ("if ", "; then echo done; fi"), ("", " 2>&1 | tail -5"))
# Rare enough to be no bypass if it is the only one.
_RARE = re.compile(r"if |git push origin \+HEAD$")
_FOR_ROOT = re.compile(r"(?:rm|dd|chmod|chown|mkfs\S*|kill|docker|systemctl) ")
_PIPED = re.compile(r"(curl [^|]+\| ?)sh$")
# Two words whose order does not matter.
_EITHER = re.compile(r"(dd|git reset) ((?:if=|--hard)\S*) ((?:of=|HEAD)\S+)")
# What helps against a kind of spelling.
_ADVICE = (
    (
        re.compile(r"\n| && |\| tail"),
        "split the text at `&&`, `||`, `;`, `|` and ends of lines",
    ),
    (
        re.compile(r"^(?:timeout|sudo) "),
        "skip programs that start others, such as `timeout` or `sudo`",
    ),
    (re.compile(r"^CI=1 "), "skip assignments in front of a command"),
    (re.compile(r"^if "), "skip words of the shell in front of it, such as `if`, `then` and `do`"),
    (re.compile(r" -C \. | --(?:prefix|dir) \. | -chdir=\. "), "skip options in front, such as `git -C DIR`"),
)
_OF_OPTIONS = (
    "compare options as a set, written together or apart, short or long, and know the other commands that do "
    "the same"
)
_MOST_NAMED = 5
# Agents often write several lines at once.
_FIRST_LINE = "pwd\n"
# A command that prints a file, and the same for a file of which no guard knows.
_PRINTS, PRINTS_OTHER = "cat ", "cat notes.txt"
# A word of a command line that is no option.
_NAME, _WORD = re.compile(r"(?<!\S)[a-z][\w-]+"), re.compile(r"[\w-]+")
# The prefixes by which calls of file tools are written like commands.
READING, WRITING = "reading ", "writing "
FILE_CALLS = (READING, WRITING)


def spellings(command: str) -> Iterator[str]:
    """Yield other spellings of a command with the same effect, each once."""
    if "\n" in command or command.startswith("cd "):
        return
    yield f"cd . && {command}"
    yield f'echo "Now" && {command}'
    yield f"{_FIRST_LINE}{command}"
    if _SIMPLE.fullmatch(command):
        yield from (f"{before}{command}{behind}" for before, behind in _AROUND)
    if _FOR_ROOT.match(command):
        yield f"sudo {command}"
    if command.startswith("git ") and not command.startswith("git -"):
        yield command.replace("git ", "git -C . ", 1)
    if joined := _JOINED.match(command):
        apart = " ".join(f"-{letter}" for letter in joined[2])
        yield f"{joined[1]} {apart} {command[joined.end() :]}"
        yield f"{joined[1]} -{joined[2][::-1]} {command[joined.end() :]}"
    if one := _REMOVES_ONE.fullmatch(command):
        yield from (f"{one[1]} {beside} {one[2]}" for beside in _BESIDE if beside.strip("/") != one[2])
        yield f"{command}{_BEHIND}"
    front = _IN_FRONT.fullmatch(command)
    if front and "--" not in front[3].split():
        yield f"{front[1]} {front[3]} {front[2]}"
    for long, short in _SHORT:
        if re.match(rf"{long}(?![\w-])", command):
            yield command.replace(long, short, 1)
    if either := _EITHER.fullmatch(command):
        yield f"{either[1]} {either[3]} {either[2]}"
    for beginning, others in _ALIKE:
        if found := re.match(beginning, command):
            yield from (f"{other}{command[found.end() :]}" for other in others)
    if piped := _PIPED.fullmatch(command):
        yield f"{piped[1]}bash"
        yield f"{piped[1]}sudo bash"


def is_rare(spelling: str) -> bool:
    """Return whether a spelling is too rare to be a bypass if no other one is."""
    return _RARE.match(spelling) is not None


def command_calls(outcome: Outcome) -> CallTurns[str]:
    """
    Return the calls of a session by their commands, as the agent's script writes them.

    A call of a tool for files is named by ``READING`` or ``WRITING``, the file, and the line that is written.
    """
    return call_turns(outcome, lambda move, call: call_name(move) or shell_text(call))


def call_name(move: Move | None) -> str:
    """Return a command line, or what a call of a tool for files is called here; empty for other moves."""
    match move:
        case RunCommand(command=text):
            return text
        case Read(file=file):
            return f"{READING}{file}"
        case Edit(file=file, text=text):
            line = text.removesuffix("\n")
            return f"{WRITING}{file}" + ("" if line == "text" or "\n" in line else f": {line}")
        case _:
            return ""


def find_bypasses(outcome: Outcome) -> Iterator[Symptom]:
    """Find commands that were refused each time, with another spelling that was allowed before and after."""
    calls = command_calls(outcome)
    for command, turns in calls.refused.items():
        if not calls.is_kept(command):
            continue
        refusing = [*refusing_runs(outcome.trace, turns[0])]
        others = [text for text in spellings(command) if calls.is_allowed_around(text, command)]
        # The conditions (`if`) of the hooks, by which the host decides whether to ask them.
        rules = dict.fromkeys(f"`{run.hook.options['if']}`" for run in refusing if "if" in run.hook.options)
        if rules:
            others = [text for text in others if not _is_around(command, text)]
        if command.startswith(_PRINTS) and not calls.is_allowed_around(PRINTS_OTHER, command):
            # The guard refuses the program, whatever its file.
            others = [text for text in others if _PRINTS in text]
        # A command that the hook itself advises is no bypass.
        told = {word for run in refusing for word in _WORD.findall(run.demand)}
        others = [
            text for text in others if _removes_more(text) or told.isdisjoint(_new_names(command, text))
        ]
        if not all(map(is_rare, others)):
            named = first_few([*map(_shown, others)], _MOST_NAMED)
            done = refusal_word(outcome, turns[0])
            text = f"`{command}` is {done}, but the same command in another spelling is allowed: {named}"
            text += f"; the host asks the hook only about {', '.join(rules)}." if rules else "."
            yield replace(symptom_in_turn(codes.BYPASS, text, outcome, turns[0]), advice=advise_on(others))


def advise_on(allowed: Sequence[str]) -> str:
    """Return what a guard must do for the spellings that it allowed, and nothing else."""
    needed = [advice for pattern, advice in _ADVICE if any(map(pattern.search, allowed))]
    if not all(any(pattern.search(text) for pattern, _ in _ADVICE) for text in allowed):
        needed.append(_OF_OPTIONS)
    return f"{'; '.join(needed)[:1].upper()}{'; '.join(needed)[1:]}."


def _new_names(command: str, spelling: str) -> set[str]:
    return {*_NAME.findall(spelling)} - {*_NAME.findall(command)}


def _removes_more(spelling: str) -> bool:
    """Return whether a spelling also removes another path, which a refusal may mean instead of it."""
    return spelling.endswith(_BEHIND) or any(f" {one} " in spelling for one in _BESIDE)


def _shown(spelling: str) -> str:
    """Return a spelling as a report shows it, in one line."""
    rest = spelling.removeprefix(_FIRST_LINE)
    return f"`{spelling}`" if rest == spelling else f"`{rest}` on a second line"


def _is_around(command: str, spelling: str) -> bool:
    """Return whether a spelling only has words around a command, which a host may leave out."""
    return command in spelling
