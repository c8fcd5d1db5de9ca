#!/usr/bin/env python3
"""Runs ashlar-sim as its users do: exit codes, messages, and short runs against a real server over UDP and TCP.

Usage: check_sim.py PATH/ashlar-sim PATH/ashlar-server [CLASS...]
"""
import json
import os
import pathlib
import re
import select
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

SIM = SERVER = ""
# Generous: sanitizers and busy machines make everything slow, and only a failing test waits for it.
PATIENCE_S = 180


def environment():
    return {k: v for k, v in os.environ.items() if not k.startswith(("ASHLAR_", "DOOMWAD"))}


def run(*arguments):
    return subprocess.run([SIM, *arguments], capture_output=True, text=True, timeout=PATIENCE_S,
                          env=environment(), stdin=subprocess.DEVNULL)


def free_port():
    """A port that nobody listens at."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def rest_of(process):
    """What a process whose lines were being read says until it ends. Not communicate(): it reads past the lines that were
    read ahead, and they would be lost."""
    too_long = threading.Timer(PATIENCE_S, process.kill)
    too_long.start()
    out = process.stdout.read()
    process.wait()
    too_long.cancel()
    return out


class Server:
    """A real server on a free port."""

    def __init__(self, *arguments, stdin=subprocess.DEVNULL, port=0):
        self.process = subprocess.Popen(
            [SERVER, "--listen", "127.0.0.1", "--port", str(port), "--log-format", "json", "--monsters", "10", *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment(),
            stdin=stdin)
        self.port = None
        for line in self.process.stdout:
            if '"ready"' in line:
                self.port = json.loads(line)["port"]
                return
        raise AssertionError("the server did not start")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=PATIENCE_S)


class Product(unittest.TestCase):
    def test_only_the_simulation_can_be_wrong_on_purpose(self):
        # The type that has the switches (server/host/defects.h) is part of the names of functions that take one.
        self.assertIn(b"DefectSwitches", pathlib.Path(SIM).read_bytes())
        self.assertNotIn(b"DefectSwitches", pathlib.Path(SERVER).read_bytes())


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
        self.refused(["simulate", "--faults", SIM], SIM, "line 1")
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
            self.assertRegex(lines[-1], r"^ +\d+\.\d\d s  0x[0-9a-f]{8} at .*others in sight")
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
        self.assertIn("protocol 14", run("--version").stdout)

    def test_nobody_there(self):
        done = run("load", "--server", f"127.0.0.1:{free_port()}", "--transport", "tcp", "--clients", "2",
                   "--duration", "20s")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("is a server listening", done.stdout)
        self.assertIn("FAILED", done.stdout)


class Content(unittest.TestCase):
    """Clients that hold no files."""

    def load(self, server, *arguments, code=0, seconds=2):
        done = run("load", "--server", f"127.0.0.1:{server.port}", "--clients", "1", "--duration", f"{seconds}s", "--progress", "0",
                   "--report", str(self.folder / "report.json"), *arguments)
        self.assertEqual(done.returncode, code, done)
        return done, json.loads((self.folder / "report.json").read_text())

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.cache = str(self.folder / "cache")
        wad = self.folder / "room.wad"
        wad.write_bytes(square_room_wad(b"MAP07"))
        crate = self.folder / "crate.obj"
        crate.write_text("v 0 0 0\nv 1 0 0\nv 0 0 1\nv 0 1 0\nf 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n")
        self.world = ["--wad", str(wad), "--map", "MAP07", "--prop", f"{crate}@30,30"]

    def test_they_fetch_them_once(self):
        with Server(*self.world) as server:
            for transport in ("udp", "tcp"):
                cache = ["--cache", self.cache + transport, "--transport", transport]
                done, report = self.load(server, *cache)
                self.assertEqual((report["fetched"], report["joined"]), (2, 1), done)
                self.assertIn("2 maps and props from the server", done.stdout)
                done, report = self.load(server, *cache)
                self.assertEqual((report["fetched"], report["joined"]), (0, 1), done)
            # Without a folder they are fetched each time, over a bad path, too.
            done, report = self.load(server, "--cache", "", "--loss", "10%", "--latency", "20ms")
            self.assertEqual((report["fetched"], report["joined"]), (2, 1), done)
            # What was damaged on the disk is fetched anew.
            kept = sorted(pathlib.Path(self.cache + "udp").glob("content-*.bin"))
            self.assertEqual(len(kept), 2)
            kept[0].write_bytes(b"ACON" + bytes(20))
            done, report = self.load(server, "--cache", self.cache + "udp")
            self.assertEqual((report["fetched"], report["joined"]), (1, 1), done)

    def test_they_explore_a_map_that_they_fetched(self):
        with Server(*self.world) as server:
            done, report = self.load(server, "--cache", self.cache, "--brain", "explore", seconds=6)
            self.assertEqual(report["fetched"], 2)
            self.assertEqual(report["explored"][0]["map"], "MAP07")
            self.assertGreater(report["explored"][0]["entered"], 0)

    def test_a_server_that_gives_nothing_says_what_is_lacking(self):
        with Server(*self.world, "--content-bytes-per-s", "0") as server:
            done, report = self.load(server, "--cache", self.cache, code=1)
            self.assertEqual(report["refused"], 1)
            self.assertIn("1 client: this client lacks MAP07 crate.obj as the server has it: map MAP07 cannot be fetched: "
                          "the server gives no files away: get its file from the operator", done.stdout)

    def test_a_cache_that_cannot_be_written_costs_no_game(self):
        with Server(*self.world) as server:
            done, report = self.load(server, "--cache", "/proc/none")
            self.assertEqual((report["fetched"], report["joined"]), (2, 1), done)
            self.assertIn("what was fetched is not kept: cannot make /proc/none", done.stderr)


class Network:
    """Between clients and a server, on a port of its own: hands TCP on, and UDP as long as it lets it through."""

    def __init__(self, port, udp):
        self.udp = udp
        self.server = ("127.0.0.1", port)
        self.front = None
        while self.front is None:
            listener = socket.create_server(("127.0.0.1", 0))
            datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            try:
                datagrams.bind(listener.getsockname())
                self.front = listener, datagrams
            except OSError:
                listener.close()
        self.port = listener.getsockname()[1]
        self.ways = {}  # by the client's address: a socket to the server
        self.other = {}  # by TCP socket: where its bytes go
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()
        for each in [*self.front, *self.ways.values(), *self.other]:
            each.close()

    def run(self):
        listener, datagrams = self.front
        while not self.over.is_set():
            ready = select.select([*self.front, *self.ways.values(), *self.other], [], [], 0.05)[0]
            for each in ready:
                if each is listener:
                    here, there = listener.accept()[0], socket.create_connection(self.server)
                    self.other[here], self.other[there] = there, here
                elif each is datagrams:
                    data, client = datagrams.recvfrom(2048)
                    if self.udp and client not in self.ways:
                        self.ways[client] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                        self.ways[client].connect(self.server)
                    if self.udp:
                        self.ways[client].send(data)
                elif each in self.other:
                    self.hand_on(each)
                else:
                    data = each.recv(2048)
                    if self.udp:
                        datagrams.sendto(data, next(c for c, way in self.ways.items() if way is each))

    def hand_on(self, each):
        if each not in self.other:
            return
        try:
            data = each.recv(65536)
            if data:
                return self.other[each].sendall(data)
        except OSError:
            pass
        for gone in (each, self.other[each]):
            del self.other[gone]
            gone.close()


class Fallback(unittest.TestCase):
    """A network that blocks UDP, between a real server and real sockets."""

    def load(self, network, folder, seconds, *arguments):
        report = pathlib.Path(folder) / "report.json"
        done = run("load", "--server", f"127.0.0.1:{network.port}", "--clients", "3", "--duration", f"{seconds}s",
                   "--progress", "0", "--report", str(report), *arguments)
        return done, json.loads(report.read_text())

    def test_who_hears_nothing_over_udp_plays_over_tcp(self):
        with tempfile.TemporaryDirectory() as folder, Server() as server, Network(server.port, udp=False) as network:
            done, report = self.load(network, folder, 6, "--fallback")
            self.assertEqual((report["joined"], report["dropped"]), (3, 0), done)
            self.assertGreater(report["snapshots"], 3 * 60)
            done, report = self.load(network, folder, 4)
            self.assertEqual(report["joined"], 0, done)

    def test_a_game_over_udp_goes_on_over_tcp(self):
        with tempfile.TemporaryDirectory() as folder, Server() as server, Network(server.port, udp=True) as network:
            cut = threading.Timer(4, lambda: setattr(network, "udp", False))
            cut.start()
            done, report = self.load(network, folder, 18, "--fallback")
            self.assertEqual((report["joined"], report["dropped"], report["refused"]), (3, 0, 0), done)
            self.assertEqual((report["resumes"], report["rejoins"]), (3, 0), done)  # the same bodies


class Player:
    def play_until(self, server, enough, *arguments):
        """Plays longer and longer until that much happened: what a machine does in a second is no promise."""
        for seconds in (2, 6, 20, 60):
            done, report = self.play(server, *arguments, duration=f"{seconds}s")
            if enough(report):
                break
        else:
            self.fail(report)
        return done, report

    def play(self, server, *arguments, code=0, duration="2s"):
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder) / "report.json"
            # A machine that stands still for a second starves clients: that is no fault of ours, once or twice.
            for _ in range(3):
                done = run("load", "--server", f"127.0.0.1:{server.port}", "--duration", duration, "--progress", "1s",
                           "--report", str(report), *arguments)
                if done.returncode == code:
                    break
            self.assertEqual(done.returncode, code, done)
            return done, json.loads(report.read_text())


class Runs(Player, unittest.TestCase):
    def test_both_transports(self):
        with Server() as server:
            for transport in ("udp", "tcp"):
                done, report = self.play(server, "--clients", "8", "--transport", transport, "--chat-every", "1")
                self.assertIn("passed", done.stdout)
                self.assertIn("playing 8 of 8", done.stdout)
                self.assertTrue(report["passed"])
                self.assertEqual(report["joined"], 8)
                self.assertEqual(report["decode_errors"], 0)
                self.assertGreater(report["snapshots"], 8)
                self.assertGreater(report["rtt_ms"]["samples"], 8)

    def test_prediction(self):
        with Server() as server:
            done, report = self.play_until(server, lambda report: report["prediction"]["confirmed"] > 100,
                                           "--clients", "4", "--predict", "3")
            self.assertIn("prediction     3 clients", done.stdout)
            prediction = report["prediction"]
            self.assertEqual(prediction["clients"], 3)
            self.assertLess(prediction["mispredicted"], prediction["confirmed"] / 2)
            self.assertGreater(prediction["others_lag_ms"], 0)
            self.assertGreaterEqual(prediction["late_per_minute"], 0)
            self.assertIn("hits as seen", done.stdout)
            self.assertRegex(done.stdout, r"to foresee, [0-9.]+ to show\n")
            seen = [prediction[f"hits_{kind}"] for kind in ("as_seen", "not_as_seen", "beyond_limit", "pushed", "untold")]
            self.assertTrue(all(count >= 0 for count in seen), seen)

    def test_a_spy_tells_what_walls_hide_from_it(self):
        with Server("--sight-culling", "on") as server:
            done, report = self.play(server, "--clients", "4", "--brain", "wander", "--cheat", "spy", duration="5s")
            self.assertIn("2 clients by spy, 2 honest", done.stdout)
            self.assertIn("within the next 200 ms", done.stdout)
            self.assertGreater(report["cheats"]["spied_s"], 0)
            self.assertLess(report["cheats"]["spied_unseen_share"], 1)

    def test_light_clients(self):
        with Server() as server:
            done, report = self.play_until(
                server, lambda report: (report["snapshots"] > 24 * 10 and report["commands"] > 24 * 30
                                        and report["places_compared"] > 10),
                "--clients", "3", "--light", "21", "--brain", "crowd")
            self.assertIn("playing 24 of 24", done.stdout)
            self.assertEqual((report["clients"], report["light"], report["joined"]), (24, 21, 24))
            self.assertEqual(report["places_wrong"], 0)

    def test_where_bytes_go(self):
        with tempfile.TemporaryDirectory() as folder, Server() as server:
            picture = pathlib.Path(folder) / "bytes.svg"
            done = run("bytes", "--server", f"127.0.0.1:{server.port}", "--clients", "2", "--duration", "2s",
                       "--svg", str(picture))
            self.assertEqual(done.returncode, 0, done)
            for word in ("seals", "own player", "block heads", "inputs up", "sim-1", "cells of 64 m", "player"):
                self.assertIn(word, done.stdout)
            self.assertIn("</svg>", picture.read_text())
            done = run("bytes", "--server", f"127.0.0.1:{server.port}", "--duration", "2s", "--sum")
            self.assertEqual(done.returncode, 0, done)
            self.assertRegex(done.stdout, r"^[0-9.]+ kB/s down, [0-9.]+ kB/s up; [^\n]*\n$")

    def test_explorers(self):
        with Server() as server:
            # Half of them begin inside the map.
            done, report = self.play(server, "--clients", "12", "--brain", "explore")
            self.assertTrue(report["passed"], done.stdout)
            self.assertEqual(len(report["explored"]), 1)
            self.assertGreater(report["explored"][0]["sectors"], 1)
            self.assertGreater(report["explored"][0]["entered"], 0, done.stdout)
            self.assertIn("sectors entered", done.stdout)


class Cheats(Player, unittest.TestCase):
    def test_cheats_gain_nothing(self):
        with Server() as server:
            for cheat in ("fast-clock", "doubled", "bursts", "stalls", "reach", "taps", "lies"):
                # Who comes falls to the ground first; then a whole second counts, which slow machines see late.
                done, report = self.play(server, "--clients", "4", "--brain", "wander", "--cheat", cheat, duration="5s")
                self.assertIn(f"2 clients by {cheat}, 2 honest", done.stdout)
                figures = report["cheats"]
                self.assertEqual((figures["cheat"], figures["cheating"], figures["honest"]), (cheat, 2, 2))
                self.assertGreater(figures["second_m"], 0)
                self.assertEqual(figures["gained_step_m"], 0)
                self.assertEqual(figures["gained_second_m"], 0)
                self.assertEqual(figures["blocks_dug_out_of_reach"], 0)
                self.assertEqual(figures["gained_shots"], 0)
                self.assertEqual(figures["gained_hits"], 0)
                if cheat == "taps":
                    self.assertGreater(figures["shots"], 0)
                    self.assertGreater(figures["honest_shots"], 0)


class Ends(Player, unittest.TestCase):
    """Bad lines, enemies, and ends of every kind."""

    def test_bad_network_and_enemies(self):
        with Server() as server:
            done, report = self.play(server, "--clients", "4", "--hostile", "2", "--latency", "30ms", "--jitter",
                                     "10ms", "--loss", "2%", "--corrupt", "2%", "--duplicate", "2%", "--reorder", "2%")
            self.assertTrue(report["passed"], done.stdout)
            self.assertGreater(report["attacks_sent"], 100)
            self.assertGreaterEqual(report["rtt_ms"]["p50"], 55)

    def test_enemies_of_every_kind(self):
        with Server("--map", "none") as server:
            for kind in ("tiny-frames", "idle", "churn", "garbage", "hellos", "half-handshakes", "inside",
                         "spoofed", "deaf", "liars"):
                with self.subTest(kind):
                    done, report = self.play(server, "--clients", "4", "--transport", "tcp" if kind == "idle" else "udp",
                                             "--hostile", "4", "--hostile-kind", kind, "--hostile-rate", "50")
                    self.assertTrue(report["passed"], done.stdout)
                    self.assertGreater(report["attacks_sent"], 3)

    def test_a_harness_that_is_stopped_for_a_second_goes_on_and_nobody_else_notices(self):
        with Server("--map", "none") as server, tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder) / "report.json"
            stopped = subprocess.Popen([SIM, "load", "--server", f"127.0.0.1:{server.port}", "--clients", "4", "--light", "12",
                                        "--brain", "crowd", "--duration", "10m", "--progress", "200ms", "--report", str(report)],
                                       stdout=subprocess.PIPE, text=True, env=environment())
            for line in stopped.stdout:
                if "playing 16 of 16" in line:
                    break
            stopped.send_signal(signal.SIGSTOP)
            # Others come, play and go meanwhile.
            done, others = self.play(server, "--clients", "4")
            self.assertEqual((others["joined"], others["dropped"]), (4, 0), done)
            stopped.send_signal(signal.SIGCONT)
            # It plays on for a while, as long as that takes here, and compares what it is told of each with what each is.
            for _ in range(20):
                stopped.stdout.readline()
            stopped.send_signal(signal.SIGINT)
            out = rest_of(stopped)
            told = json.loads(report.read_text())
            self.assertEqual((told["joined"], told["dropped"], told["refused"]), (16, 0, 0), out)
            self.assertGreater(told["places_compared"], 10, out)
            self.assertEqual(told["places_wrong"], 0, out)
            # Within two seconds of the server's ticks everybody knows of those around them again.
            self.assertGreaterEqual(told["gaps"], 4, out)
            self.assertLessEqual(told["agreed_after_ticks"], 2 * 60, out)
            self.assertEqual(told["disagreeing"], 0, out)
            self.assertEqual((others["starved"], others["decode_errors"]), (0, 0), done)

    def test_after_kill_and_restart_everybody_is_back(self):
        for transport in ("udp", "tcp"):
            with self.subTest(transport):
                port = free_port()
                server = Server("--map", "none", port=port)
                with tempfile.TemporaryDirectory() as folder:
                    report = pathlib.Path(folder) / "report.json"
                    sim = subprocess.Popen([SIM, "load", "--server", f"127.0.0.1:{port}", "--clients", "8",
                                            "--transport", transport, "--duration", "10m", "--progress", "200ms",
                                            "--report", str(report)],
                                           stdout=subprocess.PIPE, text=True, env=environment())
                    for line in sim.stdout:
                        if "playing 8 of 8" in line:
                            break
                    server.process.kill()
                    server.process.communicate(timeout=PATIENCE_S)
                    with Server("--map", "none", port=port) as again:
                        back = 0
                        for line in again.process.stdout:
                            back += '"joined"' in line
                            if back == 8:
                                break
                        self.assertEqual(back, 8)
                        sim.send_signal(signal.SIGINT)
                        out = rest_of(sim)
                    done = json.loads(report.read_text())
                    # They seek their sessions, over TCP with new connections; how long that takes is the machine's affair.
                    self.assertGreaterEqual(done["rejoins"], 8, out)
                    self.assertEqual((done["dropped"], done["refused"]), (0, 0), out)

    def test_full_server(self):
        with Server("--max-clients", "2") as server:
            done, report = self.play(server, "--clients", "5", code=1)
            self.assertEqual(report["refused"], 3, done.stdout)
            self.assertEqual(report["joined"], 2)
            self.assertIn("full", done.stdout)

    def test_missing_map(self):
        # A server that plays a map of a WAD which clients do not have: a map under a name of its own.
        with tempfile.TemporaryDirectory() as folder:
            wad = pathlib.Path(folder) / "own.wad"
            wad.write_bytes(square_room_wad(b"MAP77"))
            with Server("--wad", str(wad), "--map", "MAP77", "--content-bytes-per-s", "0") as server:
                done, report = self.play(server, "--clients", "1", code=1)
                self.assertEqual(report["refused"], 1, done.stdout)
                self.assertIn("MAP77", done.stdout)
                done, report = self.play(server, "--clients", "1", "--wad", str(wad))
                self.assertEqual(report["joined"], 1)

    def test_a_kicked_player_is_told_why(self):
        for transport in ("udp", "tcp"):
            with self.subTest(transport), Server(stdin=subprocess.PIPE) as server:
                sim = subprocess.Popen([SIM, "load", "--server", f"127.0.0.1:{server.port}", "--clients", "1",
                                        "--transport", transport, "--duration", "10m", "--progress", "1s"],
                                       stdout=subprocess.PIPE, text=True, env=environment())
                for line in sim.stdout:
                    if "playing 1 of 1" in line:
                        break
                server.process.stdin.write("kick sim-1 the sun is out\n")
                server.process.stdin.flush()
                out = rest_of(sim)
                self.assertEqual(sim.returncode, 1, out)
                self.assertIn("kicked: the sun is out", out)
                self.assertIn("FAILED: 1 dropped", out)

    def test_a_report_is_not_mixed_with_lines_for_a_closed_terminal(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "report.json"
            done = subprocess.run(["sh", "-c", 'exec "$0" "$@" >&-', SIM, "load", "--transport", "tcp", "--server",
                                   f"127.0.0.1:{free_port()}", "--clients", "1", "--report", str(path)],
                                  stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S, env=environment())
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("cannot write to standard output", done.stderr)
            self.assertFalse(json.loads(path.read_text())["passed"])

    def test_interrupt_ends_with_the_report(self):
        with Server() as server:
            sim = subprocess.Popen([SIM, "load", "--server", f"127.0.0.1:{server.port}", "--clients", "4",
                                    "--duration", "10m", "--progress", "1s"], stdout=subprocess.PIPE, text=True,
                                   env=environment())
            for line in sim.stdout:
                if "playing 4 of 4" in line:
                    break
            sim.send_signal(signal.SIGINT)
            out = rest_of(sim)
            self.assertEqual(sim.returncode, 0, out)
            self.assertIn("4 joined of 4", out)

    def test_a_server_that_ends_is_a_failure(self):
        server = Server()
        sim = subprocess.Popen([SIM, "load", "--server", f"127.0.0.1:{server.port}", "--clients", "4",
                                "--duration", "10m", "--progress", "1s"], stdout=subprocess.PIPE, text=True,
                               env=environment())
        for line in sim.stdout:
            if "playing 4 of 4" in line:
                break
        server.__exit__()
        out = rest_of(sim)
        self.assertEqual(sim.returncode, 1, out)
        self.assertIn("shutting_down", out)


class Recordings(unittest.TestCase):
    def test_a_killed_server_leaves_all_but_its_last_second(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "match.ashrec"
            server = Server("--record", str(path))
            began = time.monotonic()
            sim = subprocess.Popen([SIM, "load", "--server", f"127.0.0.1:{server.port}", "--clients", "4",
                                    "--duration", "10m", "--progress", "1s"], stdout=subprocess.PIPE, text=True,
                                   env=environment())
            for line in sim.stdout:
                if "playing 4 of 4" in line and time.monotonic() - began > 4:
                    break
            server.process.kill()
            server.process.communicate(timeout=PATIENCE_S)
            sim.send_signal(signal.SIGINT)  # it would wait for another server
            sim.communicate(timeout=PATIENCE_S)
            done = run("replay", str(path))
            self.assertEqual(done.returncode, 0, done)
            ticks = int(re.search(r"ticks=(\d+): every tick as recorded", done.stdout).group(1))
            # Four seconds and more were played, at 60 a second unless the machine is much too busy.
            self.assertGreaterEqual(ticks, 120)
            # A restart must not write over it.
            again = subprocess.run([SERVER, "--listen", "127.0.0.1", "--port", "0", "--record", str(path)],
                                   capture_output=True, text=True, timeout=PATIENCE_S, env=environment(),
                                   stdin=subprocess.DEVNULL)
            self.assertEqual(again.returncode, 2, again)
            self.assertIn(str(path), again.stderr)

    def test_a_later_run_of_a_kept_world_replays(self):
        """What the run before left (dug and built, an explosion, a chest's neighbours, timers, drops, monsters, the time
        of day) is in the second run's recording."""
        with tempfile.TemporaryDirectory() as folder:
            world, path = os.path.join(folder, "world"), pathlib.Path(folder) / "second.ashrec"
            arguments = ["--world", world, "--free-blocks", "no", "--day-s", "60", "--map", "none"]
            for record in [], ["--record", str(path)]:
                server = Server(*arguments, *record, stdin=subprocess.PIPE)
                for line in ["set 1 1 40 charge", "set 3 1 40 sapling", "set 4 4 60 sand", "blast 9 9 30 3", "set 2 2 40 chest"]:
                    server.process.stdin.write(line + "\n")
                server.process.stdin.flush()
                done = run("load", "--server", f"127.0.0.1:{server.port}", "--clients", "4", "--brain", "build",
                           "--duration", "4s")
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                server.process.send_signal(signal.SIGTERM)
                log = server.process.communicate(timeout=PATIENCE_S)[0]
                self.assertNotIn("recording_partial", log)
            done = run("replay", str(path))
            self.assertEqual(done.returncode, 0, done)
            self.assertRegex(done.stdout, r"every tick as recorded")


