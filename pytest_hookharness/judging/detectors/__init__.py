"""
Detectors: an agent that does the same again and learns nothing from it.

Pure. What is a loop, and what is polling or batch work, is written down in
``docs/loop-detection.md``. Everything here goes forward action by action with a memory of fixed size,
so that a hook can keep it in a file.
"""
