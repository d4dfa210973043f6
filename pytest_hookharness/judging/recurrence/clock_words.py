"""Clock words: the names by which code gets the time, in Python and in other languages, as patterns."""

from __future__ import annotations

PYTHON_CLOCK = (
    "(?:(?:process_|thread_)?time|monotonic|perf_counter|clock_gettime)(?:_ns)?|(?:local|gm|c|asc|strf)time"
    "|(?:utc)?now|today|formatdate|uuid1|default_timer|times|getmtime|getctime|getatime|date_time_string"
)
# Attributes of the records of Python's logging, and of the status of files.
PYTHON_RECORD = frozenset(
    ("created", "relativeCreated", "asctime", "msecs", "st_mtime", "st_ctime", "st_atime", "st_mtime_ns")
)
OTHER_CLOCK = (
    r"\bDate\b|\bDateTimeFormat\b|`\s*date\b|\$\^T\b|(?<![\w$])-[MAC](?=[\s\"'$(_])"
    r"|\bBASETIME\b|\bperformance\.(?:now|timeOrigin)\b"
    r"|\b(?:local|gm|sys|strf|hr|up)?times?\b(?!\s*=>)|\bTime\.now\b|\b(?:[mca]|birth)time(?:Ms|Ns)?\b|\blastModified\b"
)
_MODULES = "datetime|timeit|clock|st_[mca]time(?:_ns)?"
# Code with one of these may ask for the time.
ANY_CLOCK = rf"\b(?:{PYTHON_CLOCK}|{_MODULES})\b|{OTHER_CLOCK}"
