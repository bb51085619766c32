"""One training step of torch.nn.Transformer, timed: the other side of transformer_against_torch.py.

Padded batches with padding masks, as nn.Transformer wants them. With --sorted the shards' idea: two halves of similar lengths, so that less
is padded; their gradients are summed. With --packed the rows of all sequences lie next to each other in every linear layer, norm and feed-forward
layer, and only attention sees a padded batch: the packed form that PyTorch has no module for. Prints one line of JSON.
"""

import argparse
import json
import math
import resource
import statistics
import time

import torch
from torch import nn

WIDTH, HEADS = 256, 4
SIZES = {"characters": (60, 4, 1024), "translator": (8000, 3, 512)}


class Model(nn.Module):
    def __init__(self, vocabulary, layers, feed_forward, dropout):
        super().__init__()
        self.source, self.target = nn.Embedding(vocabulary, WIDTH), nn.Embedding(vocabulary, WIDTH)
        self.stack = nn.Transformer(WIDTH, HEADS, layers, layers, feed_forward, dropout, batch_first=True, norm_first=True)
        self.output = nn.Linear(WIDTH, vocabulary)

    def positions(self, length):
        place = torch.arange(length)[:, None]
        angle = place * torch.exp(torch.arange(0, WIDTH, 2) * (-math.log(10000.0) / WIDTH))
        return torch.stack([angle.sin(), angle.cos()], dim=-1).reshape(length, WIDTH)

    def embed(self, table, ids):
        return table(ids) * math.sqrt(WIDTH) + self.positions(ids.shape[1])

    def forward(self, source, source_pad, target, target_pad):
        causal = torch.triu(torch.ones(target.shape[1], target.shape[1], dtype=torch.bool), diagonal=1)
        rows = self.stack(
            self.embed(self.source, source), self.embed(self.target, target), tgt_mask=causal, tgt_is_causal=True,
            src_key_padding_mask=source_pad, tgt_key_padding_mask=target_pad, memory_key_padding_mask=source_pad,
        )
        return self.output(rows)


class Places:
    """Where the packed rows of sequences stand in a padded batch, and what attention may see of it."""

    def __init__(self, pad):
        self.batch, self.steps = pad.shape
        self.rows = (~pad).flatten().nonzero().squeeze(1)
        self.seen = (~pad)[:, None, None, :]

    def spread(self, packed, heads):
        table = packed.new_zeros(self.batch * self.steps, packed.shape[1]).index_copy(0, self.rows, packed)
        return table.view(self.batch, self.steps, heads, -1).transpose(1, 2)

    def gather(self, heads):
        return heads.transpose(1, 2).flatten(2).flatten(0, 1)[self.rows]


class PackedLayer(nn.Module):
    """An encoder or decoder layer, pre-norm, over packed rows."""

    def __init__(self, feed_forward, dropout, looks):
        super().__init__()
        self.own, self.own_out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        if looks:
            self.query, self.memory, self.memory_out = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(3 if looks else 2))
        self.middle = nn.Sequential(nn.Linear(WIDTH, feed_forward), nn.ReLU(), nn.Dropout(dropout), nn.Linear(feed_forward, WIDTH))
        self.dropout, self.p = nn.Dropout(dropout), dropout

    def attend(self, q, k, v, own, other, mask):
        q, k, v = own.spread(q, HEADS), other.spread(k, HEADS), other.spread(v, HEADS)
        return own.gather(nn.functional.scaled_dot_product_attention(q, k, v, mask, self.p if self.training else 0.0))

    def forward(self, x, own, causal, memory=None, other=None):
        mask = own.seen & causal if causal is not None else own.seen
        x = x + self.dropout(self.own_out(self.attend(*self.own(self.norms[0](x)).chunk(3, 1), own, own, mask)))
        if memory is not None:
            k, v = self.memory(memory).chunk(2, 1)
            x = x + self.dropout(self.memory_out(self.attend(self.query(self.norms[1](x)), k, v, own, other, other.seen)))
        return x + self.dropout(self.middle(self.norms[-1](x)))


class Packed(Model):
    """The same model, packed."""

    def __init__(self, vocabulary, layers, feed_forward, dropout):
        nn.Module.__init__(self)
        self.source, self.target = nn.Embedding(vocabulary, WIDTH), nn.Embedding(vocabulary, WIDTH)
        self.encoder = nn.ModuleList(PackedLayer(feed_forward, dropout, False) for _ in range(layers))
        self.decoder = nn.ModuleList(PackedLayer(feed_forward, dropout, True) for _ in range(layers))
        self.ends = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2))
        self.output = nn.Linear(WIDTH, vocabulary)

    def forward(self, source, source_pad, target, target_pad):
        read, written = Places(source_pad), Places(target_pad)
        causal = torch.ones(written.steps, written.steps, dtype=torch.bool).tril()[None, None]
        x = self.embed(self.source, source).flatten(0, 1)[read.rows]
        for layer in self.encoder:
            x = layer(x, read, None)
        memory = self.ends[0](x)
        y = self.embed(self.target, target).flatten(0, 1)[written.rows]
        for layer in self.decoder:
            y = layer(y, written, causal, memory, read)
        return self.output(self.ends[1](y))


def padded(lengths, vocabulary, seed):
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(0, vocabulary, (len(lengths), max(lengths)), generator=generator)
    pad = torch.arange(max(lengths))[None] >= torch.tensor(lengths)[:, None]
    return ids, pad


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", choices=SIZES, default="characters")
    parser.add_argument("--lengths", required=True, help="a file with the lists source and target")
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--sorted", action="store_true")
    parser.add_argument("--packed", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    vocabulary, layers, feed_forward = SIZES[arguments.size]
    with open(arguments.lengths) as file:
        lengths = json.load(file)
    pairs = list(zip(lengths["source"], lengths["target"]))
    parts = [pairs]
    if arguments.sorted:
        pairs.sort(key=lambda pair: pair[1] + pair[0])
        parts = [pairs[: len(pairs) // 2], pairs[len(pairs) // 2 :]]
    torch.manual_seed(1)
    model = (Packed if arguments.packed else Model)(vocabulary, layers, feed_forward, arguments.dropout)
    adam = torch.optim.Adam(model.parameters(), lr=1e-3)
    batches = []
    for number, part in enumerate(parts):
        source, source_pad = padded([s for s, _ in part], vocabulary, number)
        inputs, target_pad = padded([t for _, t in part], vocabulary, number + 10)
        targets, _ = padded([t for _, t in part], vocabulary, number + 20)
        batches.append((source, source_pad, inputs, target_pad, targets.masked_fill(target_pad, -100)))
    total = sum(t for _, t in pairs)
    times, busy, losses = [], [], []
    for step in range(arguments.steps + 1):
        start, before = time.perf_counter(), time.process_time()
        adam.zero_grad()
        loss = 0.0
        for source, source_pad, inputs, target_pad, targets in batches:
            logits = model(source, source_pad, inputs, target_pad)
            wanted = targets[~target_pad] if arguments.packed else targets.flatten()
            part = nn.functional.cross_entropy(logits.flatten(0, -2), wanted, ignore_index=-100, label_smoothing=0.1, reduction="sum") / total
            part.backward()
            loss += part.item()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
        losses.append(loss)
        if step:
            times.append((time.perf_counter() - start) * 1e3)
            busy.append((time.process_time() - before) * 1e3)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(json.dumps({"ms": statistics.median(times), "best_ms": min(times), "cpu_ms": statistics.median(busy), "peak_mb": peak, "first_loss": losses[0], "last_loss": losses[-1]}))


if __name__ == "__main__":
    main()
