"""nn.RNN (tanh), nn.GRU and nn.LSTM over sequences of uneven lengths.

Parameters have torch's names: weight_ih_l0 (gates*H x D), weight_hh_l0 (gates*H x H), bias_ih_l0, bias_hh_l0, and the same with
_l1 (second layer, D = H times directions) and _reverse. Gate order: GRU reset, update, new; LSTM input, forget, cell, output.

`input` is packed rows (N x D), `output` packed rows (N x H times directions). `h0`, `h_n` (LSTM also `c0`, `c_n`) are
(layers times directions, items, H) in torch's order: layer 0 forward, layer 0 reverse, layer 1 forward, ... Without h0 in the
case the recurrence starts from zeros. The loss includes output and final states.
"""

import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from fixture import Case, pad, split, unpad

LENGTHS = [5, 1, 3, 2]
INPUT, HIDDEN = 3, 4

SHAPES = {
    "single": dict(num_layers=1, bidirectional=False),
    "bidirectional": dict(num_layers=1, bidirectional=True),
    "two_layers": dict(num_layers=2, bidirectional=False),
    "two_layers_bidirectional": dict(num_layers=2, bidirectional=True),
}


def cases(kind):
    def of_topic(topic):
        for name, shape in SHAPES.items():
            yield recurrence(topic, name, kind, shape, given_state=False)
        for name in ("single", "two_layers_bidirectional"):
            yield recurrence(topic, f"{name}_given_state", kind, SHAPES[name], given_state=True)

    return of_topic


def recurrence(topic, name, kind, shape, given_state):
    case = Case(topic, name, lengths=LENGTHS, input_size=INPUT, hidden_size=HIDDEN, **shape)
    module = case.parameters_of(kind(INPUT, HIDDEN, batch_first=True, **shape))
    rows = case.draw("input", sum(LENGTHS), INPUT)
    state = None
    if given_state:
        scans = shape["num_layers"] * (2 if shape["bidirectional"] else 1)
        state = case.draw("h0", scans, len(LENGTHS), HIDDEN)
        if kind is torch.nn.LSTM:
            state = (state, case.draw("c0", scans, len(LENGTHS), HIDDEN))

    packed = pack_padded_sequence(pad(rows, LENGTHS), LENGTHS, batch_first=True, enforce_sorted=False)
    output, final = module(packed, state)
    output = unpad(pad_packed_sequence(output, batch_first=True)[0], LENGTHS)
    check_one_by_one(module, rows, state, output)

    case.output("output", output)
    if kind is torch.nn.LSTM:
        case.output("h_n", final[0])
        case.output("c_n", final[1])
    else:
        case.output("h_n", final)
    return case


def check_one_by_one(module, rows, state, output):
    """A batch must give what each sequence gives by itself."""
    alone = []
    for item, sequence in enumerate(split(rows, LENGTHS)):
        item_state = state
        if isinstance(state, tuple):
            item_state = tuple(part[:, item].contiguous() for part in state)
        elif state is not None:
            item_state = state[:, item].contiguous()
        alone.append(module(sequence, item_state)[0])
    assert torch.allclose(torch.cat(alone), output, rtol=0, atol=1e-14)


TOPICS = {"rnn": cases(torch.nn.RNN), "gru": cases(torch.nn.GRU), "lstm": cases(torch.nn.LSTM)}
