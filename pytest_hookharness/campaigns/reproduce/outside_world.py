"""
Recorded commands that a replay does not carry out, because they reach out of the project.

They use the network, install packages, or name files elsewhere. Words decide, so the result is a guess on the
careful side: what is left out has its recorded result.
"""

from __future__ import annotations

import re

_COMMAND = r"(?:^|[;&|(\n]|\b(?:do|then|else|sudo|env|time)\s)\s*(?:\w+=\S*\s+)*"
_NETWORK = re.compile(
    _COMMAND + r"(?:curl|wget|ssh|scp|sftp|rsync|nc|telnet|ftp|gh|aws|gcloud|az|kubectl|"
    r"git\s+(?:push|pull|fetch|clone|ls-remote|submodule\s+update)|docker\s+(?:pull|push|login))\b"
)
_INSTALL = re.compile(
    _COMMAND + r"(?:python[\d.]*\s+-m\s+)?(?:pip[\d.]*\s+(?:install|download)|pipx\s+\w|uvx\s|"
    r"uv\s+(?:pip|add|sync|tool)|poetry\s+(?:install|add|update)|npm\s+(?:i|ci|install|add|update)|npx\s|"
    r"(?:yarn|pnpm|bun)\s+(?:add|install|dlx|x)|(?:apt|apt-get|dnf|yum|apk|brew|pacman|conda)\s+\S|"
    r"cargo\s+(?:install|add|fetch|update)|go\s+(?:get|install|mod\s+download)|gem\s+install|"
    r"bundle\s+(?:install|update)|composer\s+(?:install|require))"
)
# The first folder of a path outside, as systems have it. A pattern such as `/x/` in a command has none.
_PATH = re.compile(
    r"(?<![\w./~-])(?P<path>(?:~|\$HOME|\$\{HOME\}|/(?:etc|home|root|tmp|var|opt|usr|mnt|srv|media|Users|"
    r"private|Volumes|Library|boot|run|data|workspace|app))(?:/[\w.@+~-]*)*|(?:\.\./)+[\w.-]*)"
)
_HARMLESS = re.compile(r"\A/(?:usr/(?:local/)?)?s?bin/")


def find_reach(command: str) -> str:
    """Return why a shell command is not carried out; empty if it stays within the project."""
    if _NETWORK.search(command):
        return "network"
    if _INSTALL.search(command):
        return "installs packages"
    paths = (found["path"] for found in _PATH.finditer(command))
    path = next((path for path in paths if not _HARMLESS.match(path)), "")
    return f"names {path}, outside of the project" if path else ""


def is_outside(path: str) -> bool:
    """Return whether a path, relative where it lies in the project, leads out of the project."""
    return path.startswith(("/", "~")) or ".." in path.split("/")
