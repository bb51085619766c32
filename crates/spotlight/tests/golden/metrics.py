"""Makes metrics.json: scores that other programs give, for the measures of Spotlight to equal.

pip install sacrebleu scikit-learn pytrec-eval-terrier
python metrics.py
"""

import json
import random
from pathlib import Path

import pytrec_eval
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sklearn.metrics import accuracy_score, f1_score, precision_recall_fscore_support, roc_auc_score

LINES = [
    "Hello, world! It's 3,000.50 km (well-known).",
    "",
    "   ",
    "word",
    "...",
    "5.. 5., ,5 .5 5. a.b a,b 1.2.3 1,2,3,",
    "He said &quot;R&amp;D&quot; &lt;loudly&gt;; &amp;lt; twice, &amp;amp; &apos;so&apos;.",
    "1990-1995 and A-4, -5, 3--4, co-op, 7-",
    "<skipped>gone<skipped> a-\nb c\nd -\n",
    "Größe: Äpfel/Öl, „Straße“ – 12,5 %… ß.",
    "这是一个测试。它有3.5个部分,对吗?",
    "مرحبا بالعالم، كيف حالك؟ ١٢٫٥.",
    "a\u00a0b\u2003c\u3000d\x1ce\x1ff\u200bg\th\rj",
    "[x] {y} |z| ~t~ `u` ^v^ _w_ \\ # $5 %6 @me +1 *2 = a/b <c>",
]

# Each case: hypotheses, and for each of them its references (None makes the number of references vary).
SEGMENTS = {
    "one reference": (
        [
            "The cat sat on the mat.",
            "A man is riding a horse, quickly!",
            "It's about 3,000.50 km (well-known).",
            "two dogs are playing in the snow",
        ],
        [[
            "The cat sat on the mat.",
            "A man rides a horse quickly.",
            "It is about 3,000.50 km; that is well-known.",
            "two brown dogs play in the snow",
        ]],
    ),
    "two references": (
        ["the the the the cat", "a dog ran far away today", "yes it is"],
        [
            ["the cat is on the mat", "a dog ran away", "yes , it is so"],
            ["there is a cat on the mat the cat likes", "the dog ran far away", "it is"],
        ],
    ),
    "references vary": (
        ["ein kleines Haus", "der Hund schläft", "gut"],
        [
            ["ein kleines Haus am See", "der Hund schläft tief", "sehr gut"],
            ["ein Häuschen am See", None, "gut"],
            [None, None, "prima"],
        ],
    ),
    "empty hypotheses": (
        ["", "the quick brown fox jumps", ""],
        [["nothing here", "the quick brown fox jumped", ""]],
    ),
    "all hypotheses empty": (["", " "], [["a b c", "d"]]),
    "all references empty": (["a b", "c"], [["", ""]]),
    "one-word segments": (["yes", "no", "maybe"], [["yes", "nope", "maybe"]]),
    "nothing matches": (["aaa bbb ccc ddd", "x"], [["eee fff ggg hhh", "y"]]),
    "higher orders never match": (
        ["the red car of my old friend", "we walk there"],
        [["the car is red said my friend", "there we go"]],
    ),
    "too short": (["the cat", "a big dog ran home now"], [["the cat sat on the mat by the door", "a big dog ran home now yes"]]),
    "too long": (["the cat sat on the mat by the big door of the house"], [["the cat sat on the mat"]]),
    "Chinese and Japanese": (
        ["这是一个测试。", "我喜欢猫,和狗。", "猫が座った"],
        [["这是个测试。", "我喜欢猫和狗。", "猫は座った"]],
    ),
    "Arabic": (["مرحبا بالعالم، كيف حالك؟", "أنا بخير ."], [["مرحبا أيها العالم، كيف حالك؟", "أنا بخير، شكرا."]]),
    "German": (
        ["Die Größe der Äpfel: 12,5 cm (ungefähr).", "Er sagte: „Schöne Grüße!“", "Das ist gut-\n"],
        [["Die Größe der Äpfel beträgt 12,5 cm.", "Er sagte „schöne Grüße“.", "Das ist gut"]],
    ),
    "entities": (
        ["He said &quot;R&amp;D&quot; &lt;now&gt; &amp;lt;", "Tom &amp; Jerry &apos;run&apos;"],
        [['He said "R&D" <now> <', "Tom & Jerry 'run'"]],
    ),
}


