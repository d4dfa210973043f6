"""Unknown keys of a mapping: the key that was probably meant, and where it belongs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.scenario_files.schema.choose_shape import keys_below, tags_below
from pytest_hookharness.scenario_files.schema.shapes import Key
from pytest_hookharness.scenario_files.yaml.elements import nearest

# Words that other formats use for a key of ours; no comparison of letters finds these.
_SYNONYMS: Mapping[str, str] = {
    "description": "why",
    "title": "name",
    "environment": "env",
    "steps": "agent",
    "assert": "expect",
}
# A key of another level must be more similar than one of the same level.
_CLOSE = 0.75


@dataclass(frozen=True, slots=True)
class Suggestion:
    """
    What to say about an unknown key.

    Attributes:
        where: Where the key belongs, to follow the message; empty if it is nowhere a key.
        meant: The key that was probably meant; ``None`` if it is to be looked for among the allowed ones.
        near: Whether to look for it there.
    """

    where: str = ""
    meant: str | None = None
    near: bool = True


def suggest_key(word: str, known: Sequence[str], keys: Sequence[Key]) -> Suggestion:
    """
    Return what to say about an unknown key in the place of which some names are allowed.

    The keys of that mapping tell what is allowed below each; an item of a list has none.
    """
    meant = _SYNONYMS.get(word.casefold(), "")
    if meant in known:
        return Suggestion(meant=meant)
    # Singular and plural are confused more often than levels.
    number = next((name for name in known if word in (f"{name}s", name.removesuffix("s"))), None)
    if number is not None:
        return Suggestion(meant=number)
    below = {name: [key.name for key in keys if name in keys_below(key.shape)] for name in _names(keys)}
    acts = {name: key.name for key in keys for name in tags_below(key.shape)}
    if len(below.get(word, ())) == 1:
        return Suggestion(f" here; it belongs under {below[word][0]}", f"{below[word][0]}.{word}")
    if word in acts:
        return Suggestion(f" here; it belongs in the list under {acts[word]}", near=False)
    if word in below:
        return Suggestion()
    others = [name for name in (*below, *acts) if nearest(word, (name,), _CLOSE)]
    name = nearest(word, (*others, *known))
    if name is None or name in known:
        return Suggestion()
    if len(below.get(name, ())) == 1:
        return Suggestion(meant=f"{below[name][0]}.{name}")
    return Suggestion(meant=f"{name} in the list under {acts[name]}") if name in acts else Suggestion()


def _names(keys: Sequence[Key]) -> list[str]:
    return [name for key in keys for name in sorted(keys_below(key.shape))]
