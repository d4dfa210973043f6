"""
The ``sitecustomize`` that moves the clock of a Python ahead.

The classes of datetime stay the classes that C extensions know. A replaced function of ``time`` is no method
of a class that has it, is pickled by its name and looks like the builtin function. This runs under Python 3.6
and newer, whichever a hook uses.
"""

# Loads the ``sitecustomize`` of the site itself, which ours hides; ``own`` is the folder of ours.
SITECUSTOMIZE_CHAIN = """\
def _make_way(own):
    import sys
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    sys.path[:] = [place for place in sys.path if place != own]
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = sys.modules["sitecustomize"] = module_from_spec(spec)
    spec.loader.exec_module(module)
"""

# Python binds functions to the instance whose class has them (`converter = time.localtime` in logging) and
# pickles them by the module that they were defined in. Builtin functions do neither.
_LOOKALIKES = """
class builtin_function_or_method(object):
    __slots__ = ("_replaced", "_function", "_first", "__weakref__")
    __class__ = property(lambda self: type(self._replaced))
    __doc__ = property(lambda self: self._replaced.__doc__)
    __module__ = property(lambda self: self._replaced.__module__)

    def __init__(self, replaced, function, *first):
        self._replaced, self._function, self._first = replaced, function, first

    def __call__(self, *args, **named):
        return self._function(*(self._first + args), **named)

    def __getattr__(self, name):
        return getattr(self._replaced, name)

    def __dir__(self):
        return dir(self._replaced)

    def __repr__(self):
        return repr(self._replaced)

    def __eq__(self, other):
        return type(other) is type(self) and self._replaced == other._replaced

    def __hash__(self):
        return hash(self._replaced)

    def __reduce__(self):
        return self._replaced.__reduce__()

    @property
    def __signature__(self):
        import inspect

        return inspect.signature(self._replaced)


class classmethod_descriptor(builtin_function_or_method):
    __slots__ = ()

    def __get__(self, value, owner=None):
        bound = self._replaced.__get__(value, owner)
        return builtin_function_or_method(bound, self._function, type(value) if owner is None else owner)
"""

