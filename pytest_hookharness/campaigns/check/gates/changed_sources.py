"""
Stop hooks that ask git what changed, in sessions in which the agent changes sources of the project.

The scripts name the path or the extension of these sources. A session is kept if the stop is refused after
the changes and allowed without them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.hook_roles import role_of
from pytest_hookharness.campaigns.arming.project_texts import files_by_path, is_small, read_known_text
from pytest_hookharness.campaigns.check.session_scenario import short_scenario_of
from pytest_hookharness.model.checkup import CheckSession, HookSet
from pytest_hookharness.model.moves import Edit
from pytest_hookharness.model.protocol import Hook

LEFT_ALONE = "changes no file"
_ASKS_GIT = re.compile(r"\bgit\b[\"',\s][^\n]{0,80}?\b(?:diff|status|ls-files)\b|--porcelain")
_OWN = re.compile(r"^\.|^hooks/|(?:^|/)(?:LICENSE|CHANGELOG)")
_MOST, _LARGEST, _DEEPEST = 4, 1 << 15, 2


def plan_changed_sources(hook_set: HookSet, waiting: Sequence[Hook]) -> Iterator[CheckSession]:
    """Yield two short sessions, or none without sources: the agent changes sources, or changes nothing."""
    stops = [hook for hook in waiting if role_of(hook_set.host, hook.event) is hosts.Role.STOP]
    texts = [text for hook in stops for text in hook_set.scripts_of(hook)]
    edits = source_edits(hook_set, [text for text in texts if _ASKS_GIT.search(text)])
    for title, changes in (
        (f"changes of {' and '.join(edit.file for edit in edits)}", edits),
        ("no change", []),
    ):
        scenario = short_scenario_of(hook_set, changes)
        if edits:
            yield CheckSession(title=title, scenario=scenario, ends=False, proof=True, way_out=LEFT_ALONE)


def source_edits(hook_set: HookSet, texts: Sequence[str]) -> list[Edit]:
    """Return edits of files whose path or extension the scripts name; files in named folders come first."""
    if hook_set.plugin or not hook_set.git or not texts:
        return []
    text, chosen = "\n".join(texts), dict[tuple[str, str], str]()
    own = {path for path, _ in hook_set.sources}
    for path, file in files_by_path(hook_set.root).items():
        if path not in own and not _OWN.search(path) and is_small(file, _LARGEST) and _is_of_kind(path, text):
            chosen.setdefault(("/".join(path.split("/")[:-1][:_DEEPEST]), file.suffix), path)
    # Files in folders that the scripts name come first.
    places = sorted(chosen, key=lambda place: not (place[0] and place[0] in text))
    paths = [chosen[place] for place in places[:_MOST]]
    return [Edit(file=path, text=f"{read_known_text(hook_set.root / path)}\n") for path in paths]


def _is_of_kind(path: str, text: str) -> bool:
    """Return whether scripts name a file or its extension, as in `*.ts` or `.(ts|tsx)`."""
    kind = path.rpartition("/")[2].rpartition(".")[2]
    return path in text or bool(re.search(rf"[.(|{{,]{re.escape(kind)}\b", text))
