"""Which files differ from the last commit; asks git, and never changes its index."""

import os
import subprocess


def _ask(project, *words):
    # Inherited GIT_* variables would point at another repository; optional locks would write the index.
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "--no-optional-locks", *words, "-z"]
    answer = subprocess.run(command, cwd=project, env=env, capture_output=True, stdin=subprocess.DEVNULL)
    return [] if answer.returncode else [os.fsdecode(name) for name in answer.stdout.split(b"\0") if name]


def changed_files(project):
    """Tracked, staged and untracked files, relative to the project; rules and their state are left out."""
    born = _ask(project, "diff", "--name-only", "--relative", "--no-renames", "HEAD")
    # Before the first commit there is no HEAD: all that is staged is new.
    tracked = born or ([] if _ask(project, "log", "-1") else _ask(project, "ls-files", "--cached"))
    untracked = _ask(project, "ls-files", "--others", "--exclude-standard")
    return sorted({name for name in tracked + untracked if not name.startswith(".rules/")})
