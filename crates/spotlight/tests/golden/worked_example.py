"""Writes `src/attention/numbers/worked_example.toml`: the vectors of the worked example, with numpy's matrices of seed 42 in full digits.

    pip install numpy
    python worked_example.py            # write the file, print what numpy computes from it

`np.random.seed` and `np.random.randn` are numpy's legacy generator, whose numbers are the same in every version.
"""

import pathlib

import numpy as np

MEMORY = [[0.3, 0.11, 0.9, 0.5], [0.8, 0.3, 0.7, 0.1], [0.5, 0.3, 0.4, 0.8]]
QUERY = [0.2, 0.7, 0.9, 0.3]

np.random.seed(42)
COMBINE = np.random.randn(6, 8)
OUTPUT = np.random.randn(5, 6)


def table(name, rows):
    """A TOML array of arrays, one row a line; Python prints floats so that they read back exactly."""
    return f"{name} = [\n" + "".join(f"  {[float(x) for x in row]},\n" for row in rows) + "]\n"


text = f"""# The attention of three encoder states and one decoder state, then a softmax over five words.
# Written by tests/golden/worked_example.py; Wc and Ws are numpy's randn after seed 42.
score = "dot"
{table("memory", MEMORY)}query = {QUERY}

[prediction]
# h = tanh(Wc [c; q])
{table("combine", COMBINE)}# p = softmax(Ws h)
{table("output", OUTPUT)}"""

path = pathlib.Path(__file__).parents[2] / "src/attention/numbers/worked_example.toml"
path.write_text(text)

scores = np.dot(MEMORY, QUERY)
weights = np.exp(scores) / np.sum(np.exp(scores))
context = np.sum(weights[:, np.newaxis] * MEMORY, axis=0)
logits = OUTPUT @ np.tanh(COMBINE @ np.concatenate([context, QUERY]))
words = np.exp(logits - np.max(logits))
for name, values in (("scores", scores), ("weights", weights), ("context", context), ("words", words / np.sum(words))):
    print(name, [float(x) for x in values])
