"""
Judgement: what a trace means, and whether the promises were kept.

Pure; values go in and values come out.
"""
