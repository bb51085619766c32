"""Ten steps of each optimiser from the same kind of start, and clipping by the global norm.

`start` (12 numbers), `gradients` (10 x 12, one row a step), `result` (10 x 12, the parameters after each step). The config names
what is not torch's default and repeats the defaults that matter. Clipping multiplies by max_norm / (norm + 1e-6) when that is below one.
"""

import torch

from fixture import Case

STEPS, SIZE = 10, 12

OPTIMISERS = {
    "sgd": (torch.optim.SGD, dict(lr=0.1)),
    "sgd_momentum": (torch.optim.SGD, dict(lr=0.1, momentum=0.9)),
    "adam": (torch.optim.Adam, dict(lr=0.01, betas=[0.9, 0.999], eps=1e-8)),
    "adamw": (torch.optim.AdamW, dict(lr=0.01, betas=[0.9, 0.999], eps=1e-8, weight_decay=0.1)),
    "adadelta": (torch.optim.Adadelta, dict(lr=1.0, rho=0.9, eps=1e-6)),
}


def cases(topic):
    for name, (kind, options) in OPTIMISERS.items():
        yield ten_steps(topic, name, kind, options)
    for name, scale in (("clip_above", 3.0), ("clip_below", 0.1)):
        yield clip(topic, name, scale)


def ten_steps(topic, name, kind, options):
    case = Case(topic, name, optimiser=kind.__name__, **options)
    parameter = torch.nn.Parameter(case.given("start", case.random(SIZE)).clone())
    gradients = case.random(STEPS, SIZE)
    gradients[3] = 0.0  # a step without gradient: momentum and moments go on
    case.given("gradients", gradients)
    optimiser = kind([parameter], **options)
    results = []
    for gradient in gradients:
        parameter.grad = gradient.clone()
        optimiser.step()
        results.append(parameter.detach().clone())
    case.given("result", torch.stack(results))
    return case


def clip(topic, name, scale):
    case = Case(topic, name, max_norm=1.0)
    gradient = case.given("gradient", case.random(SIZE, scale=scale))
    parameters = [torch.nn.Parameter(torch.zeros(size)) for size in (5, 7)]  # the norm is over all of them together
    for parameter, part in zip(parameters, gradient.split([5, 7])):
        parameter.grad = part.clone()
    case.given("norm", torch.nn.utils.clip_grad_norm_(parameters, 1.0))
    case.given("clipped", torch.cat([parameter.grad for parameter in parameters]))
    return case


TOPICS = {"optim": cases}
