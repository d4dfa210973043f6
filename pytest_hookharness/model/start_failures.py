"""Start failures: why a hook did not run although its process did."""

from __future__ import annotations

import re
from typing import Literal

from pytest_hookharness.model.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class StartFailure:
    """
    Why a program of a hook did not run although the hook's process did.

    Attributes:
        kind: ``missing`` or ``unreadable``: the program itself; ``syntax``: its text; ``module``: another
            program that it loads; ``tool`` or ``called``: a command or a program that it calls. After the
            last two the hook did run.
        name: The program, the module or the tool.
        program: The program that names it; empty if the command line does.
        lost_in: The agent's folder, below the workspace, if a missing program is not there but exists in the
            workspace; empty for any other failure.
    """

    kind: Literal["missing", "unreadable", "syntax", "module", "tool", "called"]
    name: str
    program: str = ""
    lost_in: str = ""

    @property
    def prevents(self) -> bool:
        """Whether the hook itself did not run."""
        return self.kind not in ("tool", "called")

    def __str__(self) -> str:
        match self.kind:
            case "missing" if self.lost_in:
                where = f"in {self.lost_in}, where the agent is (it exists in the workspace)"
                return f"{self.name} does not exist {where}"
            case "missing":
                return f"{self.name} does not exist"
            case "unreadable":
                return f"{self.name} cannot be read"
            case "syntax":
                return f"{self.name} does not compile"
            case "module":
                return f"the module {self.name}{f' of {self.program}' if self.program else ''} was not found"
            case "tool":
                return f"the command {self.name} was not found"
            case "called":
                return f"{self.name}, which it calls, does not exist"


# Variables that decide which programs are found, and in which language they report errors.
FINDS_PROGRAMS = re.compile(r"PATH|PYTHON|NODE|BASH|PERL|RUBY|^LD_|^ENV$|^HOME$|^LANG|^LC_")
# Messages of programs that ran without network. `ModuleNotFoundError` has the letters of a code, too.
NO_NETWORK = re.compile(
    r"could not resolve (?:host|proxy)|name resolution|network (?:was|is) (?:disabled|unreachable)"
    r"|\b(?:ENOTFOUND|EAI_AGAIN|ENETUNREACH|ENOTCACHED)\b|\bgetaddrinfo\b|\bdns error"
    r"|name or service not known|no address associated",
    re.IGNORECASE,
)
