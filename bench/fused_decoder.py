"""The additive attention decoder as one fused node, and composed of small operations: one training step of the same model, in one run.

    cargo build --release -p spotlight --example engine_bench
    python bench/fused_decoder.py [--size S]... [--json]

The model and the sizes are those of `against_torch.py`; both sides start from the same weights and must end at the same loss. They take turns; a figure is the
median over the rounds of each round's median step. Encoder, output and update are the same on both sides, so the ratio is that of a whole step.
"""

import argparse
import json

from sides import example_binary, largest, median, note, print_table, run

STEPS = {"XS": 60, "S": 15, "M": 3}


def compare(binary, size, rounds, threads):
    command = [binary, "--size", size, "--threads", threads, "--steps", STEPS[size]]
    fused, composed = [], []
    for number in range(rounds):
        note(f"{size}: round {number + 1} of {rounds}")
        fused.append(run(command))
        composed.append(run([*command, "--composed"]))
    losses = [fused[0]["last_loss"], composed[0]["last_loss"]]
    if abs(losses[0] - losses[1]) > 1e-3 * abs(losses[0]):
        raise SystemExit(f"{size}: the two sides do not compute the same: loss {losses[0]} and {losses[1]}")
    return {
        "size": size,
        "fused_ms": median(fused, "ms"),
        "composed_ms": median(composed, "ms"),
        "ratio": median(composed, "ms") / median(fused, "ms"),
        "fused_mb": largest(fused, "peak_mb"),
        "composed_mb": largest(composed, "peak_mb"),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", action="append", choices=STEPS, help="may be given several times (default: all)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", action="store_true", help="one object a line instead of the table")
    arguments = parser.parse_args()
    binary = example_binary("engine_bench")
    if binary is None:
        parser.exit(1)
    results = [compare(binary, size, arguments.rounds, arguments.threads) for size in arguments.size or STEPS]
    if arguments.json:
        for each in results:
            print(json.dumps(each))
    else:
        print_table(["size", "fused ms", "composed ms", "ratio", "fused MB", "composed MB"], [list(each.values()) for each in results])


if __name__ == "__main__":
    main()
