"""One training step of a GRU encoder-decoder with additive attention: ours and PyTorch's, in one run.

    pip install torch numpy
    cargo build --release -p spotlight --example engine_bench
    cargo build --release -p spotlight --example engine_bench --features time-products --target-dir target/products
    python bench/against_torch.py [--size S]... [--json]
    python bench/against_torch.py --scaling [--json]      # ours alone: how cost grows with batch, length and hidden size

The model, the same on both sides: embeddings for source and target; a one-layer GRU encoder; a GRU decoder that starts from the
encoder's last state and attends in Bahdanau's order, v . tanh(W s + U h) with alignment size H; logits from [state ; context];
mean cross-entropy over the real target positions; clipping at norm 1; Adam. A step is forward, backward, clip and update.

The lengths are uneven, uniform from half to full, and the same on both sides: this script writes them to a file
`{"source": [one a sequence], "target": [...]}` that both read. Sides run in processes of their own and take turns; PyTorch has the
better of one and two threads, found in a short run. A figure is the median over the rounds of each round's median step.
Peak memory is the whole process, the imported library with it. The share of our time spent in matrix products comes from the second
build, which counts it, in a run of its own; without that build it is left out.

Nothing is installed or built by this script.
"""

import argparse
import json
import math
import pathlib
import random
import tempfile

from sides import ROOT, TORCH_THREADS, example_binary, largest, median, need_torch, note, print_table, run, run_torch

SIZES = {
    "XS": dict(vocabulary=40, embed=32, hidden=32, batch=32, source=24, target=11),
    "S": dict(vocabulary=60, embed=64, hidden=128, batch=64, source=24, target=11),
    "M": dict(vocabulary=8000, embed=256, hidden=512, batch=64, source=15, target=15),
}
STEPS = {"XS": 150, "S": 40, "M": 6}  # a few seconds a round
SCALING = {"batch": [16, 32, 64, 128, 256], "length": [8, 16, 32, 64, 128], "hidden": [32, 64, 128, 256, 512]}


def write_lengths(folder, batch, source, target):
    """Lengths uniform from half to full, the same at every run."""
    generator = random.Random(f"{batch} {source} {target}")
    draw = lambda full: [generator.randint((full + 1) // 2, full) for _ in range(batch)]
    path = pathlib.Path(folder) / f"lengths-{batch}-{source}-{target}.json"
    path.write_text(json.dumps({"source": draw(source), "target": draw(target)}))
    return path


def compare(name, binary, counting, folder, rounds, threads):
    """Runs both sides of one size, taking turns, and returns the object for it."""
    size = SIZES[name]
    lengths = write_lengths(folder, size["batch"], size["source"], size["target"])

    def torch_side(torch_threads, steps):
        return run_torch(
            "torch_seq2seq.py", "--vocabulary", size["vocabulary"], "--embed", size["embed"], "--hidden", size["hidden"],
            "--lengths", lengths, "--threads", torch_threads, "--steps", steps,
        )

    def our_side(binary):
        return run([binary, "--size", name, "--threads", threads, "--steps", STEPS[name], "--lengths", lengths, "--json"])

    trial_steps = max(3, STEPS[name] // 3)
    torch_threads = min(TORCH_THREADS, key=lambda count: torch_side(count, trial_steps)["ms"])
    ours, theirs = [], []
    for number in range(rounds):
        note(f"{name}: round {number + 1} of {rounds}")
        if binary:
            ours.append(our_side(binary))
        theirs.append(torch_side(torch_threads, STEPS[name]))

    ours_ms, torch_ms = median(ours, "ms"), median(theirs, "ms")
    return {
        "size": name,
        "ours_ms": ours_ms,
        "torch_ms": torch_ms,
        "ratio": torch_ms / ours_ms if ours else None,
        "ours_mb": largest(ours, "peak_mb"),
        "torch_mb": largest(theirs, "peak_mb"),
        "ours_best_ms": min((each["best_ms"] for each in ours), default=None),
        "torch_best_ms": min(each["best_ms"] for each in theirs),
        "torch_threads": torch_threads,
        "torch_imported_mb": median(theirs, "imported_mb"),
        "matmul_share": our_side(counting)["matmul_share"] if counting else None,
    }


def print_comparison(results):
    print_table(
        ["size", "ours ms", "torch ms", "ratio", "ours MB", "torch MB", "ours best", "torch best", "torch threads", "in products"],
        [
            [
                each["size"], each["ours_ms"], each["torch_ms"], each["ratio"], each["ours_mb"], each["torch_mb"],
                each["ours_best_ms"], each["torch_best_ms"], each["torch_threads"],
                None if each["matmul_share"] is None else f"{each['matmul_share']:.0%}",
            ]
            for each in results
        ],
    )
    print(f"\nratio: torch ms / ours ms. Of torch's memory {results[0]['torch_imported_mb']:.0f} MB are there after `import torch`.")


def scaling(binary, folder, threads):
    """Yields our cost with one of batch, length and hidden size changed, the rest as in size S. `length` is source and target."""
    size = SIZES["S"]
    for what, values in SCALING.items():
        before = None
        for value in values:
            note(f"{what} {value}")
            batch = value if what == "batch" else size["batch"]
            source, target = (value, value) if what == "length" else (size["source"], size["target"])
            lengths = write_lengths(folder, batch, source, target)
            result = run([
                binary, "--size", "S", f"--{what}", value, "--threads", threads, "--steps", 10, "--lengths", lengths, "--json",
            ])
            growth = math.log2(result["ms"] / before) if before else None
            before = result["ms"]
            yield {"scaling": what, "value": value, "ours_ms": result["ms"], "ours_mb": result["peak_mb"], "growth": growth}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", action="append", choices=SIZES, help="may be given several times (default: all)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2, help="threads of our side (default: 2)")
    parser.add_argument("--scaling", action="store_true", help="our side alone, growing batch, length and hidden size")
    parser.add_argument("--json", action="store_true", help="one object a line instead of the table")
    arguments = parser.parse_args()

    binary = example_binary("engine_bench")
    counting = ROOT / "target" / "products" / "release" / "examples" / "engine_bench"
    counting = counting if counting.exists() else None
    with tempfile.TemporaryDirectory() as folder:
        if arguments.scaling:
            if binary is None:
                parser.exit(1)
            results = list(scaling(binary, folder, arguments.threads))
        else:
            need_torch()
            results = [
                compare(name, binary, counting, folder, arguments.rounds, arguments.threads) for name in arguments.size or SIZES
            ]

    if arguments.json:
        for each in results:
            print(json.dumps(each))
    elif arguments.scaling:
        rows = [[each["scaling"], each["value"], each["ours_ms"], each["ours_mb"], each["growth"]] for each in results]
        print_table(["growing", "to", "ours ms", "ours MB", "growth"], rows)
        print("\ngrowth: 1 means twice the cost for twice the size, 2 four times.")
    else:
        print_comparison(results)


if __name__ == "__main__":
    main()
