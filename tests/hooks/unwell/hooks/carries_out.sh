#!/bin/bash
# Notes the command down, and builds code of it to do so.
line=$(grep -o '"command": *".*", *"description"' | sed 's/^"command": *"//; s/", *"description"$//')
eval "echo \"$line\"" >>"$HOME/commands.log" 2>/dev/null
exit 0
