"""What every topic shares: drawing the inputs of a case, taking its gradients, and writing the file.

A case is built in three moves:

    case = Case("a name", lengths=[5, 1, 3, 2])      # the config: numbers and lists a reader needs
    x = case.draw("input", 11, 3)                    # leaves: inputs and parameters, whose gradients we want
    case.output("output", f(x))                      # results; each enters the loss with random weights of its own

and `case.as_json()` runs the backward pass of

    loss = sum over the outputs of sum(output * loss_weights.output)

and adds `grad.NAME` for every leaf. An output without `loss_weights` is given for comparison only and is not part of the loss.

All leaves are drawn from a generator seeded by the names of topic and case, so adding a case changes no other, and rounded
to three decimals, so the files are short and a reader can copy a number by hand. Everything is f64.

Sequences are packed: the rows of sequence 0, then those of sequence 1, and so on, without padding. What belongs to a
(query, key) pair is packed in the same spirit: sequence by sequence, in it query by query, in it key by key.
"""

import json
import zlib

import torch

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)


class Case:
    def __init__(self, topic, name, **config):
        self.name = name
        self.config = config
        self.tensors = {}
        self.leaves = {}
        self.loss = torch.zeros(())
        self.generator = torch.Generator().manual_seed(zlib.crc32(f"{topic}/{name}".encode()))

    def random(self, *shape, scale=1.0):
        """Normal numbers rounded to three decimals, the same at every run."""
        return torch.round(torch.randn(*shape, generator=self.generator) * scale, decimals=3)

    def given(self, name, values):
        """A tensor that the case needs but that has no gradient."""
        assert name not in self.tensors, f"{self.name}: {name} is there twice"
        self.tensors[name] = values.detach()
        return self.tensors[name]

    def leaf(self, name, values):
        """An input or a parameter, whose gradient will be in the file."""
        self.leaves[name] = self.given(name, values).clone().requires_grad_()
        return self.leaves[name]

    def draw(self, name, *shape, scale=1.0):
        """A leaf of random numbers."""
        return self.leaf(name, self.random(*shape, scale=scale))

    def parameters_of(self, module, scale=0.5):
        """Random numbers for all parameters of a torch module, under torch's own names."""
        for name, parameter in module.named_parameters():
            parameter.data = self.given(name, self.random(*parameter.shape, scale=scale)).clone()
            self.leaves[name] = parameter
        return module

    def output(self, name, values):
        """A result that enters the loss, weighted by random numbers."""
        weights = self.given(f"loss_weights.{name}", self.random(*values.shape))
        self.given(name, values)
        self.loss = self.loss + (values * weights).sum()

    def scalar_loss(self, name, value):
        """A result that is itself the loss."""
        self.given(f"loss_weights.{name}", torch.ones(()))
        self.given(name, value)
        self.loss = self.loss + value

    def as_json(self):
        if self.leaves:
            self.loss.backward()
        for name, leaf in self.leaves.items():
            assert leaf.grad is not None, f"{self.name}: the loss does not depend on {name}"
            self.given(f"grad.{name}", leaf.grad)
        for name, values in self.tensors.items():
            assert torch.isfinite(values).all(), f"{self.name}: {name} is not finite"
        tensors = {
            name: {"shape": list(values.shape), "data": values.reshape(-1).tolist()}
            for name, values in self.tensors.items()
        }
        return {"name": self.name, "config": self.config, "tensors": tensors}


def write(path, document):
    """JSON with one line a tensor, so that a changed number is one changed line. Python prints floats so that they read back exactly."""
    compact = lambda value: json.dumps(value, separators=(",", ":"))
    lines = ["{", f' "made_by": {compact(document["made_by"])},', f' "torch": {compact(document["torch"])},', ' "cases": [']
    for case in document["cases"]:
        lines += ["  {", f'   "name": {compact(case["name"])},', f'   "config": {json.dumps(case["config"])},', '   "tensors": {']
        lines += [f"    {compact(name)}: {compact(tensor)}," for name, tensor in case["tensors"].items()]
        lines[-1] = lines[-1].removesuffix(",")
        lines += ["   }", "  },"]
    lines[-1] = "  }"
    lines += [" ]", "}"]
    path.write_text("\n".join(lines) + "\n")


def offsets(lengths):
    """Where each sequence begins and ends among the packed rows."""
    begin = 0
    for length in lengths:
        yield slice(begin, begin + length)
        begin += length


def split(rows, lengths):
    """The sequences of packed rows, one tensor each."""
    return [rows[rows_of] for rows_of in offsets(lengths)]


def pad(rows, lengths):
    """Packed rows as torch wants them: (sequence, position, feature), zeros behind the end."""
    return torch.nn.utils.rnn.pad_sequence(split(rows, lengths), batch_first=True)


def unpad(padded, lengths):
    """The inverse of `pad`."""
    return torch.cat([padded[item, :length] for item, length in enumerate(lengths)])
