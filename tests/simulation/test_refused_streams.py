"""Claims about hooks that open a standard stream by its name."""

import pytest


@pytest.mark.parametrize(
    ("hook", "name"),
    [
        ("input=$(cat /dev/stdin); exit 0", "MISSING-INPUT"),
        ("python3 -c 'open(\"/dev/stdin\")'", "MISSING-INPUT"),
        ("cat >/dev/null; echo Again. >/dev/stderr; exit 0", "MANGLED"),
    ],
)
def test_a_stream_that_is_opened_by_name(play, hook, name):
    """Where the host gives sockets, the hook loses its input or its output, and that is a finding."""
    outcome = play(hooks={"Stop": hook})

    assert name in {finding.name for finding in outcome.findings}
    assert not outcome.passed


@pytest.mark.parametrize(
    ("hook", "host"),
    [
        ("input=$(cat /dev/stdin); exit 0", "codex"),
        ("input=$(cat); exit 0", "claude-code"),
        ("input=$(cat /dev/stdin || cat); exit 0", "claude-code"),
        ("cat >/dev/null; { echo x >/dev/stderr; } || echo x >&2; exit 0", "claude-code"),
    ],
)
def test_a_stream_that_can_be_opened(play, hook, host):
    """Nothing is found where a pipe is opened, a descriptor is used, or the script has another way."""
    assert play(hooks={"Stop": hook}, host=host).passed
