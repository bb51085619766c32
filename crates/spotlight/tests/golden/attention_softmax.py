"""What can stand in the place of the softmax: sparsemax, entmax, Luong's local attention, monotonic attention. Plain references.

Packing and names are those of `attention_scores.py`. The scores of local attention are dot products.
"""

import torch
import torch.nn.functional as F

from attention_scores import ALIGN, MEMORY, MEMORY_LENGTHS, QUERY_LENGTHS, VALUE, attend
from fixture import Case, split


def sparsemax(scores):
    """The nearest point of the simplex, row by row. Martins and Astudillo 2016, algorithm 1; autograd sees the support as fixed."""
    rows = []
    for row in scores:
        ordered = row.sort(descending=True).values
        sums = ordered.cumsum(0)
        size = torch.arange(1, len(row) + 1)
        support = int((1 + size * ordered > sums).sum())
        rows.append(torch.clamp(row - (sums[support - 1] - 1) / support, min=0))
    return torch.stack(rows)


def entmax(scores):
    """Entmax 1.5, row by row: max(s / 2 - t, 0)^2. Peters, Niculae, Martins 2019. The threshold is found by halving; then a Newton step, in which autograd sees how it moves
    with the scores."""
    rows = []
    for row in scores:
        half = row / 2
        low, high = half.detach().max() - 1, half.detach().max()
        for _ in range(200):
            middle = (low + high) / 2
            above = torch.clamp(half.detach() - middle, min=0).square().sum() > 1
            low, high = (middle, high) if above else (low, middle)
        root = torch.clamp(half - low, min=0)
        threshold = low + (root.square().sum() - 1) / (2 * root.detach().sum())
        rows.append(torch.clamp(half - threshold, min=0).square())
    return torch.stack(rows)


def over_axis(topic, name, normalise):
    """Scores straight to weights, one row of scores a sequence; length 1 among them."""
    case = Case(topic, name, memory_lengths=MEMORY_LENGTHS)
    scores = case.draw("scores", sum(MEMORY_LENGTHS), scale=0.7)
    case.output("weights", torch.cat([normalise(row[None, :])[0] for row in split(scores, MEMORY_LENGTHS)]))
    return case


def dot_case(topic, name, **config):
    case = Case(topic, name, query_lengths=QUERY_LENGTHS, memory_lengths=MEMORY_LENGTHS, **config)
    query = case.draw("query", sum(QUERY_LENGTHS), MEMORY, scale=0.5)
    memory = case.draw("memory", sum(MEMORY_LENGTHS), MEMORY)
    values = case.draw("values", sum(MEMORY_LENGTHS), VALUE)
    return case, query, memory, values


def with_dots(topic, name, normalise):
    case, query, memory, values = dot_case(topic, name)
    packed = (query, QUERY_LENGTHS), (memory, MEMORY_LENGTHS)
    attend(case, lambda q, k: q @ k.T, values, *packed, normalise=normalise)
    return case


def windowed_softmax(scores, centres, half_width):
    """Softmax over the positions s with |s - centre| <= half_width; zeros outside, and all zeros if no position is inside."""
    positions = torch.arange(scores.shape[1])
    inside = (positions[None, :] - centres[:, None]).abs() <= half_width
    weights = F.softmax(scores.masked_fill(~inside, float("-inf")), dim=-1)
    return torch.where(inside.any(dim=1, keepdim=True), weights.nan_to_num(0.0), 0.0)


def local_m(topic):
    """Luong, Pham, Manning 2015, section 3.2, local-m: the window stands around the current step i. Positions count from 0.
    The last query of the second and of the last sequence is past the end of its memory: its window is empty, weights and context are zero."""
    half_width = 1
    case, query, memory, values = dot_case(topic, "local_m", half_width=half_width)
    attend(
        case,
        lambda q, k: q @ k.T,
        values,
        (query, QUERY_LENGTHS),
        (memory, MEMORY_LENGTHS),
        normalise=lambda scores: windowed_softmax(scores, torch.arange(len(scores)), half_width),
    )
    return case


def local_p(topic):
    """Luong, Pham, Manning 2015, equations 9 and 10, local-p: centre p_i = S sigmoid(v . tanh(W q_i)) with S the length of the memory,
    weights = softmax inside the window |s - p_i| <= D, times exp(-(s - p_i)^2 / (2 (D/2)^2)), not normalised again.
    The window has no gradient of its own; the Gaussian has. `centre.weight` is W (A x query), `centre.v` is v."""
    half_width = 2
    case, query, memory, values = dot_case(topic, "local_p", half_width=half_width)
    w = case.draw("centre.weight", ALIGN, MEMORY)
    v = case.draw("centre.v", ALIGN)
    centres, scores, weights, contexts = [], [], [], []
    for q, k, value in zip(split(query, QUERY_LENGTHS), split(memory, MEMORY_LENGTHS), split(values, MEMORY_LENGTHS)):
        centre = len(k) * torch.sigmoid(torch.tanh(q @ w.T) @ v)
        distance = torch.arange(len(k))[None, :] - centre[:, None]
        gaussian = torch.exp(-(distance**2) / (2 * (half_width / 2) ** 2))
        centres.append(centre)
        scores.append(q @ k.T)
        weights.append(windowed_softmax(scores[-1], centre, half_width) * gaussian)
        contexts.append(weights[-1] @ value)
    case.given("centres", torch.cat(centres))
    case.given("scores", torch.cat([each.reshape(-1) for each in scores]))
    case.output("weights", torch.cat([each.reshape(-1) for each in weights]))
    case.output("context", torch.cat(contexts))
    return case


def monotonic_expected(scores):
    """Raffel et al. 2017, equations 8 to 10, as a plain loop. p = sigmoid(score) is the chance to stop at a position, and
    weights[i, j] = p[i, j] sum_{k <= j} weights[i-1, k] prod_{k <= l < j} (1 - p[i, l]); before the first query all weight is on
    position 0. What never stops is lost: weights may sum to less than one."""
    stop = torch.sigmoid(scores)
    previous = [torch.ones(())] + [torch.zeros(())] * (scores.shape[1] - 1)
    rows = []
    for p in stop:
        arriving = torch.zeros(())  # the chance that position j is looked at
        row = []
        for j in range(len(p)):
            arriving = arriving * (1 - p[j - 1] if j > 0 else 0) + previous[j]
            row.append(p[j] * arriving)
        previous = row
        rows.append(torch.stack(row))
    return torch.stack(rows)


def monotonic(topic):
    """`scores` are inputs here, one a pair."""
    case = Case(topic, "monotonic", query_lengths=QUERY_LENGTHS, memory_lengths=MEMORY_LENGTHS)
    pairs = [queries * keys for queries, keys in zip(QUERY_LENGTHS, MEMORY_LENGTHS)]
    scores = case.draw("scores", sum(pairs))
    values = case.draw("values", sum(MEMORY_LENGTHS), VALUE)
    weights, contexts = [], []
    for score, keys, value in zip(split(scores, pairs), MEMORY_LENGTHS, split(values, MEMORY_LENGTHS)):
        weights.append(monotonic_expected(score.reshape(-1, keys)))
        contexts.append(weights[-1] @ value)
    case.output("weights", torch.cat([each.reshape(-1) for each in weights]))
    case.output("context", torch.cat(contexts))
    return case


def cases(topic):
    for name, normalise in [("sparsemax", sparsemax), ("entmax", entmax)]:
        yield over_axis(topic, name, normalise)
        yield with_dots(topic, f"{name}_dot", normalise)
    yield local_m(topic)
    yield local_p(topic)
    yield monotonic(topic)
