"""Claims about scripts that write files by relative paths."""

from pathlib import Path

import pytest

from pytest_hookharness.campaigns.check.static.relative_files import relative_file
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook


def found(text, command="bash x.sh", host="claude-code"):
    """The file that is named for a hook with one script."""
    hook = Hook(event="PostToolUse", command=command)
    sources = (("x.sh", text),)
    return relative_file(
        HookSet(host=host, root=Path(__file__).parent, files=(), hooks=(hook,), sources=sources), hook
    )


@pytest.mark.parametrize(
    "text",
    [
        '#!/bin/bash\nCOUNT=".run/count"\necho 1 > "$COUNT"\n',
        "#!/bin/sh\necho done >>.run/count\n",
        "#!/bin/sh\nmkdir -p .run; date | tee -a .run/count\n",
        '#!/bin/sh\nHERE="$(cd "$(dirname "$0")" && pwd)"\nF=.run/count\nif [ ! -f "$F" ]; then exit 0; fi\n',
        "#!/bin/bash\n[[ -s .run/count ]] || exit 0\n",
        "#!/usr/bin/env bash\nreadonly FLAG=.run/count\n[ -f .x ] || touch ${FLAG}\n",
    ],
)
def test_files_in_the_current_folder(text):
    """A file that a shell script writes by a relative path is named, unless something changes the folder."""
    assert found(text) == ".run/count"
    assert not found(text, 'cd "$CLAUDE_PROJECT_DIR" && bash x.sh')
    first, _, rest = text.partition("\n")
    assert not found(f'{first}\ncd "$CLAUDE_PROJECT_DIR" || exit 0\n{rest}')
    assert not found(f"{first}\n. ./lib.sh\n{rest}")


def test_a_folder_that_python_makes():
    """A folder that a Python script makes below the current one is named."""
    text = "from pathlib import Path\nlogs = Path.cwd() / 'logs'\nlogs.mkdir(exist_ok=True)\n"
    assert found(text) == "logs"
    assert not found(f"import os\nos.chdir('/')\n{text}")
    assert not found("from pathlib import Path\nenv = Path.cwd() / '.env'\nprint(env.read_text())\n")


@pytest.mark.parametrize(
    "text",
    [
        '#!/bin/bash\nCOUNT="$CLAUDE_PROJECT_DIR/.run/count"\necho 1 > "$COUNT"\n',
        '#!/bin/bash\nCOUNT=.run/count\n[ -n "$1" ] && \nCOUNT="$1"\necho 1 > "$COUNT"\n',
        "#!/bin/bash\nCOUNT=.run/count\ncat < $COUNT >&2\n",
        "#!/bin/bash\n[ -f node_modules/.bin/eslint ] || exit 0\n",
        '#!/bin/bash\nTOOL=src/main.ts\n[ -f "$TOOL" ] || exit 0\n',
        "#!/bin/bash\necho 1 > /dev/null 2> /tmp/log/x\n",
        "#!/bin/bash\necho 'text > .run/count'\n# date > .run/count\n",
        '#!/bin/bash\necho 1 > "$HOME"/.run/count\n',
    ],
)
def test_files_elsewhere(text):
    """Files of other folders, and files that are only read, are not named."""
    assert not found(text)


@pytest.mark.parametrize(("loaded", "named"), [("say() { echo; }\n", True), ('cd "$1" || exit 0\n', False)])
def test_scripts_that_load_others(plugin, loaded, named):
    """A script that loads another one is named only if that one stays in the folder too."""
    text = '#!/bin/bash\n. "${CLAUDE_PLUGIN_ROOT}/lib.sh"\n[ -f .run/count ] && exit 2\n'
    hook_set = plugin(
        'bash "${CLAUDE_PLUGIN_ROOT}"/x.sh', **{"x.sh": text, "lib.sh": f"#!/bin/bash\n{loaded}"}
    )
    assert bool(relative_file(hook_set, hook_set.hooks[0])) is named
