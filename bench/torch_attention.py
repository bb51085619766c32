"""The PyTorch side of attention_against_torch.py: F.scaled_dot_product_attention on one sequence, timed.

    pip install torch numpy
    python torch_attention.py --length 1024 --causal --backward --threads 2 --repeats 20
"""

import argparse
import json
import resource
import statistics
import time

import torch
import torch.nn.functional as F

HEADS, WIDTH = 8, 64


def make_call(length, causal, backward):
    """One measured call as a function."""
    torch.manual_seed(0)
    query, key, value = (torch.randn(1, HEADS, length, WIDTH, requires_grad=backward) for _ in range(3))
    gradient = torch.randn(1, HEADS, length, WIDTH) if backward else None

    def call():
        context = F.scaled_dot_product_attention(query, key, value, is_causal=causal)
        if backward:
            query.grad = key.grad = value.grad = None
            context.backward(gradient)

    return call


def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--length", type=int, required=True)
    parser.add_argument("--causal", action="store_true")
    parser.add_argument("--backward", action="store_true", help="forward and backward instead of forward alone")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--repeats", type=int, required=True)
    arguments = parser.parse_args()

    imported_mb = peak_mb()
    torch.set_num_threads(arguments.threads)
    warm_up = make_call(min(arguments.length, 1024), arguments.causal, arguments.backward)
    for _ in range(3):
        warm_up()
    call = make_call(arguments.length, arguments.causal, arguments.backward)
    times = []
    for _ in range(arguments.repeats):
        begin = time.perf_counter()
        call()
        times.append((time.perf_counter() - begin) * 1000)
    print(json.dumps({
        "ms": statistics.median(times), "best_ms": min(times), "peak_mb": peak_mb(), "imported_mb": imported_mb,
    }))


if __name__ == "__main__":
    main()
