"""
Resemblance: whether a hook that may have run ended as its interpreter does without a program.

Where no trial shows that a program did not run, what it said decides whether that is doubtful. A program says
words of its own text and of its input. An interpreter has words of its own, and says some of them in the same
order of nonsense in the place of the program. So neither interpreters nor messages need to be known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from pytest_hookharness.execution.startup.programs import GARBAGE, PROBES
from pytest_hookharness.model.processes import Stdin
from pytest_hookharness.model.reads import LookKind
from pytest_hookharness.simulation.startup.experiments import has_program
from pytest_hookharness.simulation.startup.languages import find_languages
from pytest_hookharness.simulation.startup.program_trials import InnerProgram, given, new_name, run_copy
from pytest_hookharness.simulation.startup.trial_runs import Trial, TrialRuns

_WORD = re.compile(r"[^\W\d_]+")
_MODULE = re.compile(r"\w+(\.\w+)*")
# Words that look like a file rather than a name.
_FILE = re.compile(r".*/.*|.*\.[A-Za-z]\w{0,4}")
_ESCAPE = re.compile(r"\\[a-z]")
_MOST_WORDS = 6
_MOST_FILES = 8
# Words; where at least this many stand before a name, they are a sentence about it.
_SENTENCE = 3
_LOOKS = (LookKind.OPENED, LookKind.STATUS, LookKind.ACCESS)


def find_doubt(trials: TrialRuns, seen: Trial) -> str:
    """Return what makes it doubtful that a program ran; empty if nothing does."""
    if trials.is_of_project():
        return ""
    files = trials.decider.files
    # Installed programs say words of other files, and are rarely broken.
    programs = [
        word for word, kind in files.items() if kind == "file" and trials.may_write(trials.path(word))
    ]
    arguments = [word for word in trials.decider.argv[1:] if word[:1] != "-" and _WORD.search(word)]
    missing = [word for word in arguments if files.get(word) == "missing"]
    for word in (*programs, *missing):
        if _ends_as_nonsense(trials, word, seen, inline=word in missing):
            return f"nonsense in the place of {word} has a similar end"
    for word in missing:
        for name in _missing(trials, word, seen):
            return f"{name} does not exist"
    for word in _unknown_names(trials, seen):
        return f"nonsense in the place of {word}, with no input, has a similar end"
    is_program = any(find_languages(trials, word)[0] for word in programs)
    if (is_program or not arguments) and _wants_an_argument(trials, seen):
        return "with one more argument, and with no input, it ends differently"
    return ""


def _ends_as_nonsense(trials: TrialRuns, word: str, seen: Trial, *, inline: bool) -> bool:
    """Return whether a hook ended as with nonsense in the place of a program."""
    own = _own_text(trials)
    words = set(_WORD.findall(own))
    lines = [line for line in seen.stderr.splitlines() if line.strip()]
    foreign = [line for line in lines if not _WORD.search(line) or not words.issuperset(_WORD.findall(line))]
    executed, strict = find_languages(trials, word, inline=inline)
    complete = bool(strict)
    if not (executed or inline) and (_is_checked(trials, word) or has_program(trials, word)):
        return False
    # A program says its own words, and one that compiled and then did something may fail as it likes.
    if (lines and not foreign) or (complete and (trials.decider.acted or not lines)):
        return False
    name = trials.path(word).name if not inline else ""
    given = [text if inline else trials.write(name, text) for text in ("", GARBAGE)]
    empty, nonsense = trials.run([trials.with_word(word, each) for each in given])
    if inline:
        is_program = empty.code != nonsense.code
    else:
        empty, nonsense = empty.renamed({given[0]: word}), nonsense.renamed({given[1]: word})
        is_program = not empty.is_same(nonsense)
    text = word if inline else trials.read(trials.path(word)) or ""
    if nonsense.code != seen.code or not is_program or (complete and _is_own(lines, text, nonsense)):
        return False
    shared = _phrases("\n".join(foreign)) & _phrases(nonsense.stderr) - _phrases(f"{GARBAGE}\n{own}")
    if shared or not (complete or trials.decider.acted):
        return True
    return not executed and not inline and not trials.decider.started and _is_stopped(trials, word, seen)


def _is_checked(trials: TrialRuns, word: str) -> bool:
    """Return whether an interpreter executes a program that its other words only have it check."""
    alone = (trials.decider.argv[0], word)
    return alone != trials.decider.argv and bool(find_languages(given(trials, alone), word)[0])


def _is_own(lines: Sequence[str], text: str, nonsense: Trial) -> bool:
    """Return whether a line is a message of a program, perhaps with its place as the interpreter tells it."""
    own, others = set(_WORD.findall(text)), set(_WORD.findall(nonsense.stderr))
    # An interpreter may quote a whole line of the program.
    quoted = {line.strip() for line in text.splitlines()}
    said = [_WORD.findall(line) for line in lines if line.strip() not in quoted]
    return any(each and each[0] in own - others and own | others >= {*each} for each in said)


def _is_stopped(trials: TrialRuns, word: str, seen: Trial) -> bool:
    """Return whether a program was stopped while it was read, with words that no file of the project has."""
    text = trials.read(trials.path(word)) or ""
    if not run_copy(trials, InnerProgram(word, text, trials.path(word)), f"{text}\n{GARBAGE}").ends_like(
        seen
    ):
        return False
    own = _own_words(trials)
    return any(not own.issuperset(_WORD.findall(line)) for line in seen.stderr.splitlines())


def _unknown_names(trials: TrialRuns, seen: Trial) -> Iterator[str]:
    """
    Yield each word of the command that its program does not know, as a target, a subcommand or an option.

    With nonsense in its place, and with no input, the program says the same of it. A file of that name makes
    no difference, or the program finds by itself a file that it executes, as make does.
    """
    words = [word for word in trials.decider.argv[1:] if word.strip("-") and _remarks(word, seen)]
    for word in words[:_MOST_WORDS]:
        option = word.startswith("-")
        other = "-~" if option and len(word) == 2 else f"{'--' * option}{new_name()}"
        empty = trials.write(f"empty{Path(word).suffix}", "")
        without, held = trials.run([trials.with_word(word, each) for each in (other, empty)])
        names = {other.lstrip("-"): word.lstrip("-")}
        same = _remarks(word, seen) & _remarks(word, without.renamed(names))
        if not same:
            continue
        (silent,) = trials.run([trials.decider.argv], stdin=Stdin())
        own = _own_words(trials)
        if all(own.issuperset(_WORD.findall(line)) for line in same & _remarks(word, silent)):
            continue
        is_name = not _FILE.fullmatch(word) and same & _remarks(word, held.renamed({empty: word}))
        if option or is_name or _finds_a_program(trials):
            yield word


def _wants_an_argument(trials: TrialRuns, seen: Trial) -> bool:
    """Return whether a program that did nothing lacks an argument, and says so in foreign words."""
    said = {line for line in seen.stderr.splitlines() if line.strip()}
    if not said or trials.decider.acted:
        return False
    (more,) = trials.run([[*trials.decider.argv, new_name()]], stdin=Stdin())
    own = _own_words(trials)
    gone = said - {*more.stderr.splitlines()}
    return any(not own.issuperset(_WORD.findall(line)) for line in gone)


def _own_words(trials: TrialRuns) -> set[str]:
    """Return the words of the texts that the hook has or opened."""
    return set(_WORD.findall(f"{_own_text(trials)}\n{_opened_text(trials)}"))


def _remarks(word: str, end: Trial) -> set[str]:
    """Return the lines about a word, with their numbers alike and the code; hints may follow a sentence."""
    found: set[str] = set()
    pattern = re.compile(rf"(?<!\w){re.escape(word.lstrip('-'))}(?!\w)")
    for line in f"{end.stderr}\n{end.stdout}".splitlines():
        if about := pattern.search(line):
            head = line[: about.end()]
            found |= {line, head} if len(_WORD.findall(line[: about.start()])) >= _SENTENCE else {line}
    return {f"{end.code}: {re.sub(r'[0-9]+', '0', line)}" for line in found}


def _finds_a_program(trials: TrialRuns) -> bool:
    """Return whether the program executes a file of the project that no argument names."""
    named = {trials.path(word) for word in trials.decider.files}
    for path in trials.looked_for(LookKind.OPENED, existing=True)[:_MOST_FILES]:
        text = trials.read(path)
        if path in named or text is None:
            continue
        ends = (_run_with(trials, path, probe.holding(text)) for probe in PROBES)
        found = any(end.probed for end in ends)
        trials.put(path, text)
        if found:
            return True
    return False


def _run_with(trials: TrialRuns, path: Path, text: str) -> Trial:
    trials.put(path, text)
    return trials.run([trials.decider.argv])[0]


def _opened_text(trials: TrialRuns) -> str:
    """Return the text of the files of the project that a hook opened."""
    paths = trials.looked_for(LookKind.OPENED, existing=True)[:_MOST_FILES]
    return "\n".join(trials.read(path) or "" for path in paths)


def _own_text(trials: TrialRuns) -> str:
    """Return what a program may have its words from: its text, its input and its command line."""
    files = (word for word, kind in trials.decider.files.items() if kind == "file")
    texts = [trials.read(trials.path(word)) or "" for word in files]
    payload = trials.spec.stdin.data.decode("utf-8", "replace")
    text = "\n".join((*texts, payload, trials.decider.folder, *trials.decider.argv))
    # A word may follow the letter of an escape sequence.
    return f"{text}\n{_ESCAPE.sub(' ', text)}"


def _phrases(text: str) -> set[tuple[str, ...]]:
    """Return the pairs of words in the lines of a text; the signs of lines without a pair."""
    found: set[tuple[str, ...]] = set()
    for line in text.splitlines():
        words = _WORD.findall(line)
        found.update(pairwise(words) if words[1:] else [(re.sub(r"\d+", "0", line.strip()),)])
    return found


def _missing(trials: TrialRuns, word: str, seen: Trial) -> Iterator[str]:
    """Yield a file that a command interprets, or looks for under a longer name, and that does not exist."""
    other = new_name()
    given = [trials.write(f"text{Path(word).suffix}", text) for text in ("", GARBAGE, "\n")]
    without, empty, garbage, line = trials.run([trials.with_word(word, each) for each in (other, *given)])
    if not without.renamed({other: word}).ends_like(seen) or has_program(trials, word):
        return
    last = word.rpartition(".")[2]
    looks = trials.looked_for(*_LOOKS) if _MODULE.fullmatch(word) else ()
    if files := [path for path in looks if path.stem == last != path.name]:
        yield trials.shown(files[0])
    empty, garbage = empty.renamed({given[0]: word}), garbage.renamed({given[1]: word})
    # A file of patterns with an empty one finds everything.
    interpreted = empty.differs_from(seen) and not (empty.is_same(garbage) and empty.code == line.code)
    if interpreted or (empty.code == garbage.code == seen.code and not empty.ends_like(seen)):
        yield word
