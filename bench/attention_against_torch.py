"""Streaming attention, ours and PyTorch's F.scaled_dot_product_attention, in one run: time and peak memory.

    pip install torch numpy
    cargo build --release -p spotlight --example attention_bench
    python bench/attention_against_torch.py [--length N]... [--json]

One sequence, 8 heads of 64, f32; causal and not; forward, and forward with backward. Every measurement is a process of its own, the
sides take turns, and PyTorch has the better of one and two threads, found in a short run (for the longest sequence: at a quarter
of its length). A figure is the median over the rounds. Memory is the peak of the whole process, the imported library with it.

Nothing is installed or built by this script.
"""

import argparse
import json

from sides import TORCH_THREADS, example_binary, largest, median, need_torch, note, print_table, run, run_torch

REPEATS = {128: 2000, 1024: 60, 4096: 8, 16384: 2}  # calls a process on either side, so that a round of one setting takes a second or more
LONGEST_TRIAL = 4096


def flags(length, causal, backward, threads):
    chosen = [("--causal", causal), ("--backward", backward)]
    return ["--length", length, *(flag for flag, wanted in chosen if wanted), "--threads", threads]


def compare(binary, length, causal, backward, rounds, threads):
    """Runs both sides of one setting, taking turns, and returns the object for it."""

    def torch_side(at_length, torch_threads):
        return run_torch(
            "torch_attention.py", *flags(at_length, causal, backward, torch_threads), "--repeats", REPEATS[at_length]
        )

    trial = min(length, LONGEST_TRIAL)
    torch_threads = min(TORCH_THREADS, key=lambda count: torch_side(trial, count)["ms"])
    ours, theirs = [], []
    for _ in range(rounds):
        if binary:
            ours.append(run([binary, *flags(length, causal, backward, threads), "--repeats", REPEATS[length], "--json"]))
        theirs.append(torch_side(length, torch_threads))
    ours_ms, torch_ms = median(ours, "ms"), median(theirs, "ms")
    return {
        "length": length,
        "causal": causal,
        "backward": backward,
        "ours_ms": ours_ms,
        "torch_ms": torch_ms,
        "ratio": torch_ms / ours_ms if ours else None,
        "ours_mb": largest(ours, "peak_mb"),
        "torch_mb": largest(theirs, "peak_mb"),
        "torch_threads": torch_threads,
        "torch_imported_mb": median(theirs, "imported_mb"),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--length", type=int, action="append", choices=REPEATS, help="may be given several times (default: all)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2, help="threads of our side (default: 2)")
    parser.add_argument("--json", action="store_true", help="one object a line instead of the table")
    arguments = parser.parse_args()

    need_torch()
    binary = example_binary("attention_bench")
    results = []
    for length in arguments.length or REPEATS:
        for causal in (False, True):
            for backward in (False, True):
                note(f"length {length}{', causal' if causal else ''}{', with backward' if backward else ''}")
                results.append(compare(binary, length, causal, backward, arguments.rounds, arguments.threads))

    if arguments.json:
        for each in results:
            print(json.dumps(each))
        return
    print_table(
        ["length", "causal", "pass", "ours ms", "torch ms", "ratio", "ours MB", "torch MB", "torch threads"],
        [
            [
                each["length"], "yes" if each["causal"] else "no", "both" if each["backward"] else "forward",
                each["ours_ms"], each["torch_ms"], each["ratio"], each["ours_mb"], each["torch_mb"], each["torch_threads"],
            ]
            for each in results
        ],
    )
    print(f"\nratio: torch ms / ours ms. Of torch's memory {results[0]['torch_imported_mb']:.0f} MB are there after `import torch`.")


if __name__ == "__main__":
    main()
