"""
This package is concerned with values: what passes between the rooms of the harness.

Ground floor. Nothing here acts, reads a file or imports another part of the project.
"""
