"""The PyTorch side of against_torch.py: one training step of a GRU encoder-decoder with additive attention, timed.

    pip install torch numpy
    python torch_seq2seq.py --vocabulary 60 --embed 64 --hidden 128 --lengths lengths.json --threads 2 --steps 40

Written as one writes PyTorch for speed on a CPU. The choices were compared by processor time, one thread, on all three sizes: the
encoder over the padded batch (packed it costs 2 to 17 % more), keys projected once, the mask as numbers to add, nn.GRUCell in the
decoder's loop (projecting the embeddings before the loop and writing the gates out gained nothing), logits for all steps at once and
only at real positions (a fifth at size M), fused Adam (14 % at size M).
"""

import argparse
import json
import resource
import statistics
import time

import torch
import torch.nn.functional as F
from torch import nn

IGNORE = -100


class Seq2Seq(nn.Module):
    def __init__(self, vocabulary, embed, hidden):
        super().__init__()
        self.source_embedding = nn.Embedding(vocabulary, embed)
        self.target_embedding = nn.Embedding(vocabulary, embed)
        self.encoder = nn.GRU(embed, hidden)
        self.query = nn.Linear(hidden, hidden, bias=False)
        self.memory = nn.Linear(hidden, hidden, bias=False)
        self.v = nn.Parameter(torch.randn(hidden) / hidden**0.5)
        self.cell = nn.GRUCell(embed + hidden, hidden)
        self.output = nn.Linear(2 * hidden, vocabulary)

    def forward(self, source, source_lengths, mask, target_in, target_out):
        """source (B, S), mask (B, S): 0 at real positions and -inf at padding, target_in and target_out (B, T). Returns the loss."""
        embedded = self.source_embedding(source).transpose(0, 1)  # (S, B, E)
        states = self.encoder(embedded)[0].transpose(0, 1).contiguous()  # (B, S, H)
        state = states[torch.arange(len(source)), source_lengths - 1]  # (B, H), the true last
        keys = self.memory(states)  # (B, S, H)

        decoded, contexts = [], []
        for y in self.target_embedding(target_in).unbind(1):
            scores = torch.tanh(keys + self.query(state).unsqueeze(1)) @ self.v  # (B, S)
            weights = F.softmax(scores + mask, dim=-1)
            context = torch.bmm(weights.unsqueeze(1), states).squeeze(1)  # (B, H)
            state = self.cell(torch.cat([y, context], dim=1), state)
            decoded.append(state)
            contexts.append(context)

        features = torch.cat([torch.stack(decoded, 1), torch.stack(contexts, 1)], dim=-1)  # (B, T, 2H)
        real = target_out != IGNORE
        return F.cross_entropy(self.output(features[real]), target_out[real])


def padded(lengths, vocabulary, padding):
    """Random ids, one row a sequence, filled up with padding."""
    rows = [torch.randint(vocabulary, (length,)) for length in lengths]
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=padding)


def make_step(vocabulary, embed, hidden, source_lengths, target_lengths):
    """One training step as a function: forward, backward, clip, Adam."""
    torch.manual_seed(0)
    model = Seq2Seq(vocabulary, embed, hidden)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    source = padded(source_lengths, vocabulary, 0)
    target_in = padded(target_lengths, vocabulary, 0)
    target_out = padded(target_lengths, vocabulary, IGNORE)
    lengths = torch.tensor(source_lengths)
    is_padding = torch.arange(source.shape[1])[None, :] >= lengths[:, None]
    mask = torch.zeros(is_padding.shape).masked_fill(is_padding, float("-inf"))

    def step():
        optimiser.zero_grad(set_to_none=True)
        loss = model(source, lengths, mask, target_in, target_out)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        return loss

    return step


def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vocabulary", type=int, required=True)
    parser.add_argument("--embed", type=int, required=True)
    parser.add_argument("--hidden", type=int, required=True)
    parser.add_argument("--lengths", required=True, help='a file: {"source": [...], "target": [...]}')
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--warmup", type=int, default=3)
    arguments = parser.parse_args()

    imported_mb = peak_mb()
    torch.set_num_threads(arguments.threads)
    with open(arguments.lengths) as file:
        lengths = json.load(file)
    step = make_step(arguments.vocabulary, arguments.embed, arguments.hidden, lengths["source"], lengths["target"])
    for _ in range(arguments.warmup):
        step()
    times = []
    for _ in range(arguments.steps):
        begin = time.perf_counter()
        loss = step()
        times.append((time.perf_counter() - begin) * 1000)
    assert torch.isfinite(loss)
    print(json.dumps({
        "ms": statistics.median(times), "best_ms": min(times), "peak_mb": peak_mb(), "imported_mb": imported_mb,
    }))


if __name__ == "__main__":
    main()
