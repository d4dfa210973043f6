"""
This module is concerned with the environment: the variables that a host of a simulation has itself.

Middle floor: execution. Pure. Of the developer's environment only the search path is taken over, so
that no token, no setting and no half of a repository leaks into a hook.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

_FIXED: Mapping[str, str] = {
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TERM": "dumb",
    "TZ": "UTC",
    "SHELL": "/bin/sh",
    "USER": "agent",
    "LOGNAME": "agent",
}


def host_environment(
    *, path: str, root: str, home: str, tmp: str, doubles: str, given: Mapping[str, str]
) -> dict[str, str]:
    """
    The host's environment.

    Args:
        path: The search path, of which the developer's is the usual one.
        root: The workspace, which is the working folder.
        home: The home folder.
        tmp: The folder for temporary files.
        doubles: The folder of the doubles; it stays first on the search path.
        given: What the scenario sets.
    """
    return {
        **_FIXED,
        "HOME": home,
        "TMPDIR": tmp,
        "PWD": root,
        **given,
        "PATH": f"{doubles}{os.pathsep}{path}" if path else doubles,
    }


def search_path(path: str) -> tuple[str, ...]:
    """
    The absolute folders of a search path, each once; a relative one would mean the workspace.
    """
    return tuple(dict.fromkeys(folder for folder in path.split(os.pathsep) if folder.startswith("/")))
