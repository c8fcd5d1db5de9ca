#!/usr/bin/env python3
"""Kills a server under builders, again and again: what it announced as saved has to be there.

Usage: check_kill.py PATH/ashlar-server PATH/ashlar-sim [ROUNDS [BUILDERS]]

Each round starts a server on a kept world, with free blocks and in survival by turns, lets builders loose on it, has
the console put blocks of its own high over home and in survival give builders chests, waits until the status says that
their tick is saved, lets some more happen, and kills the server (SIGKILL). Then

- each block that the console put in any round is there, as `world export` shows it from the decoded chunks;
- of the builders' edits at least those are in the log that the last status up to the saved tick counted, and no more
  than the first status after it did;
- builders heard one last word of each act but the newest, and of each one's edits the log holds, in their order, those
  that it heard of: all that it was told are saved, and beyond what it heard at most some more;
- no logged edit disagrees with the block that its chunk says (`world rollback --dry-run` compares each), so chunks and
  log are of one tick;
- in survival the books of items balance: what players hold, what is in chests and what lies there is, kind by kind,
  what digging left behind, treasures held and the console gave less what was placed, as the log of edits tells it
  (items lie for ever here, so none is gone by rule). What a treasure holds is of the secret seed and its place: in
  another world of that secret, which nobody kills, all of them are dug up;
- all that holds something is a chest, by its chunk's log;
- all rows agree with their hashes (`world check`), and the database's own check passes.
"""
import collections
import contextlib
import csv
import json
import math
import os
import pathlib
import random
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time

PATIENCE_S = 300
# Over home, higher than anybody builds; each block alone, none beside another.
BLOCKS_X, BLOCKS_Y, BLOCKS_Z = range(-90, 90, 3), range(-90, 90, 3), 62
BLOCKS_A_ROUND = 6
BUILT_BY_CONSOLE = "brick"
# A chest to set, and some to put into it, for so many builders a round.
GIFTS, GIVEN = {"chest": 2, "brick": 20}, 12
# Where treasures are put, on the ground that builders dig in; so many a round.
HOARDS_X, HOARDS_Y, HOARDS_Z = range(-14, 15, 4), range(-14, 15, 4), 7
HOARDS_A_ROUND = 12
LYING_MAX = 1024  # beyond, what has lain longest gives way

# As BlockId has them, with what digging leaves behind where it is not the kind itself (world/voxel/block_registry.cpp).
AIR, DIRT, GRASS = 0, 2, 3
KINDS = {"brick": 8, "chest": 30, "treasure": 34}
# The log does not tell what a blast took from what was dug: here a treasure's charges are blocks like others.
BLOCK_FILE = """
[[block]]
name = "charge"
timer = 0
blast = 0
"""
DIG, PLACE = 0, 1  # as BlockActKind has them
LEAVES_BEHIND = {GRASS: DIRT, 7: AIR, 9: AIR, 15: AIR, 17: AIR, KINDS["treasure"]: KINDS["chest"]}


def environment():
    return {k: v for k, v in os.environ.items() if not k.startswith(("ASHLAR_", "DOOMWAD"))}


