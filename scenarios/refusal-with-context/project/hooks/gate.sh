#!/bin/sh
# UserPromptSubmit hook: refuses a prompt that holds a key, and adds a hint for the model, in the forms of several hosts.
grep -q 'key-[0-9a-f]' || exit 0
echo 'A key does not belong in a prompt.' >&2
cat <<'END'
{"decision": "block", "reason": "A key does not belong in a prompt.", "additionalContext": "Keys stand in .env."}
END
exit 2
