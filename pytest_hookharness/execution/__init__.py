"""
The machine: the only room that starts processes and writes files.

It knows the values of ``model`` and nothing of hosts, agents or judges.
"""
