"""
Which hosts are known.

A profile is imported when it is asked for, since a run needs one or two of them.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points

from pytest_hookharness.hosts.rules.profile import Profile
from pytest_hookharness.model.protocol import Basis


def _claude_code() -> Profile:
    from pytest_hookharness.hosts.profiles.claude_code.profile import CLAUDE_CODE  # noqa: PLC0415 - not until it is asked for

    return CLAUDE_CODE


def _gemini_cli() -> Profile:
    from pytest_hookharness.hosts.profiles.gemini.profile import GEMINI_CLI  # noqa: PLC0415 - not until it is asked for

    return GEMINI_CLI


def _gemini_cli_0_30_0() -> Profile:
    from pytest_hookharness.hosts.profiles.gemini.profile import GEMINI_CLI_0_30_0  # noqa: PLC0415 - likewise

    return GEMINI_CLI_0_30_0


def _gemini_cli_0_26_0() -> Profile:
    from pytest_hookharness.hosts.profiles.gemini.profile import GEMINI_CLI_0_26_0  # noqa: PLC0415 - likewise

    return GEMINI_CLI_0_26_0


def _openhands() -> Profile:
    from pytest_hookharness.hosts.profiles.openhands.profile import OPENHANDS  # noqa: PLC0415 - not until it is asked for

    return OPENHANDS


def _openhands_1_12() -> Profile:
    from pytest_hookharness.hosts.profiles.openhands.profile import OPENHANDS_1_12  # noqa: PLC0415 - likewise

    return OPENHANDS_1_12


def _openhands_pr3183() -> Profile:
    from pytest_hookharness.hosts.profiles.openhands.profile import OPENHANDS_PR3183  # noqa: PLC0415 - likewise

    return OPENHANDS_PR3183


def _codex() -> Profile:
    from pytest_hookharness.hosts.profiles.codex.profile import CODEX  # noqa: PLC0415 - not until it is asked for

    return CODEX


def _qwen_code() -> Profile:
    from pytest_hookharness.hosts.profiles.qwen.profile import QWEN_CODE  # noqa: PLC0415 - not until it is asked for

    return QWEN_CODE


def _qwen_code_0_15_10() -> Profile:
    from pytest_hookharness.hosts.profiles.qwen.profile import QWEN_CODE_0_15_10  # noqa: PLC0415 - likewise

    return QWEN_CODE_0_15_10


def _cursor() -> Profile:
    from pytest_hookharness.hosts.profiles.cursor.profile import CURSOR  # noqa: PLC0415 - not until it is asked for

    return CURSOR


def _cursor_reported() -> Profile:
    from pytest_hookharness.hosts.profiles.cursor.profile import CURSOR_REPORTED  # noqa: PLC0415 - likewise

    return CURSOR_REPORTED


def _copilot_cli() -> Profile:
    from pytest_hookharness.hosts.profiles.copilot.profile import COPILOT_CLI  # noqa: PLC0415 - not until it is asked for

    return COPILOT_CLI


def _copilot_cli_1_0_71() -> Profile:
    from pytest_hookharness.hosts.profiles.copilot.profile import COPILOT_CLI_1_0_71  # noqa: PLC0415 - likewise

    return COPILOT_CLI_1_0_71


def _antigravity() -> Profile:
    from pytest_hookharness.hosts.profiles.documented.antigravity import ANTIGRAVITY  # noqa: PLC0415 - not until it is asked for

    return ANTIGRAVITY


def _kimi() -> Profile:
    from pytest_hookharness.hosts.profiles.documented.kimi import KIMI  # noqa: PLC0415 - not until it is asked for

    return KIMI


def _goose() -> Profile:
    from pytest_hookharness.hosts.profiles.documented.goose import GOOSE  # noqa: PLC0415 - not until it is asked for

    return GOOSE


def _droid() -> Profile:
    from pytest_hookharness.hosts.profiles.documented.droid import DROID  # noqa: PLC0415 - not until it is asked for

    return DROID


# By name and version; the newest version of a host comes first.
_KNOWN: Mapping[str, Callable[[], Profile]] = {
    "claude-code@2.1.329": _claude_code,
    "codex@0.169.0": _codex,
    "gemini-cli@0.61.0": _gemini_cli,
    "gemini-cli@0.30.0": _gemini_cli_0_30_0,
    "gemini-cli@0.26.0": _gemini_cli_0_26_0,
    "qwen-code@0.24.4": _qwen_code,
    "qwen-code@0.15.10": _qwen_code_0_15_10,
    "openhands@1.58": _openhands,
    "openhands@1.12": _openhands_1_12,
    "openhands@pr3183": _openhands_pr3183,
    "cursor@2026-08": _cursor,
    "cursor@2026-08-reported": _cursor_reported,
    "copilot-cli@1.0.78": _copilot_cli,
    "copilot-cli@1.0.71": _copilot_cli_1_0_71,
    "antigravity@1.1.18": _antigravity,
    "kimi@0.38.0": _kimi,
    "goose@2026": _goose,
    "droid@2026-07": _droid,
}


# Distributions that bring a profile name it here: `codex@1.2 = module:PROFILE`.
GROUP = "pytest_hookharness.hosts"


@cache
def _loaders() -> Mapping[str, Callable[[], Profile]]:
    brought = {point.name: partial(_brought, point) for point in entry_points(group=GROUP)}
    return {**_KNOWN, **{name: load for name, load in brought.items() if name not in _KNOWN}}


def _brought(point: EntryPoint) -> Profile:
    profile = point.load()
    if not isinstance(profile, Profile) or profile.id != point.name:
        seen = getattr(profile, "id", type(profile).__name__)
        raise UnknownHost(
            f"the entry point {point.name!r} of group {GROUP!r} gives {seen!r}; "
            f"it must name a Profile whose name and version are {point.name!r}: {point.value}"
        )
    return profile


class UnknownHost(ValueError):
    """
    A host, or a version of it, that there is no profile for.
    """


def names() -> tuple[str, ...]:
    """
    What hosts can be asked for by: each name for its newest version, and each name with a version.
    """
    bare = dict.fromkeys(name.partition("@")[0] for name in _loaders())
    return (*bare, *_loaders())


def known() -> tuple[Profile, ...]:
    """
    All profiles, the newest version of a host first.
    """
    return tuple(load() for load in _loaders().values())


def find(name: str) -> Profile:
    """
    The profile of a host, by ``name`` (its newest version) or ``name@version``.

    Raises:
        UnknownHost: There is no such profile.
    """
    for known_name, load in _loaders().items():
        if name in (known_name, known_name.partition("@")[0]):
            return load()
    near = difflib.get_close_matches(name, names(), n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise UnknownHost(f"there is no host {name!r}; known are {', '.join(_loaders())}{hint}")


def assumed_of_calls(name: str) -> tuple[str, ...]:
    """
    What is only assumed about a host that is called from a shell, in sentences.
    """
    profile = find(name)
    rules = profile.calling.rules.values() if profile.calling is not None else ()
    return tuple(f"{profile.id}: {rule.text}." for rule in rules if rule.basis is Basis.ASSUMED)
