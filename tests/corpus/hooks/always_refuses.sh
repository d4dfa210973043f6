#!/usr/bin/env bash
# No stop without green tests.
if ! command -v run-all-the-tests > /dev/null; then
  echo "run-all-the-tests: not found. All tests must pass before you stop." >&2
  exit 2
fi
run-all-the-tests >&2 || exit 2
