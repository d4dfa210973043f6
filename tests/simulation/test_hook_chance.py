"""Sessions that end although their hooks draw random numbers, with real hooks."""

import sys

import pytest

from pytest_hookharness.model.verdicts import Terminated
from pytest_hookharness.reports.terminal.story import first_line, story

TIP = "tip=$((RANDOM % 3))\n[ $tip = 9 ] && echo nine > tip\n"
ONCE = "[ -e seen ] && exit 0\ntouch seen\necho run the tests >&2\nexit 2\n"


@pytest.fixture
def stop(play):
    """Play a session with a Stop hook that is a script."""

    def run(text, name="check", others=None, command="./check", **keys):
        files = {name: text, **(others or {})}
        return play(hooks={"Stop": command}, files=files, modes={name: "755"}, **keys)

    return run


def names(outcome):
    """Return the names of the findings of an outcome."""
    return [finding.name for finding in outcome.findings]


@pytest.mark.nightly
@pytest.mark.parametrize(
    "drawn",
    [
        "$((RANDOM % 7))",
        "$(shuf -i 0-6 -n 1)",
        f"$({sys.executable} -c 'import random; print(random.randrange(7))')",
    ],
    ids=["bash", "shuf", "python"],
)
def test_a_hook_that_refuses_by_chance_is_flaky(stop, drawn):
    """A session that ends by chance goes differently when played again, and the advice names the draw."""
    text = f"#!/bin/bash\ndrawn={drawn}\nn=$(cat n 2> f || echo $drawn)\n[ $n = 0 ] && exit 0\n"
    outcome = stop(f"{text}echo $((n - 1)) > n\necho run the tests >&2\nexit 2\n")

    assert isinstance(outcome.verdict, Terminated)
    (finding,) = (each for each in outcome.findings if each.name == "FLAKY")
    assert finding.text.startswith("Played again, it allowed the stop in turn ")
    assert finding.text in first_line(outcome)
    assert "random numbers" in finding.advice
    assert "in check" in finding.advice


@pytest.mark.slow
def test_a_draw_that_decides_nothing_is_an_assumption(stop):
    """If each play goes the same way, the report says that the hook draws, and how many plays there were."""
    outcome = stop(f"#!/bin/bash\n{TIP}{ONCE}")
    report = story(outcome, width=300)

    assert isinstance(outcome.verdict, Terminated)
    assert names(outcome) == []
    assert (
        "assumed of chance: the source of the hooks names random numbers ($RANDOM in check); if "
        "they decide, another run may end differently. Played 8 more times, the session went the same way."
    ) in report
    assert report.endswith("which may go differently: the source names random numbers")


@pytest.mark.nightly
def test_a_script_that_a_hook_calls_may_draw(stop):
    """A draw is found in a script that the script of a hook names, and in a module that it imports."""
    helper = {
        "lib/tip.sh": f'{TIP}python3 "$(dirname "$0")/lib/draw.py"\n',
        "lib/draw.py": "import words\n",
        "lib/words.py": "import random\nprint(random.choice('ab'), file=open('word', 'w'))\n",
    }
    outcome = stop(f'#!/bin/bash\n. "$(dirname "$0")/lib/tip.sh"\n{ONCE}', others=helper)

    assert outcome.chance == "$RANDOM in lib/tip.sh, random.choice in lib/words.py"


@pytest.mark.nightly
def test_a_script_may_be_named_after_a_variable(stop):
    """A draw is found in a script whose folder is computed, with a suffix or without, but not in data."""
    files = {
        ".claude/hooks/tip.js": "require('fs').writeFileSync('tip', `${Math.random()}`)\n",
        ".claude/hooks/word": "#!/bin/sh\nshuf -i 1-3 -n 1 > word\n",
        "notes": "the word is $RANDOM",
    }
    first = "HERE=$CLAUDE_PROJECT_DIR\n: node ${HERE}/.claude/hooks/tip.js\n"
    outcome = stop(
        f'#!/bin/sh\n{first}sh "$HERE/.claude/hooks/word"\ncat "$HERE"/notes\n{ONCE}', others=files
    )

    assert outcome.chance == "Math.random in .claude/hooks/tip.js, shuf in .claude/hooks/word"


@pytest.mark.nightly
def test_code_in_a_shell_script_may_draw(stop):
    """A draw is found in code of another language within a command."""
    code = "import random; open('n', 'w').write(str(random.random()))"
    outcome = stop(ONCE, command=f'python3 -c "{code}"; sh ./check')

    assert outcome.chance == "random.random in the command of the hook"


