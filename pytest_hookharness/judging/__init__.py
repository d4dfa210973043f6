"""
Judging: from the trace of a run to its verdict, findings and broken expectations.

Nothing here touches the machine: the modules take values and return values.
"""
