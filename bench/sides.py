"""What the comparisons share: running one side of a measurement in a process of its own, and printing tables.

Each side prints one line of JSON with at least `ms` (median of a call or a step), `best_ms` and `peak_mb` (peak resident memory).
A process of its own for every measurement makes the peak memory its own, and this process imports nothing large: on Linux a child
starts with the peak of the process that made it.
"""

import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import sys

BENCH = pathlib.Path(__file__).resolve().parent
ROOT = BENCH.parent
TORCH_THREADS = (1, 2)  # the thread counts PyTorch may choose from


def need_torch():
    """Ends the program with advice if PyTorch is not there. Does not import it."""
    if importlib.util.find_spec("torch") is None:
        sys.exit("This comparison needs PyTorch in the Python that runs it: pip install torch numpy")


def example_binary(name):
    """The path of one of our examples, or None with a note on how to build it."""
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    binary = target / "release" / "examples" / name
    if binary.exists():
        return binary
    print(
        f"{binary} is not there, so our side is left out. Build it with:\n"
        f"    cargo build --release -p spotlight --example {name}",
        file=sys.stderr,
    )
    return None


def run(command):
    """Runs one side and returns the object it prints last."""
    command = [str(part) for part in command]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\nended with code {done.returncode}:\n{done.stderr.strip()}")
    try:
        return json.loads(done.stdout.strip().splitlines()[-1])
    except (IndexError, json.JSONDecodeError):
        sys.exit(f"{' '.join(command)}\ndid not end with a line of JSON but with:\n{done.stdout.strip()[-500:]}")


def run_torch(script, *arguments):
    """Runs the PyTorch side, a script beside this one."""
    return run([sys.executable, BENCH / script, *arguments])


def median(results, key):
    """The median over rounds; None where a side was left out or does not tell."""
    values = [result[key] for result in results if key in result]
    return statistics.median(values) if values else None


def largest(results, key):
    return max(result[key] for result in results) if results else None


def note(text):
    """Progress goes to standard error; standard output holds results alone."""
    print(text, file=sys.stderr, flush=True)


def print_table(header, rows):
    """Columns as wide as they must be; numbers with sensible digits; a dash where there is nothing."""
    cells = [header] + [[show(value) for value in row] for row in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    for row in cells:
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths)))


def show(value):
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.0f}" if value >= 100 else f"{value:.2f}"
    return str(value)
