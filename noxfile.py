"""Development tasks for people and CI; ``nox --list`` describes them."""

import os
import shutil
import tempfile
from pathlib import Path

import nox

nox.options.default_venv_backend = "venv"
nox.options.sessions = ["lint", "types", "tests"]

PROJECT = nox.project.load_toml("pyproject.toml")
PYTHONS = nox.project.python_versions(PROJECT)
NEXT = "3.14"  # not promised yet
TEST = nox.project.dependency_groups(PROJECT, "test")
CLUSTER = nox.project.dependency_groups(PROJECT, "cluster")
LINT = nox.project.dependency_groups(PROJECT, "lint")
TYPES = nox.project.dependency_groups(PROJECT, "types")

# The published rules hook of DeepWork: the last version before its fix, and the first after it.
REAL = {"HOOKHARNESS_REAL_BEFORE": "0.3.1", "HOOKHARNESS_REAL_AFTER": "0.4.0"}

# Prints the name of each host whose real program is known, and the command that installs it.
PROGRAMS = """
import sys
from pytest_hookharness import hosts
from pytest_hookharness.hosts.wire.programs import find_program, known_programs
for name in known_programs():
    profile = hosts.find(name)
    print(name, find_program(name).install_command(f"{sys.argv[1]}/{profile.id}", profile.version))
"""

WHERE = "import pytest_hookharness as package; print(package.__file__)"

# What can differ in a wheel: front ends, imports, data files, and programs that it starts.
OF_THE_WHEEL = (
    "tests/acceptance",
    "tests/test_imports.py",
    "tests/execution/test_supervisor.py",
    "tests/execution/test_doubles.py",
)


@nox.session(python=[*PYTHONS, NEXT])
def tests(session: nox.Session) -> None:
    """Run the quick tests on every supported Python that is installed; arguments go to pytest."""
    session.install("-e", ".", *TEST)
    session.run("pytest", *session.posargs)


@nox.session
def oldest(session: nox.Session) -> None:
    """Run the quick tests with the oldest allowed version of each dependency; arguments go to pytest."""
    extras = PROJECT["project"]["optional-dependencies"]
    needed = [*PROJECT["project"]["dependencies"], *(each for extra in extras.values() for each in extra)]
    session.install("-e", ".", *TEST)
    session.install(*(each.replace(">=", "==") for each in needed))
    session.run("pytest", *session.posargs)


@nox.session
def portable(session: nox.Session) -> None:
    """Run the quick tests on a kernel that refuses what only Linux has; arguments go to pytest."""
    session.install("-e", ".", *TEST)
    session.run("python", "tests/portable/without_linux.py", "pytest", *session.posargs)


