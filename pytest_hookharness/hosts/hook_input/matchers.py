"""
Whether a matcher fits its target, such as the name of a tool.

Hosts read matchers with the regular expressions of their own language, which differ in syntax: an expression
that one host refuses, and that then matches nothing, is common usage on another one.
"""

from __future__ import annotations

import re

from pytest_hookharness.hosts.rules.settings import MatcherRules, Syntax
from pytest_hookharness.model.regex import Regex, is_quick

# A character, an escape, a class, or the start of a group that is more than a group.
_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?(?:<[=!]|P[=>]|.)|.", re.DOTALL)
# What the crate regex refuses: look-around, references, atomic groups, conditions and comments.
_NOT_RUST = re.compile(r"\(\?(?:[=!>(#|]|<[=!]|P[=>])|\\[1-9ZGKR]")
_OPENING_NAME = re.compile(r"\(\?<(?![=!])")
# These mean the same in every syntax; most matchers have nothing else.
_COMMON = re.compile(r"(?:\.\*|[\w|^$ .-])*")


def matches(rules: MatcherRules, matcher: str, target: str) -> bool:
    """Return whether a matcher fits a target; callers handle matchers for every target."""
    names = (target, *rules.aliases.get(target, ()))
    # A matcher of plain characters is first read as a list of names, any other only as an expression.
    if rules.plain is not None and re.fullmatch(rules.plain, matcher):
        listed = re.split(rules.separators, matcher) if rules.separators else [matcher]
        listed = [name.strip() if rules.trims_names else name for name in listed]
        if any(name in names for name in listed):
            return True
        if rules.lists_only or (rules.skips_empty_names and "" in listed):
            return False
    ends = rules.wrapper
    if ends and len(matcher) > 2 * len(ends) and matcher.startswith(ends) and matcher.endswith(ends):
        matcher = matcher[len(ends) : -len(ends)]
    searched = names if rules.searches_aliases else (target,)
    return any(_searches(rules, matcher, name) for name in searched)


def _searches(rules: MatcherRules, matcher: str, target: str) -> bool:
    try:
        if rules.syntax is Syntax.JAVASCRIPT and not _COMMON.fullmatch(matcher):
            return _searches_in_javascript(f"^(?:{matcher})$" if rules.anchored else matcher, target)
        expression = Regex(_in_python(rules.syntax, matcher))
        found = expression.fullmatch(target) if rules.anchored else expression.search(target)
    except re.error:
        return rules.literal_if_malformed and matcher == target
    return found is not None


def _in_python(syntax: Syntax, matcher: str) -> str:
    """Return an expression in the syntax of Python; raise ``re.error`` if it is malformed in its own."""
    if syntax is Syntax.RUST:
        parts = _TOKEN.findall(matcher)
        if any(_NOT_RUST.fullmatch(part) for part in parts):
            raise re.error("the crate regex does not know this")
        matcher = "".join("\\Z" if part == "\\z" else part for part in parts)
    return _OPENING_NAME.sub("(?P<", matcher)


def _searches_in_javascript(matcher: str, target: str) -> bool:
    # Few matchers come here, and the engine takes time to import.
    import regress

    try:
        expression = regress.Regex(matcher)
    except regress.RegressError as error:
        raise re.error(str(error)) from None
    if is_quick(matcher, len(target)):
        return expression.find(target) is not None
    # That engine takes no time limit. What may take long is left to one that does, if it can read it.
    try:
        return Regex(_in_python(Syntax.JAVASCRIPT, matcher)).search(target) is not None
    except re.error:
        return expression.find(target) is not None
