"""
How the real programs of hosts are installed and started against a model server on loopback.

Observed with the versions of the profiles, on Linux, without an account and without a terminal. A program
that asks for anything but its model finds no network.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from pytest_hookharness.hosts.wire import model_formats
from pytest_hookharness.hosts.wire.model_exchange import WireFormat
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Json

# The port of the model server. Each run has a network of its own, so the port is always free.
PORT = 18080
_SERVER = f"http://127.0.0.1:{PORT}"
_KEY = "dummy-key"
_MODE = "permission_mode"
# The options of a scenario, by the host's own names.
Options: TypeAlias = Mapping[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveProgram:
    """
    The real program of a host.

    Attributes:
        packages: What npm installs, or pip; templates over ``version``.
        python: The Python for pip's environment; empty if npm installs the program.
        binary: Where the program is below its folder, with ``*`` for the machine's part of a name.
        interpreter: The same for the program that runs it; empty if it runs by itself.
        argv: Returns the arguments of a session, given its prompt, whether it is resumed, whether a hook
            decides about permissions, and the options of the scenario.
        settings: Returns the files of the home folder that a session needs, by path, given their present
            texts, the workspace and the options.
        hooks_file: The state path of the settings file of a project.
        options: The options of a scenario that are passed on.
        plugin: The argument before the folder of a plugin; empty if plugins are not loaded.
        unordered: Sets of events whose hooks may run at the same time, so that their order means nothing.
    """

    host: str
    packages: tuple[str, ...]
    python: str = ""
    binary: str
    interpreter: str = ""
    argv: Callable[[str, bool, bool, Options], Sequence[str]]
    env: Mapping[str, str]
    settings: Callable[[Callable[[str], str], str, Options], Mapping[str, str]] = lambda *_: {}
    hooks_file: str
    wire: WireFormat
    options: tuple[str, ...] = (_MODE,)
    plugin: str = ""
    subagents: bool = False
    resumes: bool = True
    unordered: tuple[frozenset[str], ...] = ()

    def install_command(self, folder: str, version: str) -> str:
        """Return the command that installs a version into a folder."""
        packages = " ".join(package.format(version=version) for package in self.packages)
        if self.python:
            return f"{self.python} -m venv {folder} && {folder}/bin/pip install {packages}"
        return f"npm install --prefix {folder} {packages}"


def _claude_arguments(prompt: str, resumed: bool, asks: bool, options: Options) -> list[str]:
    tools = "Bash,Write,Edit,Read,Task,Agent"
    allowed = [] if asks else [f"--allowedTools={tools}"]
    mode = ["--permission-mode", str(options[_MODE])] if _MODE in options else []
    resume = [*(["-c"] if resumed else []), *mode]
    return [*resume, "-p", prompt, "--model", "claude-sonnet-4-5", "--output-format", "json", *allowed]


def _codex_arguments(prompt: str, resumed: bool, asks: bool, options: Options) -> list[str]:
    del asks
    asking = options.get(_MODE) == "default"
    free = ["--approve-for-me" if asking else "--dangerously-bypass-approvals-and-sandbox"]
    free += ["--dangerously-bypass-hook-trust"] if options.get("bypass_hook_trust", True) else []
    resume = ["resume", "--last"] if resumed else []
    # Without plugins it asks no server for new ones.
    common = ["--json", "--skip-git-repo-check", *free, "--disable", "plugins"]
    return ["exec", *common, *resume, prompt]


_CODEX_HEAD = """model = "gpt-5.5"
model_provider = "mock"
check_for_update_on_startup = false
"""
_CODEX_TABLES = f"""
[analytics]
enabled = false
[feedback]
enabled = false
[otel]
exporter = "none"
[model_providers.mock]
name = "mock"
base_url = "{_SERVER}/v1"
wire_api = "responses"
env_key = "MOCK_KEY"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false
"""


def _codex_settings(read: Callable[[str], str], workspace: str, options: Options) -> dict[str, str]:
    # Hooks of a project are read only if it is trusted.
    level = options.get("trust_level", "trusted")
    trusted = f"[projects.{json.dumps(workspace)}]\ntrust_level = {json.dumps(level)}\n"
    name = ".codex/config.toml"
    return {name: f"{_CODEX_HEAD}{read(name)}\n{_CODEX_TABLES}{trusted}"}


def _gemini_arguments(prompt: str, resumed: bool, asks: bool, options: Options) -> list[str]:
    resume = ["--resume", "latest"] if resumed else []
    del asks
    return ["-m", "gemini-2.5-flash", *resume, *_approving(prompt, str(options.get(_MODE, "")))]


def _qwen_arguments(prompt: str, resumed: bool, asks: bool, options: Options) -> list[str]:
    del asks
    resume = ["--continue"] if resumed else []
    # The command line writes auto-edit for what most events call auto_edit.
    return [*resume, *_approving(prompt, str(options.get(_MODE, "")).replace("_", "-"))]


def _approving(prompt: str, mode: str) -> list[str]:
    return ["-p", prompt, "--output-format", "json", "--approval-mode", mode or "yolo"]


# OpenHands is a library: this is the program that starts its conversation, as its documents show it.
_OPENHANDS = f"""
import os, sys
from openhands.sdk import LLM, Agent, Conversation, Tool
from openhands.sdk.hooks import HookConfig
from openhands.tools.file_editor import FileEditorTool
from openhands.tools.terminal import TerminalTool
llm = LLM(model="openai/mock", api_key=os.environ["LLM_API_KEY"], base_url="{_SERVER}/v1", num_retries=0)
agent = Agent(llm=llm, tools=[Tool(name=TerminalTool.name), Tool(name=FileEditorTool.name)])
hooks = HookConfig.load(working_dir=os.getcwd())
conversation = Conversation(agent, workspace=os.getcwd(), hook_config=hooks, visualizer=None)
conversation.send_message(sys.argv[1])
conversation.run()
conversation.close()
"""


def _openhands_arguments(prompt: str, resumed: bool, asks: bool, options: Options) -> list[str]:
    del resumed, asks, options
    return ["-c", _OPENHANDS, prompt]


def _quiet_settings(
    name: str, own: Mapping[str, Json]
) -> Callable[[Callable[[str], str], str, Options], dict[str, str]]:
    """Return what adds settings to those of a scenario: no updates, no telemetry, and a trusted folder."""
    quiet: dict[str, Json] = {
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "general": {
            "enableAutoUpdate": False,
            "enableAutoUpdateNotification": False,
            "disableAutoUpdate": True,
            "disableUpdateNag": True,
        },
    }

    def settings(read: Callable[[str], str], _workspace: str, _options: Options) -> dict[str, str]:
        return {name: json.dumps({**json.loads(read(name) or "{}"), **quiet, **own}, indent=2)}

    return settings


def _trusted(auth: str) -> Json:
    return {"auth": {"selectedType": auth}, "folderTrust": {"enabled": False}}


_QWEN_MODEL = "mock-model"
_NODE = "node_modules/node*/bin/node"
_PROGRAMS = (
    LiveProgram(
        host="claude-code",
        packages=("@anthropic-ai/claude-code@{version}",),
        binary="node_modules/@anthropic-ai/claude-code-linux-*/claude",
        argv=_claude_arguments,
        env={
            "ANTHROPIC_BASE_URL": _SERVER,
            "ANTHROPIC_API_KEY": _KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_AUTOUPDATER": "1",
            # Otherwise the mode bypassPermissions is refused to root.
            "IS_SANDBOX": "1",
        },
        hooks_file="workspace/.claude/settings.json",
        plugin="--plugin-dir",
        subagents=True,
        wire=model_formats.ANTHROPIC_MESSAGES,
        unordered=(
            frozenset({"CwdChanged", "PostToolUse", "SubagentStart"}),
            frozenset({"InstructionsLoaded", "SessionStart"}),
        ),
    ),
    LiveProgram(
        host="codex",
        packages=("@openai/codex@{version}",),
        binary="node_modules/@openai/codex-linux-*/vendor/*/bin/codex",
        argv=_codex_arguments,
        env={"MOCK_KEY": _KEY, "RUST_LOG": "error"},
        settings=_codex_settings,
        options=(_MODE, "trust_level", "bypass_hook_trust"),
        hooks_file="workspace/.codex/hooks.json",
        wire=model_formats.OPENAI_RESPONSES,
    ),
    LiveProgram(
        host="gemini-cli",
        packages=("@google/gemini-cli@{version}", "node@22"),
        binary="node_modules/@google/gemini-cli/bundle/gemini.js",
        interpreter=_NODE,
        argv=_gemini_arguments,
        env={
            "GOOGLE_GEMINI_BASE_URL": _SERVER,
            "GEMINI_API_KEY": _KEY,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_TELEMETRY_ENABLED": "false",
        },
        settings=_quiet_settings(
            ".gemini/settings.json",
            {"security": _trusted("gemini-api-key"), "advanced": {"autoConfigureMemory": False}},
        ),
        hooks_file="workspace/.gemini/settings.json",
        wire=model_formats.GEMINI_CONTENTS,
    ),
    LiveProgram(
        host="qwen-code",
        packages=("@qwen-code/qwen-code@{version}", "node@22"),
        binary="node_modules/@qwen-code/qwen-code/cli-entry.js",
        interpreter=_NODE,
        argv=_qwen_arguments,
        env={
            "OPENAI_API_KEY": _KEY,
            "OPENAI_BASE_URL": f"{_SERVER}/v1",
            "OPENAI_MODEL": _QWEN_MODEL,
            "QWEN_TELEMETRY_ENABLED": "false",
            "QWEN_CODE_NO_RELAUNCH": "1",
        },
        settings=_quiet_settings(
            ".qwen/settings.json",
            {
                "security": _trusted("openai"),
                "model": {"name": _QWEN_MODEL},
                # Otherwise another agent works on its memory after the last stop.
                "memory": {"enableManagedAutoMemory": False, "enableManagedAutoDream": False},
            },
        ),
        hooks_file="workspace/.qwen/settings.json",
        subagents=True,
        wire=model_formats.OPENAI_CHAT_STREAM,
    ),
    LiveProgram(
        host="openhands",
        packages=("openhands-sdk=={version}.0", "openhands-tools=={version}.0"),
        python="python3.13",
        binary="bin/python",
        argv=_openhands_arguments,
        # Without the first of them it asks for a list of prices.
        env={
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "OPENHANDS_SUPPRESS_BANNER": "1",
            "LLM_API_KEY": _KEY,
        },
        hooks_file="workspace/.openhands/hooks.json",
        wire=model_formats.OPENAI_CHAT,
        resumes=False,
    ),
)


def find_program(host: str) -> LiveProgram | None:
    """Return the program of a host, by its name without a version; ``None`` if it is not known."""
    return next((program for program in _PROGRAMS if program.host == host), None)


def known_programs() -> tuple[str, ...]:
    """Return the names of the hosts whose program is known."""
    return tuple(program.host for program in _PROGRAMS)