_MOVE = """
def _moved_functions(seconds):
    import time

    nanoseconds = round(seconds * 10**9)
    real = {name: getattr(time, name) for name in dir(time)}
    # CLOCK_REALTIME, CLOCK_REALTIME_COARSE, CLOCK_REALTIME_ALARM and CLOCK_TAI.
    clocks = (0, 5, 8, 11)

    def now():
        return real["time"]() + seconds

    def now_ns():
        return real["time_ns"]() + nanoseconds

    def clock_gettime(clock):
        return real["clock_gettime"](clock) + (seconds if clock in clocks else 0)

    def clock_gettime_ns(clock):
        return real["clock_gettime_ns"](clock) + (nanoseconds if clock in clocks else 0)

    def or_now(when):
        return (now(),) if not when or (len(when) == 1 and when[0] is None) else when

    def localtime(*when):
        return real["localtime"](*or_now(when))

    def gmtime(*when):
        return real["gmtime"](*or_now(when))

    def ctime(*when):
        return real["ctime"](*or_now(when))

    def asctime(*when):
        return real["asctime"](*(when or (localtime(),)))

    def strftime(*args):
        return real["strftime"](*(args + (localtime(),) if len(args) == 1 else args))

    moved = {"time": now, "time_ns": now_ns}
    for function in (clock_gettime, clock_gettime_ns, localtime, gmtime, ctime, asctime, strftime):
        moved[function.__name__] = function
    return [builtin_function_or_method(real[name], moved[name]) for name in moved if name in real]


def _moved_identifiers(seconds):
    try:
        # uuid1 asks a library of the system, behind this function (from Python 3.7 on).
        from _uuid import generate_time_safe as real
    except ImportError:
        return []

    def generate_time_safe():
        made, safe = real()
        fields = int.from_bytes(made, "big")
        low, mid, high = fields >> 96, fields >> 80 & 0xFFFF, fields >> 64 & 0xFFF
        ticks = (high << 48 | mid << 32 | low) + round(seconds * 10**7)
        first = (ticks & 0xFFFFFFFF) << 32 | (ticks >> 32 & 0xFFFF) << 16 | 0x1000 | ticks >> 48 & 0xFFF
        return first.to_bytes(8, "big") + made[8:], safe

    return [builtin_function_or_method(real, generate_time_safe)]


def _replace(pairs):
    import sys

    # A `.pth` file may have loaded modules that took a function by its name.
    moved = {id(old): new for old, new in pairs}
    for module in list(sys.modules.values()):
        if type(module) is type(sys):
            names = module.__dict__
            for name, value in list(names.items()):
                if id(value) in moved:
                    names[name] = moved[id(value)]


def _moved_methods():
    import sys
    import time

    try:
        # Not `datetime`: a hook may have a module of this name beside it.
        import _datetime
    except ImportError:
        # Without it, datetime is written in Python and asks `time`.
        return {}
    kind, date, utc = _datetime.datetime, _datetime.date, _datetime.timezone.utc
    now, from_timestamp = time.time, kind.__dict__["fromtimestamp"]

    def from_now(cls, tz=None):
        return from_timestamp.__get__(None, cls)(now(), tz)

    def from_utc(cls):
        if sys.version_info >= (3, 12):
            import warnings

            text = (
                "datetime.datetime.utcnow() is deprecated and scheduled for removal in a future version. "
                "Use timezone-aware objects to represent datetimes in UTC: "
                "datetime.datetime.now(datetime.UTC)."
            )
            warnings.warn(text, DeprecationWarning, stacklevel=3)
        at = kind.fromtimestamp(now(), utc).replace(tzinfo=None)
        if cls is kind:
            return at
        return cls(at.year, at.month, at.day, at.hour, at.minute, at.second, at.microsecond, None)

    def today(cls):
        return cls.fromtimestamp(time.time())

    methods = {kind: {"now": from_now, "utcnow": from_utc}, date: {"today": today}}
    return {
        owner: {name: classmethod_descriptor(owner.__dict__[name], moved[name]) for name in moved}
        for owner, moved in methods.items()
    }


def _set_methods(methods):
    import gc
    import sys

    for owner, moved in methods.items():
        # The classes of C take no attributes. The collector knows the dictionary behind the proxy.
        gc.get_referents(owner.__dict__)[0].update(moved)
    # What was looked up before would be found again, until the interpreter forgets it.
    newer = getattr(sys, "_clear_internal_caches", None)
    (newer or sys._clear_type_cache)()


class _GiveBack(object):
    # time_machine writes into the memory of builtin functions, so it gets them back.
    def __init__(self, functions, methods):
        self._functions, self._methods = functions, methods

    def find_spec(self, name, path=None, target=None):
        import sys

        if name == "_time_machine":
            sys.meta_path.remove(self)
            _replace([(it, it._replaced) for it in self._functions])
            for owner, moved in self._methods.items():
                _set_methods({owner: {method: moved[method]._replaced for method in moved}})
"""

PYTHON_CLOCK = (
    '"""Moves the clock of this Python ahead, then loads the site\'s own file of this name."""\n\n'
    + _LOOKALIKES
    + "\n"
    + _MOVE
    + "\n\n"
    + SITECUSTOMIZE_CHAIN
    + r"""

def _begin():
    import os
    import sys

    own = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(os.path.dirname(own), "seconds"), encoding="ascii") as file:
        seconds = float(file.read())
    functions = _moved_functions(seconds) + _moved_identifiers(seconds)
    _replace([(it._replaced, it) for it in functions])
    methods = _moved_methods()
    _set_methods(methods)
    sys.meta_path.insert(0, _GiveBack(functions, methods))
    _make_way(own)


_begin()
"""
)
