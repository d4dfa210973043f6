"""Live runs: what it costs to play a scenario on a real program, against the bare program."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from measuring import Table, Turn, against, milli, take_turns

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.live import live_run
from pytest_hookharness.campaigns.live.live_scenario import (
    VARIABLE,
    InstalledProgram,
    find_installed,
    live_form,
)
from pytest_hookharness.execution.workspace.disposal import Disposal
from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.hosts.settings.configuration import expand_short_form
from pytest_hookharness.hosts.wire.model_exchange import ModelReply, WireCall
from pytest_hookharness.hosts.wire.programs import PORT, find_program
from pytest_hookharness.model.moves import Prompt, RunCommand, Script, Stop
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.simulation.loop import Observer
from pytest_hookharness.simulation.single_run import Resources
from pytest_hookharness.simulation.testbed.run_settings import Settings

MOST = 1.3
_HOOKS = {"PreToolUse": "true", "Stop": "true"}


def table(folder: Path, *, quick: bool) -> Table:
    """Play a session with one call and two hooks on each of two real programs."""
    found = Table(
        "16. Live: a session of two messages and two hooks on the real program",
        ("program", "what", "median", "x bare", "aim", ""),
        notes=[f"The programs are those below the folder that {VARIABLE} names."],
    )
    for name in ("codex", "claude-code"):
        program = find_program(name)
        assert program is not None
        profile = hosts.find(name)
        installed = find_installed(program, profile.version, Path(os.environ.get(VARIABLE, folder)))
        with ExitStack() as stack:
            harness = stack.enter_context(Harness(Settings(base=folder / name, wall=60)))
            disposal = stack.enter_context(Disposal(folder / f".{name}"))
            resources = replace(harness.resources, disposal=disposal)
            turns = _turns(installed, harness.settings, resources, folder)
            seen = take_turns(turns, 3 if quick else 15)
        found.add(name, "the bare program", milli(seen.median("bare")))
        for what, words, aim in (("real", "the live run", MOST), ("both", "the whole item", None)):
            ratio = seen.ratio(what, "bare")
            found.add(name, words, milli(seen.median(what)), ratio, *against(aim, ratio))
    return found


def _turns(
    installed: InstalledProgram, settings: Settings, resources: Resources, folder: Path
) -> dict[str, Turn]:
    acts = (Prompt(text="Please work."), RunCommand(command="echo one"), Stop(text="Done."))
    host = hosts.find(installed.program.host).id
    scenario = Scenario(name="live", host=host, hooks=_HOOKS, script=Script(acts=acts))
    played = live_form(scenario, installed.program)
    _, _, simulated = live_run.record_both(scenario, installed, settings, resources, Observer())

    def bare() -> list[float]:
        return [_bare(installed, folder / "bare")]

    def real() -> list[float]:
        began = time.perf_counter()
        live_run.play_real(played, installed, settings, resources, simulated)
        return [time.perf_counter() - began]

    def both() -> list[float]:
        began = time.perf_counter()
        live_run.play_both(scenario, installed, settings, resources, Observer())
        return [time.perf_counter() - began]

    return {"bare": bare, "real": real, "both": both}


def _bare(installed: InstalledProgram, folder: Path) -> float:
    """Return the seconds of the program in a new folder, with two answers that are ready."""
    program, profile = installed.program, hosts.find(installed.program.host)
    home, workspace = folder / "home", folder / "workspace"
    shutil.rmtree(folder, ignore_errors=True)
    hooks = workspace / program.hooks_file.removeprefix("workspace/")
    hooks.parent.mkdir(parents=True)
    hooks.write_text(json.dumps(expand_short_form(profile, _HOOKS)))
    for name, text in program.settings(lambda _: "", str(workspace), {}).items():
        (home / name).parent.mkdir(parents=True)
        (home / name).write_text(text)
    home.mkdir(exist_ok=True)
    call = WireCall(id="toolu_1", name="Bash", input={"command": "echo one"})
    replies = [ModelReply(number=0, calls=(call,)), ModelReply(number=1, text="Done.")]
    env = {"PATH": os.environ["PATH"], "HOME": str(home), **program.env}
    command = [*installed.command, *program.argv("Please work.", False, False, {})]
    with _serving([program.wire.write(one) for one in replies]):
        began = time.perf_counter()
        closed = subprocess.DEVNULL
        subprocess.run(command, cwd=workspace, env=env, stdin=closed, capture_output=True, check=True)
        return time.perf_counter() - began


@contextmanager
def _serving(replies: list[bytes]) -> Generator[None]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            body = replies.pop(0)
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            self.send_error(404)

        def do_HEAD(self) -> None:
            self.send_error(404)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the base class names it
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", PORT), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield
        server.shutdown()
