"""
This module is concerned with sites: a file that every Python loads first, and that another has a right to be.

Middle floor: execution. The text is part of files that are put before hooks, and runs in their Pythons.
"""

# Loads the ``sitecustomize`` of the site itself, which ours would hide; ``own`` is the folder of ours.
MAKE_WAY = """\
def _make_way(own):
    import sys
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    sys.path[:] = [place for place in sys.path if place != own]
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = sys.modules["sitecustomize"] = module_from_spec(spec)
    spec.loader.exec_module(module)
"""