class Server:
    def __init__(self, binary, world, free_blocks):
        blocks = pathlib.Path(world + ".blocks.toml")
        blocks.write_text(BLOCK_FILE)
        self.process = subprocess.Popen(
            [binary, "--port", "0", "--log-format", "json", "--world", world, "--map", "none", "--monsters", "0",
             "--terrain", "flat", "--free-blocks", free_blocks, "--item-life-s", "0", "--status-every", "1",
             "--secret-seed", "5", "--blocks", str(blocks)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment())
        self.statuses = []
        self.first_tick = self.wait_for("store")["saved_tick"]
        self.port = self.wait_for("ready")["port"]

    def wait_for(self, event):
        give_up = time.monotonic() + PATIENCE_S
        for line in self.process.stdout:
            said = json.loads(line)
            if said["event"] == "status":
                self.statuses.append(said)
            if said["event"] == event:
                return said
            if time.monotonic() > give_up:
                break
        raise SystemExit(f"no event={event} in time")

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.wait_for("console")

    def give(self, names):
        """@return items that players got, by kind"""
        got = collections.Counter()
        for name in names:
            for item, count in GIFTS.items():
                got[KINDS[item]] += count * self.say(f"give {name} {item} {count}").get("players", 0)
        return got

    def put_blocks(self, blocks, hoards=()):
        """Returns when the status has said that they are saved."""
        for x, y, z in blocks:
            self.say(f"set {x} {y} {z} {BUILT_BY_CONSOLE}")
        for x, y, z in hoards:
            self.say(f"set {x} {y} {z} treasure")
        # They enter the tick that follows; a status of a second later is of a later one.
        self.wait_for("status")
        self.wait_for("status")
        self.see_saved()

    def see_saved(self):
        """Returns when all is saved that was there as of the newest status."""
        done_at = self.first_tick + self.statuses[-1]["tick"]
        while self.wait_for("status")["saved_tick"] < done_at:
            pass

    def see_built(self, by_console):
        """Returns when players have changed blocks, too, and it is saved: how soon, a machine with much to do decides."""
        give_up = time.monotonic() + PATIENCE_S
        while self.statuses[-1]["blocks_changed"] <= by_console:
            self.wait_for("status")
            if time.monotonic() > give_up:
                raise SystemExit("nobody built anything")
        self.see_saved()

    def kill(self):
        self.process.kill()
        rest, _ = self.process.communicate()
        for line in rest.splitlines():
            # The last line may be cut off.
            if line.endswith("}") and (said := json.loads(line))["event"] == "status":
                self.statuses.append(said)


def tool(binary, *words):
    done = subprocess.run([binary, "world", *words], capture_output=True, text=True, env=environment(),
                          timeout=PATIENCE_S)
    if done.returncode != 0:
        sys.exit(f"after a kill, world {' '.join(words)}: {done.stdout}{done.stderr}")
    return done.stdout


def block_at(place, index):
    """Of a row of the tables (chunk_place() of server/store/sqlite_store.h, index_in_chunk())."""
    chunk = [(place >> shift & (1 << 21) - 1) - (1 << 20) for shift in (42, 21, 0)]
    local = (index >> 5 & 31, index >> 10, index & 31)
    return tuple(32 * c + i for c, i in zip(chunk, local))


class Bytes:
    """Of a row, from the first on (protocol/inventory_codec.h)."""

    def __init__(self, raw):
        self.raw, self.at = raw, 0

    def take(self, form):
        (value,) = struct.unpack_from("<" + form, self.raw, self.at)
        self.at += struct.calcsize("<" + form)
        return value

    def varint(self):
        value, shift = 0, 0
        while True:
            byte = self.take("B")
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def stack(self, into):
        kind = self.take("H")
        into[kind] += self.take("B")

    def inventory(self, into):
        for _ in range(self.take("B")):
            self.take("B")
            self.stack(into)


def lying_items(database):
    """@return column of blocks, kind and count of each stack that lies there"""
    for (raw,) in database.execute("SELECT bytes FROM items"):
        row = Bytes(raw)
        row.take("B")
        for _ in range(row.varint()):
            x, y, _, _ = row.take("d"), row.take("d"), row.take("d"), row.take("I")
            yield (math.floor(x), math.floor(y)), row.take("H"), row.take("B")


def dug_up(binary, folder, places):
    """What the treasures of these places hold: a world in which nobody else is has it lie there."""
    world = str(pathlib.Path(folder, "dug-up"))
    server = Server(binary, world, "no")
    for x, y, z in places:
        server.say(f"set {x} {y} {z} treasure")
        server.say(f"dig {x} {y} {z}")
    server.process.send_signal(signal.SIGTERM)
    server.process.communicate(timeout=PATIENCE_S)
    held = {place: collections.Counter() for place in places}
    with contextlib.closing(sqlite3.connect(pathlib.Path(world, "world.db"))) as database:
        for column, kind, count in lying_items(database):
            held[(*column, HOARDS_Z)][kind] += count
    if not all(held.values()):
        sys.exit(f"treasures without anything in them: {held}")
    return held


class World:
    """One that is killed again and again, and what has to be in it."""

    def __init__(self, folder, name, free_blocks, hoards):
        self.path = str(pathlib.Path(folder, name))
        self.acts_file = self.path + ".csv"
        self.free_blocks = free_blocks
        self.announced = []
        self.edits = self.last_edit = 0  # logged, as of the last look; the newest one's number
        self.given = collections.Counter()  # to players, and saved
        self.chests = self.acts = 0  # that hold something, as of the last look; told as saved, in all rounds
        self.hoards, self.opened = hoards, 0  # by place, what a treasure holds there; that were opened or dug
        self.held = collections.Counter()  # items, where they are, as of the last look

    def play(self, server, sim, rng, blocks, builders, seed):
        """One round, to the kill. Returns what the server had said."""
        running = Server(server, self.path, self.free_blocks)
        load = subprocess.Popen([sim, "load", "--server", f"127.0.0.1:{running.port}", "--clients", str(builders),
                                 "--brain", "build", "--joins-per-second", "200", "--duration", "10m",
                                 "--seed", str(seed), "--acts", self.acts_file],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment())
        try:
            time.sleep(rng.uniform(0, 2))
            given = collections.Counter()
            if self.free_blocks == "no":
                given = running.give(f"sim-{number}" for number in rng.sample(range(1, builders + 1), min(GIVEN, builders)))
            hoards = rng.sample(sorted(self.hoards), HOARDS_A_ROUND) if self.hoards else ()
            running.put_blocks(blocks, hoards)
            running.see_built(len(blocks) + len(hoards))
            self.given += given
            self.announced += blocks
            time.sleep(rng.uniform(0, 1))
        finally:
            running.kill()
            load.send_signal(signal.SIGINT)
            load.wait(timeout=PATIENCE_S)
        return running

    def check(self, binary, ran):
        tool(binary, "check", self.path)
        self.check_edits(ran)
        self.check_acts()
        self.check_log(binary)
        self.check_blocks(binary)
        self.check_items()

    def check_edits(self, ran):
        """What was announced of the builders' edits, against what is kept."""
        with contextlib.closing(sqlite3.connect(pathlib.Path(self.path, "world.db"))) as database:
            [(whole,)] = database.execute("PRAGMA integrity_check").fetchall()
            [(tick,)] = database.execute("SELECT value FROM meta WHERE key = 'tick'").fetchall()
            [(edits,)] = database.execute("SELECT count(*) FROM edits WHERE held IS NULL OR length(held) = 0")
        if whole != "ok":
            sys.exit(f"after a kill the database says: {whole}")
        tick, new = int(tick), edits - self.edits
        self.edits = edits
        if tick < (said := max(status["saved_tick"] for status in ran.statuses)):
            sys.exit(f"announced as saved up to tick {said}, and what is there is of {tick}")
        for status in ran.statuses:
            at, changed = ran.first_tick + status["tick"], status["blocks_changed"]
            if at <= tick and new < changed or at > tick and new > changed:
                sys.exit(f"at tick {at} there were {changed} edits, and {new} are there as of tick {tick}")

    def check_acts(self):
        """What builders were told of their acts, against what is kept of them."""
        told, saved = collections.defaultdict(list), collections.Counter()
        ended, newest, unanswered = set(), collections.Counter(), []
        with open(self.acts_file, newline="") as file:
            for row in csv.DictReader(file):
                player, number, verdict = row["player"], int(row["act"]), row["verdict"]
                if verdict == "saved":
                    saved[player] = max(saved[player], int(row["tick"]))
                elif verdict == "unanswered":
                    unanswered.append((player, number))
                elif verdict == "unasked" or (player, number) in ended:
                    sys.exit(f"{player} heard more than one last word of act {number}")
                elif verdict != "progress":
                    ended.add((player, number))
                    newest[player] = max(newest[player], number)
                    if verdict == "done" and int(row["kind"]) in (DIG, PLACE):
                        block = tuple(int(row[axis]) for axis in "xyz")
                        after = AIR if int(row["kind"]) == DIG else int(row["item"])
                        told[player].append((int(row["tick"]), (*block, after)))
        for player, number in unanswered:
            if number < newest[player]:
                sys.exit(f"{player} never heard the last word of act {number}, and that of {newest[player]}")
        kept = collections.defaultdict(list)
        with contextlib.closing(sqlite3.connect(pathlib.Path(self.path, "world.db"))) as database:
            for number, player, place, index, after in database.execute(
                    "SELECT edits.id, name, place, block, after FROM edits JOIN authors ON authors.id = author WHERE "
                    "edits.id > ? AND length(identity) > 1 AND (held IS NULL OR length(held) = 0) AND NOT (before = ? AND "
                    "after = ?) ORDER BY edits.id",  # a treasure that was opened is not told of as dug or placed
                    (self.last_edit, KINDS["treasure"], KINDS["chest"])):
                kept[player].append((*block_at(place, index), after))
            [(self.last_edit,)] = database.execute("SELECT coalesce(max(id), 0) FROM edits").fetchall()
        for player in set(told) | set(kept):
            heard = [edit for _, edit in told[player]]
            both = min(len(heard), len(kept[player]))
            if heard[:both] != kept[player][:both]:
                sys.exit(f"{player} heard of edits {heard}, and kept are {kept[player]}")
            announced = sum(1 for tick, _ in told[player] if tick <= saved[player])
            if announced > len(kept[player]):
                sys.exit(f"{player} was told that {announced} edits are saved, and {len(kept[player])} are there")
            self.acts += announced

    def check_items(self):
        """What there is of each kind, against what the log of edits says."""
        found, left = collections.Counter(), collections.Counter()
        self.held.clear()
        with contextlib.closing(sqlite3.connect(pathlib.Path(self.path, "world.db"))) as database:
            for (raw,) in database.execute("SELECT items FROM players WHERE length(items) > 0"):
                Bytes(raw).inventory(found)
            self.held["players"] = found.total()
            lying = 0
            for _, kind, count in lying_items(database):
                lying += 1
                found[kind] += count
            self.held["stacks"] = lying
            self.held["lying"] = found.total() - self.held["players"]
            chests = database.execute("SELECT place, block, bytes FROM contents").fetchall()
            for place, index, raw in chests:
                row = Bytes(raw)
                row.take("B")
                row.inventory(found)
                edit = database.execute("SELECT after FROM edits WHERE place = ? AND block = ? AND (held IS NULL OR "
                                        "length(held) = 0) ORDER BY id DESC LIMIT 1", (place, index)).fetchone()
                if edit != (KINDS["chest"],):
                    sys.exit(f"the block at {block_at(place, index)} holds something, and the log has it as {edit}")
            self.chests = len(chests)
            self.held["in chests"] = found.total() - self.held["players"] - self.held["lying"]
            self.opened = 0
            for place, index, before, after in database.execute(
                    "SELECT place, block, before, after FROM edits JOIN authors ON authors.id = author WHERE "
                    "length(identity) > 1 AND (held IS NULL OR length(held) = 0)"):
                if before == KINDS["treasure"]:
                    left.update(self.hoards[block_at(place, index)])
                    self.opened += 1
                if before == KINDS["treasure"] and after == KINDS["chest"]:
                    continue  # it was opened, and is one
                if after == AIR:
                    left[LEAVES_BEHIND.get(before, before)] += 1
                else:
                    left[after] -= 1
        if self.free_blocks == "yes":
            if found:
                sys.exit(f"after a kill there are items where blocks are free: {found}")
            return
        left.update(self.given)
        left[AIR] = 0
        for kind in (set(found) | set(left)) - {AIR}:
            lost = left[kind] - found[kind]
            if lost < 0 or lost > 0 and lying < LYING_MAX:
                sys.exit(f"after a kill there are {found[kind]} items of kind {kind}, by the log and what "
                         f"was given {left[kind]}")

    def check_log(self, binary):
        said = tool(binary, "rollback", self.path, "--since", "1000d", "--dry-run")
        if "left" in said or "damaged" in said:
            sys.exit(f"log and chunks disagree: {said}")

    def check_blocks(self, binary):
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder, "model.obj")
            tool(binary, "export", self.path, "--area", "0,0,100", "--out", str(model))
            numbers = [[float(v) for v in line.split()[1:4]]
                       for line in model.read_text().splitlines() if line.startswith("v ")]
        # The model's middle is that of the block at 0,0.
        corners = {(round(x + 0.5), round(y), round(z - 0.5)) for x, y, z in numbers}
        # In a model y is up, from the lowest of what it shows, and the way north is -z. Nothing is higher than ours.
        lift = max(y for _, y, _ in corners) - (BLOCKS_Z + 1)
        lost = [(x, y, z) for x, y, z in self.announced
                if not {(x + i, z + k + lift, -(y + j)) for i in (0, 1) for j in (0, 1) for k in (0, 1)} <= corners]
        if lost:
            sys.exit(f"announced as saved and not there: blocks {lost}")


