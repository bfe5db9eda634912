"""
Losses as functions of the margin
=================================

A classifier f is right about a sample where the margin m = y f(x) is positive. What we would like to count is the
zero-one loss, which is not convex. Every other curve stands in for it. Hinge, squared hinge, logistic and exponential
loss only fall; squared and absolute loss rise again, so that a sample far on the right side is punished, too.
"""

import numpy as np

from convexcls.losses import BY_NAME
from convexcls.plots import LossesDisplay

margins = np.array([-1.0, 0.0, 1.0, 3.0])
print("loss at m =", margins)
for name, loss in BY_NAME.items():
    print(f"{name:<14}", loss.value(margins).round(4))

LossesDisplay.from_losses()
