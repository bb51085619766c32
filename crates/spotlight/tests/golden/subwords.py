"""What the `tokenizers` library makes of our files of subwords: the units of some texts. The files themselves are kept too; those in subwords.json were
written by the library (its Rust crate, version 0.22), which Spotlight once called.

    pip install tokenizers
    spotlight train --task classify --train corpus.tsv --out bpe --set text.units=bpe --set text.vocab_size=70 (and again with unigram)
    python subwords.py corpus.txt bpe/text.tokenizer.json unigram/text.tokenizer.json > subwords.json

where corpus.txt has the first column of corpus.tsv.
"""

import json
import sys

from tokenizers import Tokenizer

TEXTS = [
    "the newest house is lower than the widest house",
    "the дом house",
    "zoo ababcab abcab aaaaaaa wides",
    "日本語 naïve façade's — 𝒳𝒴a",
    "<unk> <s> </s> th",
    "low-house lowhouse sheshells newestwidest",
    "",
]

corpus = open(sys.argv[1], encoding="utf-8").read().splitlines()
tables = {name: Tokenizer.from_file(path) for name, path in zip(["bpe", "unigram"], sys.argv[2:])}
units = {name: [table.encode(text, add_special_tokens=False).ids for text in TEXTS] for name, table in tables.items()}
files = {name: open(path, encoding="utf-8").read() for name, path in zip(tables, sys.argv[2:])}
print(json.dumps({"corpus": corpus, "texts": TEXTS, "units": units, "files": files}, ensure_ascii=False, indent=1))
