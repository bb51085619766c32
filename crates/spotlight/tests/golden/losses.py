"""Cross-entropy behind a linear layer, and binary cross-entropy from logits.

Label smoothing is torch's: with smoothing e and V classes a row costs (1 - e) * -log p(target) + e / V * sum over classes of -log p.
"""

import torch
import torch.nn.functional as F

from fixture import Case


def cross_entropy(topic):
    """`logits` = input weight^T + bias. `large_logits` would overflow an exp that does not subtract the largest."""
    for reduction in ("mean", "sum"):
        for smoothing in (0.0, 0.1):
            yield linear_cross_entropy(topic, f"{reduction}_smoothing_{smoothing}", reduction, smoothing)
    yield linear_cross_entropy(topic, "large_logits", "mean", 0.1, scale=400.0)


def linear_cross_entropy(topic, name, reduction, smoothing, scale=1.0):
    features, classes, targets = 4, 6, [2, 0, 5, 5, 1, 3, 2]
    case = Case(topic, name, targets=targets, reduction=reduction, label_smoothing=smoothing)
    module = case.parameters_of(torch.nn.Linear(features, classes), scale=scale)
    logits = module(case.draw("input", len(targets), features))
    case.given("logits", logits)
    loss = F.cross_entropy(logits, torch.tensor(targets), reduction=reduction, label_smoothing=smoothing)
    case.scalar_loss("loss", loss)
    return case


def bce(topic):
    """Targets lie between 0 and 1, ends included; some logits are far outside what a plain sigmoid and log survive."""
    for reduction in ("mean", "sum"):
        case = Case(topic, reduction, reduction=reduction)
        values = torch.cat([case.random(6, scale=2.0), torch.tensor([0.0, 50.0, -50.0, 800.0, -800.0, 800.0])])
        logits = case.leaf("logits", values)
        targets = case.given("targets", torch.tensor([0.0, 1.0, 0.0, 1.0, 0.25, 0.9, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0]))
        case.scalar_loss("loss", F.binary_cross_entropy_with_logits(logits, targets, reduction=reduction))
        yield case


TOPICS = {"cross_entropy": cross_entropy, "bce": bce}
