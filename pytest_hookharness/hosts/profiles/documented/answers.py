"""
Hosts that nobody has measured for us: what their documents say, and what not.

What a document leaves open is a fact that says so, never a silent default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_hookharness.model.protocol import Basis, EventFields, Field, Rule

CHOSEN = "not documented; chosen for the simulation"

# What the engine may name for a reply, where a host's documents are silent.
_REPLIES = {
    "silent": "exit code 0 without output is no opinion",
    "plain": "plain text on standard output does not reach the agent",
    "shown": "plain output of this event goes to the model",
    "answer": "an answer in JSON is read by the keys that are documented",
    "crashed": "a hook that fails is ignored: it fails open",
    "signalled": "a hook that a signal ended is ignored: it fails open",
    "timed out": "a hook that is cut at its limit has no say, whatever it had printed",
    "not run": "a command that cannot be run is ignored: it fails open",
    "unparsable": "output that begins with a brace and is not JSON is ignored: it fails open",
    "invalid": "an answer with a value that the host does not know is ignored",
    "no power": "a refusal of this event is ignored",
    "unanswered": "a handler without an answer has no opinion",
    "precedence": "a refusal goes before ask, and ask before allow",
    "several": "of several refusals each is told, in the order of configuration",
    "no hooks": "an event without hooks changes nothing",
}
_SETTINGS = {
    "malformed": "a malformed entry is left out, and the rest of its file is used",
    "unreadable": "a settings file that cannot be parsed is not used at all",
    "unknown event": "an unknown event name is skipped, the rest of the file is used",
    "unpassable": "a command that no process can be given is left out; the rest of its file is used",
    "unreachable": "hooks of events that are never come to change nothing for the others",
    "merge": "the hooks of all settings files add up",
    "reload": "changed settings hold from the next event on",
}
_PROCESS = {
    "shell": "hooks run by a shell with -c",
    "stdio": "standard input, output and error are pipes",
    "newline": "no newline follows the JSON on standard input",
    "kill": "SIGTERM to the group of the hook, SIGKILL half a second later",
    "pipe wait": "output held open by a child is waited for half a second, and is kept",
    "output": "what a hook prints is read whole, however long it is",
    "order": "all hooks of an event start at once",
    "env": "no variables but those that are documented",
}


@dataclass(frozen=True, slots=True)
class Documentation:
    """
    What a host is known from.

    Attributes:
        source: The documents, with the host's version or their date.
    """

    source: str

    def says(self, text: str, source: str = "") -> Rule:
        """
        A documented fact; another source than the usual one can be named.
        """
        return Rule(text, Basis.DOCUMENTED, source or self.source)

    def open(self, text: str) -> Rule:
        """
        A fact that no document settles.
        """
        return Rule(text, Basis.ASSUMED, CHOSEN)

    def replies(self, own: Mapping[str, Rule]) -> Mapping[str, Rule]:
        """
        The facts about replies: the host's own, and what is assumed for the rest.
        """
        return self._filled(_REPLIES, own)

    def settings(self, own: Mapping[str, Rule]) -> Mapping[str, Rule]:
        """
        The facts about settings, likewise.
        """
        return self._filled(_SETTINGS, own)

    def process(self, own: Mapping[str, Rule]) -> Mapping[str, Rule]:
        """
        The facts about processes, likewise.
        """
        return self._filled(_PROCESS, own)

    def _filled(self, assumed: Mapping[str, str], own: Mapping[str, Rule]) -> Mapping[str, Rule]:
        return {**{name: self.open(text) for name, text in assumed.items()}, **own}

    def fields(self, event: str, *fields: Field) -> EventFields:
        """
        The keys of an event; documents name them and leave their order open.
        """
        rule = self.says(f"{event} hooks get these keys; their order is assumed")
        return EventFields(event=event, fields=fields, rule=rule)