@nox.session
def slow(session: nox.Session) -> None:
    """Run the slow tests; arguments go to pytest."""
    session.install("-e", ".", *TEST, *CLUSTER)
    session.run("pytest", "-m", "slow", "-n", "auto", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Look for bad habits, bad layout and bad spelling."""
    session.install(*LINT)
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("codespell")


@nox.session
def types(session: nox.Session) -> None:
    """Check the types twice, with mypy and with pyright."""
    session.install("-e", ".", "nox", *TEST, *TYPES)
    session.run("mypy")
    # The modules for Linux are imported everywhere, but their functions are not used.
    elsewhere = ["--platform", "darwin", "--exclude", "platform/linux", "--follow-imports", "silent"]
    session.run("mypy", *elsewhere, "pytest_hookharness")
    session.run("pyright", "--pythonpath", str(Path(session.bin, "python")))


@nox.session
def wheel(session: nox.Session) -> None:
    """Test the built wheel where the source cannot be reached; arguments go to pytest."""
    session.install(*TEST, "build", "twine")
    with tempfile.TemporaryDirectory(prefix="wheel-") as folder:
        # With the tools of this environment: an environment of its own for hatchling would take longer.
        session.run("python", "-m", "build", "--no-isolation", "--outdir", folder)
        session.run("twine", "check", "--strict", *map(str, Path(folder).glob("pytest_hookharness-*")))
        session.install("--force-reinstall", *map(str, Path(folder).glob("*.whl")))
        for name in ("tests", "scenarios"):
            shutil.copytree(name, Path(folder, name), symlinks=True)
        shutil.copy("pyproject.toml", folder)
        session.chdir(folder)
        found = str(session.run("python", "-c", WHERE, silent=True)).strip()
        if "site-packages" not in Path(found).parts:
            session.error(f"the tests would run against {found}, not against the wheel")
        session.log(f"testing {found}")
        session.run("pytest", "-n", "auto", *OF_THE_WHEEL, *session.posargs)
        session.run("pytest", "--hook-scenarios", "scenarios/allow-after-a-refusal")


@nox.session
def nightly(session: nox.Session) -> None:
    """Prove labels anew and judge 560 generated hooks, 60 of them blindly; arguments go to pytest."""
    session.install("-e", ".", *TEST)
    session.run("pytest", "-m", "nightly", "-n", "auto", *session.posargs)


@nox.session
def checkup(session: nox.Session) -> None:
    """Measure `check` on the fifty hooks of tests/checkup; arguments go to pytest."""
    session.install("-e", ".", *TEST)
    session.run("pytest", "-m", "slow or nightly", "tests/checkup", *session.posargs)


@nox.session
def soak(session: nox.Session) -> None:
    """Run two thousand hooks with faults drawn from HOOKHARNESS_SOAK_SEED; arguments go to pytest."""
    session.install("-e", ".", *TEST)
    env = {"HOOKHARNESS_SOAK_RUNS": "2000"}
    session.run("pytest", "-m", "nightly", "tests/soak", *session.posargs, env=env)


@nox.session
def real(session: nox.Session) -> None:
    """Drive a published hook, before and after its fix, each installed in an environment of its own."""
    session.install("-e", ".", *TEST)
    with tempfile.TemporaryDirectory(prefix="real-") as folder:
        environment = {}
        for name, version in REAL.items():
            place = Path(folder, version)
            session.run("python", "-m", "venv", str(place), silent=True)
            python = place / "bin" / "python"
            install = [str(python), "-m", "pip", "install", "--quiet", f"deepwork=={version}"]
            session.run(*install, external=True)
            environment[name] = str(python)
        session.run("pytest", "tests/real", "-rs", *session.posargs, env=environment)


@nox.session
def live(session: nox.Session) -> None:
    """Compare tests/live with real programs, installed unless HOOKHARNESS_LIVE has them."""
    session.install("-e", ".", *TEST)
    with tempfile.TemporaryDirectory(prefix="live-") as made:
        folder = os.environ.get("HOOKHARNESS_LIVE") or made
        found = str(session.run("python", "-c", PROGRAMS, folder, silent=True)).splitlines()
        programs = {name: command for name, _, command in (line.partition(" ") for line in found)}
        for command in programs.values() if folder == made else ():
            quiet = {"npm_config_loglevel": "error", "npm_config_audit": "false", "npm_config_fund": "false"}
            # The Python of a program may be missing: its scenarios are then skipped, with this command.
            codes = range(256) if "pip install" in command else [0]
            session.run("sh", "-c", command, env=quiet, external=True, success_codes=codes)
        options = [f"--hook-live={name}" for name in programs]
        env = {"HOOKHARNESS_LIVE": folder}
        session.run("pytest", "tests/live", *options, "-n", "auto", "-rs", *session.posargs, env=env)


@nox.session
def pages(session: nox.Session) -> None:
    """
    Write the pages of findings and of reference; a code, a proof and a command put an example on a page.
    """
    session.install("-e", ".")
    session.run("python", "docs/write_reference.py")
    session.run("python", "docs/write_findings.py", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the site of the documentation."""
    session.install(*nox.project.dependency_groups(PROJECT, "docs"))
    session.run("python", "docs/build_site.py")


@nox.session
def bench(session: nox.Session) -> None:
    """Run the benchmarks; arguments go to them."""
    session.install("-e", ".", *TEST)
    session.run("python", "benchmarks/run.py", *session.posargs)
