"""
Leave one out
=============

Leave out each sample in turn, fit the others, and predict it. For least squares this costs one fit, by the hat
matrix; for a likelihood it costs a few Newton steps a sample, and every score comes with a proved bound. Here are
logistic regressions of the first hundred patients of the heart data. Too small a penalty believes the samples too
much, too large a one too little.
"""

import matplotlib.pyplot as plt
import numpy as np

import convexcls as cc

data = cc.load("heart_scale").data
X, y = data.matrix[:100], data.given[:100]
penalties = np.geomspace(0.01, 100, 9)
likelihood, errors = [], []
for l2 in penalties:
    left_out = cc.leave_one_out(cc.LogisticMLE(X, y, l2=l2))
    likelihood.append(left_out.log_likelihoods.sum())
    errors.append(int(left_out.errors.sum()))
print(left_out)

figure, axes = plt.subplots(1, 2, figsize=(12, 4.2), layout="constrained")
axes[0].semilogx(penalties, likelihood, "o-")
axes[0].set(title="Log-likelihood of the samples left out", xlabel="ridge penalty l2", ylabel="log-likelihood")
axes[1].semilogx(penalties, errors, "s--", color="tab:orange")
axes[1].set(title="Errors on the samples left out", xlabel="ridge penalty l2", ylabel="errors of 100")
