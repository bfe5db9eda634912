"""Small data sets that the tests share, and every model declared on them."""

import numpy as np

import convexcls as cc

#: Separable in the plane, with an exact hard margin: optimum 10/9.
SEPARABLE = (
    np.array([[1.0, 2.0], [2.0, 0.0], [0.0, 1.0], [-1.0, -1.0], [3.0, 1.0], [-2.0, 0.5]]),
    np.array([1, 1, 0, 0, 1, 0]),
)


def overlapping(n: int = 30, d: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two noisy classes that overlap."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X @ rng.normal(size=d) + 1.5 * rng.normal(size=n) > 0, 1, 0)
    y[:2] = [0, 1]
    return X, y


def every_model() -> dict[str, cc.Problem]:
    """Each model, in each of its variants, on data on which it has a solution."""
    X, y = SEPARABLE
    Z, t = overlapping()
    weights = 0.5 + np.arange(len(t)) % 3
    three = (t + np.arange(len(t))) % 3
    return {
        "hard-margin": cc.HardMarginSVM(X, y),
        "hard-margin-no-intercept": cc.HardMarginSVM(
            [[1.0, 2.0], [2.0, 1.0], [-1.0, -3.0]], [1, 1, 0], intercept=False
        ),
        "max-margin": cc.MaxMargin(X, y),
        "soft-margin": cc.SoftMarginSVM(Z, t, C=0.7),
        "soft-margin-no-intercept": cc.SoftMarginSVM(Z, t, C=0.7, intercept=False),
        "soft-margin-weighted": cc.SoftMarginSVM(Z, t, C=2.0, sample_weight=weights),
        "squared-hinge": cc.SoftMarginSVM(Z, t, C=0.5, loss="squared_hinge"),
        "kernel-hard": cc.KernelSVM(Z, t, kernel="rbf", gamma=2.0),
        "kernel-soft": cc.KernelSVM(Z, t, kernel="rbf", gamma=0.5, C=0.7),
        "kernel-no-intercept": cc.KernelSVM(Z, t, kernel="poly", degree=2, coef0=1.0, C=0.3, intercept=False),
        "kernel-weighted": cc.KernelSVM(Z, t, kernel="linear", C=2.0, sample_weight=weights),
        "kernel-precomputed": cc.KernelSVM(X @ X.T + np.eye(6), y, kernel="precomputed"),
        "logistic": cc.LogisticMLE(Z, t),
        "logistic-ridge": cc.LogisticMLE(Z, t, l2=0.5, sample_weight=weights),
        "logistic-no-intercept": cc.LogisticMLE(Z, t, intercept=False),
        "least-squares": cc.LeastSquares(Z, t),
        "least-squares-01": cc.LeastSquares(Z, t, coding="01"),
        "ridge": cc.LeastSquares(Z, t, l2=2.0, sample_weight=weights),
        "least-absolute": cc.LeastAbsolute(Z, t),
        "least-absolute-weighted": cc.LeastAbsolute(Z, t, coding="01", sample_weight=weights),
        "perceptron": cc.PerceptronCriterion(Z, t),
        "fisher": cc.FisherLDA(Z, t),
        "fisher-classes": cc.FisherLDA(Z, three),
        "softmax": cc.SoftmaxMLE(Z, three),
        "softmax-ridge": cc.SoftmaxMLE(Z, three, l2=0.5, sample_weight=weights),
        "softmax-no-intercept": cc.SoftmaxMLE(Z, three, intercept=False),
        "gaussian": cc.GaussianMLE(Z, three),
        "gaussian-by-class": cc.GaussianMLE(Z, three, covariance="by-class", unbiased=True, sample_weight=weights),
        "exponential": cc.EmpiricalRisk(Z, t, loss="exponential", l2=0.1),
        "squared-l1": cc.EmpiricalRisk(Z, t, loss="squared", l1=1.0),
        "hinge-l1": cc.EmpiricalRisk(Z, t, loss="hinge", l1=0.5),
    }
