"""
Reports: how an outcome reads.

Pure; an outcome goes in and text comes out. Whatever a hook, an agent or a
scenario wrote is hostile text until `plain` has been over it.
"""
