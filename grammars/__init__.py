"""The grammars, as data: read with `importlib.resources` by the one module that owns each."""
