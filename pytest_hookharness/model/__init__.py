"""
Values: what passes between the rooms of the harness.

Nothing here acts, reads a file or imports another part of the project.
"""