def main(server, sim, rounds=10, builders=50):
    rng = random.Random(7)
    places = [(x, y, BLOCKS_Z) for x in BLOCKS_X for y in BLOCKS_Y]
    rng.shuffle(places)
    with tempfile.TemporaryDirectory() as folder:
        hoards = dug_up(server, folder, [(x, y, HOARDS_Z) for x in HOARDS_X for y in HOARDS_Y])
        worlds = [World(folder, "free", "yes", {}), World(folder, "survival", "no", hoards)]
        for number in range(rounds):
            world = worlds[number % 2]
            blocks = [places.pop() for _ in range(BLOCKS_A_ROUND)]
            world.check(server, world.play(server, sim, rng, blocks, builders, number))
    announced = sum(len(world.announced) for world in worlds)
    edits = [world.edits for world in worlds]
    print(f"{rounds} kills under {builders} builders: {announced} announced blocks are there, and {edits[0]} edits of "
          f"free blocks and {edits[1]} in survival agree with their chunks and with what was announced")
    held = worlds[1].held
    print(f"in survival {held['players']} items are held, {held['in chests']} are in {worlds[1].chests} chests and "
          f"{held['lying']} lie there in {held['stacks']} stacks, as the log of edits and {worlds[1].opened} treasures have it")
    print(f"builders were told of {sum(world.acts for world in worlds)} saved edits: all are there, each with its one "
          "verdict")
    if rounds > 1 and not held["players"] + held["lying"]:
        sys.exit("and nobody held anything: this proves nothing")
    if rounds >= 10 and not worlds[1].opened:
        sys.exit("and nobody found a treasure: this proves nothing of them")
    if min(edits[:rounds]) <= announced:
        sys.exit("and nobody built anything: this proves nothing")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
