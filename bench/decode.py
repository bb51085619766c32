"""Greedy and beam search with one model, by two builds of the command in the same run.

    python bench/decode.py MODEL FILE BEFORE [AFTER] [--rounds 5] [--threads 1]

BEFORE and AFTER are `spotlight` binaries (AFTER is by default the one in target/release), MODEL a folder that both can read, FILE lines to answer. Prints the processor time of every
combination, start-up included: the median over the rounds, in which both builds take turns, and the ratio. Answers must be the same.
"""
import argparse
import pathlib
import resource
import statistics
import subprocess

DEFAULT = pathlib.Path(__file__).parent.parent / "target" / "release" / "spotlight"


def seconds(build, arguments):
    """Processor seconds of one run, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run([build, "predict", *arguments], check=True, capture_output=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("file")
    parser.add_argument("before")
    parser.add_argument("after", nargs="?", default=str(DEFAULT))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", default="1")
    given = parser.parse_args()
    lines = sum(1 for _ in open(given.file, encoding="utf8"))
    print(f"{lines} lines, {given.threads} thread(s), median of {given.rounds} rounds, processor time")
    print(f"{'':14}{'before':>9}{'after':>9}{'ratio':>8}")
    empty = given.file + ".empty"
    pathlib.Path(empty).write_text("")
    cases = [("start-up", empty, "1"), ("greedy", given.file, "1"), ("beam 5", given.file, "5")]
    for name, file, beam in cases:
        times = {given.before: [], given.after: []}
        answers = {}
        for _ in range(given.rounds):
            for build in times:
                taken, answers[build] = seconds(build, [given.model, file, "--beam", beam, "--threads", given.threads])
                times[build].append(taken)
        if answers[given.before] != answers[given.after]:
            print(f"{name}: the answers differ")
        before, after = (statistics.median(times[build]) for build in times)
        print(f"{name:14}{before:8.2f}s{after:8.2f}s{before / max(after, 1e-3):8.2f}")
    pathlib.Path(empty).unlink()


if __name__ == "__main__":
    main()
