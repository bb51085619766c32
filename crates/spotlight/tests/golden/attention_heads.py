"""torch's own attention: F.scaled_dot_product_attention and nn.MultiheadAttention.

A row holds its heads side by side: head h has the features h * D/heads to (h + 1) * D/heads. `weights` has shape (pairs x heads).
Masks are in the config, one 0 or 1 a pair; 1 means: may look. `causal` means: query i may look at keys j <= i, counted from 0 on both
sides also where there are more keys than queries or fewer. A query that may look nowhere gets zeros.
"""

import torch
import torch.nn.functional as F

from fixture import Case, pad, split, unpad

QUERY_LENGTHS = [2, 3, 1, 4]
MEMORY_LENGTHS = [5, 1, 3, 2]


def heads_of(rows, heads):
    """(rows x D) to (heads x rows x D/heads)"""
    return rows.reshape(len(rows), heads, -1).transpose(0, 1)


def scaled_dot(topic, name, query_lengths, memory_lengths, heads=1, causal=False, mask=None):
    """`weights` are not returned by torch here: they are computed plainly, shown to give the same context, and not part of the loss."""
    config = dict(query_lengths=query_lengths, memory_lengths=memory_lengths, heads=heads, causal=causal)
    case = Case(topic, name, **config, **({"mask": mask} if mask else {}))
    width = 3 * heads
    query = case.draw("query", sum(query_lengths), width)
    key = case.draw("key", sum(memory_lengths), width)
    value = case.draw("value", sum(memory_lengths), width)
    pairs = [queries * keys for queries, keys in zip(query_lengths, memory_lengths)]
    allowed_parts = split(torch.tensor(mask or [1] * sum(pairs)) == 1, pairs)
    contexts, weights = [], []
    for q, k, v, allowed in zip(
        split(query, query_lengths), split(key, memory_lengths), split(value, memory_lengths), allowed_parts
    ):
        q, k, v = (heads_of(rows, heads) for rows in (q, k, v))
        allowed = allowed.reshape(q.shape[1], k.shape[1])
        context = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed if mask else None, is_causal=causal)
        if causal:
            allowed = allowed.tril()
        plain = F.softmax((q @ k.transpose(1, 2) / q.shape[-1] ** 0.5).masked_fill(~allowed, float("-inf")), dim=-1).nan_to_num(0.0)
        assert torch.allclose(plain @ v, context, rtol=0, atol=1e-14)
        contexts.append(context.transpose(0, 1).reshape(q.shape[1], width))
        weights.append(plain.permute(1, 2, 0).reshape(-1, heads))
    case.given("weights", torch.cat(weights))
    case.output("context", torch.cat(contexts))
    return case


def multi_head(topic, name, memory_lengths=None, causal=False, key_width=4, value_width=4):
    """nn.MultiheadAttention with two heads over four features; self-attention when there is no memory. `weights` are each head's own.
    Projections are in_proj_weight (query, key, value stacked: 12 x 4) or, where key and value have other widths, q_proj_weight,
    k_proj_weight and v_proj_weight; in_proj_bias is stacked in both."""
    embed, heads = 4, 2
    query_lengths = QUERY_LENGTHS if memory_lengths else MEMORY_LENGTHS
    self_attention = memory_lengths is None
    memory_lengths = memory_lengths or query_lengths
    case = Case(
        topic, name, query_lengths=query_lengths, memory_lengths=memory_lengths, heads=heads, causal=causal,
        self_attention=self_attention, embed=embed, key_width=key_width, value_width=value_width,
    )
    module = torch.nn.MultiheadAttention(embed, heads, batch_first=True, kdim=key_width, vdim=value_width)
    case.parameters_of(module)
    query = case.draw("query", sum(query_lengths), embed)
    if self_attention:
        key = value = query
    else:
        key = case.draw("key", sum(memory_lengths), key_width)
        value = case.draw("value", sum(memory_lengths), value_width)
    padded = [pad(query, query_lengths), pad(key, memory_lengths), pad(value, memory_lengths)]
    is_padding = torch.arange(max(memory_lengths))[None, :] >= torch.tensor(memory_lengths)[:, None]
    hidden = torch.ones(max(query_lengths), max(memory_lengths), dtype=torch.bool).triu(1) if causal else None
    context, weights = module(
        *padded, key_padding_mask=is_padding, attn_mask=hidden, need_weights=True, average_attn_weights=False
    )
    packed_weights = [
        weights[item, :, :queries, :keys].permute(1, 2, 0).reshape(-1, heads)
        for item, (queries, keys) in enumerate(zip(query_lengths, memory_lengths))
    ]
    case.output("weights", torch.cat(packed_weights))
    case.output("context", unpad(context, query_lengths))
    return case


def cases(topic):
    lengths = dict(query_lengths=QUERY_LENGTHS, memory_lengths=MEMORY_LENGTHS)
    square = dict(query_lengths=MEMORY_LENGTHS, memory_lengths=MEMORY_LENGTHS)
    yield scaled_dot(topic, "scaled_dot", **lengths)
    yield scaled_dot(topic, "scaled_dot_causal", **square, causal=True)
    yield scaled_dot(topic, "scaled_dot_causal_rectangular", **lengths, causal=True)
    # sequences 2x5, 3x1, 1x3, 4x2; the second query of the second sequence and the last of the last may look nowhere
    mask = [1, 0, 1, 1, 0, 0, 0, 0, 1, 0] + [1, 0, 1] + [0, 1, 1] + [1, 1, 0, 1, 1, 0, 0, 0]
    yield scaled_dot(topic, "scaled_dot_masked", **lengths, mask=mask)
    yield scaled_dot(topic, "scaled_dot_two_heads", **lengths, heads=2)
    yield scaled_dot(topic, "scaled_dot_two_heads_causal", **square, heads=2, causal=True)
    yield multi_head(topic, "multi_head_self")
    yield multi_head(topic, "multi_head_self_causal", causal=True)
    yield multi_head(topic, "multi_head_cross", memory_lengths=MEMORY_LENGTHS)
    yield multi_head(topic, "multi_head_cross_other_widths", memory_lengths=MEMORY_LENGTHS, key_width=3, value_width=5)
