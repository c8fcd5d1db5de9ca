#!/usr/bin/env python3
"""What ashlar-sim answers, and what it says of wrong input: exit codes and messages.

Usage: check_sim.py PATH/ashlar-sim PATH/ashlar-server [CLASS...]
"""
import pathlib
import shlex
import tempfile
import unittest

import programs
from programs import free_port, run


class Product(unittest.TestCase):
    def test_only_the_simulation_can_be_wrong_on_purpose(self):
        # The type that has the switches (server/host/defects.h) is part of the names of functions that take one.
        self.assertIn(b"DefectSwitches", pathlib.Path(programs.SIM).read_bytes())
        self.assertNotIn(b"DefectSwitches", pathlib.Path(programs.SERVER).read_bytes())


class Mistakes(unittest.TestCase):
    def refused(self, arguments, *parts):
        done = run(*arguments)
        self.assertEqual(done.returncode, 2, done)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)

    def test_words_and_flags(self):
        self.refused(["fly"], "'fly'", "--help")
        self.refused(["load", "--colour", "red"], "--colour")
        self.refused(["load", "--clients", "0"], "--clients")
        self.refused(["load", "--transport", "pigeon"], "--transport")
        self.refused(["load", "--hostile", "1", "--hostile-kind", "rude"], "--hostile-kind", "churn")
        self.refused(["load", "--hostile", "1", "--hostile-kind", "idle", "--server", "[::1]:7777"], "IPv4")
        self.refused(["load", "--duration", "5x"], "--duration", "5x", "30s")
        self.refused(["load", "--server", "127.0.0.1:99999"], "127.0.0.1:99999", "65535")
        self.refused(["load", "--wad", "/nowhere/none.wad"], "/nowhere/none.wad", "--wad")
        self.refused(["load", "--report", "/nowhere/r.json"], "/nowhere/r.json")
        self.refused(["bytes"], "give a recording")
        self.refused(["bytes", "/nowhere/match.ashrec"], "/nowhere/match.ashrec")
        self.refused(["bytes", "--server", "127.0.0.1:1", "--duration", "soon"], "--duration")
        self.refused(["bytes", "--svg", "/nowhere/b.svg", "--server", "127.0.0.1:1"], "/nowhere/b.svg")

    def test_damaged_wad(self):
        with tempfile.NamedTemporaryFile(suffix=".wad") as wad:
            wad.write(b"IWAD\xff\xff\xff\xff\xff\xff\xff\xff")
            wad.flush()
            self.refused(["load", "--wad", wad.name], wad.name)

    def test_simulate(self):
        self.refused(["simulate", "--rates", "plague=1"], "plague", "restart")
        self.refused(["simulate", "--without", "plague"], "plague")
        self.refused(["simulate", "--break", "nothing"], "nothing", "early-ack")
        self.refused(["simulate", "--minutes", "0"], "--minutes")
        self.refused(["simulate", "--faults", "/tmp"], "/tmp", "directory")
        self.refused(["simulate", "--faults", programs.SIM], programs.SIM, "line 1")
        self.refused(["simulate", "--map", "none", "--record", "/nowhere/r.ashrec"], "/nowhere/r.ashrec")
        self.refused(["simulate", "--wad", "/nowhere/none.wad"], "/nowhere/none.wad", "--wad")
        self.refused(["simulate", "--prop", "/nowhere/none.obj@1,2"], "/nowhere/none.obj", "--prop")
        self.refused(["simulate", "--prop", "crate.obj@1"], "crate.obj@1", "X,Y")
        with tempfile.NamedTemporaryFile("w", suffix=".obj") as crate:
            crate.write("v 0 0 0\nv 1 0 0\nv 0 0 1\nv 0 1 0\nf 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n")
            crate.flush()
            props = ["--prop", f"{crate.name}@2,3", "--prop", f"{crate.name}@-4.5,1,,45,2"]
            done = run("simulate", "--clients", "3", "--minutes", "0.05", "--map", "none", *props)
            self.assertEqual(done.returncode, 0, done)
            done = run("simulate", "--minutes", "0.5", "--map", "none", "--shrink", "0", "--break", "early-ack", *props)
            self.assertEqual(done.returncode, 1, done)
            self.assertIn(shlex.join(props), done.stdout)  # in the command that plays it again
            many = [word for x in range(257) for word in ("--prop", f"{crate.name}@{x},0")]
            self.refused(["simulate", *many], "256", "257")

    def test_replay(self):
        with tempfile.TemporaryDirectory() as folder:
            good = pathlib.Path(folder) / "good.ashrec"
            done = run("simulate", "--seed", "3", "--clients", "3", "--minutes", "0.1", "--map", "none", "--record", str(good))
            self.assertEqual(done.returncode, 0, done)
            self.assertRegex(done.stdout, r"hash=[0-9a-f]{16} ticks=\d+ faults=\d+ broken=0\n$")
            done = run("replay", str(good))
            self.assertEqual(done.returncode, 0, done)
            self.assertRegex(done.stdout, r"^hash=[0-9a-f]{16} ticks=\d+: every tick as recorded\n$")
            self.assertIn(" ticks=20:", run("replay", str(good), "--until", "20").stdout)
            done = run("replay", str(good), "--trace", "0x00100000")
            self.assertEqual(done.returncode, 0, done)
            lines = done.stdout.splitlines()
            self.assertEqual(lines[0].split(",")[:4], ["tick", "x_m", "y_m", "z_m"])
            self.assertGreater(len(lines), 100)
            self.assertIn("every tick as recorded", done.stderr)
            nobody = run("replay", str(good), "--trace", "0x7ffff000")
            self.assertEqual(nobody.returncode, 2)
            self.assertIn("0x7ffff000", nobody.stderr)
            whole = good.read_bytes()
            torn = pathlib.Path(folder) / "torn.ashrec"
            torn.write_bytes(whole[:-5])
            done = run("replay", str(torn))
            self.assertEqual(done.returncode, 0, done)
            self.assertIn("cut off", done.stdout)
            # Of a server that was killed in its first second there is the head alone, or with half a block.
            head = 8 + 12 + int.from_bytes(whole[8:12], "little")
            for size in (head, head + 20):
                torn.write_bytes(whole[:size])
                self.refused(["replay", str(torn)], str(torn), "holds no tick")
            bad = pathlib.Path(folder) / "bad.ashrec"
            bad.write_bytes(whole[:len(whole) // 2] + bytes([whole[len(whole) // 2] ^ 1]) + whole[len(whole) // 2 + 1:])
            self.refused(["replay", str(bad)], str(bad), "damaged")
            bad.write_bytes(b"")
            self.refused(["replay", str(bad)], str(bad), "not an Ashlar recording")
            self.refused(["replay", folder], folder, "directory")
            self.refused(["replay", str(good), "--trace", "0x"], "0x", "entity")
            self.refused(["replay", str(good), "--until", "0"], "--until")
            self.refused(["replay", str(good), "--wad", "/nowhere/none.wad"], "/nowhere/none.wad")
        self.refused(["replay"], "FILE")
        self.refused(["replay", "/nowhere/none.ashrec"], "/nowhere/none.ashrec")

    def test_watch(self):
        with tempfile.TemporaryDirectory() as folder:
            match = pathlib.Path(folder) / "match.ashrec"
            done = run("simulate", "--seed", "3", "--clients", "3", "--minutes", "0.1", "--map", "none", "--record", str(match))
            self.assertEqual(done.returncode, 0, done)
            done = run("watch", str(match), "--out", folder + "/pictures")
            self.assertEqual(done.returncode, 0, done)
            lines = done.stdout.splitlines()
            self.assertGreaterEqual(len(lines), 5)
            self.assertRegex(lines[-1], r"^ +\d+\.\d\d s  0x[0-9a-f]{8} at .*others within 64 m")
            pictures = sorted(pathlib.Path(folder, "pictures").iterdir())
            self.assertGreaterEqual(len(pictures), 4)
            self.assertTrue(pictures[-1].read_text().startswith("<svg "))
            few = run("watch", str(match), "--from", "2", "--until", "3", "--every", "0.5").stdout.splitlines()
            self.assertIn(len(few), (2, 3))
            nobody = run("watch", str(match), "--player", "0x7ffff000")
            self.assertEqual(nobody.returncode, 2)
            self.assertIn("0x7ffff000", nobody.stderr)
            self.refused(["watch", str(match), "--player", "0x"], "0x", "entity")
            self.refused(["watch", str(match), "--every", "0"], "--every")
            self.refused(["watch", folder], folder, "directory")
            blocked = pathlib.Path(folder) / "file"
            blocked.write_text("")
            self.refused(["watch", str(match), "--out", f"{blocked}/below"], str(blocked))
        self.refused(["watch"], "FILE")
        self.refused(["watch", "/nowhere/none.ashrec"], "/nowhere/none.ashrec")

    def test_help_and_version(self):
        self.assertEqual(run().returncode, 2)
        for word in (["--help"], ["load", "--help"]):
            done = run(*word)
            self.assertEqual(done.returncode, 0)
            self.assertIn("load", done.stdout)
        self.assertIn("protocol 19", run("--version").stdout)
        self.assertEqual(run("help").stdout, run("--help").stdout)
        self.assertEqual((run("help").returncode, run().returncode), (0, 2))

    def test_nobody_there(self):
        done = run("load", "--server", f"127.0.0.1:{free_port()}", "--transport", "tcp", "--clients", "2",
                   "--duration", "20s")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("is a server listening", done.stdout)
        self.assertIn("FAILED", done.stdout)


if __name__ == "__main__":
    programs.main()
