"""
Execution: the only package that starts processes and writes files.

It knows the values of ``model`` and nothing of hosts, agents or judging. What differs between operating
systems is in ``platform``.
"""
