"""
This package is concerned with the sessions in which input was recorded, host by host.
"""