def square_room_wad(name):
    """A WAD with one map: a square room of 512 units as UDMF text, so no nodes are needed."""
    corners = [(0, 0), (0, 512), (512, 512), (512, 0)]
    text = 'namespace = "doom";\n'
    text += "".join(f"vertex {{ x = {x}; y = {y}; }}\n" for x, y in corners)
    text += "".join(f"linedef {{ v1 = {i}; v2 = {(i + 1) % 4}; sidefront = {i}; blocking = true; }}\n" for i in range(4))
    text += "".join('sidedef { sector = 0; texturemiddle = "STONE"; }\n' for _ in range(4))
    text += 'sector { heightfloor = 0; heightceiling = 128; texturefloor = "FLAT1"; textureceiling = "FLAT1"; }\n'
    text += "thing { x = 256; y = 256; angle = 0; type = 1; skill1 = true; skill2 = true; skill3 = true; }\n"
    lumps = [(name, b""), (b"TEXTMAP", text.encode()), (b"ENDMAP", b"")]
    body = b""
    directory = b""
    for lump, data in lumps:
        directory += (12 + len(body)).to_bytes(4, "little") + len(data).to_bytes(4, "little") + lump.ljust(8, b"\0")
        body += data
    return b"PWAD" + len(lumps).to_bytes(4, "little") + (12 + len(body)).to_bytes(4, "little") + body + directory


if __name__ == "__main__":
    SIM, SERVER = sys.argv[1], sys.argv[2]
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
