"""
This package is concerned with rules: what hosts differ in, as values.

Middle floor: hosts. Each module is one topic. A default is the plain thing that most hosts do.
"""
