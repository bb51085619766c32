"""A classifier of texts: ours without a recipe, and scikit-learn's TF-IDF with logistic regression, in one run.

    pip install scikit-learn
    cargo build --release
    python bench/against_sklearn.py TRAIN.tsv TEST.tsv [--rounds 3] [--threads 1] [--json]

Both files have a text and a label a line, a tab between. The other side is what a user would try first: words and pairs of words and
pieces of 2 to 5 characters, sublinear TF-IDF, logistic regression with C = 10. Sides take turns, each in a process of its own. Training
is from reading the file to a model that can answer; predictions a second are over the test texts, taken ten times over, with the time
to load the model or to fit left out (ours: the whole command, less the same command on one text). Figures are medians over the rounds.

scikit-learn's pipeline uses one thread; `--threads` is for ours. Nothing is installed or built by this script.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from sides import ROOT, median, note, print_table, run

TIMES = 10  # the test texts, so often: a second of work at least


def read(path):
    with open(path, encoding="utf8") as lines:
        rows = [line.rstrip("\n").split("\t")[:2] for line in lines if "\t" in line]
    return [row[0] for row in rows], [row[1] for row in rows]


def sklearn_side(train, test):
    """Prints what the pipeline takes; runs in a process of its own."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline, make_union

    start = time.perf_counter()
    texts, labels = read(train)
    units = make_union(
        TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"\S+"),
        TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True),
    )
    model = make_pipeline(units, LogisticRegression(C=10, max_iter=1000)).fit(texts, labels)
    trained = time.perf_counter() - start
    texts, labels = read(test)
    start = time.perf_counter()
    found = model.predict(texts * TIMES)
    asked = time.perf_counter() - start
    right = sum(a == b for a, b in zip(found, labels))
    print(json.dumps({"train_s": trained, "per_s": len(found) / asked, "accuracy": right / len(labels)}))


def timed(command, **options):
    start = time.perf_counter()
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nended with code {done.returncode}:\n{done.stderr.strip()}")
    return time.perf_counter() - start, done.stdout


def our_side(binary, train, test, threads):
    with tempfile.TemporaryDirectory() as folder:
        model, many, one = (pathlib.Path(folder) / name for name in ("model", "many.txt", "one.txt"))
        texts, labels = read(test)
        many.write_text("".join(f"{text}\n" for text in texts * TIMES), encoding="utf8")
        one.write_text(f"{texts[0]}\n", encoding="utf8")
        common = ["--threads", threads]
        trained, _ = timed([binary, "train", "--task", "classify", "--train", train, "--dev", test, "--out", model, *common])
        began, _ = timed([binary, "predict", model, one, *common])
        asked, found = timed([binary, "predict", model, many, *common])
        right = sum(line.split("\t")[0] == label for line, label in zip(found.splitlines(), labels))
        return {"train_s": trained, "per_s": len(texts) * TIMES / max(asked - began, 1e-9), "accuracy": right / len(labels)}


def main():
    parser = argparse.ArgumentParser(description="Ours without a recipe against scikit-learn's TF-IDF with logistic regression.")
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--side", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        return sklearn_side(options.train, options.test)
    if importlib.util.find_spec("sklearn") is None:
        sys.exit("This comparison needs scikit-learn in the Python that runs it: pip install scikit-learn")
    binary = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "spotlight"
    if not binary.exists():
        sys.exit(f"{binary} is not there. Build it with: cargo build --release")
    sides = {"ours": [], "scikit-learn": []}
    for number in range(options.rounds):
        note(f"round {number + 1} of {options.rounds}")
        sides["ours"].append(our_side(binary, options.train, options.test, options.threads))
        sides["scikit-learn"].append(run([sys.executable, __file__, options.train, options.test, "--side"]))
    keys = ("train_s", "per_s", "accuracy")
    medians = {side: {key: median(results, key) for key in keys} for side, results in sides.items()}
    if options.json:
        for side, figures in medians.items():
            print(json.dumps({"side": side, **figures}))
        return None
    print_table(["", "training, s", "predictions a second", "accuracy"], [[side, *(f[key] for key in keys)] for side, f in medians.items()])
    return None


if __name__ == "__main__":
    main()
