#!/bin/sh
# The host sends the command on standard input; it does not set CLAUDE_TOOL_INPUT.
case "$CLAUDE_TOOL_INPUT" in
*"git push --force"*)
    echo "Ask before you rewrite published history." >&2
    exit 2
    ;;
esac
