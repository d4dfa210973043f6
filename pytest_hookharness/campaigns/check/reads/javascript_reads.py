"""
Reads of a script in JavaScript or TypeScript from its input.

The input is what is parsed from standard input, under the name of each variable or parameter that gets it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from pytest_hookharness.campaigns.check.reads.key_meanings import KeyPath, KeyRead, join_reads

_COMMENT = re.compile(r"/\*.*?\*/|(?<![:\\'\"`\w])//[^\n]*", re.DOTALL)
_NAME = r"[A-Za-z_$][\w$]*"
_STDIN = re.compile(r"stdin|readFileSync\(\s*0\b", re.IGNORECASE)
# A parameter of a function without a name, unless it gets a part of standard input.
_CALLBACK = (
    r"(?<![\w.$])(?<!data['\"], )(?:{0}\s*=>|\(\s*{0}\s*(?:,[^()]*)?\)\s*=>|function\s*\(\s*{0}\s*[,)])"
)
_EMPTY = re.compile(r"(?:\"\"|''|``|null|undefined|\[\s*\])")
_OF_FILE = re.compile(r"readFile(?:Sync)?\(")
_PARSED = re.compile(rf"(?<![\w.$])({_NAME})\s*(?::[^=\n;]+)?=(?!=)[^;\n=]*?JSON\.parse\((?P<given>[^\n]*)")
# Code that gives a variable the text of standard input.
_TEXT = re.compile(rf"(?<![\w.$])({_NAME})\s*(?::[^=\n;]+)?=\s*(?:await\s+)?(?P<given>[^\n;]*)")
_COLLECTED = re.compile(
    rf"(?<![\w.$])({_NAME})\s*\+=|(?<![\w.$])({_NAME})\s*=[^=\n]*Buffer\.concat\(|({_NAME})\.push\("
)
_FUNCTION = re.compile(
    rf"(?:function\s+({_NAME})\s*(?:<[^>]*>)?\(|(?:const|let|var)\s+({_NAME})\s*(?::[^=\n]+)?=\s*(?:async\s*)?(?:function\s*)?\()"
)
_CALLED = rf"(?<![\w.$])({_NAME})\s*(?::[^=\n;]+)?=\s*(?:await\s+)?(?:{{names}})\(\s*\)"
_KEYS = r"(?:\s*\??\.\s*[A-Za-z_$][\w$]*|\s*\??\.?\[\s*['\"]\w+['\"]\s*\])+"
_KEY = re.compile(r"\.\s*([A-Za-z_$][\w$]*)|\[\s*['\"](\w+)['\"]\s*\]")
_OWN = frozenset(["length", "size"])
_INSTEAD = re.compile(r"[\s)]*(?:as\s+[\w<>\[\], ]+?)?[\s)]*(?:\?\?|\|\|)[\s(]*")
_GIVEN = re.compile(rf"[^\n;{{}}]*?(?<![\w.$])({_NAME})\s*(?::[^=\n;]+)?=(?!=)[^\n;]*$")
_TAKEN = re.compile(
    r"\b(?:const|let|var)\s*\{(?P<keys>[^{}]*(?:\{[^{}]*\}[^{}]*)*)\}\s*(?::[^=\n;]+)?=\s*\(?(?:await\s+)?"
)
_PART = re.compile(r"\s*(\w+)\s*(?::\s*(\w+))?\s*(?:=[^,]*)?\s*$")


@lru_cache(maxsize=64)
def javascript_reads(script: str) -> Sequence[frozenset[KeyPath]]:
    """Return what a script in JavaScript or TypeScript reads from its input."""
    text = _COMMENT.sub("", script)
    if not _STDIN.search(text):
        return []
    roots = (name for name in _roots(text) if not _is_another(name, text))
    known: dict[str, KeyPath] = dict.fromkeys(roots, ())
    for _ in range(2):
        known |= dict.fromkeys(_parameters(text, known), ())
        known |= {name: path for name, path in _parts(text, known) if name not in known}
    return [*join_reads(read for read in _all_reads(text, known) if _is_used(read.name, text))]


def _is_used(name: str, text: str) -> bool:
    return not name or len(re.findall(rf"(?<![\w$]){re.escape(name)}(?![\w$])", text)) > 1


def _roots(text: str) -> Iterator[str]:
    """Yield the variables that get the parsed input, unless something else may be in them too."""
    parsed: dict[str, list[bool]] = {}
    several = text.count("JSON.parse(") > 1
    for found in _PARSED.finditer(text):
        alone = not several and not _is_of_file(found["given"], text)
        parsed.setdefault(found[1], []).append(alone or _is_input(found["given"], text))
    readers = [name for name, body in _bodies(text) if _STDIN.search(body) and "JSON.parse(" in body]
    if readers:
        for name in re.findall(_CALLED.format(names="|".join(map(re.escape, readers))), text):
            parsed.setdefault(name, []).append(True)
    yield from (name for name, ours in parsed.items() if all(ours))


def _is_another(name: str, text: str) -> bool:
    """Return whether a variable also gets another object, or more keys, or is a parameter that does."""
    word = re.escape(name)
    functions = re.findall(rf"\bfunction\s+({_NAME})\s*\(\s*{word}\s*[,):]", text)
    return any(_gets_others(one, name, text) for one in functions) or bool(
        re.search(rf"(?<![\w.$]){word}\s*(?::[^=\n;]+)?=\s*\{{\s*[\w.'\"\[]", text)
        or re.search(rf"\bObject\.assign\(\s*{word}\b", text)
        or re.search(_CALLBACK.format(word), text)
    )


def _gets_others(function: str, name: str, text: str) -> bool:
    """Return whether a function is called with anything but a variable."""
    called = rf"(?<!function )(?<![\w.$]){re.escape(function)}\(\s*(?!{re.escape(name)}\b)"
    return re.search(called, text) is not None


def _is_of_file(given: str, text: str) -> bool:
    """Return whether what is parsed is the text of a file, or one of several, such as a line of it."""
    name = re.match(rf"\s*({_NAME})", given)
    if _OF_FILE.search(given) or name is None:
        return bool(_OF_FILE.search(given) and not _STDIN.search(given))
    if re.search(rf"\bfor\s*\(\s*(?:const|let|var)\s+{re.escape(name[1])}\s+of\b", text):
        return True
    texts = [one["given"] for one in _TEXT.finditer(text) if one[1] == name[1]]
    return any(_OF_FILE.search(one) and not _STDIN.search(one) for one in texts)


def _is_input(given: str, text: str) -> bool:
    """Return whether what is parsed is the text of standard input."""
    if _STDIN.search(given):
        return True
    name = re.match(rf"\s*({_NAME})", given)
    if name is None or "(" in given[: name.end() + 1]:
        return bool(name and any(one == name[1] and _STDIN.search(body) for one, body in _bodies(text)))
    collected = {one for found in _COLLECTED.findall(text) for one in found}
    given_by = [found["given"] for found in _TEXT.finditer(text) if found[1] == name[1]]
    readers = {one for one, body in _bodies(text) if _STDIN.search(body)}
    ours = [
        _STDIN.search(one) or any(re.match(rf"{re.escape(reader)}\(", one) for reader in readers)
        for one in given_by
        if not _EMPTY.match(one)
    ]
    return name[1] in collected or (bool(ours) and all(ours))


@lru_cache(maxsize=1)
def _bodies(text: str) -> Sequence[tuple[str, str]]:
    """Return the functions of a script with their bodies, which end where a line is indented as little."""
    return [*_find_bodies(text)]


def _find_bodies(text: str) -> Iterator[tuple[str, str]]:
    for found in _FUNCTION.finditer(text):
        indent = re.match(r"[ \t]*", text[text.rfind("\n", 0, found.start()) + 1 :])
        end = re.compile(rf"^{indent[0] if indent else ''}\}}", re.MULTILINE).search(text, found.end())
        yield found[1] or found[2], text[found.start() : end.start() if end else len(text)]


def _parameters(text: str, known: Mapping[str, KeyPath]) -> Iterator[str]:
    """Yield the first parameters of functions that are called with the input, and with nothing else."""
    for root in [name for name, path in known.items() if not path]:
        for name in re.findall(rf"(?<![\w.$])({_NAME})\(\s*{re.escape(root)}\s*[,)]", text):
            if _gets_others(name, root, text):
                continue
            yield from re.findall(
                rf"\b(?:function\s+{re.escape(name)}\s*\(|{re.escape(name)}\s*=\s*(?:async\s*)?(?:function\s*)?\()\s*({_NAME})",
                text,
            )


def _parts(text: str, known: Mapping[str, KeyPath]) -> Iterator[tuple[str, KeyPath]]:
    """Yield the variables that get a part of the input as it is."""
    for root, prefix in known.items():
        part = re.compile(
            rf"\b(?:const|let|var)\s+({_NAME})\s*(?::[^=\n;]+)?=\s*\(*\s*{re.escape(root)}({_KEYS})\s*"
            r"(?:as\s[^;\n|?]*)?\)*\s*(?:(?:\?\?|\|\|)\s*(?:\{\s*\}|\"\"|''|null)\s*)?\)*\s*(?:as\s[^;\n]*)?[;\n]"
        )
        for found in part.finditer(text):
            yield found[1], (*prefix, *_keys(found[2]))


def _keys(written: str) -> tuple[str, ...]:
    return tuple(one or other for one, other in _KEY.findall(written))


def _all_reads(text: str, known: Mapping[str, KeyPath]) -> Iterator[KeyRead]:
    yield from _taken(text, known)
    if not known:
        return
    read = re.compile(rf"(?<![\w.$'\"`])({'|'.join(map(re.escape, known))})({_KEYS})(?P<after>\s*[(=]?=?)")
    group, name, last = set[KeyPath](), "", 0
    for found in read.finditer(text):
        keys = _keys(found[2])
        after = found["after"].strip()
        keys = keys[:-1] if after == "(" or keys[-1] in _OWN else keys
        if after == "=" or not keys:
            continue
        if group and not _INSTEAD.fullmatch(text[last : found.start()]):
            yield KeyRead(frozenset(group), name)
            group = set()
        if not group:
            given = _GIVEN.match(text[text.rfind("\n", 0, found.start()) + 1 : found.start()])
            name = given[1] if given else ""
        group.add((*known[found[1]], *keys))
        last = found.start("after")
    if group:
        yield KeyRead(frozenset(group), name)


def _taken(text: str, known: Mapping[str, KeyPath]) -> Iterator[KeyRead]:
    """Yield the keys that a script takes out of the input by a pattern."""
    for found in _TAKEN.finditer(text):
        source = re.match(
            rf"({_NAME})({_KEYS})?\s*(?:\?\?[^;\n]*|\|\|[^;\n]*|as\s[^;\n]*)?\)?\s*[;\n]", text[found.end() :]
        )
        if source is None or source[1] not in known:
            continue
        prefix = (*known[source[1]], *_keys(source[2] or ""))
        for part in found["keys"].split(","):
            if key := _PART.match(part):
                yield KeyRead(frozenset([(*prefix, key[1])]), key[2] or key[1])
