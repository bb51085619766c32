"""Loads weights of ours into torch.nn modules by their names, and compares the outputs.

    pip install torch numpy safetensors
    cargo run --release -p spotlight --example export_for_torch -- DIR
    python bench/load_in_torch.py DIR

DIR holds `model.safetensors` and `check.json`. The model is embedding -> recurrent layers -> linear:

    embedding.weight                                     into nn.Embedding
    encoder.weight_ih_l0, encoder.weight_hh_l0, ...      into nn.GRU, nn.LSTM or nn.RNN (by the number of gates), with as many layers
                                                         (_l1, ...) and directions (_reverse) as there are names
    output.weight, output.bias                           into nn.Linear

and `check.json` says what we compute with it: `ids` (the tokens of all sequences one after another), `lengths` (how many belong to
each), and `output` (one row of numbers a token). Every tensor of the file must find its place, and nothing is transposed or renamed.
"""

import argparse
import json
import pathlib
import sys

try:
    import torch
    from safetensors.torch import load_file
    from torch import nn
except ImportError as missing:
    sys.exit(f"{missing}. This check needs: pip install torch numpy safetensors")

GATES = {1: nn.RNN, 3: nn.GRU, 4: nn.LSTM}
TOLERANCE = 1e-5  # relative to the largest output; the weights are f32


def build(weights):
    """The torch modules that fit the names and shapes, not loaded yet."""
    hidden = weights["encoder.weight_hh_l0"].shape[1]
    kind = GATES[weights["encoder.weight_hh_l0"].shape[0] // hidden]
    layers = 1
    while f"encoder.weight_ih_l{layers}" in weights:
        layers += 1
    encoder = kind(
        weights["encoder.weight_ih_l0"].shape[1], hidden, num_layers=layers, batch_first=True,
        bidirectional="encoder.weight_ih_l0_reverse" in weights,
    )
    rows, columns = weights["output.weight"].shape
    return nn.ModuleDict({
        "embedding": nn.Embedding(*weights["embedding.weight"].shape),
        "encoder": encoder,
        "output": nn.Linear(columns, rows, bias="output.bias" in weights),
    })


def outputs(model, ids, lengths):
    """Sequence by sequence; packed rows, without padding. A sequence of length 0 has no rows."""
    with torch.no_grad():
        rows = [model["output"](model["encoder"](model["embedding"](part))[0]) for part in ids.split(lengths) if len(part)]
    return torch.cat(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, metavar="DIR")
    folder = parser.parse_args().folder

    weights = load_file(folder / "model.safetensors")
    check = json.loads((folder / "check.json").read_text())
    model = build(weights)
    model.load_state_dict(weights, strict=True)

    theirs = outputs(model, torch.tensor(check["ids"]), check["lengths"])
    ours = torch.tensor(check["output"]).reshape(theirs.shape)
    error = ((ours - theirs).abs().max() / theirs.abs().max()).item()
    print(f"{model}\n{len(weights)} tensors loaded; {len(ours)} rows compared; largest difference {error:.1e} of the largest output")
    if not error <= TOLERANCE:
        sys.exit(f"That is more than {TOLERANCE:.0e}: torch computes something else with these weights.")


if __name__ == "__main__":
    main()
