"""A small attention decoder under teacher forcing, as a plain loop over the steps of each sequence.

Packed rows: `inputs` (embedded previous outputs y_i, by target_lengths), `memory` (by source_lengths); one row a sequence: `s0`
(for the LSTM also `cell0`). Outputs, one row a target position: `states`, `contexts` (for the LSTM also `cells`), and `weights`,
one number a (target, source) pair, packed as in `attention_scores.py`. All of them enter the loss.

Bahdanau's order: attend with the state before, then step.

    weights_i = softmax_j(v . tanh(W s_{i-1} + U h_j));  c_i = sum_j weights_ij h_j;  s_i = cell([y_i ; c_i], s_{i-1})

Luong's order with input feeding: step, then attend; what the step is fed is the attentional state before, `hbar0` at first.

    s_i = cell([y_i ; hbar_{i-1}], s_{i-1});  weights_i = softmax_j(s_i G h_j);  c_i = sum_j weights_ij h_j;  hbar_i = tanh(Wc [c_i ; s_i])

W is `attention.query.weight` (A x H), U `attention.memory.weight` (A x M), v `attention.v` (A), G `attention.weight` (H x M), Wc
`combine.weight` (O x (M + H)); the cell's parameters are those of nn.GRUCell, nn.LSTMCell and nn.RNNCell under `cell.`.
The LSTM asks with its hidden part.
"""

import torch
import torch.nn.functional as F

from fixture import Case, split

SOURCE_LENGTHS = [5, 1, 3, 2]
TARGET_LENGTHS = [2, 4, 1, 3]
EMBED, HIDDEN, MEMORY, ALIGN, ATTENTIONAL = 3, 4, 5, 3, 4


def begin(topic, name, kind, fed):
    """The case with what both orders need. `fed` is the width of what the cell gets beside the embedding."""
    case = Case(
        topic, name, source_lengths=SOURCE_LENGTHS, target_lengths=TARGET_LENGTHS,
        embed=EMBED, hidden=HIDDEN, memory=MEMORY,
    )
    holder = torch.nn.ModuleDict({"cell": kind(EMBED + fed, HIDDEN)})
    cell = case.parameters_of(holder)["cell"]
    inputs = case.draw("inputs", sum(TARGET_LENGTHS), EMBED)
    memory = case.draw("memory", sum(SOURCE_LENGTHS), MEMORY)
    s0 = case.draw("s0", len(SOURCE_LENGTHS), HIDDEN, scale=0.5)
    return case, cell, inputs, memory, s0


def finish(case, steps):
    """`steps` holds one dictionary a target position, in packed order."""
    for name in steps[0]:
        join = torch.cat if name == "weights" else torch.stack
        case.output(name, join([step[name] for step in steps]))
    return case


def bahdanau(topic, name, kind):
    case, cell, inputs, memory, s0 = begin(topic, name, kind, fed=MEMORY)
    lstm = kind is torch.nn.LSTMCell
    if lstm:
        cell0 = case.draw("cell0", len(SOURCE_LENGTHS), HIDDEN, scale=0.5)
    w = case.draw("attention.query.weight", ALIGN, HIDDEN)
    u = case.draw("attention.memory.weight", ALIGN, MEMORY)
    v = case.draw("attention.v", ALIGN)
    steps = []
    for item, (ys, hs) in enumerate(zip(split(inputs, TARGET_LENGTHS), split(memory, SOURCE_LENGTHS))):
        s = s0[item]
        cell_state = cell0[item] if lstm else None
        for y in ys:
            weights = F.softmax(torch.tanh(w @ s + hs @ u.T) @ v, dim=0)
            context = weights @ hs
            fed = torch.cat([y, context])
            step = {"contexts": context, "weights": weights}
            if lstm:
                s, cell_state = cell(fed, (s, cell_state))
                step["cells"] = cell_state
            else:
                s = cell(fed, s)
            steps.append({"states": s, **step})
    return finish(case, steps)


def luong(topic, name, kind):
    case, cell, inputs, memory, s0 = begin(topic, name, kind, fed=ATTENTIONAL)
    hbar0 = case.draw("hbar0", len(SOURCE_LENGTHS), ATTENTIONAL, scale=0.5)
    g = case.draw("attention.weight", HIDDEN, MEMORY)
    combine = case.draw("combine.weight", ATTENTIONAL, MEMORY + HIDDEN, scale=0.5)
    steps = []
    for item, (ys, hs) in enumerate(zip(split(inputs, TARGET_LENGTHS), split(memory, SOURCE_LENGTHS))):
        s, hbar = s0[item], hbar0[item]
        for y in ys:
            s = cell(torch.cat([y, hbar]), s)
            weights = F.softmax(hs @ (s @ g), dim=0)
            context = weights @ hs
            hbar = torch.tanh(combine @ torch.cat([context, s]))
            steps.append({"states": s, "contexts": context, "weights": weights, "attentional": hbar})
    return finish(case, steps)


def cases(topic):
    yield bahdanau(topic, "bahdanau_gru", torch.nn.GRUCell)
    yield bahdanau(topic, "bahdanau_lstm", torch.nn.LSTMCell)
    yield bahdanau(topic, "bahdanau_rnn", torch.nn.RNNCell)
    yield luong(topic, "luong_gru", torch.nn.GRUCell)


TOPICS = {"decoder": cases}
