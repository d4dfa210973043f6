"""
Dataclasses that take little time to create.

The package has about 420 dataclasses. The standard decorator takes about 0.75 ms for each, as it compiles
every method: half of the time that a command needs to start. Here all classes share the same methods,
and the constructor of a class is compiled when it is first called.

Type checkers see the standard decorator, and instances behave the same in `replace`, `fields`, `match`,
`pickle` and `copy`. `InitVar` and `field(hash=...)` are not supported; a frozen class of the standard
decorator cannot inherit from one of these; mistakes in the order of fields show at the first instance.
`replace` is the standard one, several times as fast.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from reprlib import recursive_repr
from types import MemberDescriptorType as _Slot
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass  # noqa: PLC0414 - exports the name
    from dataclasses import replace as replace  # noqa: PLC0414 - exports the name
else:

    def replace(value: Any, /, **changes: Any) -> Any:
        """Return a copy of an instance with some of its fields changed."""
        cls = value.__class__
        copier = _COPIERS.get(cls)
        if copier is None:
            copier = _COPIERS[cls] = _compile_copier(cls)
        return copier(value, changes)

    def dataclass(
        cls: Any = None,
        /,
        *,
        frozen: bool = False,
        slots: bool = False,
        kw_only: bool = False,
        eq: bool = True,
        repr: bool = True,  # noqa: A002 - the name that it has in the standard library
        **rest: bool,
    ) -> Any:
        """Turn a class into a dataclass; the arguments are those of `dataclasses.dataclass`."""
        if rest:
            return dataclasses.dataclass(
                cls, frozen=frozen, slots=slots, kw_only=kw_only, eq=eq, repr=repr, **rest
            )

        def make(cls: Any) -> Any:
            # The standard decorator compiles nothing if it generates no method and no docstring.
            cls.__doc__ = cls.__doc__ or cls.__name__
            made = dataclasses.dataclass(cls, init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)
            _add_methods(made, frozen=frozen, slots=slots, eq=eq, shown=repr)
            return made

        return make if cls is None else make(cls)


_UNSET = object()


def _add_methods(cls: Any, *, frozen: bool, slots: bool, eq: bool, shown: bool) -> None:
    own = vars(cls)
    if "__init__" not in own:
        cls.__init__ = _late_init(cls)
    if shown and "__repr__" not in own:
        cls.__repr__ = _repr
    if eq:
        compared = [field.name for field in dataclasses.fields(cls) if field.compare]
        cls.__values__ = staticmethod(_getter(compared))
        if "__eq__" not in own:
            cls.__eq__ = _eq
        # Python sets `__hash__` to None in a class that has `__eq__` and nothing else.
        if own.get("__hash__") is None:
            cls.__hash__ = _hash if frozen else None
    if frozen:
        _freeze(cls, pickles=slots and "__getstate__" not in own)


def _freeze(cls: Any, *, pickles: bool) -> None:
    # The class itself is not declared frozen: the standard decorator would compile these two.
    cls.__setattr__ = _refuse_set
    cls.__delattr__ = _refuse_delete
    if pickles:
        cls.__getstate__ = _get_state
        cls.__setstate__ = _set_state


def _getter(names: list[str]) -> Callable[[Any], Any]:
    if not names:
        return lambda _: ()
    return attrgetter(*names)


def _late_init(cls: Any) -> Callable[..., None]:
    """Return a constructor that compiles the real one when it is first called, and takes its place."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        cls.__init__ = _compile_init(cls)
        cls.__init__(self, *args, **kwargs)

    return __init__


def _compile_init(cls: Any) -> Callable[..., None]:
    names: dict[str, Any] = {"_set": object.__setattr__, "_UNSET": _UNSET}
    parameters: list[str] = []
    keywords: list[str] = []
    body: list[str] = []
    for field in dataclasses.fields(cls):
        name, value = field.name, field.name
        default = field.default is not dataclasses.MISSING
        factory = field.default_factory is not dataclasses.MISSING
        names[f"_default_{name}"] = field.default_factory if factory else field.default
        if field.init:
            usual = "=_UNSET" if factory else f"=_default_{name}" if default else ""
            (keywords if field.kw_only else parameters).append(f"{name}{usual}")
            value = f"_default_{name}() if {name} is _UNSET else {name}" if factory else name
        elif factory or default:
            value = f"_default_{name}()" if factory else f"_default_{name}"
        else:
            continue
        slot = getattr(cls, name, None)
        if isinstance(slot, _Slot):
            names[f"_set_{name}"] = slot.__set__
            body.append(f"    _set_{name}(self, {value})")
        else:
            body.append(f"    _set(self, {name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        body.append("    self.__post_init__()")
    star = ["*"] if keywords else []
    head = f"def __init__({', '.join(['self', *parameters, *star, *keywords])}):"
    exec("\n".join([head, *(body or ["    pass"])]), names)  # noqa: S102 - as the standard library does
    made: Callable[..., None] = names["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


_COPIERS: dict[type, Callable[[Any, dict[str, Any]], Any]] = {}


def _compile_copier(cls: Any) -> Callable[[Any, dict[str, Any]], Any]:
    """Return a function that makes a changed copy of an instance."""
    fields = dataclasses.fields(cls)
    slots = all(field.init and isinstance(getattr(cls, field.name, None), _Slot) for field in fields)
    if not slots or hasattr(cls, "__post_init__"):
        return lambda value, changes: dataclasses.replace(value, **changes)
    # The slots are copied one by one, which takes less time than the call of a constructor with all of them.
    names: dict[str, Any] = {"_new": object.__new__, "_cls": cls, "_set": object.__setattr__}
    names |= {f"_set_{field.name}": getattr(cls, field.name).__set__ for field in fields}
    lines = [f"    _set_{field.name}(made, value.{field.name})" for field in fields]
    head = ["def copier(value, changes):", "    made = _new(_cls)"]
    tail = ["    for name in changes:", "        _set(made, name, changes[name])", "    return made"]
    exec("\n".join([*head, *lines, *tail]), names)  # noqa: S102 - as the standard library does
    made: Callable[[Any, dict[str, Any]], Any] = names["copier"]
    return made


@recursive_repr()
def _repr(self: Any) -> str:
    shown = (field.name for field in dataclasses.fields(self) if field.repr)
    return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"


def _eq(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return self.__values__(self) == self.__values__(other)


def _hash(self: Any) -> int:
    return hash(self.__values__(self))


def _refuse_set(self: Any, name: str, value: object) -> None:
    # As with the standard decorator, a plain subclass may have further attributes.
    if "__dataclass_fields__" not in vars(type(self)) and name not in type(self).__dataclass_fields__:
        object.__setattr__(self, name, value)
        return
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_delete(self: Any, name: str) -> None:
    if "__dataclass_fields__" not in vars(type(self)) and name not in type(self).__dataclass_fields__:
        object.__delattr__(self, name)
        return
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _get_state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)
