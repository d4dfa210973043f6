"""The permission modes that hooks compare, as some act only in one of them."""

from __future__ import annotations

import re

from pytest_hookharness import hosts
from pytest_hookharness.model.checkup import HookSet

# The option of a host, which is the name of the field in the input of its hooks too.
OPTION = "permission_mode"
_MOST = 2


def asked_modes(hook_set: HookSet) -> list[str]:
    """Return the modes that scripts compare, besides that in which a session usually is."""
    rule = hosts.find(hook_set.host).options.get(OPTION)
    if rule is None or rule.ignored:
        return []
    texts = [text for _, text in hook_set.sources if OPTION in text]
    quoted = {word for text in texts for word in re.findall(r"[\"\'](\w+)[\"\']", text)}
    return [mode for mode in rule.choices if mode in quoted and mode != rule.default][:_MOST]
