"""
This package is concerned with judgement: what a trace means, and whether the promises were kept.

Middle floor: judging. Pure; values go in and values come out.
"""
