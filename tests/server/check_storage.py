#!/usr/bin/env python3
"""Keeps worlds with ashlar-server, damages them, backs them up, kills it, as operators and disks do.

Usage: check_storage.py PATH/ashlar-server
"""
import contextlib
import os
import pathlib
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import unittest

import check_binary
from check_binary import QUICK, Running, run

HOME = (0, 0, 0)  # a chunk that every start loads


def place(x, y, z):
    """A chunk's row, as docs/storage.md says it."""
    return (x + (1 << 20)) << 42 | (y + (1 << 20)) << 21 | (z + (1 << 20))


def room_wad(height):
    """A WAD with the map MAP01: a square room, as UDMF text."""
    corners = [(0, 0), (0, 512), (512, 512), (512, 0)]
    text = 'namespace = "doom";\n'
    text += "".join(f"vertex {{ x = {x}; y = {y}; }}\n" for x, y in corners)
    text += "".join(f"linedef {{ v1 = {i}; v2 = {(i + 1) % 4}; sidefront = {i}; blocking = true; }}\n" for i in range(4))
    text += "sidedef { sector = 0; }\n" * 4
    text += f'sector {{ heightfloor = 0; heightceiling = {height}; texturefloor = "F"; textureceiling = "F"; }}\n'
    text += "thing { x = 256; y = 256; type = 1; skill1 = true; skill2 = true; skill3 = true; }\n"
    lumps = [(b"MAP01", b""), (b"TEXTMAP", text.encode()), (b"ENDMAP", b"")]
    places = [12 + sum(len(data) for _, data in lumps[:i]) for i in range(len(lumps) + 1)]
    return (struct.pack("<4sii", b"PWAD", len(lumps), places[-1]) + b"".join(data for _, data in lumps) +
            b"".join(struct.pack("<ii8s", at, len(data), name) for at, (name, data) in zip(places, lumps)))


