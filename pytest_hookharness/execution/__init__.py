"""
This package is concerned with the machine: the only room that starts processes and writes files.

Middle floor: execution. It knows the values of ``model`` and nothing of hosts, agents or judges.
"""
