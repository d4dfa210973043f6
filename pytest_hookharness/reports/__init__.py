"""
This package is concerned with reports: how an outcome reads.

Middle floor: reports. Pure; an outcome goes in and text comes out. Whatever a hook, an agent or a
scenario wrote is hostile text until `plain` has been over it.
"""
