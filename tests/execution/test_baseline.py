"""What is subtracted from a record, with plain records."""

import pytest

from pytest_hookharness.execution.reads.baseline import without_startup
from pytest_hookharness.model.reads import (
    LookKind,
    Mention,
    PathLook,
    ProgramReads,
    Reads,
    ReadSource,
    SourceKind,
)

LIBRARY = PathLook("/lib/x86_64-linux-gnu/libc.so.6", LookKind.OPENED, existed=True)


@pytest.mark.parametrize(
    ("program", "left"), [("/usr/bin/sed", 0), ("/usr/bin/mktemp", 1), ("/opt/parsed", 1)]
)
def test_the_name_of_a_file_that_sed_writes_is_no_source(program, left):
    """What the C library draws at a start is subtracted once, for sed always: it makes a name of it."""
    drawn = ReadSource(SourceKind.RANDOM, "getrandom 8 1", times=2)
    seen = ProgramReads(program, looks=(LIBRARY,), sources=(drawn,))

    (kept,) = without_startup(Reads(programs=(seen,)), {}).programs

    assert sum(source.times for source in kept.sources) == left


@pytest.mark.parametrize(("word", "left"), [("$^T", 1), ("-M ", 1), ("$$", 0)])
def test_the_time_at_which_perl_started(word, left):
    """What Perl asks for when it starts is not subtracted if a script has a word that shows that time."""
    seen = ProgramReads("/usr/bin/perl", sources=(ReadSource(SourceKind.CLOCK, "realtime"),), invoked="perl")
    record = Reads(programs=(seen,), mentions=(Mention("/p/gate", word),))

    (kept,) = without_startup(record, {"perl": (Reads(programs=(seen,)),)}).programs

    assert sum(source.times for source in kept.sources) == left