def segment_case(name, hypotheses, streams):
    case = {"name": name, "hypotheses": hypotheses}
    case["references"] = [[r for r in refs if r is not None] for refs in zip(*streams)]
    for tokenizer in ["13a", "none"]:
        metric = BLEU(tokenize=tokenizer)
        score = metric.corpus_score(hypotheses, streams)
        case[f"bleu_{tokenizer}"] = {"score": score.score, "line": str(score), "signature": str(metric.get_signature())}
    metric = CHRF()
    score = metric.corpus_score(hypotheses, streams)
    case["chrf"] = {"score": score.score, "line": str(score), "signature": str(metric.get_signature())}
    return case


def label_case(name, gold, predicted):
    labels = sorted(set(gold) | set(predicted))
    precision, recall, f1, support = precision_recall_fscore_support(gold, predicted, labels=labels, zero_division=0)
    rows = zip(labels, precision.tolist(), recall.tolist(), f1.tolist(), support.tolist())
    return {
        "name": name,
        "gold": gold,
        "predicted": predicted,
        "accuracy": float(accuracy_score(gold, predicted)),
        "macro_f1": float(f1_score(gold, predicted, average="macro", zero_division=0)),
        "classes": [dict(zip(["label", "precision", "recall", "f1", "support"], row)) for row in rows],
    }


def roc_case(name, gold, scores):
    return {"name": name, "gold": gold, "scores": scores, "auc": float(roc_auc_score(gold, scores))}


def ranking_case(name, questions):
    """Documents are named by row, zero-padded, which fixes the order of ties as Spotlight documents it."""
    qrels = {f"q{i}": {f"d{j:04}": int(r) for j, (_, r) in enumerate(rows)} for i, rows in enumerate(questions)}
    run = {f"q{i}": {f"d{j:04}": s for j, (s, _) in enumerate(rows)} for i, rows in enumerate(questions)}
    scores = pytrec_eval.RelevanceEvaluator(qrels, {"map", "recip_rank"}).evaluate(run).values()
    mean = lambda key: sum(s[key] for s in scores) / len(questions)
    return {
        "name": name,
        "questions": [[{"score": s, "relevant": r} for s, r in rows] for rows in questions],
        "map": mean("map"),
        "mrr": mean("recip_rank"),
    }


def main():
    rng = random.Random(7)
    tokenize = Tokenizer13a()
    # Eighths are exact in single precision, in which trec_eval compares.
    random_questions = [
        [(rng.randrange(8) / 8, rng.random() < 0.3) for _ in range(rng.randrange(1, 9))] for _ in range(12)
    ]
    names = ["joy", "anger", "fear", "Ärger"]
    gold = [rng.choice(names) for _ in range(40)]
    noisy = [g if rng.random() < 0.6 else rng.choice(names) for g in gold]
    binary = [rng.random() < 0.4 for _ in range(30)]
    golden = {
        "tokenize_13a": [{"text": line, "tokens": tokenize(line.rstrip())} for line in LINES],
        "segments": [segment_case(name, *case) for name, case in SEGMENTS.items()],
        "labels": [
            label_case("four classes", gold, noisy),
            label_case("all right", ["a", "b", "a"], ["a", "b", "a"]),
            label_case("never predicted, never right", ["a", "a", "b", "b"], ["a", "c", "a", "c"]),
            label_case("one class", ["x", "x"], ["x", "x"]),
        ],
        "roc": [
            roc_case("no ties", binary, [round(0.3 * b + rng.random(), 3) for b in binary]),
            roc_case("many ties", binary, [(rng.randrange(3) + b) / 4 for b in binary]),
            roc_case("all tied", [True, False, False], [0.5, 0.5, 0.5]),
            roc_case("upside down", [True, False], [-3.0, 2.0]),
        ],
        "ranking": [
            ranking_case("random with ties", random_questions),
            ranking_case("several right answers", [[(0.5, True), (0.25, False), (0.75, True), (0.125, True)]]),
            ranking_case("no right answer", [[(0.5, False), (0.25, False)], [(0.5, False), (0.25, True)]]),
        ],
    }
    path = Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(golden, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
