"""
Rules: what hosts differ in, as values.

Each module is one topic. A default is the plain thing that most hosts do.
"""
