"""
The sessions in which input was recorded, host by host.
"""
