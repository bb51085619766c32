"""Answers of a trained Transformer of ours, and of CTranslate2 with the same weights, in one run.

    pip install ctranslate2 numpy safetensors
    cargo build --release -p spotlight --example decode_bench
    python bench/decode_against_ctranslate2.py MODEL FILE [--rounds 3] [--threads 1 2] [--batch 1 32] [--beam 1 5] [--json]

MODEL is a folder of a Transformer (encoder and decoder, pre-norm, sinusoidal positions), FILE has one source a line, characters or words as the model reads them.
The weights are put into CTranslate2's `TransformerSpec` as they are. First the answers are compared; then both sides answer FILE, sorted by
length and cut into batches, in processes of their own that take turns: the median over the rounds, with the model loaded and asked once
before the clock starts; processor time of all threads beside it, for machines that have other work. With two threads CTranslate2 has two workers or two threads in one, whichever is faster; ours has two workers.
fp32 against fp32, int8 against int8. Nothing is installed or built by this script.
"""

import argparse
import importlib.util
import itertools
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib

from sides import BENCH, example_binary, note, print_table, run

UNKNOWN, START, END = 0, 1, 2  # as in crates/spotlight/src/text/vocab.rs


def converted(folder, out):
    """Writes the model of a folder as CTranslate2 reads it."""
    import ctranslate2
    import numpy
    from ctranslate2.specs import common_spec, transformer_spec
    from safetensors.numpy import load_file

    config = tomllib.loads((folder / "config.toml").read_text())
    shape, stack = config["model"], config["transformer"]
    wanted = {"architecture": "transformer", "tied": False}
    for name, value in wanted.items():
        if shape[name] != value:
            sys.exit(f"model.{name} is {shape[name]}: this comparison is written for {value}")
    if stack["norm"] != "pre" or stack["positions"] != "sinusoidal" or shape["embedding"] != shape["hidden"]:
        sys.exit("this comparison is written for pre-norm layers, sinusoidal positions and vectors as wide as the layers")
    weights = load_file(folder / "model.safetensors")
    width = shape["hidden"]
    activation = {"relu": common_spec.Activation.RELU, "gelu": common_spec.Activation.GELU}[stack["activation"]]
    spec = transformer_spec.TransformerSpec.from_config(
        (shape["encoder_layers"], shape["decoder_layers"]), stack["heads"], pre_norm=True, activation=activation
    )

    def linear(to, weight, bias):
        to.weight, to.bias = numpy.ascontiguousarray(weight), numpy.ascontiguousarray(bias)

    def norm(to, name):
        to.gamma, to.beta = weights[f"{name}.weight"], weights[f"{name}.bias"]

    def attention(to, name, own):
        weight, bias = weights[f"{name}.in_proj_weight"], weights[f"{name}.in_proj_bias"]
        if own:
            linear(to.linear[0], weight, bias)
        else:
            linear(to.linear[0], weight[:width], bias[:width])
            linear(to.linear[1], weight[width:], bias[width:])
        linear(to.linear[-1], weights[f"{name}.out_proj.weight"], weights[f"{name}.out_proj.bias"])

    def middle(to, name, which):
        norm(to.layer_norm, f"{name}.norm{which}")
        linear(to.linear_0, weights[f"{name}.linear1.weight"], weights[f"{name}.linear1.bias"])
        linear(to.linear_1, weights[f"{name}.linear2.weight"], weights[f"{name}.linear2.bias"])

    place = numpy.arange(2048)[:, None]
    angle = place * 10000.0 ** (-numpy.arange(0, width, 2) / width)
    waves = numpy.stack([numpy.sin(angle), numpy.cos(angle)], axis=-1).reshape(len(place), width).astype(numpy.float32)
    for side, of, embeddings in (("encoder", spec.encoder, None), ("decoder", spec.decoder, None)):
        of.scale_embeddings = True
        of.position_encodings.encodings = waves
        norm(of.layer_norm, f"{side}.norm")
        for i, layer in enumerate(of.layer):
            name = f"{side}.layers.{i}"
            norm(layer.self_attention.layer_norm, f"{name}.norm1")
            attention(layer.self_attention, f"{name}.self_attn", True)
            if side == "decoder":
                norm(layer.attention.layer_norm, f"{name}.norm2")
                attention(layer.attention, f"{name}.multihead_attn", False)
            middle(layer.ffn, name, 3 if side == "decoder" else 2)
    source = spec.encoder.embeddings
    (source[0] if isinstance(source, list) else source).weight = weights["source.weight"]
    spec.decoder.embeddings.weight = weights["target.weight"]
    linear(spec.decoder.projection, weights["output.weight"], weights["output.bias"])
    names = {side: [f"u{i}" for i in range(len(weights[f"{side}.weight"]))] for side in ("source", "target")}
    spec.register_source_vocabulary(names["source"])
    spec.register_target_vocabulary(names["target"])
    spec.config.bos_token, spec.config.eos_token, spec.config.unk_token = f"u{START}", f"u{END}", f"u{UNKNOWN}"
    spec.config.decoder_start_token = f"u{START}"
    spec.config.add_source_bos = spec.config.add_source_eos = False
    out.mkdir()
    spec.validate()
    spec.save(str(out))


