"""Every score, followed by a softmax over the memory and the weighted sum, written out plainly.

For each sequence b: scores[i, j] = score(query i of b, key j of b), weights[i] = softmax(scores[i]), context[i] = sum_j weights[i, j] value j.

`query` (packed by query_lengths), `memory` (packed by memory_lengths; the keys), `values` (the same rows as memory).
`scores` and `weights` have one number a (query, key) pair: sequence by sequence, query by query, key by key.
Query-free scores have one query a sequence; for them a pair is a position of the memory.
"""

import torch
import torch.nn.functional as F

from fixture import Case, split

QUERY_LENGTHS = [2, 3, 1, 4]
MEMORY_LENGTHS = [5, 1, 3, 2]
QUERY, MEMORY, VALUE, ALIGN = 3, 4, 2, 5


def attend(case, score, values, *packed, normalise=lambda scores: F.softmax(scores, dim=-1)):
    """Runs one sequence after the other. `packed` are (rows, lengths) pairs, handed to `score` sequence by sequence."""
    scores, weights, contexts = [], [], []
    for *parts, value in zip(*(split(rows, lengths) for rows, lengths in packed), split(values, MEMORY_LENGTHS)):
        scores.append(score(*parts))  # (queries, keys)
        weights.append(normalise(scores[-1]))
        contexts.append(weights[-1] @ value)
    case.given("scores", torch.cat([each.reshape(-1) for each in scores]))
    case.output("weights", torch.cat([each.reshape(-1) for each in weights]))
    case.output("context", torch.cat(contexts))


def with_query(topic, name, parameters, score, query=QUERY, **config):
    """A case of a score with a query. `parameters` are names and shapes; `score` gets query rows, key rows and the parameters."""
    case = Case(topic, name, query_lengths=QUERY_LENGTHS, memory_lengths=MEMORY_LENGTHS, **config)
    drawn = [case.draw(label, *shape) for label, shape in parameters.items()]
    queries = case.draw("query", sum(QUERY_LENGTHS), query)
    memory = case.draw("memory", sum(MEMORY_LENGTHS), MEMORY)
    values = case.draw("values", sum(MEMORY_LENGTHS), VALUE)
    attend(case, lambda q, k: score(q, k, *drawn), values, (queries, QUERY_LENGTHS), (memory, MEMORY_LENGTHS))
    return case


def query_free(topic, name, parameters, score):
    """A case of a score that asks nothing: pooling of each sequence into one row. Scores, weights and context have one query."""
    case = Case(topic, name, memory_lengths=MEMORY_LENGTHS)
    drawn = [case.draw(label, *shape) for label, shape in parameters.items()]
    memory = case.draw("memory", sum(MEMORY_LENGTHS), MEMORY)
    attend(case, lambda k: score(k, *drawn)[None, :], memory, (memory, MEMORY_LENGTHS))
    return case


def additive_score(q, k, w, u, v):
    """v . tanh(W q + U k). Bahdanau, Cho, Bengio 2015, appendix A.1.2."""
    return torch.tanh((q @ w.T)[:, None, :] + (k @ u.T)[None, :, :]) @ v


def normalised_additive_score(q, k, w, u, bias, v, g):
    """g v/|v| . tanh(W q + U k + b). Weight normalisation of v, as in Salimans and Kingma 2016."""
    return torch.tanh((q @ w.T)[:, None, :] + (k @ u.T)[None, :, :] + bias) @ (g * v / v.norm())


def concat_score(q, k, w, v):
    """v . tanh(W [q; k]). Luong, Pham, Manning 2015, section 3.1."""
    pairs = torch.cat([q[:, None, :].expand(-1, len(k), -1), k[None, :, :].expand(len(q), -1, -1)], dim=-1)
    return torch.tanh(pairs @ w.T) @ v


def location_features(previous, kernel):
    """f = F * previous weights (Chorowski et al. 2015, equation 8): (keys) and (filters x 1 x width) give (keys x filters).

    f[j, c] = sum_t kernel[c, 0, t] previous[j + t - (width - 1) / 2], zeros outside the sequence (torch's conv1d: no flip)."""
    return F.conv1d(previous[None, None, :], kernel, padding=kernel.shape[-1] // 2)[0].T


def location_aware(topic):
    """v . tanh(W q_i + U k_j + L f_ij), f_i from the weights of query i - 1; those of query 0 see `previous_weights`, one number a
    memory position. `location.kernel` is (filters x 1 x width), `location.weight` L is (A x filters)."""
    filters, width = 2, 3
    for name, query_lengths in (("location_aware_step", [1, 1, 1, 1]), ("location_aware", QUERY_LENGTHS)):
        case = Case(topic, name, query_lengths=query_lengths, memory_lengths=MEMORY_LENGTHS, filters=filters, width=width)
        w = case.draw("query.weight", ALIGN, QUERY)
        u = case.draw("memory.weight", ALIGN, MEMORY)
        v = case.draw("v", ALIGN)
        kernel = case.draw("location.kernel", filters, 1, width)
        location = case.draw("location.weight", ALIGN, filters)
        queries = case.draw("query", sum(query_lengths), QUERY)
        memory = case.draw("memory", sum(MEMORY_LENGTHS), MEMORY)
        values = case.draw("values", sum(MEMORY_LENGTHS), VALUE)
        start = torch.cat([F.softmax(case.random(length), dim=0) for length in MEMORY_LENGTHS])
        previous = case.leaf("previous_weights", start)

        all_weights, contexts = [], []
        for q, k, value, weights in zip(
            split(queries, query_lengths), *(split(rows, MEMORY_LENGTHS) for rows in (memory, values, previous))
        ):
            for query in q:
                inside = (w @ query) + k @ u.T + location_features(weights, kernel) @ location.T
                weights = F.softmax(torch.tanh(inside) @ v, dim=0)
                all_weights.append(weights)
                contexts.append(weights @ value)
        case.output("weights", torch.cat(all_weights))
        case.output("context", torch.stack(contexts))
        yield case


def cases(topic):
    yield query_free(topic, "linear", {"w": (MEMORY,)}, lambda k, w: k @ w)
    yield query_free(topic, "tanh_linear", {"w": (MEMORY,), "b": (1,)}, lambda k, w, b: torch.tanh(k @ w + b))
    yield query_free(  # Ilse, Tomczak, Welling 2018, equation 9
        topic, "gated", {"tanh.weight": (ALIGN, MEMORY), "gate.weight": (ALIGN, MEMORY), "w": (ALIGN,)},
        lambda k, v, u, w: (torch.tanh(k @ v.T) * torch.sigmoid(k @ u.T)) @ w,
    )
    projections = {"query.weight": (ALIGN, QUERY), "memory.weight": (ALIGN, MEMORY)}
    yield with_query(topic, "additive", {**projections, "v": (ALIGN,)}, additive_score)
    yield with_query(topic, "additive_normalised", {**projections, "bias": (ALIGN,), "v": (ALIGN,), "g": (1,)}, normalised_additive_score)
    yield with_query(topic, "dot", {}, lambda q, k: q @ k.T, query=MEMORY)
    yield with_query(topic, "general", {"weight": (QUERY, MEMORY)}, lambda q, k, w: q @ w @ k.T)
    yield with_query(topic, "concat", {"weight": (ALIGN, QUERY + MEMORY), "v": (ALIGN,)}, concat_score)
    yield with_query(
        topic, "cosine", {}, lambda q, k: F.cosine_similarity(q[:, None, :], k[None, :, :], dim=-1), query=MEMORY
    )
    yield from location_aware(topic)
