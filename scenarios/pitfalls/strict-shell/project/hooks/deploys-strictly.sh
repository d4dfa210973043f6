#!/usr/bin/env bash
# PreToolUse hook: refuses deployments to production, and fails where the variable is not set.
set -euo pipefail
if [[ "$DEPLOY_TO" == production ]]; then
    echo "production is deployed by people; set DEPLOY_TO=staging" >&2
    exit 2
fi
exit 0
