"""
The ``sitecustomize`` of a prepared interpreter: hook runs are forked from it in the middle of their start.

The hook's own command starts it, and it waits here, before Python opens the script. A forked run goes on from
here as any start does: the interpreter itself finds, compiles and runs the script, and ends as always. An
unusable interpreter ends here silently, without running the script.

Any Python from 3.6 on may run this.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket
    from typing import Any

# Modules whose import prints and starts nothing, and takes nothing from its moment or its process.
_STEADY = frozenset(
    """
    __future__ abc argparse ast base64 bisect calendar collections collections.abc configparser contextlib
    copy csv dataclasses datetime decimal difflib enum errno fcntl filecmp fnmatch fractions functools
    getpass glob gzip hashlib heapq hmac html html.parser importlib importlib.util inspect io itertools json
    keyword locale math numbers operator os os.path pathlib platform posixpath pprint pwd queue random re
    secrets select shlex shutil signal socket sqlite3 stat statistics string struct subprocess sys tempfile
    textwrap threading time tokenize tomllib traceback types typing unicodedata urllib urllib.parse
    urllib.request uuid warnings weakref xml.etree.ElementTree zlib
    """.split()  # noqa: SIM905  # a list of them would fill a page
)
_ONLY_SYNTAX_TREE = 0x400


def _imports(source: bytes, script: str) -> "list[str]":
    """List the steady modules that a script imports before it does anything else."""
    found: list[str] = []
    tree: Any = compile(source, script, "exec", _ONLY_SYNTAX_TREE, True)
    for node in tree.body:
        kind = type(node).__name__
        if kind == "Import":
            names = [alias.name for alias in node.names]
        elif kind == "ImportFrom" and not node.level:
            names = [node.module]
        elif kind == "Expr" and type(node.value).__name__ in ("Constant", "Str"):
            names = []
        else:
            break
        for name in names:
            if name not in _STEADY:
                return found
            found.append(name)
    return found


class _Prepared:
    """The interpreter while it waits: the socket to the item supervisor, and what its runs rely on."""

    def __init__(self, control: "_socket.socket", room: int, archive: int, reaper: int) -> None:
        self.control, self._room, self._archive = control, room, archive
        self._script, self._cwd = sys.argv[0], os.getcwd()
        real = os.path.realpath(self._script)
        self._places = {os.path.dirname(os.path.abspath(self._script)), os.path.dirname(real)}
        self._source = self._read()
        # Nothing that the session can change may hide the standard library.
        before = sys.path[: sys.path.index(os.path.dirname(os.__file__))]
        fit = all(place.startswith(os.path.join(sys.base_prefix, "")) for place in before)
        # A fork has one thread only.
        fit = fit and len(os.listdir("/proc/self/task")) == 1
        # Most shells become the last program of their command. This one waits for it.
        self._below_shell = os.getppid() != reaper
        if self._below_shell:
            fit = fit and os.path.basename(os.readlink(f"/proc/{os.getppid()}/exe")) == "dash"
        if not fit or sys.implementation.name != "cpython":
            os._exit(0)
        self._site = self._look_at_site()
        loaded = set(sys.modules)
        for name in _imports(self._source, self._script):
            exec(f"import {name}", {})  # noqa: S102  # a name of the list above
        self._taken = {name.partition(".")[0] for name in set(sys.modules) - loaded}
        if not self.holds():
            os._exit(0)

    def _read(self) -> bytes:
        with open(self._script, "rb") as file:
            return file.read()

    def holds(self) -> bool:
        """Return whether a start would import the same: by the same script, with no such module beside it."""
        beside = {name.partition(".")[0] for place in self._places for name in os.listdir(place)}
        unchanged = self._read() == self._source and self._look_at_site() == self._site
        return unchanged and not beside & self._taken

    @staticmethod
    def _look_at_site() -> "list[list[str]]":
        """Return which folders for packages exist, and what adds others: looked for before this waits."""
        site = sys.modules["site"]
        folders = [site.getusersitepackages(), *site.getsitepackages()]
        present = (os.listdir(folder) for folder in folders if os.path.isdir(folder))
        return [sorted(name for name in names if name.endswith(".pth")) for names in present]

    def serve(self) -> None:
        """Fork a hook run for each request; return in the hook run only."""
        while True:
            # No folder of the item may be kept in use by this process.
            os.chdir("/")
            kind, sent, _, _ = self.control.recvmsg(1, self._room)
            os.chdir(self._cwd)
            if not kind or not self.holds():
                os._exit(0)
            numbers = b"".join(data for _, _, data in sent)
            streams = [int.from_bytes(numbers[at : at + 4], sys.byteorder) for at in range(0, 12, 4)]
            try:
                between = os.fork()
                if not between:
                    between = os.getpid()
                    if os.fork():
                        os._exit(0)
                    self._become_hook(between, streams, own_session=kind == b"s")
                    return
            except BaseException:  # noqa: BLE001  # the hook is started as usual then
                self.control.send(b"0")
                os._exit(0)
            for stream in streams:
                os.close(stream)
            os.waitpid(between, 0)

    def _become_hook(self, between: int, streams: "list[int]", *, own_session: bool) -> None:
        """Become a child of the item supervisor, as each hook is: it gets all orphans."""
        while os.getppid() == between:
            os.sched_yield()
        if own_session:
            os.setsid()
        else:
            os.setpgid(0, 0)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.close(self._archive)
        script = os.fork() if self._below_shell else 0
        if script or not self._below_shell:
            # From here on the hook runs, whatever happens.
            self.control.send(b"%d" % os.getpid())
        self.control.close()
        if script:
            _end_as_shell(script)
        thread = sys.modules["threading"].main_thread() if "threading" in sys.modules else None
        getattr(thread, "_set_native_id", int)()
        # What the script leaves in the frozen one would never be collected.
        main = sys.modules["__main__"]
        sys.modules["__main__"] = type(sys)("__main__")
        sys.modules["__main__"].__dict__.update(vars(main))


def _end_as_shell(script: int) -> None:
    """Wait for the script in the place of dash, and end as that does; never returns."""
    _signal = __import__("_signal")
    for number in (_signal.SIGINT, _signal.SIGPIPE, _signal.SIGXFSZ):
        _signal.signal(number, _signal.SIG_DFL)
    status = os.waitpid(script, 0)[1]
    if not os.WIFSIGNALED(status):
        os._exit(os.WEXITSTATUS(status))
    number = os.WTERMSIG(status)
    if number not in (_signal.SIGINT, _signal.SIGPIPE):
        dumped = " (core dumped)" if os.WCOREDUMP(status) else ""
        os.write(2, f"{_signal.strsignal(number)}{dumped}\n".encode())
    os._exit(128 + number)


def _pause() -> None:
    """Wait for requests; return in a hook run only."""
    control, archive, reaper = map(int, os.environ.pop("HOOKHARNESS_PREPARED").split())
    place = os.environ.pop("PYTHONPATH")
    sys.path.remove(place)
    sys.path_importer_cache.pop(place, None)
    before = set(sys.modules)
    import _socket
    import gc

    # Only this file needs them; a script that does imports its own.
    for name in set(sys.modules) - before:
        del sys.modules[name]
    connection = _socket.socket(fileno=control)
    prepared = _Prepared(connection, _socket.CMSG_SPACE(12), archive, reaper)
    # What was loaded is shared longer if no run marks it.
    gc.freeze()
    connection.send(b"!")
    prepared.serve()


if "HOOKHARNESS_PREPARED" in os.environ:
    try:
        _pause()
    except BaseException:  # noqa: BLE001  # nothing may be printed, and the script may not run
        os._exit(0)
    del sys.modules["sitecustomize"]
    # That of the site itself; without one, the error that Python expects then.
    import sitecustomize  # type: ignore[import-not-found]  # noqa: F401  # pyright: ignore[reportMissingImports]
