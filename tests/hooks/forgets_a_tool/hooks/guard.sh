#!/bin/sh
case "$(jq -r .tool_input.command)" in
    *.env*) echo "Keys are for people." >&2; exit 2 ;;
esac
