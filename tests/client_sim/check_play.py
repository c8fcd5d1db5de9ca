#!/usr/bin/env python3
"""Runs ashlar-sim as its users do, in short games against a real server over UDP and TCP.

Usage: check_play.py PATH/ashlar-sim PATH/ashlar-server [CLASS...]
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import threading
import unittest

import programs
from programs import Network, Player, Server, environment, free_port, load, rest_of, run, square_room_wad


class Content(unittest.TestCase):
    """Clients that hold no files."""

    def load(self, server, *arguments, code=0, seconds=1):
        done = load("--server", f"127.0.0.1:{server.port}", "--clients", "1", "--report", str(self.folder / "report.json"),
                    *arguments, seconds=seconds)
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
            done, report = self.play(server, "--clients", "4", "--brain", "wander", "--cheat", "spy", seconds=5)
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
            # Each is welcomed once, and streams are all that their messages are.
            streams = float(re.search(r"^    streams +([0-9.]+)", done.stdout, re.M)[1])
            table = re.search(r"^streams +bytes/s .*\n((?:  .*\n)+)", done.stdout, re.M)[1]
            messages = {row[0]: [float(number) for number in row[1:]] for row in map(str.split, table.splitlines())}
            self.assertAlmostEqual(sum(row[0] for row in messages.values()), streams, delta=1)
            self.assertGreater(messages["Welcome"][2], 100)
            self.assertLess(messages["Welcome"][1], 0.75)
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
                done, report = self.play(server, "--clients", "4", "--brain", "wander", "--cheat", cheat, seconds=5)
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
            stopped = subprocess.Popen([programs.SIM, "load", "--server", f"127.0.0.1:{server.port}", "--clients", "4", "--light", "12",
                                        "--brain", "crowd", "--duration", "10m", "--progress", "200ms", "--report", str(report)],
                                       stdout=subprocess.PIPE, text=True, env=environment())
            for line in stopped.stdout:
                if "playing 16 of 16" in line:
                    break
            stopped.send_signal(signal.SIGSTOP)
            # Others come, play and go meanwhile.
            done, others = self.play(server, "--clients", "4", seconds=1)
            self.assertEqual((others["joined"], others["dropped"]), (4, 0), done)
            self.assertGreater(others["snapshots"], 4 * 10, done)
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
                server = Server("--map", "none")
                port = server.port
                with tempfile.TemporaryDirectory() as folder:
                    report = pathlib.Path(folder) / "report.json"
                    sim = subprocess.Popen([programs.SIM, "load", "--server", f"127.0.0.1:{port}", "--clients", "8",
                                            "--transport", transport, "--duration", "10m", "--progress", "200ms",
                                            "--report", str(report)],
                                           stdout=subprocess.PIPE, text=True, env=environment())
                    for line in sim.stdout:
                        if "playing 8 of 8" in line:
                            break
                    server.process.kill()
                    server.process.communicate(timeout=programs.PATIENCE_S)
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
            done, report = self.fail_to_play(server, "--clients", "5")
            self.assertEqual(report["refused"], 3, done.stdout)
            self.assertEqual(report["joined"], 2)
            self.assertIn("full", done.stdout)

    def test_missing_map(self):
        # A server that plays a map of a WAD which clients do not have: a map under a name of its own.
        with tempfile.TemporaryDirectory() as folder:
            wad = pathlib.Path(folder) / "own.wad"
            wad.write_bytes(square_room_wad(b"MAP77"))
            with Server("--wad", str(wad), "--map", "MAP77", "--content-bytes-per-s", "0") as server:
                done, report = self.fail_to_play(server, "--clients", "1")
                self.assertEqual(report["refused"], 1, done.stdout)
                self.assertIn("MAP77", done.stdout)
                done, report = self.play(server, "--clients", "1", "--wad", str(wad))
                self.assertEqual(report["joined"], 1)

    def test_a_kicked_player_is_told_why(self):
        for transport in ("udp", "tcp"):
            with self.subTest(transport), Server(stdin=subprocess.PIPE) as server:
                sim = subprocess.Popen([programs.SIM, "load", "--server", f"127.0.0.1:{server.port}", "--clients", "1",
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
            done = subprocess.run(["sh", "-c", 'exec "$0" "$@" >&-', programs.SIM, "load", "--transport", "tcp", "--server",
                                   f"127.0.0.1:{free_port()}", "--clients", "1", "--report", str(path)],
                                  stderr=subprocess.PIPE, text=True, timeout=programs.PATIENCE_S, env=environment())
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("cannot write to standard output", done.stderr)
            self.assertFalse(json.loads(path.read_text())["passed"])

    def test_interrupt_ends_with_the_report(self):
        with Server() as server:
            sim = subprocess.Popen([programs.SIM, "load", "--server", f"127.0.0.1:{server.port}", "--clients", "4",
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
        sim = subprocess.Popen([programs.SIM, "load", "--server", f"127.0.0.1:{server.port}", "--clients", "4",
                                "--duration", "10m", "--progress", "1s"], stdout=subprocess.PIPE, text=True,
                               env=environment())
        for line in sim.stdout:
            if "playing 4 of 4" in line:
                break
        server.__exit__()
        out = rest_of(sim)
        self.assertEqual(sim.returncode, 1, out)
        self.assertIn("shutting_down", out)


class Recordings(Player, unittest.TestCase):
    def test_a_killed_server_leaves_all_but_its_last_second(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "match.ashrec"
            server = Server("--record", str(path), "--status-every", "1")
            sim = subprocess.Popen([programs.SIM, "load", "--server", f"127.0.0.1:{server.port}", "--clients", "4",
                                    "--duration", "10m", "--progress", "1s"], stdout=subprocess.PIPE, text=True,
                                   env=environment())
            for line in sim.stdout:
                if "playing 4 of 4" in line:
                    break
            for line in server.process.stdout:
                if (said := json.loads(line))["event"] == "status" and said["tick"] >= 240:
                    break
            server.process.kill()
            server.process.communicate(timeout=programs.PATIENCE_S)
            sim.send_signal(signal.SIGINT)  # it would wait for another server
            sim.communicate(timeout=programs.PATIENCE_S)
            done = run("replay", str(path))
            self.assertEqual(done.returncode, 0, done)
            ticks = int(re.search(r"ticks=(\d+): every tick as recorded", done.stdout).group(1))
            # Four seconds of 60 ticks and more were played, and what is of the last one may be lost with the process.
            self.assertGreaterEqual(ticks, 120)
            # A restart must not write over it.
            again = subprocess.run([programs.SERVER, "--listen", "127.0.0.1", "--port", "0", "--record", str(path)],
                                   capture_output=True, text=True, timeout=programs.PATIENCE_S, env=environment(),
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
                self.play(server, "--clients", "4", "--brain", "build", seconds=4)
                server.process.send_signal(signal.SIGTERM)
                log = server.process.communicate(timeout=programs.PATIENCE_S)[0]
                self.assertNotIn("recording_partial", log)
            done = run("replay", str(path))
            self.assertEqual(done.returncode, 0, done)
            self.assertRegex(done.stdout, r"every tick as recorded")


if __name__ == "__main__":
    programs.main()
