"""Claims about Stop hooks that search the agent's files for texts."""

import pytest

from pytest_hookharness.campaigns.check.gates.refused_texts import plan_refused_texts
from pytest_hookharness.campaigns.check.played_sessions import PlayedSession, kept_to_its_end
from pytest_hookharness.campaigns.check.session_errors import play_session

SHELL = """#!/bin/bash
{guard}
for file in $(git diff --name-only; git ls-files --others --exclude-standard); do
  if grep -nE '{pattern}' "$file" >&2; then found=1; fi
done
[ -z "$found" ] || {{ echo "Remove this first." >&2; exit 2; }}
"""
FLAG = '[ "$(jq -r .stop_hook_active)" = true ] && exit 0'
PYTHON = """import pathlib, re, sys
for file in pathlib.Path().rglob("*.py"):
    if file.name != "gate.py" and re.search(r"\\bbreakpoint\\(\\)", file.read_text()):
        print("Remove the breakpoint.", file=sys.stderr)
        sys.exit(2)
"""
MARKERS = """#!/bin/bash
marker='<''<<''<<''<< '
# No conflict may be left.
grep -rl --include='*.txt' -- "$marker" . >&2 && exit 2
exit 0
"""
STAGED = """#!/bin/bash
git diff --cached | grep -q '^+.*console.log' || exit 0
echo "Remove this first." >&2
exit 2
"""


@pytest.fixture
def kept(plugin, harness):
    """The sessions with refused texts that are kept for a Stop hook."""

    def make(name, program, text):
        hook_set = plugin(f'{program} "${{CLAUDE_PLUGIN_ROOT}}/{name}"', **{name: text})
        return [*kept_to_its_end([played(one) for one in plan_refused_texts(hook_set, hook_set.hooks)])]

    def played(session):
        return PlayedSession(session, play_session(session, harness.settings, harness.resources))

    return make


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "program", "text"),
    [
        ("gate.sh", "bash", SHELL.format(guard="", pattern=r"console\.log|TODO")),
        pytest.param("gate.sh", "bash", MARKERS, marks=pytest.mark.nightly),
        ("gate.sh", "bash", STAGED),
        pytest.param("gate.py", "python3", PYTHON, marks=pytest.mark.nightly),
    ],
)
def test_a_text_that_stays_in_the_files(kept, harness, name, program, text):
    """A stop is refused again and again while the agent leaves a text for which the hook searches."""
    (session,) = kept(name, program, text)

    assert session.way_out == "removes these texts from its files"
    outcome = play_session(session, harness.settings, harness.resources)
    assert outcome.verdict_name in ("livelock", "capped")


@pytest.mark.nightly
def test_a_hook_that_refuses_once(kept, harness):
    """A hook that reads `stop_hook_active` refuses once, and the session ends."""
    (session,) = kept("gate.sh", "bash", SHELL.format(guard=FLAG, pattern="TODO"))

    outcome = play_session(session, harness.settings, harness.resources)
    assert outcome.verdict_name == "terminated"


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "#!/bin/bash\ngrep -rn TODO . || true\n",
        "#!/bin/bash\ngrep -q TODO notes.txt\nexit 2\n",
        '#!/bin/bash\n[ -n "$(git status --porcelain)" ] && grep -q . notes.txt && exit 2\nexit 0\n',
    ],
)
def test_hooks_that_no_text_decides(kept, text):
    """Nothing is kept of a hook that decides the same with other texts."""
    assert not kept("gate.sh", "bash", text)


@pytest.mark.parametrize("text", ["#!/bin/bash\necho 'see TODO' >&2\nexit 2\n", "#!/bin/bash\ngrep -q a b\n"])
def test_hooks_that_search_for_no_text(plugin, text):
    """No session is planned for a hook that searches for nothing, or for no words."""
    hook_set = plugin('bash "${CLAUDE_PLUGIN_ROOT}/gate.sh"', **{"gate.sh": text})

    assert [*plan_refused_texts(hook_set, hook_set.hooks)] == []
