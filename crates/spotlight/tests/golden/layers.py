"""Layers that work row by row: nn.Linear, nn.LayerNorm, gelu, cosine similarity, nn.Embedding."""

import torch
import torch.nn.functional as F

from fixture import Case


def linear(topic):
    """`weight` is (out x in), as nn.Linear keeps it."""
    for name, bias in (("with_bias", True), ("without_bias", False)):
        case = Case(topic, name, in_features=3, out_features=5, bias=bias)
        module = case.parameters_of(torch.nn.Linear(3, 5, bias=bias))
        case.output("output", module(case.draw("input", 6, 3)))
        yield case


def layer_norm(topic):
    """The last row of the second case is constant: its variance is zero, and eps decides."""
    for name, features in (("random", 5), ("with_a_constant_row", 4)):
        case = Case(topic, name, features=features, eps=1e-5)
        module = case.parameters_of(torch.nn.LayerNorm(features, eps=1e-5))
        values = case.random(6, features, scale=2.0)
        if name == "with_a_constant_row":
            values[-1] = 0.5
        case.output("output", module(case.leaf("input", values)))
        yield case


def gelu(topic):
    """`erf`: x * normal cdf(x), exactly. `tanh`: 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))."""
    for name, approximate in (("erf", "none"), ("tanh", "tanh")):
        case = Case(topic, name, approximate=approximate)
        values = torch.cat([torch.linspace(-6.0, 6.0, 25), torch.tensor([-40.0, -1e-3, 1e-3, 40.0])])
        case.output("output", F.gelu(case.leaf("input", values), approximate=approximate))
        yield case


def cosine(topic):
    """Row by row: left . right / (|left| |right|). The second case has rows of very different sizes."""
    for name, scales in (("random", [1.0] * 6), ("uneven_sizes", [1e-3, 1e-2, 1.0, 10.0, 1e2, 1e3])):
        case = Case(topic, name, eps=1e-8)
        left = case.leaf("left", case.random(6, 4) * torch.tensor(scales)[:, None])
        right = case.leaf("right", case.random(6, 4) * torch.tensor(scales[::-1])[:, None])
        case.output("output", F.cosine_similarity(left, right, dim=1, eps=1e-8))
        yield case


def embedding(topic):
    """Id 5 comes three times, 0 and 3 never: their gradient rows are zero."""
    ids = [5, 1, 2, 5, 4, 6, 1, 5]
    case = Case(topic, "repeated_ids", ids=ids, vocabulary=7, features=3)
    module = case.parameters_of(torch.nn.Embedding(7, 3))
    case.output("output", module(torch.tensor(ids)))
    yield case


TOPICS = {"linear": linear, "layer_norm": layer_norm, "gelu": gelu, "cosine": cosine, "embedding": embedding}
