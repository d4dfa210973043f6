#!/usr/bin/env bash
# PreToolUse hook: refuses deployments to production; a variable may be missing.
set -euo pipefail
if [[ "${DEPLOY_TO:-}" == production ]]; then
    echo "production is deployed by people; set DEPLOY_TO=staging" >&2
    exit 2
fi
exit 0
