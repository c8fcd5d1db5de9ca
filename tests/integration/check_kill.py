#!/usr/bin/env python3
"""Kills a server under builders, again and again: what it announced as saved has to be there.

Usage: check_kill.py PATH/ashlar-server PATH/ashlar-sim [ROUNDS [BUILDERS]]

Each round starts a server on the same world, lets builders loose on it, puts a block of its own into a chunk that the
rounds before left alone, waits until the status says that its tick is saved, lets some more happen, and kills the
server (SIGKILL). Then every such chunk is in the database, all rows agree with their hashes, and the database's own
check passes.
"""
import contextlib
import json
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

PATIENCE_S = 120


def environment():
    return {k: v for k, v in os.environ.items() if not k.startswith(("ASHLAR_", "DOOMWAD"))}


def place(x, y, z):
    """A chunk's row, as docs/storage.md says it."""
    return (x + (1 << 20)) << 42 | (y + (1 << 20)) << 21 | (z + (1 << 20))


class Server:
    def __init__(self, binary, world):
        self.process = subprocess.Popen(
            [binary, "--port", "0", "--log-format", "json", "--world", world, "--map", "none", "--monsters", "0",
             "--terrain", "flat", "--status-every", "1"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment())
        self.first_tick = self.wait_for("store")["saved_tick"]
        self.port = self.wait_for("ready")["port"]

    def wait_for(self, event):
        give_up = time.monotonic() + PATIENCE_S
        for line in self.process.stdout:
            said = json.loads(line)
            if said["event"] == event:
                return said
            if time.monotonic() > give_up:
                break
        raise SystemExit(f"no event={event} in time")

    def put_block(self, x, y, z):
        """Returns when the status has said that it is saved."""
        self.process.stdin.write(f"set {x} {y} {z} brick\n")
        self.process.stdin.flush()
        self.wait_for("console")
        # It enters the tick that follows; a status of a second later is of a later one.
        self.wait_for("status")
        done_at = self.first_tick + self.wait_for("status")["tick"]
        while self.wait_for("status")["saved_tick"] < done_at:
            pass

    def kill(self):
        self.process.kill()
        self.process.communicate()


def check(binary, world, announced):
    done = subprocess.run([binary, "world", "check", world], capture_output=True, text=True, env=environment(),
                          timeout=PATIENCE_S)
    if done.returncode != 0:
        sys.exit(f"after a kill: {done.stdout}{done.stderr}")
    with contextlib.closing(sqlite3.connect(pathlib.Path(world, "world.db"))) as database:
        [(whole,)] = database.execute("PRAGMA integrity_check").fetchall()
        places = {row[0] for row in database.execute("SELECT place FROM chunks")}
    if whole != "ok":
        sys.exit(f"after a kill the database says: {whole}")
    lost = [chunk for chunk in announced if place(*chunk) not in places]
    if lost:
        sys.exit(f"announced as saved and not there: chunks {lost}")
    return len(places)


def main(server, sim, rounds=10, builders=50):
    rng = random.Random(7)
    # In the air over home, higher than anybody builds; each round one of its own.
    chunks = [(x, y, 1) for x in range(-3, 3) for y in range(-3, 3)]
    rng.shuffle(chunks)
    announced = []
    with tempfile.TemporaryDirectory() as folder:
        world = str(pathlib.Path(folder, "world"))
        for number in range(rounds):
            running = Server(server, world)
            load = subprocess.Popen([sim, "load", "--server", f"127.0.0.1:{running.port}", "--clients", str(builders),
                                     "--brain", "build", "--joins-per-second", "200", "--duration", "60s",
                                     "--seed", str(number)],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment())
            try:
                time.sleep(rng.uniform(0, 2))
                if number < len(chunks):
                    x, y, z = chunks[number]
                    running.put_block(32 * x + 1, 32 * y + 1, 32 * z + 30)
                    announced.append(chunks[number])
                time.sleep(rng.uniform(0, 1))
            finally:
                running.kill()
                load.send_signal(signal.SIGINT)
                load.wait(timeout=PATIENCE_S)
            kept = check(server, world, announced)
        print(f"{rounds} kills under {builders} builders: {len(announced)} announced chunks are there, "
              f"{kept} are kept and whole")
        if kept <= len(announced):
            sys.exit("and nobody built anything: this proves nothing")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
