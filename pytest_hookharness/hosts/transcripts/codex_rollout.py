"""
Rollout files of Codex: JSON lines with ``type`` and ``payload``, as version 0.169.0 writes them.

The agent's words are a stop if the turn ends after them or a hook answers them; otherwise they belong to the
next call. A hook that blocks after a call replaces the output of the call by its reason, without a mark.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from pytest_hookharness.hosts.transcripts.session_stream import (
    SessionStream,
    list_of,
    object_of,
    string_of,
    text_of,
    value_of,
)
from pytest_hookharness.model.actions import COMPACTED, Action, ActionResult, HookRefusal
from pytest_hookharness.model.protocol import Json, Payload

_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
_EXIT = re.compile(r"^(?:Exit code|Process exited with code):? (-?\d+)\s*$", re.MULTILINE)
# The lines above a command's output, such as its exit code and wall time.
_HEAD = re.compile(r"\A(?:[A-Z][\w ]{0,60}:? ?[^\n]{0,80}\n){1,8}?Output:\n")
_BLOCKED = re.compile(
    r"\ACommand blocked by (?P<event>\w+) hook: (?P<reason>.*?)(?:\. Command: .*)?\Z", re.DOTALL
)
_FAILED = ("apply_patch verification failed", "unsupported call: ")
_HOOK_PROMPT = re.compile(r'<hook_prompt hook_run_id="(?P<run>[^"]*)">(?P<text>.*?)</hook_prompt>', re.DOTALL)
_RUN_ID = re.compile(r"\A(?P<event>\w+):(?P<index>\d+):(?P<file>.*)\Z", re.DOTALL)
_EVENTS: Mapping[str, str] = {"stop": "Stop", "subagent_stop": "SubagentStop"}


class CodexReader:
    """
    Reads one rollout, of the main agent or a subagent (``agent``).

    Attributes:
        words: The agent's last words, not yet known to be a stop.
        ended: Exit codes of commands, and of other calls 0 or 1, by the identifier of the call.
        printed: What the commands printed, by the same.
        batch: Number of the message that the newest call belongs to.
    """

    def __init__(self) -> None:
        self.words: str | None = None
        self.ended: dict[str, int] = {}
        self.printed: dict[str, str] = {}
        self.batch = 0
        self.agent = ""

    def read(self, stream: SessionStream, record: Payload) -> None:
        """Add a record to a stream."""
        item = object_of(record.get("payload"))
        kind = item.get("type")
        match record.get("type"):
            case "session_meta":
                git = object_of(item.get("git"))
                stream.note(cwd=item.get("cwd"), version=item.get("cli_version"), session=item.get("id"))
                stream.note(commit=git.get("commit_hash"))
                self.agent = string_of(item.get("id")) if parent_thread(record) else self.agent
            case "compacted":
                stream.add_break(COMPACTED, text="auto")
            case "event_msg":
                self._read_event(stream, item)
            case "response_item" if kind in _CALLS:
                stream.messages += 1
                self._read_call(stream, item)
            case "response_item" if kind in _OUTPUTS:
                self._read_output(stream, item)
            case "response_item" if kind == "message":
                stream.messages += 1
                self._read_message(stream, item)
            case _:
                return

    def end(self, stream: SessionStream) -> None:
        """Mark the items of a subagent, which has a rollout of its own."""
        if self.agent:
            stream.items = [replace(item, agent=self.agent) for item in stream.items]

    def _read_event(self, stream: SessionStream, event: Payload) -> None:
        match event.get("type"):
            case "user_message":
                stream.add_prompt(string_of(event.get("message")))
            case "task_complete":
                last = stream.items[-1] if stream.items else None
                if self.words is None and isinstance(last, Action):
                    self.words = string_of(event.get("last_agent_message"))
                self._stop(stream)
            case "turn_aborted":
                self.words = None
                stream.add_break("aborted")
            case "item_completed":
                self._read_completed(stream, object_of(event.get("item")))
            case _:
                return

    def _read_completed(self, stream: SessionStream, item: Payload) -> None:
        match item.get("type"):
            case "UserMessage":
                stream.add_prompt(text_of(item.get("content")))
            case "AgentMessage":
                self.words = text_of(item.get("content"))
            case "HookPrompt":
                fragments = [object_of(one) for one in list_of(item.get("fragments"))]
                pairs = [(string_of(one.get("hookRunId")), string_of(one.get("text"))) for one in fragments]
                self._refuse(stream, pairs)
            case "CommandExecution" | "FileChange":
                code = item.get("exit_code")
                failed = code if isinstance(code, int) else int(item.get("status") == "failed")
                self.ended[string_of(item.get("id"))] = failed
                self.printed[string_of(item.get("id"))] = string_of(item.get("aggregated_output")).strip()
            case _:
                return

    def _read_message(self, stream: SessionStream, item: Payload) -> None:
        text = text_of(item.get("content"))
        if item.get("role") == "assistant":
            self.words = text
        elif item.get("role") == "user":
            prompts = _HOOK_PROMPT.findall(text)
            if prompts:
                self._refuse(stream, prompts)
            elif not text.startswith("<"):
                # Text of the host begins with a tag, such as `<environment_context>`.
                stream.add_prompt(text)

    def _refuse(self, stream: SessionStream, pairs: list[tuple[str, str]]) -> None:
        """Note the refused stop; the rollout names it twice."""
        self._stop(stream)
        stream.refuse_stop([_refusal(run, text) for run, text in pairs])

    def _stop(self, stream: SessionStream) -> None:
        if self.words is not None:
            stream.add_break("stop", text=self.words)
        self.words = None

    def _read_call(self, stream: SessionStream, item: Payload) -> None:
        # Calls of one message come before the first result.
        self.batch += not stream.waiting
        call, message, say = item.get("call_id"), str(self.batch), self.words or ""
        self.words = None
        if item.get("type") == "local_shell_call":
            stream.add_call(call, "local_shell", item.get("action"), message=message, say=say)
            return
        given = _parse_object(item.get("arguments", item.get("input")))
        stream.add_call(call, item.get("name"), given, message=message, say=say)

    def _read_output(self, stream: SessionStream, item: Payload) -> None:
        call, output = item.get("call_id"), item.get("output")
        plain = output if isinstance(output, str) else ""
        blocked = _BLOCKED.match(plain)
        if blocked:
            stream.add_result(call, plain, ActionResult.REFUSED)
            refusal = HookRefusal(event=blocked["event"], reason=blocked["reason"].strip())
            stream.refuse_call(call, refusal)
            return
        code = self.ended.get(string_of(call))
        if code is not None and self._is_replaced(string_of(call), plain):
            stream.add_result(call, plain, ActionResult.FAILED if code else ActionResult.DONE)
            stream.refuse_call(call, HookRefusal(event="PostToolUse", reason=plain.strip()))
            return
        text, outcome = _read_text(output)
        failed = plain.startswith(_FAILED) or bool(code)
        stream.add_result(call, text, ActionResult.FAILED if failed else outcome)

    def _is_replaced(self, call: str, output: str) -> bool:
        """Return whether a hook replaced the output of a call that was carried out."""
        if not output or _HEAD.match(output) or output.lstrip().startswith(("{", "aborted ")):
            return False
        printed = self.printed[call]
        return not printed or printed not in output


def parent_thread(record: Json) -> str:
    """Return the session that started a subagent, by the first record of its rollout; empty if it is none."""
    return string_of(object_of(object_of(record).get("payload")).get("parent_thread_id"))


def is_codex_item(record: Payload) -> bool:
    """Return whether only Codex writes such a record."""
    known = record.get("type") in ("response_item", "session_meta")
    return known and isinstance(record.get("payload"), Mapping)


def _refusal(run: str, text: str) -> HookRefusal:
    named = _RUN_ID.match(run)
    if named is None:
        return HookRefusal(event="Stop", reason=text.strip())
    event = _EVENTS.get(named["event"], named["event"])
    hook = f"hook {int(named['index'][:6]) + 1} of {event} in {named['file']}"
    return HookRefusal(event=event, hook=hook, reason=text.strip())


def _parse_object(given: Json) -> Json:
    # A custom tool can get a text that is not JSON, such as a patch.
    return value_of(given) if isinstance(given, str) and given.lstrip().startswith("{") else given


def _read_text(output: Json) -> tuple[str, ActionResult]:
    value = _parse_object(output)
    if isinstance(value, Mapping):
        text = text_of(value.get("output", value.get("content")))
        default = 0 if value.get("success") is not False else 1
        return _with_exit_code(text, object_of(value.get("metadata")).get("exit_code", default))
    text = text_of(value)
    head = _HEAD.match(text)
    exit_line = _EXIT.search(head[0] if head else text.partition("\n")[0])
    return _with_exit_code(text[head.end() :] if head else text, int(exit_line[1][:9]) if exit_line else 0)


def _with_exit_code(text: str, code: Json) -> tuple[str, ActionResult]:
    if not isinstance(code, int) or code == 0:
        return text, ActionResult.DONE
    return f"Exit code {code}\n{text}", ActionResult.FAILED