@contextlib.contextmanager
def holding(file, how):
    """Another program that holds a database: of this one the locks would be gone with the first look at the file."""
    code = ("import sqlite3, sys; d = sqlite3.connect(sys.argv[1], isolation_level=None); d.execute(sys.argv[2]); "
            "d.execute(\"UPDATE meta SET value = value WHERE key = 'tick'\"); print('held', flush=True); "
            "sys.stdin.read()")
    with subprocess.Popen([sys.executable, "-c", code, str(file), how], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as other:
        try:
            assert other.stdout.readline() == "held\n"
            yield
        finally:
            other.communicate()


class Storage(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.world = str(self.folder / "world")

    def sql(self, statement, *values, world=None):
        with contextlib.closing(sqlite3.connect(pathlib.Path(world or self.world, "world.db"))) as database:
            with database:
                return database.execute(statement, values).fetchall()

    def serve_once(self, *arguments):
        """A whole run. @return its lines by event"""
        with Running("--world", self.world, *QUICK, *arguments) as server:
            server.wait_for("ready")
            code, _, errors = server.end(signal.SIGTERM)
            self.assertEqual((code, errors), (0, ""))
            return {line["event"]: line for line in server.lines}

    def build(self, order):
        """A flat world of a run in which the console gives an order."""
        with Running("--world", self.world, *QUICK, "--terrain", "flat", stdin=subprocess.PIPE) as server:
            server.wait_for("ready")
            self.console(server, order)
            server.wait_for("console")
            self.assertEqual(server.end(signal.SIGTERM)[0], 0)

    def refused(self, *parts, arguments=()):
        done = run("--port", "0", "--world", self.world, *QUICK, *arguments)
        self.assertEqual(done.returncode, 2, done)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)

    def command(self, *words, code=0):
        done = run("world", *map(str, words))
        self.assertEqual(done.returncode, code, done)
        self.assertEqual(done.stderr.count("\n"), 1 if code == 2 else 0, done.stderr)
        return done.stderr if code == 2 else done.stdout

    def damage_home(self):
        """A row that no server wrote, where players begin."""
        self.sql("INSERT INTO chunks VALUES(?, 1, x'010203')", place(*HOME))
        self.sql("UPDATE meta SET value = value + 1 WHERE key = 'chunks'")

    def test_the_tick_goes_on_over_runs_and_a_kill(self):
        first = self.serve_once()["saved"]["saved_tick"]
        with Running("--world", self.world, *QUICK) as server:
            server.wait_for("ready")
            server.process.kill()
            server.finish()
        events = self.serve_once()
        self.assertEqual(events["store"]["saved_tick"], first)
        self.assertGreater(events["saved"]["saved_tick"], first)
        self.assertIn("nothing is damaged", self.command("check", self.world))
        info = self.command("info", self.world)
        for part in ("seed         1\n", f"saved tick   {events['saved']['saved_tick']}\n", "0 changed"):
            self.assertIn(part, info)

    def test_blocks_that_were_announced_survive_a_kill(self):
        with Running("--world", self.world, *QUICK, "--terrain", "flat", "--status-every", "1",
                     stdin=subprocess.PIPE) as server:
            server.wait_for("ready")
            for x in (0, 32, -1, -33):
                server.process.stdin.write(f"set {x} 0 40 brick\n")
            server.process.stdin.flush()
            for _ in range(4):
                self.assertEqual(server.wait_for("console")["block"], "brick")
            while (status := server.wait_for("status"))["dirty_chunks"] > 0 or status["saved_tick"] == 0:
                pass
            server.process.kill()
            server.finish()
        self.assertIn("4 changed", self.command("info", self.world))
        self.assertIn("4 chunks and 0 players are whole, nothing is damaged", self.command("check", self.world))
        rows = self.sql("SELECT * FROM chunks")
        self.assertEqual(sorted(row[0] for row in rows), sorted(place(x, 0, 1) for x in (0, 1, -1, -2)))
        # What is there is taken over, and dug again it is another chunk that is kept.
        with Running("--world", self.world, *QUICK, "--status-every", "1", stdin=subprocess.PIPE) as server:
            server.wait_for("ready")
            server.process.stdin.write("dig 32 0 40\n")
            server.process.stdin.flush()
            self.assertEqual(server.wait_for("console")["block"], "air")
            server.wait_for("status")  # a tick went by
            self.assertEqual(server.end(signal.SIGTERM)[0], 0)
        changed = [row[0] for row in self.sql("SELECT * FROM chunks") if row not in rows]
        self.assertEqual(changed, [place(1, 0, 1)])

    def test_a_world_keeps_its_kinds_of_blocks(self):
        marble, slate = self.folder / "marble.toml", self.folder / "slate.toml"
        marble.write_text('[[block]]\nname = "marble"\n')
        slate.write_text('[[block]]\nname = "slate"\n')
        self.serve_once("--blocks", str(marble))
        kept = self.sql("SELECT value FROM meta WHERE key = 'blocks'")
        self.assertIn("39 kinds", self.command("info", self.world))
        self.refused("--blocks does not fit this world", "marble", arguments=("--blocks", str(slate)))
        self.assertEqual(self.sql("SELECT value FROM meta WHERE key = 'blocks'"), kept)
        # In another order they keep their places, and a new one goes behind.
        slate.write_text('[[block]]\nname = "slate"\n[[block]]\nname = "marble"\n')
        self.serve_once("--blocks", str(slate))
        self.assertIn("40 kinds", self.command("info", self.world))
        with Running("--world", self.world, *QUICK, stdin=subprocess.PIPE) as server:
            server.wait_for("ready")
            server.process.stdin.write("set 0 0 40 marble\n")
            server.process.stdin.flush()
            self.assertEqual(server.wait_for("console")["block"], "marble")
            self.assertEqual(server.end(signal.SIGTERM)[0], 0)
        # One digit of them: check, backup and restore say so before a server has to.
        self.sql("UPDATE meta SET value = replace(substr(value, 1, 9), '0', '1') || substr(value, 10) "
                 "WHERE key = 'blocks'")
        self.assertIn("kinds of blocks", self.command("check", self.world, code=1))
        self.assertIn("1 fault", self.command("backup", self.world, "--out", self.folder / "copy", code=1))
        self.assertIn("damaged", self.command("restore", self.folder / "copy", "--to", self.folder / "new", code=2))
        self.refused("kinds of blocks", "restore it from a backup")

    def test_a_check_of_the_configuration_makes_no_database(self):
        done = run("--check-config", "--port", "0", "--world", self.world, *QUICK)
        self.assertEqual((done.returncode, os.path.exists(self.world)), (0, False), done.stderr)
        self.serve_once()
        os.remove(self.folder / "world" / "world.db")
        done = run("--check-config", "--port", "0", "--world", self.world, *QUICK)
        self.assertEqual((done.returncode, sorted(os.listdir(self.world)).count("world.db")), (0, 0), done.stderr)
        self.assertEqual(self.serve_once()["store"]["saved_tick"], 0)

    def test_a_world_does_not_go_on_with_another_map_of_the_same_name(self):
        wads = [self.folder / name for name in ("first.wad", "second.wad")]
        for wad, height in zip(wads, (128, 256)):
            wad.write_bytes(room_wad(height))

        def serve(wad, *arguments):
            with Running("--world", self.world, "--wad", str(wad), *arguments) as server:
                server.wait_for("ready")
                self.assertEqual(server.end(signal.SIGTERM)[0], 0)

        def asked():
            return self.sql("SELECT key, value FROM meta WHERE key IN ('maps', 'footprints') ORDER BY key")

        def refused(*arguments):
            done = run(*arguments, "--for", "1s", "--port", "0", "--world", self.world, "--wad", str(wads[1]))
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done)
            for part in ("another map MAP01", str(wads[1]), "--wad", "--accept-world"):
                self.assertIn(part, done.stderr)

        serve(wads[0])
        made = asked()
        refused()
        refused("--check-config")
        self.assertEqual(asked(), made)
        wads[0].rename(self.folder / "elsewhere.wad")  # what counts is what is in it, however it is placed
        serve(self.folder / "elsewhere.wad", "--doors", "shut")
        self.assertEqual(asked(), made)
        serve(wads[1], "--accept-world")
        self.assertNotEqual(asked(), made)
        serve(wads[1])
        # One of before that was kept takes what it is started with.
        self.sql("DELETE FROM meta WHERE key = 'maps'")
        serve(self.folder / "elsewhere.wad")
        self.assertEqual(asked(), made)
        refused()

    def make_older(self):
        """The database as a build of format 7 left it."""
        with contextlib.closing(sqlite3.connect(self.folder / "world" / "world.db")) as database:
            database.executescript("DROP INDEX edits_by_cell; ALTER TABLE edits DROP COLUMN cell; "
                                   "CREATE INDEX edits_by_place ON edits(place, block); PRAGMA user_version = 7")

    def test_a_check_of_a_backup_leaves_it_as_it_is(self):
        self.serve_once()
        backup = self.folder / "backup"
        self.command("backup", self.world, "--out", backup)
        before = (backup / "world.db").read_bytes()
        done = run("--check-config", "--port", "0", "--world", str(backup), *QUICK)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((backup / "world.db").read_bytes(), before)
        self.world = str(backup)
        self.serve_once()
        self.assertEqual(self.sql("PRAGMA journal_mode"), [("wal",)])

    def test_a_check_and_a_refused_start_do_not_upgrade_the_database(self):
        self.serve_once()
        self.make_older()
        self.sql("INSERT INTO items VALUES(0, 1, x'01')")  # damaged: a start keeps it aside
        file = self.folder / "world" / "world.db"
        before = file.read_bytes()
        names = sorted(os.listdir(self.world))
        done = run("--check-config", "--port", "0", "--world", self.world, *QUICK)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("a start upgrades", done.stdout)
        self.assertIn("from format 7 to 8", done.stdout)
        self.refused("cannot record to", arguments=("--record", str(self.folder / "nowhere" / "x.rec")))
        self.refused("--damaged-chunks regenerate", arguments=("--damaged-chunks", "refuse"))
        self.assertEqual(file.read_bytes(), before)
        self.assertEqual(sorted(os.listdir(self.world)), names)
        upgraded = self.serve_once()["store_upgraded"]
        self.assertEqual((upgraded["format"], upgraded["copy"]), (8, str(file) + ".format-7"))
        self.assertEqual(self.sql("PRAGMA user_version"), [(8,)])
        self.assertEqual(self.sql("SELECT count(*) FROM damaged"), [(1,)])
        self.assertNotIn("upgrades", run("--check-config", "--port", "0", "--world", self.world, *QUICK).stdout)

    def test_damaged_ground_is_named_kept_aside_and_made_anew(self):
        self.serve_once()
        self.damage_home()
        self.assertIn("chunk 0,0,0: its bytes do not agree", self.command("check", self.world, code=1))
        done = run("--check-config", "--port", "0", "--world", self.world, *QUICK)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.sql("SELECT count(*) FROM damaged"), [(0,)])
        lost = self.serve_once()["chunk_damaged"]
        self.assertEqual((lost["x"], lost["y"], lost["z"], lost["now"]), (*HOME, "regenerated"))
        self.assertEqual(self.sql("SELECT kind, place, bytes FROM damaged"), [("chunk", place(*HOME), b"\1\2\3")])
        self.assertIn("0 chunks and 0 players are whole, nothing is damaged", self.command("check", self.world))
        self.assertIn("1 kept aside", self.command("info", self.world))
        self.assertNotIn("chunk_damaged", self.serve_once())

    def test_damaged_ground_at_home_refuses_the_start_where_that_is_wanted(self):
        self.serve_once()
        self.damage_home()
        self.refused("column 0,0", "--damaged-chunks regenerate", arguments=["--damaged-chunks", "refuse"])
        self.assertEqual(self.sql("SELECT count(*) FROM chunks"), [(1,)])

    def test_a_newer_a_foreign_and_a_held_database_are_refused_as_they_are(self):
        self.serve_once()
        file = self.folder / "world" / "world.db"
        self.sql("PRAGMA user_version = 99")
        before = file.read_bytes()
        names = sorted(os.listdir(file.parent))
        self.refused("world.db", "format 99")
        self.assertEqual(sorted(os.listdir(file.parent)), names)
        self.assertIn("format 99", self.command("check", self.world, code=2))
        self.assertEqual(file.read_bytes(), before)
        self.sql("PRAGMA user_version = 1")
        self.sql("UPDATE meta SET value = '2' WHERE key = 'seed'")
        self.refused("world.db", "seed 2")
        self.sql("UPDATE meta SET value = '1' WHERE key = 'seed'")
        with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            self.refused("world.db", "locked")
        for name in ("world.db-wal", "world.db-shm"):
            (self.folder / "world" / name).unlink(missing_ok=True)
        file.write_bytes(b"x" * 9000)
        self.refused("world.db", "no world's database")

    def test_a_database_without_its_world_is_not_laid_over(self):
        self.serve_once()
        self.damage_home()
        for name in ("world.toml", "server.toml"):
            os.remove(self.folder / "world" / name)
        self.refused("world.db", "world.toml is gone")

    def test_a_world_without_its_database_says_what_it_lost(self):
        self.assertNotIn("stored_damaged", self.serve_once())
        file = self.folder / "world" / "world.db"
        os.remove(file)
        self.refused("world.db", "missing or empty", "--damaged-chunks regenerate",
                     arguments=["--damaged-chunks", "refuse"])
        self.assertFalse(file.exists())
        file.write_bytes(b"")
        lost = self.serve_once()["stored_damaged"]
        self.assertIn("world.db was missing or empty", lost["lost"])
        self.assertNotIn("stored_damaged", self.serve_once())

    def test_a_torn_log_of_edits_ends_no_saving_and_is_made_anew(self):
        file = self.folder / "world" / "world.db"
        self.build("fill 0 0 40 15 15 50 brick")
        root = self.sql("SELECT rootpage FROM sqlite_master WHERE name = 'edits'")[0][0]
        torn = bytearray(file.read_bytes())
        torn[(root - 1) * 4096:root * 4096] = b"\x07" * 4096
        file.write_bytes(torn)
        with Running("--world", self.world, *QUICK, stdin=subprocess.PIPE) as server:
            server.wait_for("ready")
            self.console(server, "set 64 0 40 brick")
            server.wait_for("console")
            self.assertIn("world salvage", server.wait_for("edit_log_damaged")["remedy"])
            self.assertEqual(server.end(signal.SIGTERM)[0], 0)
            self.assertNotIn("saving_failed", {line["event"] for line in server.lines})
        self.assertEqual(self.sql("SELECT count(*) FROM chunks"), [(2,)])
        self.assertIn("edits", self.command("check", self.world, code=1))
        self.assertIn("chunks: 2 rows\n", self.command("salvage", self.world, code=1))
        self.assertIn("nothing is damaged", self.command("check", self.world))
        self.assertTrue((self.folder / "world" / "world.db.before-salvage").exists())
        self.assertNotIn("edit_log_damaged", self.serve_once())
        self.assertIn("chunks: 2 rows\n", self.command("salvage", self.world, "--drop-log"))

    def test_salvage_ends_where_a_row_number_of_the_log_is_lower_than_the_one_before_it(self):
        self.build("fill 0 0 40 15 15 50 brick")
        file = self.folder / "world" / "world.db"
        root = self.sql("SELECT rootpage FROM sqlite_master WHERE name = 'edits'")[0][0]
        all_edits = self.edits()
        torn = bytearray(file.read_bytes())

        def cell(page, number, head):
            at = (page - 1) * 4096 + head + 2 * number
            return (page - 1) * 4096 + torn[at] * 256 + torn[at + 1]

        def varint(at):
            return next(size for size in range(1, 10) if torn[at + size - 1] < 128)

        first, second = (int.from_bytes(torn[at:at + 4], "big") for at in (cell(root, 0, 12), cell(root, 1, 12)))
        last = cell(first, torn[(first - 1) * 4096 + 4] - 1, 8)
        number = last + varint(last)
        size = varint(number)
        torn[number:number + size] = b"\x80" * (size - 1) + b"\x01"  # row 1, behind higher ones
        torn[(second - 1) * 4096:(second - 1) * 4096 + 8] = b"\xff" * 8
        file.write_bytes(torn)
        told = self.command("salvage", self.world, code=1)
        self.assertIn("others could not be read", told)
        self.assertGreater(self.edits(), all_edits // 2)
        self.assertLess(self.edits(), all_edits)
        self.assertIn("nothing is damaged", self.command("check", self.world))

    def test_a_database_that_does_not_say_whose_world_it_is_is_made_anew_by_world_toml(self):
        self.build("set 0 0 40 brick")
        root = self.sql("SELECT rootpage FROM sqlite_master WHERE name = 'meta'")[0][0]
        file = self.folder / "world" / "world.db"
        torn = bytearray(file.read_bytes())
        torn[(root - 1) * 4096:root * 4096] = b"\x07" * 4096
        file.write_bytes(torn)
        self.refused("world.db")
        told = self.command("salvage", self.world, code=1)
        for part in ("chunks: 1 rows\n", "meta, seed: from world.toml\n", "meta, tick: begins at 0"):
            self.assertIn(part, told)
        self.assertIn("nothing is damaged", self.command("check", self.world))
        self.assertNotIn("stored_damaged", self.serve_once())
        self.assertEqual(self.sql("SELECT count(*) FROM chunks"), [(1,)])

    def test_a_damaged_player_is_named_and_kept_aside_or_refuses_the_start(self):
        self.serve_once()
        self.sql("INSERT INTO players VALUES(x'" + "01" * 32 + "', 1, 2, 3, 0, 0, 5, 0, x'', x'')")
        self.refused("ashlar-public", "--damaged-chunks regenerate", arguments=["--damaged-chunks", "refuse"])
        self.assertEqual(self.sql("SELECT count(*) FROM damaged"), [(0,)])
        lost = self.serve_once()["stored_damaged"]
        self.assertIn("player ashlar-public", lost["lost"])
        kept = self.sql("SELECT bytes FROM damaged WHERE kind = 'player'")[0][0].decode()
        self.assertEqual(self.sql("SELECT count(*) FROM players"), [(0,)])
        self.sql(kept)
        self.assertEqual(self.sql("SELECT x, y, z, health FROM players"), [(1, 2, 3, 5)])

    def test_a_world_goes_on_at_another_tick_rate_with_as_many_seconds(self):
        rate = ("SELECT (SELECT value FROM meta WHERE key = 'tick') / (SELECT value FROM meta WHERE key = 'tick_rate'), "
                "(SELECT value FROM meta WHERE key = 'tick_rate')")
        self.serve_once("--tick-rate", "60")
        self.sql("UPDATE meta SET value = 6000000 WHERE key = 'tick'")
        for wanted in ("10", "128", "60"):
            self.serve_once("--tick-rate", wanted)
            seconds, kept = self.sql(rate)[0]
            self.assertEqual(kept, wanted)
            self.assertTrue(100_000 <= seconds < 100_060, seconds)

    def test_what_operators_change_at_once_is_all_in_the_log(self):
        with Running("--world", self.world, *QUICK, "--terrain", "flat", stdin=subprocess.PIPE) as server:
            server.wait_for("ready")
            for i in range(40):
                self.console(server, f"fill 0 0 40 15 15 55 {('brick', 'glass')[i % 2]}")
            for _ in range(40):
                server.wait_for("console")
            self.assertEqual(server.end(signal.SIGTERM)[0], 0)
            self.assertNotIn("edits_unlogged", {line["event"] for line in server.lines})
        # All that was done; the end waits a second for what is left, and says so.
        left = [line for line in server.lines if line.get("error", "").startswith("stopped before all")]
        edits = self.edits()
        self.assertEqual((edits % 4096, edits == 40 * 4096), (0, not left))
        self.assertGreaterEqual(edits, 4 * 4096)

    def test_a_server_backs_its_world_up_by_itself(self):
        half = self.folder / "world" / "backups" / "20200101-000000.part"
        half.mkdir(parents=True)  # of a server that was killed at it
        with Running("--world", self.world, *QUICK, "--backup-every", "1s", "--backups-kept", "2", "--status-every",
                     "1", stdin=subprocess.PIPE) as server:
            self.assertEqual(server.wait_for("backup_removed")["folder"], str(half))
            self.assertFalse(half.exists())
            server.wait_for("ready")
            made = []
            for x in range(4):
                self.console(server, f"set {x} 0 40 brick")
                made.append(server.wait_for("backup")["folder"])
            # The last change may have come between the backup and its group. From then on nothing changes.
            for _ in range(3):
                server.wait_for("status")
            before = len(server.lines)
            for _ in range(4):
                server.wait_for("status")
            self.assertNotIn("backup", {line["event"] for line in server.lines[before:]})
            self.assertEqual(server.end(signal.SIGTERM)[0], 0)
        kept = sorted(os.listdir(self.folder / "world" / "backups"))
        self.assertEqual(kept[-1] >= os.path.basename(made[-1]), True)
        self.assertLessEqual(len([name for name in kept if not name.endswith(".part")]), 2)
        self.assertIn("nothing is damaged", self.command("check", made[-1]))
        self.command("restore", made[-1], "--to", self.folder / "again")
        self.assertIn("--replace", self.command("restore", made[-1], "--to", self.world, code=2))
        told = self.command("restore", made[-1], "--to", self.world, "--replace")
        self.assertIn("world.before-restore", told)
        self.assertTrue((self.folder / "world" / "server.key").exists())
        self.world = str(self.folder / "again")
        self.serve_once()

    def backups(self):
        return sorted(path.name for path in (self.folder / "world" / "backups").iterdir())

    def test_a_backup_that_a_server_runs_in_is_not_removed(self):
        with Running("--world", self.world, *QUICK, "--backup-every", "1s", "--backups-kept", "1",
                     stdin=subprocess.PIPE) as server:
            server.wait_for("ready")
            self.console(server, "set 0 0 40 brick")
            used = pathlib.Path(server.wait_for("backup")["folder"])
            with Running("--world", str(used), *QUICK) as other:
                other.wait_for("ready")
                for x in range(1, 4):
                    self.console(server, f"set {x} 0 40 brick")
                    made = server.wait_for("backup")["folder"]
                self.assertEqual(self.backups(), sorted([used.name, os.path.basename(made)]))
                self.assertEqual(other.end(signal.SIGTERM)[0], 0)
            self.console(server, "set 5 0 40 brick")
            server.wait_for("backup")
            self.assertEqual(server.end(signal.SIGTERM)[0], 0)
        self.assertNotIn(used.name, self.backups())

    def test_a_recording_that_another_server_writes_is_not_removed(self):
        record = ("--record", str(self.folder / "m-%Y.rec"), "--record-existing", "next", "--record-keep-mib", "1")
        with Running(*QUICK, *record) as first:
            live = first.wait_for("recording")["file"]
            first.wait_for("ready")
            with open(live, "r+b") as file:  # as long as after an evening of it
                file.truncate(2 << 20)
            with Running(*QUICK, *record) as second:
                second.wait_for("ready")
                code, events, _ = second.end(signal.SIGTERM)
                self.assertEqual((code, "recording_removed" in events), (0, False))
            self.assertTrue(os.path.exists(live))
            self.assertEqual(first.end(signal.SIGTERM)[0], 0)
        with Running(*QUICK, *record) as third:
            third.wait_for("ready")
            self.assertIn("recording_removed", third.end(signal.SIGTERM)[1])
        self.assertFalse(os.path.exists(live))

    def test_a_database_that_is_moved_away_under_a_server_is_told_and_no_backup_goes(self):
        file = self.folder / "world" / "world.db"
        with Running("--world", self.world, *QUICK, "--backup-every", "1s", "--backups-kept", "1",
                     stdin=subprocess.PIPE) as server:
            server.wait_for("ready")
            self.console(server, "set 0 0 40 brick")
            made = server.wait_for("backup")["folder"]
            file.rename(self.folder / "away.db")
            self.console(server, "set 1 0 40 brick")
            self.assertIn("moved away", server.wait_for("saving_failed")["error"])
            self.assertIn(os.path.basename(made), self.backups())
            (self.folder / "away.db").rename(file)
            server.wait_for("saving_recovered")
            self.assertEqual(server.end(signal.SIGTERM)[0], 0)
        self.assertIn("1 changed", self.command("info", self.world))
        rows = self.sql("SELECT count(*) FROM edits")
        self.assertEqual(rows, [(2,)])

    def test_a_backup_stays_that_was_made_after_the_clock_was_ahead(self):
        ahead = self.folder / "world" / "backups" / "20991231-235959"
        ahead.mkdir(parents=True)
        with Running("--world", self.world, *QUICK, "--backup-every", "1s", "--backups-kept", "1",
                     stdin=subprocess.PIPE) as server:
            server.wait_for("ready")
            for x in range(2):
                self.console(server, f"set {x} 0 40 brick")
                made = server.wait_for("backup")["folder"]
                self.assertEqual(self.backups(), [os.path.basename(made)])
            self.assertEqual(server.end(signal.SIGTERM)[0], 0)
        self.assertIn("nothing is damaged", self.command("check", made))

    def test_of_two_backups_to_one_place_one_is_made(self):
        self.serve_once()
        with contextlib.closing(sqlite3.connect(self.folder / "world" / "world.db")) as database:
            with database:
                database.execute("CREATE TABLE much(bytes)")  # so that it takes a while
                database.execute("WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30) "
                                 "INSERT INTO much SELECT zeroblob(1000000) FROM n")
        for there in (False, True):
            out = self.folder / f"copy-{there}"
            if there:
                out.mkdir()
            both = [subprocess.Popen([check_binary.SERVER, "world", "backup", self.world, "--out", str(out)],
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
            told = [(*one.communicate(), one.returncode) for one in both]
            self.assertEqual(sorted(code for _, _, code in told), [0, 2], told)
            for _, errors, code in told:
                self.assertEqual(errors.count("\n"), 1 if code == 2 else 0, told)
            self.assertIn("nothing is damaged", self.command("check", out))

    def test_a_world_that_lost_its_world_toml_is_restored_in_its_place(self):
        self.serve_once()
        backup, world = self.folder / "backup", self.folder / "world"
        self.command("backup", self.world, "--out", backup)
        (world / "world.toml").unlink()
        self.refused("lost its world.toml", "restore it from a backup")
        self.assertIn("world.before-restore", self.command("restore", backup, "--to", world, "--replace"))
        self.assertTrue((world / "server.key").exists())
        self.serve_once()
        # Its settings gone too, the database is what is left of it.
        for name in ("world.toml", "server.toml"):
            (world / name).unlink()
        shutil.rmtree(world / "cache", ignore_errors=True)
        self.assertIn("world.before-restore-2", self.command("restore", backup, "--to", world, "--replace"))
        self.serve_once()

    def test_a_world_is_restored_where_one_stands(self):
        self.serve_once()
        backup = self.folder / "backup"
        self.command("backup", self.world, "--out", backup)
        self.sql("UPDATE meta SET value = '5' WHERE key = 'tick'", world=backup)
        done = subprocess.run([os.path.abspath(check_binary.SERVER), "world", "restore", str(backup), "--to", ".",
                               "--replace"], capture_output=True, text=True, check=False, cwd=self.world)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        self.assertIn("as of tick 5,", done.stdout)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()),
                         ["backup", "world", "world.before-restore"])
        self.assertNotIn(".restoring", os.listdir(self.folder / "world.before-restore"))
        self.assertEqual(self.serve_once()["store"]["saved_tick"], 5)

    def test_a_world_is_restored_within_a_folder_that_cannot_be_moved(self):
        self.serve_once()
        backup, world = self.folder / "backup", self.folder / "world"
        self.command("backup", self.world, "--out", backup)
        self.sql("UPDATE meta SET value = '5' WHERE key = 'tick'", world=backup)
        (world / "backups").mkdir()
        (world / "bans.toml").write_text("# nobody\n")
        server = shutil.copy(check_binary.SERVER, self.folder)
        other = {"user": 65534, "group": 65534} if os.geteuid() == 0 else {}  # root may write everywhere
        for path in (world, backup, *world.rglob("*"), *backup.rglob("*")):
            if other:
                os.chown(path, 65534, 65534)
        self.folder.chmod(0o555)
        self.addCleanup(self.folder.chmod, 0o755)
        done = subprocess.run([server, "world", "restore", str(backup), "--to", self.world, "--replace"],
                              capture_output=True, text=True, check=False, **other)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        for part in ("as of tick 5,", f"the one before is {world}/before-restore", "bans.toml and server.toml stay"):
            self.assertIn(part, done.stdout)
        self.assertEqual(sorted(os.listdir(world)), ["backups", "bans.toml", "before-restore", "server.key",
                                                     "server.toml", "world.db", "world.toml"])
        self.assertIn("nothing is damaged", self.command("check", self.world))
        self.assertIn("nothing is damaged", self.command("check", world / "before-restore"))

    def test_backups_and_restored_worlds_have_files_that_as_many_may_read(self):
        self.serve_once()
        world, backup, again = self.folder / "world", self.folder / "backup", self.folder / "again"
        (world / "server.toml").chmod(0o640)
        self.command("backup", self.world, "--out", backup)
        self.command("restore", backup, "--to", again)
        for folder in (world, backup, again):
            modes = [oct((folder / name).stat().st_mode & 0o777) for name in ("world.toml", "server.toml")]
            self.assertEqual(modes, ["0o600", "0o640"], folder)

    def test_a_restore_that_was_cut_off_makes_no_new_world(self):
        self.serve_once()
        backup, world = self.folder / "backup", self.folder / "world"
        self.command("backup", self.world, "--out", backup)
        restoring, before = self.folder / "world.restoring", self.folder / "world.before-restore"
        # Killed while it copied: the world that was there is whole.
        restoring.mkdir()
        (restoring / "world.db.new").write_bytes(b"half")
        self.serve_once()
        # Killed when the one that was there was put aside.
        world.rename(before)
        restoring.mkdir(exist_ok=True)
        self.refused("restore was cut off", "do it again")
        for word in ("info", "check", "log"):
            self.assertIn("cut off", self.command(word, self.world, code=2))
        self.assertFalse(world.exists())
        self.command("restore", backup, "--to", world)
        self.assertFalse(restoring.exists())
        self.serve_once()
        # And when all was copied.
        world.rename(restoring)
        self.refused("all was copied", f"move {restoring}")
        restoring.rename(world)
        self.serve_once()
        # As older builds left it.
        (world / "world.db").rename(world / "world.db.new")
        (world / "world.toml").unlink()
        self.refused("lost its world.toml", "restore it from a backup")
        shutil.rmtree(world)
        self.refused("before a restore", str(before))
        told = self.command("restore", before, "--to", world)
        self.assertIn("holds the world", told)
        self.assertIn("world.before-restore-2", self.command("restore", backup, "--to", world, "--replace"))
        self.serve_once()

    def test_a_backup_that_is_wrong_newer_or_held_is_not_restored_and_stays_as_it_is(self):
        self.serve_once()
        self.command("backup", self.world, "--out", self.folder / "backup")
        backup, to = self.folder / "backup", self.folder / "to"
        file = backup / "world.db"
        # As a server leaves one behind that was started with it and killed.
        self.sql("PRAGMA journal_mode = WAL", world=backup)

        def refused(*parts):
            before = {path.name: path.read_bytes() for path in backup.iterdir()}
            told = self.command("restore", backup, "--to", to, code=2)
            for part in parts:
                self.assertIn(part, told)
            self.assertEqual({path.name: path.read_bytes() for path in backup.iterdir()}, before)
            self.assertFalse(to.exists())

        def meddle(statement):
            self.sql(statement, world=backup)

        for mode in ("WAL", "DELETE"):
            meddle(f"PRAGMA journal_mode = {mode}")
            meddle("PRAGMA user_version = 99")
            refused("world.db", "format 99")
            meddle("PRAGMA user_version = 8")
            meddle("UPDATE meta SET value = '2' WHERE key = 'seed'")
            refused("world.db", "seed 2")
            meddle("UPDATE meta SET value = '1' WHERE key = 'seed'")
            meddle("INSERT INTO chunks VALUES(5, 1, x'010203')")
            refused("damaged")
            meddle("DELETE FROM chunks")
            for hold in ("BEGIN EXCLUSIVE", "BEGIN IMMEDIATE", "PRAGMA locking_mode = EXCLUSIVE"):
                with holding(file, hold):
                    refused("world.db", "another program")
        # One that was copied with what waits beside it.
        meddle("PRAGMA journal_mode = WAL")
        with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as other:
            other.execute("UPDATE meta SET value = '77' WHERE key = 'tick'")
            waits = (backup / "world.db-wal").read_bytes()
            kept = file.read_bytes()
        file.write_bytes(kept)
        (backup / "world.db-wal").write_bytes(waits)
        written = (backup / "world.toml").read_bytes()
        (backup / "world.toml").write_bytes(written.replace(b"seed = 1", b"seed = 3"))
        refused("world.toml")
        (backup / "world.toml").write_bytes(written)
        self.assertIn("as of tick 77", self.command("restore", backup, "--to", to))
        self.assertEqual(sorted(path.name for path in backup.iterdir() if "shm" in path.name), [])

    def test_a_backup_of_a_running_server_starts(self):
        backup = self.folder / "backup"
        with Running("--world", self.world, *QUICK) as server:
            server.wait_for("ready")
            self.assertIn("holds the world", self.command("backup", self.world, "--out", self.folder / "whole"))
            # A row that no server wrote: it is copied as it is, and the operator hears of it.
            self.sql("INSERT INTO players VALUES(x'01', 0, 0, 0, 0, 0, 0, 0, x'', x'')")
            told = self.command("backup", self.world, "--out", backup, code=1)
            self.assertIn("holds the world", told)
            self.assertIn("1 fault is in it", told)
            server.end(signal.SIGTERM)
        self.assertEqual(sorted(os.listdir(backup)), ["server.toml", "world.db", "world.toml"])
        self.assertEqual(self.sql("SELECT count(*) FROM players", world=backup), [(1,)])
        self.world = str(backup)
        self.serve_once()

    def console(self, server, line):
        server.process.stdin.write(line + "\n")
        server.process.stdin.flush()

    def test_who_changed_what_is_told_and_taken_back_also_in_play(self):
        with Running("--world", self.world, *QUICK, "--terrain", "flat", "--status-every", "1",
                     stdin=subprocess.PIPE) as server:
            server.wait_for("ready")
            for x in range(3):
                self.console(server, f"set {x} 0 40 brick")
                server.wait_for("console")
            while (status := server.wait_for("status"))["dirty_chunks"] > 0 or status["saved_tick"] == 0:
                pass
            self.assertIn("3 edits", self.command("log", self.world))
            refused = self.command("rollback", self.world, "--since", "1h", code=2)
            self.assertIn("another server", refused)
            self.console(server, "log 1 0 40")
            edit = server.wait_for("edit")
            self.assertEqual((edit["x"], edit["before"], edit["after"], edit["by"]), (1, "air", "brick", "@operator"))
            self.assertEqual(server.wait_for("console")["edits"], 1)
            self.console(server, "rollback @operator since 1h area 0,0,1 dry-run")
            self.assertEqual(server.wait_for("console")["would_put_back"], 2)
            self.console(server, "rollback @operator since 1h area 0,0,1")
            self.assertEqual(server.wait_for("console")["put_back"], 2)
            self.console(server, "rollback nobody force since 1h")
            self.assertIn("nobody in the log is called nobody force:", server.wait_for("console")["error"])
            self.console(server, "rollback nobody")
            self.assertIn("rollback NAME since", server.wait_for("console")["error"])
            server.wait_for("status")
            self.assertEqual(server.end(signal.SIGTERM)[0], 0)
        told = self.command("log", self.world)
        self.assertIn("5 edits", told)
        self.assertEqual(told.count("brick -> air"), 2)
        self.assertIn("0 edits", self.command("log", self.world, "--player", "@world"))
        for words in (("log", self.world), ("rollback", self.world, "--since", "1h")):
            self.assertIn("nobody in the log is called ann", self.command(*words, "--player", "ann", code=2))
        self.assertIn("1 edits found, 1 blocks would be put back",
                      self.command("rollback", self.world, "--since", "1h", "--area", "2,0,0", "--dry-run"))
        back = self.command("rollback", self.world, "--since", "1h", "--area", "2,0,0")
        self.assertIn("1 blocks put back", back)
        self.assertTrue((self.folder / "world" / "world.db.before-rollback").exists())
        self.assertIn("6 edits", self.command("log", self.world))
        self.assertIn("nothing is damaged", self.command("check", self.world))

    def test_the_log_is_asked_when_all_before_is_saved(self):
        with Running("--world", self.world, *QUICK, "--terrain", "flat", "--save-interval-ms", "60000",
                     stdin=subprocess.PIPE) as server:
            server.wait_for("ready")
            for kind in ("brick", "stone"):
                self.console(server, f"set 1 0 40 {kind}")
                server.wait_for("console")
                self.console(server, "log 1 0 40")
                self.assertEqual(server.wait_for("edit")["after"], kind)  # the newest first
                server.wait_for("console")
            self.console(server, "rollback @operator since 1h")
            self.assertEqual(server.wait_for("console")["put_back"], 1)
            self.assertEqual(server.end(signal.SIGTERM)[0], 0)
        self.assertIn("3 edits", self.command("log", self.world))

    def test_boxes_and_spheres_of_the_console_are_kept_and_logged_and_zones_stay(self):
        with Running("--world", self.world, *QUICK, "--terrain", "flat", "--protect", "2,-9,0,9,9,90=spawn",
                     stdin=subprocess.PIPE) as server:
            server.wait_for("ready")
            self.console(server, "fill 4 0 40 0 0 40 brick")  # the console may
            told = server.wait_for("console")
            self.assertEqual((told["fill"], told["blocks"]), ("brick", 5))
            self.console(server, "blast 1 0 40 2")  # which leaves zones out
            self.assertEqual(server.wait_for("console")["blast_m"], 2)
            self.console(server, "fill 0 0 40 99 99 99 brick")
            self.assertIn("4096 blocks", server.wait_for("console")["error"])
            self.assertEqual(server.end(signal.SIGTERM)[0], 0)
        told = self.command("log", self.world)
        self.assertIn("7 edits", told)  # five bricks, of which two are gone
        self.assertEqual((told.count("@operator") >= 7, told.count("brick -> air")), (True, 2))
        self.assertIn('protect = ["2,-9,0,9,9,90=spawn"]', (self.folder / "world" / "world.toml").read_text())

    def falling(self):
        """How many blocks wait to fall, of what is kept (protocol/kept_state_codec.h)."""
        rows = self.sql("SELECT bytes FROM state") if os.path.exists(self.folder / "world" / "world.db") else []
        count = shift = 0
        for byte in rows[0][0][1:] if rows else b"\0":
            count |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        return count

    def edits(self):
        return self.sql("SELECT count(*) FROM edits")[0][0]

    def test_sand_that_was_falling_when_the_server_was_killed_falls_on(self):
        with Running("--world", self.world, *QUICK, "--terrain", "flat", "--status-every", "1",
                     stdin=subprocess.PIPE) as server:
            server.wait_for("ready")
            # 64 blocks move every 0.05 s at most: that takes minutes.
            self.console(server, "fill 0 0 60 15 15 75 sand")
            server.wait_for("console")
            while self.falling() == 0:
                server.wait_for("status")
            server.process.kill()
            server.finish()
        fell, waiting = self.edits(), self.falling()
        self.assertGreater(waiting, 0)
        with Running("--world", self.world, *QUICK, "--status-every", "1") as server:
            server.wait_for("ready")
            while self.edits() < fell + 64:
                server.wait_for("status")
            self.assertEqual(server.end(signal.SIGTERM)[0], 0)
        self.assertGreater(self.falling(), 0)
        self.assertIn("nothing is damaged", self.command("check", self.world))
        # A list that makes no sense is named and put aside, and the server starts without it.
        self.sql("UPDATE state SET bytes = x'01ff'")
        self.assertIn("state of doors", self.command("check", self.world, code=1))
        self.serve_once()
        self.assertEqual(self.sql("SELECT count(*) FROM damaged WHERE kind = 'state'"), [(1,)])

    def test_the_log_can_be_switched_off(self):
        with Running("--world", self.world, *QUICK, "--edit-log-mib", "0", stdin=subprocess.PIPE) as server:
            server.wait_for("ready")
            self.console(server, "set 0 0 40 brick")
            server.wait_for("console")
            self.assertEqual(server.end(signal.SIGTERM)[0], 0)
        self.assertIn("0 edits", self.command("log", self.world))

    def test_a_treasure_is_where_tools_see_it_and_gone_for_good_when_it_was_dug(self):
        """Tools make the ground that nobody changed as the server does, treasures too: dug and filled up with stone a chunk
        is not as it was generated."""
        model = self.folder / "part.obj"

        def treasures():
            for file in (model, model.with_suffix(".mtl")):
                file.unlink(missing_ok=True)
            self.command("export", self.world, "--area", "0,0,100", "--out", model)
            points, tops, kind = [], {}, ""
            lines = model.read_text().splitlines()
            low, high = ([int(v) for v in corner.split(",")] for corner in lines[0].replace(";", "").split()[2:5:2])
            middle = [(low[i] + high[i] + 1) / 2 for i in range(2)]
            for line in lines[1:]:
                word, *rest = line.split()
                if word == "v":
                    points.append(tuple(map(float, rest)))
                elif word == "usemtl":
                    kind = rest[0]
                elif word == "f" and kind == "treasure":
                    corners = [points[int(part.split("/")[0])] for part in rest]  # counted from the last one
                    # The model has y up; a treasure's top is open, its bottom may be.
                    if len({y for _, y, _ in corners}) == 1:
                        column = (round(min(x for x, _, _ in corners) + middle[0]),
                                  round(min(-z for _, _, z in corners) + middle[1]))
                        tops[column] = max(tops.get(column, -1000), round(corners[0][1]) + low[2])
            return {(*column, top - 1) for column, top in tops.items()}

        self.serve_once("--terrain", "hills", "--secret-seed", "1")
        before = treasures()
        self.assertTrue(before)
        at = "%d %d %d" % min(before)
        with Running("--world", self.world, *QUICK, stdin=subprocess.PIPE) as server:
            server.wait_for("ready")
            for line in (f"dig {at}", f"set {at} stone"):
                self.console(server, line)
                server.wait_for("console")
            self.assertEqual(server.end(signal.SIGTERM)[0], 0)
        self.assertIn("treasure -> air", self.command("log", self.world))
        self.assertEqual(treasures(), before - {min(before)})
        self.command("prune", self.world)
        self.assertEqual(treasures(), before - {min(before)})

    def test_what_is_as_it_was_generated_is_pruned_and_a_part_exported(self):
        with Running("--world", self.world, *QUICK, "--terrain", "flat", stdin=subprocess.PIPE) as server:
            server.wait_for("ready")
            for line in ("set 0 0 40 brick", "set 64 0 40 brick", "dig 64 0 40"):
                self.console(server, line)
                server.wait_for("console")
            self.assertIn("another server", self.command("prune", self.world, code=2))
            self.assertEqual(server.end(signal.SIGTERM)[0], 0)
        self.assertIn("2 changed", self.command("info", self.world))
        self.assertIn("1 chunk as generated would go, 1 chunk would stay", self.command("prune", self.world, "--dry-run"))
        self.assertIn("2 changed", self.command("info", self.world))
        self.assertIn("1 chunk as generated gone, 1 chunk kept", self.command("prune", self.world))
        self.assertTrue((self.folder / "world" / "world.db.before-prune").exists())
        self.assertIn("1 chunks and 0 players are whole, nothing is damaged", self.command("check", self.world))
        model = self.folder / "part.obj"
        self.assertIn("6 faces", self.command("export", self.world, "--area", "0,0,40,2", "--out", model))
        self.assertIn("usemtl brick", model.read_text())
        self.assertIn("no ground is at that height", self.command("export", self.world, "--area", "0,0,4000,4", "--out",
                                                                  self.folder / "none.obj", code=2))
        self.assertIn("newmtl brick", (self.folder / "part.mtl").read_text())
        self.serve_once("--prop", f"{model}@0,0")

    def test_a_prop_is_found_again_from_another_folder(self):
        (self.folder / "crate.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
                                               "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")
        words = [os.path.abspath(check_binary.SERVER), "--for", "1s", "--port", "0", "--world", self.world, *QUICK]
        for cwd, more in ((self.folder, ["--prop", "crate.obj@0,0"]), ("/", [])):
            done = subprocess.run([*words, *more], capture_output=True, text=True, check=False, cwd=cwd)
            self.assertEqual((done.returncode, done.stderr), (0, ""), done)

    def test_commands_say_what_is_wrong(self):
        self.assertIn("no world", self.command("info", self.folder, code=2))
        self.assertIn("no world", self.command("check", self.folder / "nowhere", code=2))
        self.serve_once()
        self.assertIn("--out", self.command("backup", self.world, code=2))
        self.assertIn("not empty", self.command("backup", self.world, "--out", self.folder, code=2))
        self.assertIn("world restore", self.command("restore", self.world, code=2))
        self.assertIn("world info", self.command("--help"))

    def test_tools_read_a_stopped_world_where_nothing_can_be_written_and_leave_nothing_there(self):
        self.serve_once("--terrain", "flat")
        world, out = self.folder / "world", self.folder / "out"
        out.mkdir()
        names = sorted(os.listdir(world))
        words = [("info",), ("check",), ("log",), ("export", "--area", "0,0,8", "--out", str(out / "part.obj")),
                 ("backup", "--out", str(out / "copy"))]
        for word, *rest in words:
            self.command(word, world, *rest)
            self.assertEqual(sorted(os.listdir(world)), names, word)
        shutil.rmtree(out)
        out.mkdir()
        out.chmod(0o777)
        self.folder.chmod(0o755)
        (world / "world.toml").chmod(0o644)
        world.chmod(0o555)
        self.addCleanup(world.chmod, 0o755)
        other = {"user": 65534, "group": 65534} if os.geteuid() == 0 else {}  # root may write everywhere
        server = shutil.copy(check_binary.SERVER, self.folder)  # nobody else may reach a build in root's home
        for word, *rest in words:
            done = subprocess.run([server, "world", word, self.world, *rest], capture_output=True,
                                  text=True, check=False, **other)
            self.assertEqual((done.returncode, done.stderr), (0, ""), done)
            self.assertEqual(sorted(os.listdir(world)), names, word)

    def test_a_world_that_no_server_starts_with_is_not_backed_up(self):
        self.serve_once()
        settings, copy = self.folder / "world" / "world.toml", self.folder / "copy"
        whole = settings.read_text()
        settings.write_text(whole.replace("seed = 1", "seed = 2"))
        self.assertIn("world.toml", self.command("check", self.world, code=1))
        self.assertIn("--accept-world", self.command("backup", self.world, "--out", copy, code=2))
        settings.write_text(whole)
        self.sql("UPDATE meta SET value = '7' WHERE key = 'seed'")
        self.assertIn("seed 7", self.command("check", self.world, code=1))
        self.assertIn("seed 7", self.command("backup", self.world, "--out", copy, code=2))
        (self.folder / "world" / "world.db").unlink()
        for words in (("backup", self.world, "--out", copy), ("restore", self.world, "--to", copy)):
            self.assertIn("world.db is missing", self.command(*words, code=2))
        self.assertIn("world.db is missing", self.command("check", self.world, code=1))
        for word in ("info", "log"):
            self.assertIn("world.db is not there", self.command(word, self.world, code=2))
        self.assertFalse(copy.exists())


if __name__ == "__main__":
    check_binary.SERVER = sys.argv.pop(1)
    unittest.main()
