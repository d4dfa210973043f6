"""
This module is concerned with the lines of shell scripts: those that can be run, and those that were.

Middle floor: lines. Pure.
"""
