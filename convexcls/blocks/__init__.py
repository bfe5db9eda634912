"""Samples by block: files that need not fit in memory, read a block at a time.

``pieces`` says what a block of a file is, and notices a file that changes; ``columnar``, ``arrays`` and ``sparse`` read
the formats; ``reading`` checks all blocks once and gives the models X and y; ``convert`` writes blocks that are read
fast. Imports ``rows``, ``tables``, ``data`` and ``engines``.
"""

from convexcls.blocks.convert import Conversion, convert_blocks
from convexcls.blocks.reading import BlockSamples, SamplesByBlock, read_blocks

__all__ = ["BlockSamples", "Conversion", "SamplesByBlock", "convert_blocks", "read_blocks"]