@pytest.mark.nightly
@pytest.mark.parametrize(
    "text",
    ["t=$(mktemp)\nrm $t\n", "t=/tmp/x.$RANDOM\necho > $t\n", "id=$(cat /proc/sys/kernel/random/uuid)\n"],
    ids=["mktemp", "path", "uuid"],
)
def test_names_are_no_chance(stop, text):
    """A hook that uses random numbers only in names has neither the assumption nor further plays."""
    outcome = stop(f"#!/bin/bash\n{text}{ONCE}")

    assert outcome.chance == ""
    assert "chance" not in " ".join(outcome.assumptions).replace("clock, chance", "")


def test_a_hook_that_cannot_refuse_is_no_chance(play):
    """Random numbers of a hook on an event that nobody can refuse are not named."""
    files = {"note": f"#!/bin/bash\n{TIP}"}
    outcome = play(hooks={"SessionStart": "./note"}, files=files, modes={"note": "755"})

    assert outcome.chance == ""


@pytest.mark.slow
def test_a_test_double_draws_nothing(stop):
    """A program that stands in for `shuf` gives what the scenario says."""
    outcome = stop(f"#!/bin/sh\nshuf -i 1-3 -n 1 > tip\n{ONCE}", commands={"shuf": {"stdout": "1"}})

    assert outcome.chance == ""


def test_a_session_that_draws_nothing_is_not_played_again(stop, monkeypatch):
    """Further plays are only made where a hook draws."""
    monkeypatch.setattr("pytest_hookharness.simulation.simulate._with_repeats", None)

    assert isinstance(stop(f"#!/bin/sh\n{ONCE}").verdict, Terminated)


@pytest.mark.parametrize(
    "text",
    [
        "ID=$RANDOM\necho $ID stopped >> log\n",
        'RUN="run-$RANDOM"\nmkdir -p runs/$RUN\n',
        "echo 'Run scripts/deploy.sh first' >> log\n",
        "node --check src/game.js 2> f || true\n",
        ". ./../../outside/other.sh 2> f || true\n",
    ],
    ids=["id", "folder", "message", "checked", "outside"],
)
def test_what_no_draw_decides_is_not_named(stop, tmp_path, text):
    """Ids, scripts in messages, checked sources and files outside of the workspace are no draws of a hook."""
    draws = "[ $((RANDOM % 2)) = 0 ] && exit 2\n"
    (tmp_path / "other.sh").write_text(draws)
    others = {"scripts/deploy.sh": draws, "src/game.js": "if (Math.random() > 2) process.exit(2)\n"}
    outcome = stop(
        f"#!/bin/bash\n{text.replace('../../outside', f'../../../../../../..{tmp_path}')}exit 0\n",
        others=others,
    )

    assert outcome.chance == ""


def test_a_file_that_blocks_is_not_read(stop):
    """A name that leads to a file of the kernel is not followed."""
    outcome = stop(
        '#!/bin/bash\n: "$D/../../../../../../proc/kmsg"\nD=/x\n. "$D/../../../../proc/kmsg" || exit 0\n'
    )

    assert outcome.chance == ""


@pytest.mark.slow
def test_a_session_that_was_cut_is_not_repeated(stop):
    """Where a hook was cut in the first play, further plays would show nothing, and no chance is named."""
    outcome = stop("#!/bin/bash\n[ $((RANDOM % 2)) = 7 ] && exit 2\nsleep infinity\n", hook_timeout=0.5)

    assert not any("more time" in one for one in outcome.assumptions)
    assert "FLAKY" not in names(outcome)


@pytest.mark.slow
def test_a_script_beside_a_hook_outside_of_the_workspace_is_read(stop, tmp_path):
    """A hook that is named by its path has the scripts that it calls beside it."""
    hook, helper = tmp_path / "hook.sh", tmp_path / "draw.sh"
    helper.write_text("#!/bin/bash\n[ $((RANDOM % 2)) = 7 ] && exit 2\nexit 0\n")
    hook.write_text('#!/bin/bash\n. "$(dirname "$0")/draw.sh"\n')
    hook.chmod(0o755)
    outcome = stop("true", command=str(hook))

    assert outcome.chance.startswith("$RANDOM in ")
    assert outcome.chance.endswith("draw.sh")


@pytest.mark.nightly
def test_a_process_number_is_no_clock(stop):
    """A hook that decides by its process number is not reported as CLOCK."""
    outcome = stop("#!/bin/bash\n[ $(($$ % 5)) -eq 0 ] && exit 0\necho run the tests >&2\nexit 2\n")

    assert set(names(outcome)) <= {"FLAKY"}
    assert "CLOCK" not in first_line(outcome)
