"""Makes the reference numbers beside this file: what PyTorch computes in f64, as JSON for the Rust tests.

    pip install torch numpy
    python make.py                  # write all topics
    python make.py gru attention    # write some
    python make.py --check          # write nothing; is what is committed what PyTorch says here?

One file a topic:

    {"made_by": ..., "torch": version,
     "cases": [{"name": ..., "config": {...},
                "tensors": {"name": {"shape": [...], "data": [row-major numbers]}}}]}

`fixture.py` says what stands in a case. Numbers may differ in the last digits between machines; `--check` allows 1e-12.
"""

import argparse
import json
import pathlib
import sys

try:
    import torch
except ImportError:
    sys.exit("This script needs PyTorch, for its numbers: pip install torch numpy")

import attention_heads
import attention_scores
import attention_softmax
import decoder
import fixture
import layers
import losses
import optim
import recurrent
import transformer



def attention(topic):
    """Three modules fill this file: the scores, what can replace the softmax, and torch's own multi-head attention."""
    for part in (attention_scores, attention_softmax, attention_heads):
        yield from part.cases(topic)


TOPICS = {**recurrent.TOPICS, **layers.TOPICS, **losses.TOPICS, **optim.TOPICS, "attention": attention, **decoder.TOPICS, **transformer.TOPICS}
FOLDER = pathlib.Path(__file__).parent


def make(topic):
    return {
        "made_by": "crates/spotlight/tests/golden/make.py",
        "torch": torch.__version__.split("+")[0],
        "cases": [case.as_json() for case in TOPICS[topic](topic)],
    }


def differences(topic):
    """What differs between the file of a topic and a fresh computation, as lines to print."""
    here = {case["name"]: case for case in make(topic)["cases"]}
    there = {case["name"]: case for case in json.loads((FOLDER / f"{topic}.json").read_text())["cases"]}
    if here.keys() != there.keys():
        yield f"{topic}: cases {sorted(here.keys() ^ there.keys())} are on one side only"
    for name in here.keys() & there.keys():
        ours, committed = here[name], there[name]
        if ours["config"] != committed["config"] or ours["tensors"].keys() != committed["tensors"].keys():
            yield f"{topic}/{name}: config or list of tensors changed"
            continue
        for tensor, values in ours["tensors"].items():
            new = torch.tensor(values["data"])
            old = torch.tensor(committed["tensors"][tensor]["data"])
            if new.shape != old.shape or not torch.allclose(new, old, rtol=1e-12, atol=1e-12):
                yield f"{topic}/{name}: {tensor} differs"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help=f"some of: {', '.join(TOPICS)} (default: all)")
    parser.add_argument("--check", action="store_true", help="compare with the committed files and write nothing")
    arguments = parser.parse_args()
    if unknown := set(arguments.topics) - TOPICS.keys():
        parser.error(f"no such topic: {', '.join(sorted(unknown))}; there are {', '.join(TOPICS)}")

    found = []
    for topic in arguments.topics or TOPICS:
        if arguments.check:
            found += differences(topic)
        else:
            fixture.write(FOLDER / f"{topic}.json", make(topic))
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
