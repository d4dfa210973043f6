"""Replies of hooks in the background, for which their hosts do not wait."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pytest_hookharness.hosts.replies.json_answer import AnswerReader, parse
from pytest_hookharness.hosts.replies.json_parser import dig
from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.processes import Ending, Exited, ProcessResult
from pytest_hookharness.model.protocol import IN_BACKGROUND, Reply, Ruling


def read_unawaited(reader: AnswerReader, ending: Ending, awaited: Callable[[], Reply]) -> Reply:
    """Return a reply without a decision, and say if the hook meant to refuse: if it did, were it awaited."""
    # With this option its host hears of exit code 2 later.
    heard = reader.hook.options.get("asyncRewake") is True
    refuses = isinstance(ending, Exited) and not heard and awaited().ruling is Ruling.DENY
    return replace(reader.no_opinion("async"), fault=f"ignored: {IN_BACKGROUND}" if refuses else None)


def read_late_context(reader: AnswerReader, run: ProcessResult) -> Reply:
    """Return what a hook says to the agent after its call went on."""
    answer = parse(reader.answers, run.stdout.text)
    texts = (dig(answer, path) for path in reader.answers.context if isinstance(answer, Mapping))
    text = next((text for text in texts if isinstance(text, str) and text), "")
    if not text or run.own_ending != Exited(0):
        return reader.no_opinion("async")
    return reader.cut_texts(Reply(context=text, rule=reader.rule("late context")))
