"""
This module is concerned with what secrets look like, where nobody has told their values.

Middle floor: reports. Data only. Each pattern takes time in proportion to the text, whatever a hook prints:
none has an open quantifier beside another that takes the same letters, and those that run on begin where a
word does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_START = r"(?<![A-Za-z0-9])"
_QUOTES = r"[\"'\\]{0,3}"
_IS = _QUOTES + r"\s{0,9}[:=]\s{0,9}" + _QUOTES
_KEY = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"

# By their names; of a pattern with a group that alone is the secret.
LIKENESSES: Mapping[str, re.Pattern[str]] = {
    name: re.compile(pattern)
    for name, pattern in {
        "private key": rf"-----BEGIN {_KEY}[\s\S]*?(?:-----END {_KEY}|\Z)",
        "AWS key id": rf"{_START}(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{{16}}(?![A-Za-z0-9])",
        "AWS secret key": rf"(?i:secret_?access_?key){_IS}([A-Za-z0-9/+]{{40}})",
        "GitHub token": rf"{_START}(?:gh[pousr]_[A-Za-z0-9]{{20,}}|github_pat_[A-Za-z0-9_]{{20,}})",
        "GitLab token": rf"{_START}glpat-[A-Za-z0-9_-]{{20,}}",
        "Slack token": rf"{_START}xox[abeoprs]-[A-Za-z0-9-]{{10,}}",
        "Slack address": r"hooks\.slack\.com/services/([A-Za-z0-9/_-]{20,})",
        "API key": rf"{_START}sk-[A-Za-z0-9_-]{{20,}}",
        "Google key": rf"{_START}AIza[A-Za-z0-9_-]{{35}}",
        "npm token": rf"{_START}npm_[A-Za-z0-9]{{36}}",
        "PyPI token": rf"{_START}pypi-[A-Za-z0-9_-]{{32,}}",
        "JSON web token": r"(?<![A-Za-z0-9_.-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
        "authorization": (
            rf"(?i:authorization){_IS}(?:(?i:bearer|basic|token|digest|apikey)\s{{1,9}})?([^\s\"'\\,;]{{6,}})"
        ),
        "bearer": rf"{_START}(?i:bearer)\s{{1,9}}([A-Za-z0-9._~+/=-]{{12,}})",
        "password": rf"{_START}[A-Za-z][A-Za-z0-9+.-]{{0,20}}://[^\s/:@\"']{{0,200}}:([^\s/@\"']{{1,500}})@",
    }.items()
}
