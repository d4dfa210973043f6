"""Rules as files: .rules/*.md, with name, trigger, and prompt or command in the front matter."""

import collections
import fnmatch
import re


# No dataclass: its module takes longer to load than the rest of this hook, at each stop.
class Rule(collections.namedtuple("Rule", ("name", "triggers", "prompt", "command", "limit"))):
    """One rule: what triggers it, and the prompt to show or the command to run under a limit in seconds."""

    @property
    def action(self):
        return "command" if self.command else "prompt"

    def matching(self, files):
        """The files that trigger it; a star crosses folders."""
        return [file for file in files if any(fnmatch.fnmatchcase(file, glob) for glob in self.triggers)]

    def told(self, files, failure=""):
        """What the agent is told."""
        return f"{self.name} ({', '.join(self.matching(files)[:5])})\n{failure or self.prompt}"


def load(folder):
    """All rules by file name, and a sentence about each file that is no rule."""
    rules, notes = [], []
    for file in sorted(folder.glob("*.md")):
        try:
            rules.append(_parse(file.read_text(encoding="utf-8")))
        except (ValueError, OSError) as error:
            notes.append(f".rules/{file.name}: {error}")
    return rules, notes


def _parse(text):
    match = re.match(r"---\n(.*?)\n---\n", text, re.DOTALL)
    if not match:
        raise ValueError("no front matter between two lines of ---")
    fields = dict(re.findall(r"^(\w+):[ \t]*(.*?)[ \t]*$", match[1], re.MULTILINE))
    fields = {
        name: value.strip("\"'") if value[:1] in ("'", '"') else value for name, value in fields.items()
    }
    name, triggers = fields.pop("name", ""), tuple(fields.pop("trigger", "").split())
    if (
        not name
        or not triggers
        or len({"prompt", "command"} & fields.keys()) != 1
        or fields.keys() - {"prompt", "command", "limit"}
    ):
        raise ValueError("needs name, trigger, and either prompt or command; limit is allowed, nothing else")
    return Rule(
        name, triggers, fields.get("prompt", ""), fields.get("command", ""), float(fields.get("limit", 60))
    )
