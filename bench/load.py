"""Load on `spotlight serve`, on this machine only: many clients, among them slow, broken, oversized and vanishing ones.

    python3 bench/load.py --spotlight target/release/spotlight --model MODEL --texts FILE [--clients 64] [--seconds 60]

Starts a server of its own on a free port of 127.0.0.1, asks it for some seconds, and compares every answer with the line of `predict --json`. Prints one JSON
object; ends with 1 if an answer was wrong, an accepted request was lost, the server died, or memory grew beyond the bound. Standard library only.
"""

import argparse
import http.client
import json
import os
import random
import socket
import subprocess
import sys
import threading
import time


def memory_of(pid):
    """Resident kilobytes."""
    try:
        with open(f"/proc/{pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
    except (OSError, StopIteration):
        return 0


class Tally:
    def __init__(self):
        self.lock = threading.Lock()
        self.times, self.counts, self.wrong = [], {}, []

    def add(self, what, seconds=None, count=1):
        with self.lock:
            self.counts[what] = self.counts.get(what, 0) + count
            if seconds is not None:
                self.times.append(seconds)

    def mistake(self, what):
        with self.lock:
            self.wrong.append(what)


def good(port, texts, expected, many, until, tally, seed):
    """Asks on one connection and compares."""
    chance = random.Random(seed)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    while time.monotonic() < until:
        first = chance.randrange(max(1, len(texts) - many))
        body = json.dumps({"texts": texts[first:first + many]})
        begun = time.monotonic()
        try:
            connection.request("POST", "/api/predict", body, {"Content-Type": "application/json", "Accept": "application/x-ndjson"})
            reply = connection.getresponse()
            answer = reply.read().decode()
        except (OSError, http.client.HTTPException) as error:
            tally.mistake(f"lost: {error!r}")
            connection.close()
            continue
        if reply.status == 200:
            tally.add("answered", time.monotonic() - begun)
            tally.add("texts", count=len(texts[first:first + many]))
            if answer != "".join(expected[first:first + many]):
                tally.mistake(f"wrong answer to {texts[first]!r}")
        elif reply.status == 429:
            tally.add("refused, queue full")
            if not reply.headers.get("Retry-After"):
                tally.mistake("429 without Retry-After")
            time.sleep(0.05)
        else:
            tally.mistake(f"status {reply.status}: {answer[:200]}")


def bad(port, texts, until, tally, seed):
    """Everything a client should not do."""
    chance = random.Random(seed)
    head = f"POST /api/predict HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
    while time.monotonic() < until:
        kind = chance.choice(["slow", "broken", "oversized", "vanishing", "foreign", "nested"])
        body = json.dumps({"texts": [chance.choice(texts)] * 20})
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=15) as stream:
                if kind == "slow":
                    for byte in (head + f"Content-Length: {len(body)}\r\n\r\n")[:25]:
                        stream.sendall(byte.encode())
                        time.sleep(0.02)
                elif kind == "broken":
                    stream.sendall(bytes(chance.randrange(256) for _ in range(300)) + b"\r\n\r\n")
                    stream.recv(1000)
                elif kind == "oversized":
                    stream.sendall((head + "Content-Length: 999999999\r\n\r\n" + "x" * 5000).encode())
                    if b" 413 " not in stream.recv(1000):
                        tally.mistake("an oversized body was not refused")
                elif kind == "vanishing":
                    stream.sendall((head + f"Content-Length: {len(body)}\r\n\r\n{body}").encode())
                    time.sleep(chance.random() * 0.02)
                elif kind == "foreign":
                    stream.sendall(b"GET /api/models HTTP/1.1\r\nHost: evil.example\r\n\r\n")
                    if b" 403 " not in stream.recv(1000):
                        tally.mistake("a foreign host was not refused")
                else:
                    deep = "[" * 50_000
                    stream.sendall((head + f"Content-Length: {len(deep)}\r\n\r\n{deep}").encode())
                    if b" 400 " not in stream.recv(1000):
                        tally.mistake("deep nesting was not refused")
            tally.add(kind)
        except OSError:
            # A server may hang up on such clients.
            tally.add(kind)


def share(sorted_times, p):
    return sorted_times[min(len(sorted_times) - 1, int(p * len(sorted_times)))] if sorted_times else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spotlight", default="target/release/spotlight")
    parser.add_argument("--model", required=True)
    parser.add_argument("--texts", required=True, help="a file; its first column is asked")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--together", type=int, default=8, help="texts in a request")
    parser.add_argument("--memory", type=int, default=400, help="megabytes the server may grow by")
    parser.add_argument("--threads", default=str(os.cpu_count()))
    arguments = parser.parse_args()
    if not 0 < arguments.seconds <= 300 or not 0 < arguments.clients <= 256:
        parser.error("at most 300 seconds and 256 clients")

    with open(arguments.texts, encoding="utf-8") as file:
        texts = [line.rstrip("\n").split("\t")[0] for line in file][:2000]
    command = [arguments.spotlight, "predict", arguments.model, "--json", "--threads", arguments.threads]
    begun = time.monotonic()
    done = subprocess.run(command, input="".join(text + "\n" for text in texts), capture_output=True, text=True, check=True)
    alone = time.monotonic() - begun
    expected = done.stdout.splitlines(keepends=True)

    server = subprocess.Popen([arguments.spotlight, "serve", arguments.model, "--port", "0", "--log", "off", "--read-timeout", "2", "--threads", arguments.threads],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        port = int(server.stdout.readline().strip().rstrip("/").rsplit(":", 1)[1])
        tally = Tally()
        until = time.monotonic() + arguments.seconds
        nasty = max(1, arguments.clients // 4)
        clients = [threading.Thread(target=good, args=(port, texts, expected, arguments.together, until, tally, i)) for i in range(arguments.clients - nasty)]
        clients += [threading.Thread(target=bad, args=(port, texts, until, tally, 1000 + i)) for i in range(nasty)]
        at_first = memory_of(server.pid)
        for client in clients:
            client.start()
        most = at_first
        while any(client.is_alive() for client in clients):
            most = max(most, memory_of(server.pid))
            time.sleep(0.1)
        if server.poll() is not None:
            tally.mistake(f"the server died with {server.returncode}")
        elif (most - at_first) > arguments.memory * 1000:
            tally.mistake(f"memory grew by {(most - at_first) // 1000} MB")
        server.terminate()
        code = server.wait(timeout=60)
        if code != 0:
            tally.mistake(f"the server ended with {code}")
    finally:
        server.kill()
    times = sorted(tally.times)
    rate = tally.counts.get("texts", 0) / arguments.seconds
    report = {
        "clients": arguments.clients, "seconds": arguments.seconds, "counts": tally.counts,
        "p50_ms": times and round(share(times, 0.5) * 1e3, 1), "p99_ms": times and round(share(times, 0.99) * 1e3, 1),
        "texts_per_second": round(rate), "predict_texts_per_second": round(len(texts) / alone), "of_predict": round(rate * alone / len(texts), 2),
        "memory_mb": [at_first // 1000, most // 1000], "wrong": tally.wrong[:10],
    }
    print(json.dumps(report))
    sys.exit(1 if tally.wrong or not tally.counts.get("answered") else 0)


if __name__ == "__main__":
    main()
