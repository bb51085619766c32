"""torch's own layers of nothing but attention: nn.TransformerEncoderLayer, nn.TransformerDecoderLayer and their stacks, without dropout.

Parameters have torch's names. A sequence of no position at all is left out of torch's batch, which would give NaN for it; its rows do not exist, so nothing is missing.
A decoder's sequence whose memory is empty looks at nothing there, which torch cannot say either: there is none in the cases.
"""

import torch

from fixture import Case, pad, unpad

LENGTHS = [2, 0, 1, 7, 2]
MEMORY_LENGTHS = [1, 3, 6, 2, 1]


def present(lengths, others=None):
    """The sequences that have a position."""
    return [other for other, length in zip(others or lengths, lengths) if length > 0]


def is_padding(lengths):
    return torch.arange(max(lengths))[None, :] >= torch.tensor(lengths)[:, None]


def hidden(length):
    """What a causal query may not see."""
    return torch.ones(length, length, dtype=torch.bool).triu(1)


def layer(kind, config):
    return kind(
        config["width"], config["heads"], config["feed_forward"], dropout=0.0, activation=config["activation"],
        batch_first=True, norm_first=config["pre_norm"],
    )


def norm(config):
    """A stack of ours has a norm at its end where its layers have theirs first."""
    return torch.nn.LayerNorm(config["width"]) if config["pre_norm"] else None


def encoder(topic, name, layers=None, lengths=LENGTHS, **config):
    """One layer, or a stack of some."""
    config = dict(width=6, heads=2, feed_forward=5, activation="relu", pre_norm=False, lengths=lengths) | config
    case = Case(topic, name, decoder=False, layers=layers or 0, **config)
    module = layer(torch.nn.TransformerEncoderLayer, config)
    if layers:
        module = torch.nn.TransformerEncoder(module, layers, norm=norm(config), enable_nested_tensor=False)
    case.parameters_of(module)
    rows = case.draw("input", sum(lengths), config["width"])
    lengths = present(lengths)
    output = module(pad(rows, lengths), src_key_padding_mask=is_padding(lengths))
    case.output("output", unpad(output, lengths))
    return case


def decoder(topic, name, layers=None, lengths=LENGTHS, memory_lengths=MEMORY_LENGTHS, **config):
    """The same with a memory."""
    config = dict(width=6, heads=2, feed_forward=5, activation="relu", pre_norm=False, lengths=lengths, memory_lengths=memory_lengths) | config
    case = Case(topic, name, decoder=True, layers=layers or 0, **config)
    module = layer(torch.nn.TransformerDecoderLayer, config)
    if layers:
        module = torch.nn.TransformerDecoder(module, layers, norm=norm(config))
    case.parameters_of(module)
    rows = case.draw("input", sum(lengths), config["width"])
    memory = case.draw("memory", sum(memory_lengths), config["width"])
    padded = pad(memory, memory_lengths)[[length > 0 for length in lengths]]
    memory_lengths = present(lengths, memory_lengths)
    padded = padded[:, : max(memory_lengths)]
    lengths = present(lengths)
    output = module(
        pad(rows, lengths), padded, tgt_mask=hidden(max(lengths)), tgt_key_padding_mask=is_padding(lengths),
        memory_key_padding_mask=is_padding(memory_lengths),
    )
    case.output("output", unpad(output, lengths))
    return case


def transformer(topic):
    for make, kind in ((encoder, "encoder"), (decoder, "decoder")):
        for pre_norm, place in ((False, "post"), (True, "pre")):
            for activation in ("relu", "gelu"):
                yield make(topic, f"{kind}_{place}_{activation}", pre_norm=pre_norm, activation=activation)
            yield make(topic, f"{kind}_stack_{place}", layers=2, pre_norm=pre_norm, activation="gelu")
        yield make(topic, f"{kind}_one_head", heads=1)
        yield make(topic, f"{kind}_heads_of_one_feature", heads=6, activation="gelu")
        one = dict(memory_lengths=[1]) if kind == "decoder" else {}
        yield make(topic, f"{kind}_one_position", lengths=[1], pre_norm=True, **one)


TOPICS = {"transformer": transformer}
