"""Claims about the package's own dataclass decorator: it makes what the standard one makes, and sooner."""

import copy
import dataclasses
import pickle
from dataclasses import field

import pytest

from pytest_hookharness.model import fast_dataclass

OPTIONS = [
    {},
    {"slots": True},
    {"frozen": True},
    {"frozen": True, "slots": True},
    {"frozen": True, "slots": True, "kw_only": True},
    {"eq": False},
    {"repr": False},
    {"frozen": True, "order": True},
]


def classes(decorator, options):
    """A class and one that inherits from it."""

    class Base:
        """A class."""

        name: str
        number: int = 0
        items: list = field(default_factory=list, repr=False)
        note: str = field(default="", compare=False)
        fixed: int = field(default=7, init=False)

        def __post_init__(self):
            object.__setattr__(self, "note", self.note or self.name)

    base = decorator(**options)(Base)

    class Derived(base):
        """A class that inherits."""

        more: tuple = ()

    return base, decorator(**options)(Derived)


# Pickle finds a class by its name in a module.
Frozen = fast_dataclass.dataclass(frozen=True, slots=True)(
    type("Frozen", (), {"__annotations__": {"a": int, "b": tuple}, "b": (), "__module__": __name__})
)


def outcome(call):
    """What a call gives, or the kind and text of its error."""
    try:
        return call()
    except (TypeError, AttributeError) as error:
        return type(error).__name__, str(error)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_instances_behave_as_those_of_the_standard_decorator(options):
    """Construction, comparison, hash, text, replacement and assignment give the same with both decorators."""

    def seen(decorator):
        base, derived = classes(decorator, options)
        one, same, other = base(name="a"), base(name="a", note="x"), base(name="b", number=2)
        last = derived(name="a", more=(1,))
        return [
            outcome(lambda: base("a", 1).number),
            outcome(lambda: base(name="a", wrong=1)),
            outcome(base),
            [getattr(one, each.name) for each in dataclasses.fields(one)],
            (one == same, one == other, one == last, one != other),
            outcome(lambda: hash(one) == hash(same)),
            repr(last) if options.get("repr", True) else "",
            [each.name for each in dataclasses.fields(last)],
            base.__match_args__,
            dataclasses.asdict(dataclasses.replace(other, number=5)),
            dataclasses.asdict(copy.deepcopy(last)),
            outcome(lambda: setattr(one, "name", "z")),
            outcome(lambda: delattr(one, "name")),
            one.items is not base(name="a").items,
            hasattr(one, "__dict__"),
        ]

    assert seen(fast_dataclass.dataclass) == seen(dataclasses.dataclass)


def test_a_frozen_value_can_be_pickled():
    """A frozen value with slots survives pickle and copy, and has the hash that it had."""
    value = Frozen(1, (2, 3))

    again = pickle.loads(pickle.dumps(value))  # noqa: S301 - written here

    assert again == copy.copy(value) == value
    assert len({value, Frozen(1, (2, 3))}) == 1


def test_own_methods_stay():
    """Methods that a class defines itself are not replaced."""

    @fast_dataclass.dataclass(frozen=True)
    class Own:
        """A class with methods of its own."""

        a: int

        def __eq__(self, other):
            return True

        def __hash__(self):
            return 3

        def __repr__(self):
            return "own"

    assert (Own(1) == Own(2), hash(Own(1)), repr(Own(1))) == (True, 3, "own")


def test_no_method_is_compiled_before_it_is_needed(monkeypatch):
    """Creating a class compiles nothing, and its first instance one constructor."""
    compiled = []
    monkeypatch.setattr(
        fast_dataclass, "_compile_init", lambda cls: compiled.append(cls) or (lambda *_: None)
    )

    @fast_dataclass.dataclass(frozen=True, slots=True)
    class Value:
        """A class."""

        a: int

    assert compiled == []
    Value(1)
    Value(2)
    assert compiled == [Value]


def test_a_plain_subclass_of_a_frozen_class_has_attributes_of_its_own():
    """A subclass that is no dataclass may set and delete its own attributes, and none of the fields."""

    class Noted(Frozen):
        def __init__(self):
            super().__init__(1)
            self.note = "mine"

    noted = Noted()
    assert noted.note == "mine"
    del noted.note
    with pytest.raises(dataclasses.FrozenInstanceError):
        noted.a = 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        del noted.a


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_replace_does_what_the_standard_one_does(options):
    """A changed copy is that of the standard library, and the value itself stays."""
    for cls in classes(fast_dataclass.dataclass, options):
        value = cls(name="one", items=[1])
        ours, theirs = (
            replace(value, name="two", number=3) for replace in (fast_dataclass.replace, dataclasses.replace)
        )
        assert dataclasses.asdict(ours) == dataclasses.asdict(theirs)
        assert value.name == "one"


def test_replace_of_slots():
    """A value that is copied slot by slot keeps what is not changed, and has no other fields."""
    value = Frozen(1, (2, 3))

    assert fast_dataclass.replace(value, b=()) == Frozen(1)
    assert fast_dataclass.replace(value).b is value.b
    with pytest.raises(AttributeError, match="wrong"):
        fast_dataclass.replace(value, wrong=1)
