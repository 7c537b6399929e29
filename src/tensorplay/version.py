"""The version, and those of what PyTorch may be built with: nothing is built here."""

from . import __version__ as __version__

debug = False
cuda = hip = xpu = None
