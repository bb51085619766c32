"""Makes audit.json: what SciPy and NumPy say, for the measures of the audit to equal.

pip install scipy numpy
python audit.py
"""

import json
from pathlib import Path

import numpy as np
import scipy
from scipy.spatial.distance import jensenshannon
from scipy.stats import kendalltau

draw = np.random.default_rng(7)


def tau(a, b):
    return {"a": list(map(float, a)), "b": list(map(float, b)), "tau": float(kendalltau(a, b).statistic)}


def divergence(p, q):
    # The distance is the root of the divergence; natural logarithms.
    return {"p": list(map(float, p)), "q": list(map(float, q)), "divergence": float(jensenshannon(p, q) ** 2)}


def weights(n, sharpness=1.0):
    x = np.exp(sharpness * draw.normal(size=n))
    return x / x.sum()


def conicity(rows):
    mean = rows.mean(axis=0)
    cosines = np.abs(rows @ mean) / (np.linalg.norm(rows, axis=1) * np.linalg.norm(mean))
    return {"width": rows.shape[1], "rows": rows.astype(np.float32).ravel().tolist(), "conicity": float(cosines.mean())}


def interval(x):
    mean, error = x.mean(), x.std(ddof=0) / np.sqrt(len(x))
    return {"numbers": x.tolist(), "mean": float(mean), "low": float(mean - 1.959964 * error), "high": float(mean + 1.959964 * error)}


cases = {
    "made_by": f"audit.py, SciPy {scipy.__version__}",
    "tau": [tau(draw.normal(size=n), draw.normal(size=n)) for n in (2, 3, 8, 25, 60)]
    # Ties, as weights after a sparse softmax have them.
    + [tau(draw.integers(0, 4, size=n), draw.integers(0, 3, size=n)) for n in (6, 20, 50)]
    + [tau([0, 0, 0.5, 0.5], [1, 2, 3, 3])],
    "divergence": [divergence(weights(n), weights(n)) for n in (2, 5, 40)]
    + [divergence(weights(12, 4.0), weights(12, 4.0)), divergence([0, 0.5, 0.5], [1, 0, 0]), divergence([0, 1.0], [0, 1.0])],
    "conicity": [conicity(draw.normal(size=(n, w)).astype(np.float32) + m) for n, w, m in ((1, 4, 0), (6, 3, 0), (20, 10, 1.5))],
    "interval": [interval(draw.normal(2.0, 1.0, size=300)), interval(draw.random(500))],
}
Path(__file__).with_name("audit.json").write_text(json.dumps(cases) + "\n")
