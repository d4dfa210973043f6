"""The meaning of a handler's matcher and timeout: which hooks an event runs, and for how long."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from fnmatch import fnmatchcase

from pytest_hookharness.hosts.rules.profile import EventRule, MatcherRules, Profile
from pytest_hookharness.hosts.rules.settings import Flaw, LimitRules
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Hook, Json, Payload

_PERMISSION_RULE = re.compile(r"\s*([^()\s]+)\s*(?:\((.*)\))?\s*", re.DOTALL)
_SUBJECTS = ("command", "file_path", "url", "pattern", "path")


def matches(rules: MatcherRules, matcher: str | None, target: str) -> bool:
    """Return whether a matcher fits a target."""
    matcher = matcher.strip() if matcher is not None and rules.trims else matcher
    if matcher is None or matcher in rules.everything:
        return True
    names = (target, *rules.aliases.get(target, ()))
    # A matcher of plain characters is first read as a list of names, any other only as an expression.
    if rules.plain is not None and re.fullmatch(rules.plain, matcher):
        listed = re.split(rules.separators, matcher) if rules.separators else [matcher]
        if any((name.strip() if rules.trims_names else name) in names for name in listed):
            return True
        if rules.lists_only:
            return False
    ends = rules.wrapper
    if ends and len(matcher) > 2 * len(ends) and matcher.startswith(ends) and matcher.endswith(ends):
        matcher = matcher[len(ends) : -len(ends)]
    searched = names if rules.searches_aliases else (target,)
    return any(_searches(rules, matcher, name) for name in searched)


def _searches(rules: MatcherRules, matcher: str, target: str) -> bool:
    # The hosts use regular expressions of JavaScript or Rust: a named group is (?<name>...), without the P.
    pattern = re.sub(r"\(\?<(?![=!])", "(?P<", matcher)
    try:
        found = re.fullmatch(pattern, target) if rules.anchored else re.search(pattern, target)
    except re.error:
        return rules.literal_if_malformed and matcher == target
    return found is not None


def select(
    profile: Profile,
    hooks: tuple[Hook, ...],
    event: str,
    target: str,
    *,
    tool_input: Payload | None = None,
) -> tuple[Hook, ...]:
    """Return the hooks that run on an event, each once, in the order of the configuration."""
    rule = profile.events[event]
    matchers = rule.matchers or profile.matchers
    chosen: dict[Hashable, Hook] = {}
    for place, hook in enumerate(hooks):
        if hook.event != event or not _matcher_fits(matchers, rule, hook.matcher, target):
            continue
        if not _condition_fits(matchers, rule, hook, target, tool_input):
            continue
        # Many hosts run a handler once although several files list it. The rule names what makes it the same.
        same = profile.config.identity
        chosen.setdefault(tuple(_identity_part(hook, name) for name in same) if same else place, hook)
    return tuple(chosen.values())


def _matcher_fits(rules: MatcherRules, rule: EventRule, matcher: str | None, target: str) -> bool:
    if not rule.target:
        return rules.untargeted or matcher is None or matcher in rules.everything
    if rule.exact:
        return matcher is None or matcher in rules.everything or matcher == target
    return matches(rules, matcher, target)


def _identity_part(hook: Hook, name: str) -> Hashable:
    own: dict[str, Hashable] = {
        "type": hook.type,
        "command": hook.command,
        "args": hook.args,
        "plugin": hook.plugin,
    }
    return own[name] if name in own else str(hook.options.get(name))


def runs_one_by_one(profile: Profile, hooks: Sequence[Hook]) -> bool:
    """Return whether the hooks of one event run one after the other. One that asks for it decides for all."""
    return profile.process.one_by_one or any(hook.sequential for hook in hooks)


def start_groups(profile: Profile, hooks: Sequence[Hook]) -> tuple[tuple[Hook, ...], ...]:
    """Return the hooks of one event in the groups that start together: all at once, or one by one."""
    if runs_one_by_one(profile, hooks):
        return tuple((hook,) for hook in hooks)
    return (tuple(hooks),) if hooks else ()


def _condition_fits(
    rules: MatcherRules, rule: EventRule, hook: Hook, target: str, tool_input: Payload | None
) -> bool:
    condition = hook.options.get(rules.condition) if rules.condition else None
    if not isinstance(condition, str):
        return True
    # A condition speaks of a tool call, so on other events it never holds.
    if rule.target != "tool_name":
        return False
    return covers(condition, target, tool_input)


def covers(rule: str, tool: str, tool_input: Payload | None) -> bool:
    """
    Return whether a permission rule such as ``Bash(git *)`` covers a call. Unreadable rules cover every call.
    """
    parsed = _PERMISSION_RULE.fullmatch(rule)
    if parsed is None:
        return True
    name, pattern = parsed.groups()
    if name != tool:
        return False
    if pattern is None or tool_input is None:
        return True
    # "git:*" is the older form of "git*".
    glob = re.sub(r":\*$", "*", pattern)
    subjects = [tool_input[key] for key in _SUBJECTS if key in tool_input]
    return not subjects or any(fnmatchcase(str(subject), glob) for subject in subjects)


@dataclass(frozen=True, slots=True)
class TimeoutSetting:
    """
    A timeout of the settings as the host understands it.

    Attributes:
        seconds: The timeout; ``None`` for the host's default, or if the value has no meaning.
        flaw: The flaw of the value, if it has one.
        text: The flaw in words.
    """

    seconds: float | None = None
    flaw: Flaw | None = None
    text: str = ""


def read_timeout(rules: LimitRules, written: Json) -> TimeoutSetting:
    """Return a timeout of the settings in seconds, as far as the host can read it."""
    if written is None:
        return TimeoutSetting()
    unit = "seconds" if rules.unit == 1.0 else "milliseconds"
    text = f"is {written!r}; expected a number of {unit} above 0"
    if isinstance(written, bool) or not isinstance(written, int | float):
        number = _number(written)
        return TimeoutSetting(None if number is None else _seconds(rules, number), Flaw.LIMIT_TEXT, text)
    seconds = _seconds(rules, float(written))
    if written == 0:
        return TimeoutSetting(seconds, Flaw.LIMIT_ZERO, text)
    if written < 0:
        return TimeoutSetting(seconds, Flaw.LIMIT_NEGATIVE, text)
    if written != written // 1:
        return TimeoutSetting(
            seconds, Flaw.LIMIT_FRACTION, f"is {written!r}; expected a whole number of {unit}"
        )
    return TimeoutSetting(seconds)


def _number(written: Json) -> float | None:
    try:
        return float(str(written))
    except ValueError:
        return None


def _seconds(rules: LimitRules, number: float) -> float:
    counts_milliseconds = rules.milliseconds_from is not None and number >= rules.milliseconds_from
    seconds = number / 1000 if counts_milliseconds else number * rules.unit
    return max(seconds, rules.least, 0.0)
