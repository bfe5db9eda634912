"""
Losses
======

Test.
"""
print(1)
