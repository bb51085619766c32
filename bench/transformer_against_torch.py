"""A training step of a Transformer, ours and torch.nn.Transformer's, in one run: time and peak memory.

    pip install torch numpy
    cargo build --release -p spotlight --example transformer_bench
    python bench/transformer_against_torch.py [--size characters|translator] [--rounds 3] [--growth] [--json]

`characters`: 4 + 4 layers of 256 features, 4 heads, 1,024 in the middle, 400 words of uneven length, as in Wu, Cotterell and Hulden, 2021.
`translator`: 3 + 3 layers, 512 in the middle, 8,000 subwords, 64 sentences. Both sides have the same lengths. Forward, backward, clip and
Adam; f32. PyTorch has padded batches with masks, in one piece and sorted into two, and a packed form in which only attention is padded; the
best of the three counts, and the better of one and two threads. Every measurement is a process of its own, and the sides take turns. A figure is the
median over the rounds.

`--growth`: 64 words of 8 characters, and the same with one of 256 among them: how much dearer a step becomes.

Nothing is installed or built by this script.
"""

import argparse
import itertools
import json
import random
import tempfile

from sides import TORCH_THREADS, example_binary, largest, median, need_torch, note, print_table, run, run_torch

COUNTS = {"characters": (400, 4, 12), "translator": (64, 6, 24)}  # sequences, shortest, usual longest


def uneven(size):
    """Lengths of both sides: most between the two bounds, one in forty twice as long."""
    count, low, high = COUNTS[size]
    chance = random.Random(1)
    draw = lambda: chance.randint(low, high) * (2 if chance.random() < 1 / 40 else 1)
    return {"source": [draw() for _ in range(count)], "target": [draw() for _ in range(count)]}


WAYS = {"padded": [], "sorted": ["--sorted"], "packed": ["--packed"]}


def compare(binary, size, rounds, dropout, lengths=None, ways=WAYS):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(lengths or uneven(size), file)
        file.flush()
        common = ["--size", size, "--lengths", file.name, "--dropout", dropout]

        def torch_side(threads, way, steps):
            return run_torch("torch_transformer.py", *common, "--threads", threads, "--steps", steps, *WAYS[way])

        threads, way = min(itertools.product(TORCH_THREADS, ways), key=lambda each: torch_side(*each, 2)["ms"])
        ours, theirs = [], []
        for _ in range(rounds):
            if binary:
                ours.append(run([binary, *common, "--threads", 2, "--steps", 5]))
            theirs.append(torch_side(threads, way, 5))
    ours_ms, torch_ms = median(ours, "ms"), median(theirs, "ms")
    return {
        "size": size,
        "dropout": dropout,
        "ours_ms": ours_ms,
        "torch_ms": torch_ms,
        "ratio": torch_ms / ours_ms if ours else None,
        "ours_mb": largest(ours, "peak_mb"),
        "torch_mb": largest(theirs, "peak_mb"),
        "torch_threads": threads,
        "torch_way": way,
    }


def growth(binary, rounds):
    """One long word among many short ones, on our side and on each of PyTorch's."""
    short = {"source": [8] * 64, "target": [8] * 64}
    long = {"source": [8] * 63 + [256], "target": [8] * 63 + [256]}
    results = []
    for way in ("padded", "packed"):
        note(f"growth, {way}")
        one, other = (compare(binary, "characters", rounds, 0.0, lengths, [way]) for lengths in (short, long))
        results.append({
            "way": way, "ours_short_ms": one["ours_ms"], "ours_long_ms": other["ours_ms"], "ours_growth": other["ours_ms"] / one["ours_ms"],
            "torch_short_ms": one["torch_ms"], "torch_long_ms": other["torch_ms"], "torch_growth": other["torch_ms"] / one["torch_ms"],
        })
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", choices=COUNTS, action="append", help="may be given several times (default: both)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--dropout", type=float, default=0.3)
    parser.add_argument("--growth", action="store_true", help="one long word among many short ones instead")
    parser.add_argument("--json", action="store_true", help="one object a line instead of the table")
    arguments = parser.parse_args()
    need_torch()
    binary = example_binary("transformer_bench")
    if arguments.growth:
        for each in growth(binary, arguments.rounds):
            print(json.dumps(each))
        return
    results = []
    for size in arguments.size or COUNTS:
        note(size)
        results.append(compare(binary, size, arguments.rounds, arguments.dropout))
    if arguments.json:
        for each in results:
            print(json.dumps(each))
        return
    print_table(
        ["size", "ours ms", "torch ms", "ratio", "ours MB", "torch MB", "torch threads", "its best way"],
        [
            [
                each["size"], each["ours_ms"], each["torch_ms"], each["ratio"], each["ours_mb"], each["torch_mb"], each["torch_threads"],
                each["torch_way"],
            ]
            for each in results
        ],
    )


if __name__ == "__main__":
    main()
