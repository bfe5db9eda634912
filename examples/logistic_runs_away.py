"""
A likelihood without a maximum
==============================

On classes that can be separated the likelihood grows for ever as the coefficients grow. With ever smaller ridge
penalties the solution exists, and its length runs away like the logarithm of 1/l2, while its direction settles.
Without a penalty the verdict is "unattained", and the proof is the direction. A solver that stops at a small gradient
would have reported some point on the way.
"""

import matplotlib.pyplot as plt
import numpy as np

import convexcls as cc

data = cc.load("twenty_points").data
bare = cc.LogisticMLE(data.matrix, data.given).solve()
print(bare.certificate.explain())

penalties = np.geomspace(1e-8, 1, 17)
path = cc.path(cc.LogisticMLE, data.matrix, data.given, l2=penalties)
lengths = [np.linalg.norm(s.coef) for s in path.solutions]

figure, ax = plt.subplots(figsize=(7, 4.2))
ax.semilogx([s.problem.parameters["l2"] for s in path.solutions], lengths, "o-")
ax.set(xlabel="ridge penalty l2", ylabel="‖coef‖", title="Logistic regression on separated classes runs away as l2 → 0")
ax.grid(alpha=0.3)
