"""One training step of torch.nn.Transformer, timed: the other side of transformer_against_torch.py.

Padded batches with padding masks, as nn.Transformer wants them. With --sorted the shards' idea: two halves of similar lengths, so that less
is padded; their gradients are summed. Prints one line of JSON.
"""

import argparse
import json
import math
import resource
import statistics
import time

import torch
from torch import nn

WIDTH = 256
SIZES = {"characters": (60, 4, 1024), "translator": (8000, 3, 512)}


class Model(nn.Module):
    def __init__(self, vocabulary, layers, feed_forward, dropout):
        super().__init__()
        self.source, self.target = nn.Embedding(vocabulary, WIDTH), nn.Embedding(vocabulary, WIDTH)
        self.stack = nn.Transformer(WIDTH, 4, layers, layers, feed_forward, dropout, batch_first=True, norm_first=True)
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
    model = Model(vocabulary, layers, feed_forward, arguments.dropout)
    adam = torch.optim.Adam(model.parameters(), lr=1e-3)
    batches = []
    for number, part in enumerate(parts):
        source, source_pad = padded([s for s, _ in part], vocabulary, number)
        inputs, target_pad = padded([t for _, t in part], vocabulary, number + 10)
        targets, _ = padded([t for _, t in part], vocabulary, number + 20)
        batches.append((source, source_pad, inputs, target_pad, targets.masked_fill(target_pad, -100)))
    total = sum(t for _, t in pairs)
    times, losses = [], []
    for step in range(arguments.steps + 1):
        start = time.perf_counter()
        adam.zero_grad()
        loss = 0.0
        for source, source_pad, inputs, target_pad, targets in batches:
            logits = model(source, source_pad, inputs, target_pad)
            part = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-100, label_smoothing=0.1, reduction="sum") / total
            part.backward()
            loss += part.item()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
        losses.append(loss)
        if step:
            times.append((time.perf_counter() - start) * 1e3)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(json.dumps({"ms": statistics.median(times), "best_ms": min(times), "peak_mb": peak, "first_loss": losses[0], "last_loss": losses[-1]}))


if __name__ == "__main__":
    main()
