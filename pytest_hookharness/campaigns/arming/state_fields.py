"""
The fields that a hook reads from a state file, and the places of its text where it does.

Shell scripts read with jq, with a search for the line of a key, or by a function around these; Python and
JavaScript read members of a loaded object. What a script reads from its standard input is no state.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field

from pytest_hookharness.model.fast_dataclass import dataclass

# Scripts of jq with their options, and the paths in these.
_JQ = re.compile(r"\bjq\b[^|'\"\n]*(?P<quote>['\"])(?P<filter>(?:(?!(?P=quote))[^\n])*)(?P=quote)")
_JQ_BARE = re.compile(r"\bjq(?:\s+-\w+)*\s+\.([A-Za-z_][\w.]*)")
_JQ_PATH = re.compile(r"(?<![\w.\])])\.([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?![\w(\[])")
_JQ_ITEMS = re.compile(r"\.(\w+)(?:\s*//\s*\[\])?\)?(?:\s*\|\s*\.)?\[\]")
_JQ_ITEM = re.compile(r"select\([^)]*?\.(\w+)")
# The input of a hook, as a shell script keeps it.
_SHELL_INPUT = re.compile(
    r"\b(\w+)=[\"']?\$\(\s*cat(?:\s*\)|\s+(?:-|/dev/stdin|\|\||2>))|\bread\b[^\n|;]*\s(\w+)\s*$", re.MULTILINE
)
# A key at the beginning of a line, in a pattern.
_LINE = re.compile(r"[\^/](?:\\s\*|\[\[:space:\]\]\*|\s\*)?([A-Za-z_]\w*)(?:\\s\*|\[\[:space:\]\]\*)?:")
_JSON_LINE = re.compile(r"\bgrep\b[^\n|]*?[\"'\s]\\?\"(\w+)\\?\"\s*:")
_FUNCTION = re.compile(r"^[ \t]*(?:function[ \t]+)?(\w+)[ \t]*\(\)", re.MULTILINE)
_CALL = re.compile(r"\$\(\s*(\w+)((?:[ \t]+[\"']?[\w${}./:-]+[\"']?)+)[^()\n]*\)")
_ARGUMENT = re.compile(r"(?<![\w$.{/-])([a-z_][A-Za-z0-9_]*)(?![\w./-])")
_SHELL_BOUND = re.compile(r"\b(\w+)=[\"']?(\$\((?:(?![;&]\s*\w+=)[^\n])*)")
_MEMBER = re.compile(
    r"(?:\??\.get\(\s*[\"'](?P<got>[\w-]+)[\"']\s*(?:,[^()\n]*(?:\(\))?)?\)"
    r"|\[[\"'](?P<item>[\w-]+)[\"']\]|\??\.(?P<name>[A-Za-z_]\w*)\b(?!\s*\())"
)
_OBJECT = re.compile(r"(?<![\w.\"'$/-])([A-Za-z_]\w*)(?=\??\.\w|\[[\"'])")
_BOUND = re.compile(r"(?<![\w.])(\w+)(?:\s*:\s*[\w\[\] |.,]+)?\s*=(?![=>])\s*([^\n]*)")
_UNPACKED = re.compile(r"\b(?:const|let|var)\s*\{([^}=]*)\}\s*=\s*([^\n]*)")
_LOADS = re.compile(
    r"json\.loads?\(|JSON\.parse\(|\.safe_load\(|\b_?(?:load|read|parse|get)_?\w*"
    r"(?:[Ss]tate|[Cc]onfig|[Ff]rontmatter|[Jj]son|JSON|[Ss]tatus|[Pp]lan|[Tt]ask|[Ll]oop|[Ss]ession)\w*\("
)
_INPUT = re.compile(r"stdin|readFileSync\(\s*0|/dev/stdin|\b\w*[Ii]nput\b|\braw\b|\bchunks?\b")
_STATES = re.compile(
    r"(?:loop_?|task_?|plan_?)?(?:state|config|cfg|fm|frontmatter|meta)|\w+(?:_state|State|Config)"
)
_OTHERS = frozenset({
    "length", "size", "keys", "values", "items", "exists", "name", "parent", "stem", "suffix", "path",
    "stdout", "stderr", "code",
})  # fmt: skip
_CALLBACK = re.compile(
    r"(?:\s*(?:\|\||\?\?)\s*\[\]\))?\)?\??\.(?:filter|some|find|every|map)\(\s*\(?(\w+)\)?\s*=>"
)
_EACH = re.compile(r"\bfor (?:const |let )?\(?(?:const |let )?(\w+) (?:in|of) [\w( ]*$")


@dataclass(slots=True)
class StateReads:
    """
    What a script reads from its state files.

    Attributes:
        fields: The fields, in order; ``tasks[].status`` is one of each item of a list.
        names: Names of the script that stand for a field.
        places: Where a field stands in the text: begin, end, name.
    """

    text: str
    fields: dict[str, None] = field(default_factory=dict[str, None])
    names: dict[str, str] = field(default_factory=dict[str, str])
    places: list[tuple[int, int, str]] = field(default_factory=list[tuple[int, int, str]])

    def add(self, name: str, begin: int, end: int) -> None:
        """Note that a field stands at a place."""
        self.fields[name] = None
        self.places.append((begin, end, name))


def state_reads(text: str) -> StateReads:
    """Return what a script reads from its state files."""
    reads = StateReads(text)
    _find_in_shell(reads)
    _find_members(reads)
    for name, known in reads.names.items():
        pattern = re.compile(
            rf"(?<![\w.\"'])\$?\{{?\b{name}\b(?::-[^}}\n]*)?\}}?(?!\s*=[^=~])|\$\{{?{name}\b\}}?"
        )
        reads.places += [(match.start(), match.end(), known) for match in pattern.finditer(text)]
    return reads


def _find_in_shell(reads: StateReads) -> None:
    text = reads.text
    payloads = {name for pair in _SHELL_INPUT.findall(text) for name in pair if name}
    functions = set(_FUNCTION.findall(text))
    offset = 0
    for line in text.splitlines(keepends=True):
        found = [*_in_line(line, payloads, functions)]
        for name, begin, end in found:
            reads.add(name, offset + begin, offset + end)
        for bound in _SHELL_BOUND.finditer(line):
            own = (name for name, begin, _ in found if bound.start(2) <= begin < bound.end(2))
            name = next(own, "[]")
            if "[]" not in name:
                reads.names.setdefault(bound[1], name)
        offset += len(line)


def _in_line(line: str, payloads: set[str], functions: set[str]) -> Iterator[tuple[str, int, int]]:
    """Yield the fields that a line of a shell script reads, each with its place in the line."""
    if line.lstrip().startswith("#"):
        return
    if not any(re.search(rf"\$\{{?{name}\b", line) for name in payloads):
        for bare in _JQ_BARE.finditer(line):
            yield bare[1], bare.start(1), bare.end(1)
        for match in _JQ.finditer(line):
            yield from _in_filter(match)
    if re.search(r"\b(?:grep|sed|awk|re\.\w+|match|RegExp)\b|\.match\(|\.exec\(|\.test\(", line):
        for key in _LINE.finditer(line):
            yield key[1], key.start(1), key.end() if "grep" in line else key.end(1)
    for key in _JSON_LINE.finditer(line):
        yield key[1], key.start(1), key.end()
    for call in _CALL.finditer(line):
        words = _ARGUMENT.findall(call[2]) if call[1] in functions else []
        if words:
            yield words[-1], call.start(), call.end()


def _in_filter(match: re.Match[str]) -> Iterator[tuple[str, int, int]]:
    base, program = match.start("filter"), match["filter"]
    items = _JQ_ITEMS.search(program)
    if items:
        yield f"{items[1]}[]", base + items.start(), base + items.end()
        for one in _JQ_ITEM.finditer(program, items.end()):
            yield f"{items[1]}[].{one[1]}", base + one.start(1), base + one.end(1)
        return
    if not re.search(r"(?<![=!<>|/])=(?!=)|--arg|-n\b", program):
        for path in _JQ_PATH.finditer(program):
            yield path[1], base + path.start(), base + path.end()


def _find_members(reads: StateReads) -> None:
    """Find members of loaded objects, in Python and JavaScript, and what stands for one of them."""
    objects = _objects(reads.text)
    for match in _OBJECT.finditer(reads.text):
        if match[1] in objects:
            _follow(reads, match.start(), match.end(), objects, objects[match[1]])
    for names, value in _UNPACKED.findall(reads.text):
        if (_LOADS.search(value) and not _INPUT.search(value)) or value.strip(" ;\r") in objects:
            for name in re.findall(r"(\w+)(?:\s*:\s*(\w+))?", names):
                reads.fields[name[0]] = None
                reads.names.setdefault(name[1] or name[0], name[0])


def _follow(reads: StateReads, begin: int, end: int, objects: dict[str, str], prefix: str) -> None:
    """Note the member of a state object that begins at a place."""
    text, path = reads.text, ""
    while member := _MEMBER.match(text, end):
        name = member["got"] or member["item"] or member["name"]
        if name in _OTHERS:
            break
        path, end = f"{path}.{name}" if path else name, member.end()
    assigned = re.compile(r"\s*=(?![=>])").match(text, end)
    if not path or assigned:
        return
    name = f"{prefix}{path}"
    start = text.rfind("\n", 0, begin) + 1
    each = _EACH.search(text[start:begin])
    item = _CALLBACK.match(text, end) or each
    if item:
        objects.setdefault(item[1], f"{path}[].")
        reads.fields[f"{path}[]"] = None
        return
    reads.add(name, begin, end)
    head = re.match(
        r"\s*(?:export\s+)?(?:const|let|var)?\s*(\w+)(?:\s*:\s*[\w\[\] |.,]+)?\s*=(?![=>])", text[start:begin]
    )
    if head:
        reads.names.setdefault(head[1], name)


def _objects(text: str) -> dict[str, str]:
    """Return the names of objects that hold a state, each with what stands before their members."""
    loaded: dict[str, str] = {}
    payloads = set[str]()
    for name, value in _BOUND.findall(text):
        if _LOADS.search(value):
            if _INPUT.search(value):
                payloads.add(name)
            else:
                loaded[name] = ""
    named = {name for name in _OBJECT.findall(text) if _STATES.fullmatch(name)}
    return {name: "" for name in [*loaded, *named] if name not in payloads}


def described(fields: Mapping[str, object]) -> list[str]:
    """Return the names of fields, for a person."""
    return [name for name in fields if not name.endswith("[]")]
