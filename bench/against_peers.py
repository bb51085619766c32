"""The same model and data in yoyodyne and in Spotlight, in one run: seconds for an epoch, and predictions a second.

    pip install yoyodyne
    cargo build --release
    python bench/against_peers.py --data FOLDER [--json]      # FOLDER has train.tsv and dev.tsv: source, target (units between spaces)

The model: embedding 96; bidirectional GRU of 160; a GRU decoder of 160 with additive attention over the encoder; dropout 0.4; Adam; about 32 pairs a batch; greedy
answers. What differs: yoyodyne pads its batches and reads its output from the decoder's state, ours from state and context. Both sides run as their commands, in
processes of their own, and take turns. What a side needs to start is taken off: an epoch is the difference between a run of five epochs and one of one, without
validation; a prediction is the difference between a file of many lines and one of one line. yoyodyne has the better of one and two threads. A figure is the median
over the rounds.

Nothing is installed or built by this script.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from sides import ROOT, note, print_table

EMBEDDING, HIDDEN, DROPOUT, PAIRS = 96, 160, 0.4, 32
FEW, MANY = 1, 5  # epochs
COPIES = 10  # of the development file, to predict


def timed(command, **environment):
    """Seconds a command takes."""
    start = time.perf_counter()
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nended with code {done.returncode}:\n{done.stderr.strip()[-2000:]}")
    return time.perf_counter() - start


class Yoyodyne:
    """Its command, configured by a file."""

    def __init__(self, folder, data):
        self.folder, self.data, self.threads = folder, data, 1
        self.command = pathlib.Path(sys.executable).parent / "yoyodyne"

    def config(self, name, epochs=1, predict=None):
        path = self.folder / f"{name}.yaml"
        arguments = {
            "seed_everything": 1,
            "trainer": {
                "max_epochs": epochs, "accelerator": "cpu", "logger": False, "enable_progress_bar": False, "enable_model_summary": False,
                "limit_val_batches": 0, "num_sanity_val_steps": 0, "default_root_dir": str(self.folder),
            },
            "checkpoint": {"dirpath": str(self.folder / "peer"), "filename": "last", "save_top_k": 1, "enable_version_counter": False},
            "data": {
                "model_dir": str(self.folder), "train": str(self.data / "train.tsv"), "val": str(self.data / "dev.tsv"),
                "source_col": 1, "target_col": 2, "source_sep": "", "target_sep": " ", "batch_size": PAIRS,
            },
            "model": {
                "class_path": "yoyodyne.models.SoftAttentionGRUModel",
                "init_args": {
                    "embedding_size": EMBEDDING, "decoder_hidden_size": HIDDEN, "decoder_dropout": DROPOUT, "decoder_layers": 1,
                    "optimizer": {"class_path": "yoyodyne.optimizers.Adam", "init_args": {"lr": 0.001}},
                    "source_encoder": {
                        "class_path": "yoyodyne.models.modules.GRUEncoder",
                        "init_args": {
                            "embedding_size": EMBEDDING, "hidden_size": HIDDEN, "dropout": DROPOUT, "layers": 1, "bidirectional": True,
                        },
                    },
                },
            },
        }
        if predict:
            data = arguments["data"]
            # Without training pairs it reads the units it wrote when it had them.
            del data["train"], data["val"]
            data.update(predict=str(predict), target_col=0)
            arguments["prediction"] = {"path": str(self.folder / "peer.out")}
        # JSON is YAML.
        path.write_text(json.dumps(arguments))
        return path

    def run(self, what, config, *more):
        return timed([self.command, what, "--config", config, *more], OMP_NUM_THREADS=str(self.threads), WANDB_MODE="disabled")

    def train(self, epochs):
        return self.run("fit", self.config("fit", epochs=epochs))

    def predict(self, file):
        return self.run("predict", self.config("predict", predict=file), "--ckpt_path", self.folder / "peer" / "last.ckpt")


class Spotlight:
    """Ours."""

    def __init__(self, folder, data, batch):
        self.folder, self.data, self.batch = folder, data, batch
        self.command = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "spotlight"
        if not self.command.exists():
            sys.exit("Build our side first: cargo build --release")

    def train(self, epochs):
        settings = {
            "source.units": "chars", "target.units": "words", "model.embedding": EMBEDDING, "model.hidden": HIDDEN, "model.dropout": DROPOUT,
            "train.epochs": epochs, "train.every": epochs, "train.patience": 0, "train.batch": self.batch, "train.rate": 0.001,
            "search.max_ratio": 4,
        }
        recipe = self.folder / "recipe.toml"
        recipe.write_text('task = "seq2seq"\n')
        sets = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
        # Measured on one pair at the end, as the peer is measured on none.
        one = self.folder / "one.tsv"
        one.write_text((self.data / "dev.tsv").read_text().splitlines()[0] + "\n")
        model = self.folder / "ours"
        shutil.rmtree(model, ignore_errors=True)
        return timed([self.command, "train", recipe, "--train", self.data / "train.tsv", "--dev", one, "--out", model, "--threads", 2, *sets])

    def predict(self, file):
        return timed([self.command, "predict", self.folder / "ours", file, "--threads", 2])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=pathlib.Path, required=True, help="folder with train.tsv and dev.tsv")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="one object instead of the table")
    arguments = parser.parse_args()
    if importlib.util.find_spec("yoyodyne") is None:
        sys.exit("This comparison needs yoyodyne in the Python that runs it: pip install yoyodyne")

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        rows = [line.split("\t")[:2] for line in (arguments.data / "train.tsv").read_text().splitlines()]
        positions = sum(len(source) + len(target.split()) + 1 for source, target in rows)
        dev = [line.split("\t")[0] for line in (arguments.data / "dev.tsv").read_text().splitlines()]
        one, many = folder / "one.txt", folder / "many.txt"
        one.write_text(dev[0] + "\n")
        many.write_text("\n".join(dev * COPIES) + "\n")
        peer, ours = Yoyodyne(folder, arguments.data), Spotlight(folder, arguments.data, PAIRS * positions // len(rows))
        trials = {}
        for peer.threads in (1, 2):
            note(f"yoyodyne with {peer.threads} thread(s)")
            trials[peer.threads] = peer.train(FEW)
        peer.threads = min(trials, key=trials.get)
        found = {"ours": [], "yoyodyne": []}
        for number in range(arguments.rounds):
            for name, side in (("ours", ours), ("yoyodyne", peer)):
                note(f"round {number + 1} of {arguments.rounds}: {name}")
                few, more = side.train(FEW), side.train(MANY)
                epoch = (more - few) / (MANY - FEW)
                rate = (len(dev) * COPIES - 1) / (side.predict(many) - side.predict(one))
                found[name].append((epoch, rate, few))
        sides = []
        for name, rounds in found.items():
            epoch, rate, first = (statistics.median(values) for values in zip(*rounds))
            sides.append({"side": name, "epoch_seconds": epoch, "predictions_per_second": rate, "first_epoch_seconds": first})

    if arguments.json:
        print(json.dumps({"sides": sides, "yoyodyne_threads": peer.threads, "training_pairs": len(rows)}))
    else:
        print_table(["side", "s an epoch", "predictions/s", "s, start + 1 epoch"], [list(side.values()) for side in sides])
        faster = sides[1]["epoch_seconds"] / sides[0]["epoch_seconds"], sides[0]["predictions_per_second"] / sides[1]["predictions_per_second"]
        print(f"\n{len(rows)} training pairs. Ours is {faster[0]:.1f} times as fast in training and {faster[1]:.1f} times in answering; "
              f"yoyodyne with {peer.threads} thread(s).")


if __name__ == "__main__":
    main()