def units(folder, file):
    """The sources as lists of names, by the model's own units."""
    config = tomllib.loads((folder / "config.toml").read_text())
    kind, lower = config["source"]["units"], config["source"]["lowercase"]
    known = (folder / "source.txt").read_text().split("\n")
    if known[:3] != ["<unk>", "<s>", "</s>"]:
        sys.exit("source.txt does not begin with the units that this comparison expects")
    number = {unit: i for i, unit in enumerate(known) if unit}
    lines = file.read_text().splitlines()
    split = {"chars": list, "words": str.split}.get(kind)
    if split is None:
        sys.exit(f"source.units is {kind}: this comparison is written for chars and words")
    return [[f"u{number.get(unit, UNKNOWN)}" for unit in split(line.lower() if lower else line)] for line in lines]


def other_side(given):
    """One measurement of CTranslate2, as a process of its own: prints one line of JSON."""
    import ctranslate2

    inter, intra = given.workers
    translator = ctranslate2.Translator(
        str(given.converted), device="cpu", compute_type=given.form, inter_threads=inter, intra_threads=intra
    )
    sources = json.loads(pathlib.Path(given.sources).read_text())
    order = sorted(range(len(sources)), key=lambda i: len(sources[i]))
    batches = [[sources[i] for i in order[at : at + given.batch_size]] for at in range(0, len(order), given.batch_size)]
    ask = lambda batch: translator.translate_batch(
        batch, beam_size=given.beam_size, max_decoding_length=given.longest, length_penalty=given.length_penalty,
        asynchronous=True, return_scores=False,
    )
    [answer.result() for answer in ask(batches[0])]
    seconds, found, before = [], [], time.process_time()
    for _ in range(given.rounds):
        start = time.perf_counter()
        found = [answer.result() for answers in [ask(batch) for batch in batches] for answer in answers]
        seconds.append(time.perf_counter() - start)
    cpu = (time.process_time() - before) * 1e3 / given.rounds
    answers = [None] * len(sources)
    for i, answer in zip(order, found):
        answers[i] = [int(name[1:]) for name in answer.hypotheses[0]]
    pathlib.Path(given.answers).write_text("\n".join(" ".join(map(str, ids)) for ids in answers) + "\n")
    print(json.dumps({"ms": statistics.median(seconds) * 1e3, "best_ms": min(seconds) * 1e3, "cpu_ms": cpu, "units": sum(map(len, answers))}))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 32])
    parser.add_argument("--beam", type=int, nargs="+", default=[1, 5])
    parser.add_argument("--forms", nargs="+", default=["float32", "int8"])
    parser.add_argument("--json", action="store_true", help="one object a line instead of the table")
    # What follows is for the other side's own processes.
    parser.add_argument("--converted", help=argparse.SUPPRESS)
    parser.add_argument("--sources", help=argparse.SUPPRESS)
    parser.add_argument("--answers", help=argparse.SUPPRESS)
    parser.add_argument("--form", help=argparse.SUPPRESS)
    parser.add_argument("--workers", type=int, nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--batch-size", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--beam-size", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--longest", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--length-penalty", type=float, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.converted:
        return other_side(given)
    for needed in ("ctranslate2", "safetensors"):
        if importlib.util.find_spec(needed) is None:
            sys.exit(f"This comparison needs {needed}: pip install ctranslate2 numpy safetensors")
    binary = example_binary("decode_bench")
    if binary is None:
        sys.exit(1)
    search = tomllib.loads((given.model / "config.toml").read_text())["search"]
    if search["length_penalty"] or search["coverage_penalty"]:
        note("the model's own length or coverage penalty is not CTranslate2's; beams will differ")
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place)
        sources = units(given.model, given.file)
        (place / "sources.json").write_text(json.dumps(sources))
        child = [sys.executable, BENCH / "decode_against_ctranslate2.py", given.model, given.file]
        code = f"import sys; sys.path.insert(0, {str(BENCH)!r}); import pathlib; from decode_against_ctranslate2 import converted; converted(pathlib.Path({str(given.model)!r}), pathlib.Path({str(place / 'ct2')!r}))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        longest = int(max(map(len, sources)) * max(search["max_ratio"], 1.0)) + 10

        def theirs(form, batch, beam, workers, answers):
            return run(child + [
                "--converted", place / "ct2", "--sources", place / "sources.json", "--answers", answers, "--form", form,
                "--workers", *workers, "--batch-size", batch, "--beam-size", beam, "--longest", longest, "--length-penalty", 0,
                "--rounds", 3,
            ])

        def ours(form, batch, beam, threads, answers):
            command = [binary, given.model, given.file, "--batch", batch, "--beam", beam, "--threads", threads, "--rounds", 3]
            return run(command + ["--answers", answers] + (["--int8"] if form == "int8" else []))

        rows = []
        for form, beam, batch, threads in itertools.product(given.forms, given.beam, given.batch, given.threads):
            note(f"{form}, beam {beam}, batch {batch}, {threads} thread(s)")
            ways = {(1, threads), (threads, 1)}
            best = min(ways, key=lambda way: theirs(form, batch, beam, way, place / "a")["ms"]) if len(ways) > 1 else (1, 1)
            mine, other = [], []
            for _ in range(given.rounds):
                mine.append(ours(form, batch, beam, threads, place / "ours"))
                other.append(theirs(form, batch, beam, best, place / "theirs"))
            answers = [(place / side).read_text().splitlines() for side in ("ours", "theirs")]
            same = sum(a == b for a, b in zip(*answers)) / max(len(answers[0]), 1)
            mine_cpu, other_cpu = (statistics.median(each["cpu_ms"] or 0.0 for each in side) for side in (mine, other))
            mine, other = (statistics.median(each["ms"] for each in side) for side in (mine, other))
            rows.append({
                "form": form, "beam": beam, "batch": batch, "threads": threads, "ours_ms": mine, "ctranslate2_ms": other,
                "ratio": other / mine, "ours_cpu_ms": mine_cpu, "ctranslate2_cpu_ms": other_cpu,
                "cpu_ratio": other_cpu / max(mine_cpu, 1e-9), "same": same, "workers": f"{best[0]} x {best[1]}",
            })
            if given.json:
                print(json.dumps(rows[-1]), flush=True)
    if not given.json:
        print_table(
            ["form", "beam", "batch", "threads", "ours ms", "CTranslate2 ms", "ratio", "ours cpu", "its cpu", "ratio", "same answers", "its workers"],
            [list(row.values()) for row in rows],
        )


if __name__ == "__main__":
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    main()
