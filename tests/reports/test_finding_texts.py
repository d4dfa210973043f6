"""The catalogue of findings as text."""

from pytest_hookharness.judging.findings.finding_catalogue import catalogue
from pytest_hookharness.model.verdicts import FindingCode
from pytest_hookharness.reports.terminal.host_facts import codes_table, describe_findings

CODE = FindingCode("HH777", "ODD-THING", "A thing was odd.", "It matters.", "Correct it.")


def test_a_code_is_described_in_full() -> None:
    """What, why and how to fix it are below the code's name."""
    lines = [
        "HH777 ODD-THING",
        "  what: A thing was odd.",
        "  why:  It matters.",
        "  fix:  Correct it.",
    ]

    assert describe_findings([CODE, CODE]).splitlines() == [*lines, "", *lines]


def test_all_codes_are_listed() -> None:
    """The table has one line for each code."""
    lines = codes_table(catalogue()).splitlines()

    assert [line.split()[:2] for line in lines] == [[code.code, code.name] for code in catalogue()]
