"""Which rules the agent's last message releases with <promise>Rule Name</promise>."""

import json
import re

# Whatever stands inside these is talked about, not promised: fenced, in backticks, in quotation marks,
# in a block quote. A mark that is never closed reaches to the end: in doubt a text is no promise,
# which costs no more than one showing of the rule.
QUOTED = re.compile(
    r'```.*?(?:```|\Z)|`[^`]*(?:`|\Z)|"[^"]*(?:"|\Z)|“[^”]*(?:”|\Z)|^[ \t]*>.*?$', re.DOTALL | re.MULTILINE
)
PROMISE = re.compile(r"<promise>\s*([^<>]+?)\s*</promise>")


def promised_names(payload):
    """Names in the last assistant message; what an earlier one promised does not count."""
    message = payload.get("last_assistant_message")
    if not isinstance(message, str):
        message = _last_in_transcript(payload.get("transcript_path") or "")
    return set(PROMISE.findall(QUOTED.sub(" ", message)))


def _last_in_transcript(path):
    """Text of the last line that the assistant wrote, for hosts that do not pass the message itself."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.readlines()
    except OSError:
        return ""
    for line in reversed(lines):
        try:
            entry = json.loads(line)
        except json.JSONDecodeError:
            continue  # the host may be writing this very line
        if entry.get("type") == "assistant" and not entry.get("isSidechain"):
            content = entry["message"]["content"]
            blocks = [{"text": content}] if isinstance(content, str) else content
            return "\n".join(block.get("text", "") for block in blocks)
    return ""
