#!/bin/sh
# The host sends the command on standard input, and sets no such variable.
case "$CLAUDE_TOOL_INPUT" in
*"git push --force"*)
    echo "Ask before you rewrite what others have." >&2
    exit 2
    ;;
esac
