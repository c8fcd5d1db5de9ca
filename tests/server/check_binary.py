#!/usr/bin/env python3
"""Starts ashlar-server as an operator does and holds it to exit codes, messages, signals and its ready line.

Usage: check_binary.py PATH/ashlar-server [CLASS...]
"""
import fcntl
import json
import os
import pathlib
import pty
import re
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

SERVER = ""
# Generous: sanitizers and busy machines make starting slow, and only a failing test waits for it.
PATIENCE_S = 180
COURTYARD_SECTORS = 24
QUICK = ["--map", "none", "--monsters", "0"]


def environment(**extra):
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("ASHLAR_", "DOOMWAD"))}
    return {**clean, **extra}


def run(*arguments, **extra):
    return subprocess.run([SERVER, *arguments], capture_output=True, text=True, timeout=PATIENCE_S,
                          env=environment(**extra), stdin=subprocess.DEVNULL)


def port_of(process):
    """The port of a server that cannot say which it is, as the system tells."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and process.poll() is None:
        inodes = set()
        for number in os.listdir(f"/proc/{process.pid}/fd"):
            try:
                inodes.add(os.readlink(f"/proc/{process.pid}/fd/{number}"))
            except FileNotFoundError:
                pass  # it was closed meanwhile
        for table in "udp", "udp6":
            with open(f"/proc/net/{table}", encoding="ascii") as file:
                for line in file:
                    words = line.split()
                    if len(words) > 9 and f"socket:[{words[9]}]" in inodes:
                        return int(words[1].rsplit(":", 1)[1], 16)
        time.sleep(0.05)
    raise AssertionError(f"no port of process {process.pid}, which ended with {process.poll()}")


class Running:
    """A server on a free port, from its ready line to its end."""

    def __init__(self, *arguments, stdin=subprocess.DEVNULL, preexec_fn=None, **extra):
        self.lines = []
        self.process = subprocess.Popen([SERVER, "--port", "0", "--log-format", "json", *arguments],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env=environment(**extra), stdin=stdin, preexec_fn=preexec_fn)

    def wait_for(self, event):
        for line in self.process.stdout:
            self.lines.append(json.loads(line))  # every line is whole JSON, or this throws
            if self.lines[-1]["event"] == event:
                return self.lines[-1]
        raise AssertionError(f"no event={event}: {self.lines} {self.process.stderr.read()}")

    def end(self, number):
        self.process.send_signal(number)
        return self.finish()

    def finish(self):
        # Not communicate(): it reads past the lines that wait_for() has read ahead, and they would be lost.
        errors = []
        reader = threading.Thread(target=lambda: errors.append(self.process.stderr.read()))
        reader.start()
        too_long = threading.Timer(PATIENCE_S, self.process.kill)
        too_long.start()
        self.lines += [json.loads(line) for line in self.process.stdout]
        reader.join()
        code = self.process.wait()
        too_long.cancel()
        return code, [line["event"] for line in self.lines], errors[0]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


class Mistakes(unittest.TestCase):
    def refused(self, arguments, *parts, **extra):
        done = run(*arguments, **extra)
        self.assertEqual(done.returncode, 2, done)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("ashlar-server: "), done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)

    def test_flags(self):
        self.refused(["--prot", "1"], "--prot", "did you mean --port?")
        self.refused(["--port"], "--port needs a value")
        self.refused(["--port", "70000"], "--port", "0 to 65535")
        self.refused(["--tick-rate", "9"], "--tick-rate", "10 to 128")
        self.refused(["serve"], "serve")
        self.refused(["--listen", "example.org"], "example.org")
        self.refused([], "ASHLAR_SEED", "abc", ASHLAR_SEED="abc")

    def test_configuration(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "server.toml")
            self.refused(["--config", path], path, "No such file")
            with open(path, "w", encoding="utf-8") as file:
                file.write("port = 1\n\nmax_cleints = 3\n")
            self.refused(["--config", path], path + ":3:", "max_cleints", "max_clients")

    def test_bans(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "bans.toml")
            self.refused(["--ban-file", os.path.join(folder, "absent", "bans.toml")], "--ban-file", "make it first")
            with open(path, "w", encoding="utf-8") as file:
                file.write('[[ban]]\n\naddress = "192.0.2.7/24"\n')
            self.refused(["--ban-file", path], path + ":3:", "give 192.0.2.0/24")

    def test_rotation(self):
        self.refused(["--rotation", "COURTYARD", "--map", "none"], "--rotation", "--map", "leave one of them out")
        self.refused(["--rotation", "COURTYARD", "--world", "absent"], "--rotation", "--world")
        self.refused(["--rotation", "COURTYARD", "--record", "absent.rec"], "--rotation", "--record")
        self.refused(["--rotation", "NOWHERE"], "--rotation", "NOWHERE")

    def test_content(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "cut.wad")
            self.refused(["--wad", path], path, "--wad")
            with open(path, "wb") as file:
                file.write(b"PWAD\x01\x00\x00\x00\xff\x00\x00\x00")
            self.refused(["--wad", path], path)
        self.refused(["--map", "NOSUCHMAP"], "NOSUCHMAP")

    def test_a_taken_port_leaves_no_world_behind(self):
        with tempfile.TemporaryDirectory() as folder, socket.socket() as taken:
            world = os.path.join(folder, "world")
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = str(taken.getsockname()[1])
            self.refused(["--port", port, "--listen", "127.0.0.1", "--world", world, *QUICK],
                         "port " + port, "taken", "--port")
            self.assertFalse(os.path.exists(world))

    def test_a_recording_is_not_overwritten(self):
        with tempfile.TemporaryDirectory() as folder:
            file, world = os.path.join(folder, "match.rec"), os.path.join(folder, "world")
            with open(file, "w", encoding="utf-8") as match:
                match.write("precious")
            self.refused(["--port", "0", "--record", file, "--world", world, *QUICK], file, "name another")
            self.assertFalse(os.path.exists(world))

    def test_a_world_in_the_hands_of_another_server(self):
        with tempfile.TemporaryDirectory() as world:
            with Running("--world", world, *QUICK) as server:
                server.wait_for("ready")
                self.refused(["--port", "0", "--world", world, *QUICK], world, "another server")
                server.process.kill()
                server.finish()
            done = run("--port", "0", "--world", world, "--for", "100ms", *QUICK)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_another_seed_for_a_world(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "world.toml"), "w", encoding="utf-8") as file:
                file.write("format = 1\nseed = 5\n[[map]]\nname = \"none\"\n")
            self.refused(["--world", folder, "--seed", "6"], folder, "seed 5")


class Questions(unittest.TestCase):
    def test_version_and_help(self):
        done = run("--version")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"^ashlar-server \d+\.\d+\.\d+ \(protocol \d+")
        done = run("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(run("help").stdout, done.stdout)
        for group in ("key", "token", "world"):
            self.assertEqual(run(group, "help").stdout, run(group, "--help").stdout)
            self.assertEqual((run(group, "help").returncode, run(group).returncode), (0, 2))
        for flag in ("--wad", "--map", "--max-clients", "--world", "--health", "--for"):
            self.assertIn(flag, done.stdout)

    def test_a_printed_configuration_reads_back(self):
        def values(text):
            return [line for line in text.splitlines() if line and not line.startswith("#")]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "server.toml")
            first = run("--print-config", "--port", "1234", "--map", "MAP07@1,-2", ASHLAR_MOTD="hello \"you\"")
            self.assertEqual(first.returncode, 0, first.stderr)
            self.assertIn("from --port", first.stdout)
            self.assertIn("from ASHLAR_MOTD", first.stdout)
            with open(path, "w", encoding="utf-8") as file:
                file.write(first.stdout)
            second = run("--print-config", "--config", path)
            self.assertEqual(values(first.stdout), values(second.stdout))
            self.assertIn("port = 1234", values(second.stdout))

    def test_checking_starts_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            world = os.path.join(folder, "world")
            done = run("--check-config", "--world", world, *QUICK)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("configuration is good", done.stdout)
            self.assertFalse(os.path.exists(world))

    def test_what_has_no_effect_is_told(self):
        done = run("--check-config", "--port", "0", "--backup-every", "1h", "--record-keep-mib", "5", *QUICK,
                   ASHLAR_PROT="1")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (0, 3), done.stderr)
        self.assertIn("no setting ASHLAR_PROT: did you mean ASHLAR_PORT?", done.stderr)
        self.assertIn("--backup-every: backup_every has no effect: it needs --world", done.stderr)
        self.assertIn("--record-keep-mib: record_keep_mib has no effect: it needs --record", done.stderr)
        with Running("--backup-every", "1h", *QUICK) as server:
            told = server.wait_for("setting_without_effect")
            self.assertEqual((told["key"], told["from"]), ("backup_every", "--backup-every"))

    def test_maps_are_listed_and_drawn(self):
        with tempfile.TemporaryDirectory() as folder:
            picture = os.path.join(folder, "map.svg")
            done = run("--draw-map", "COURTYARD", "--out", picture, "--from", "0,0")
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(picture, encoding="utf-8") as file:
                self.assertIn("<svg", file.read(200))
            for bad in (["--draw-map", "COURTYARD", "--out", os.path.join(folder, "no", "x.svg")],
                        ["--draw-map", "COURTYARD", "--out", picture, "--from", "here"],
                        ["--draw-map", "NOSUCHMAP", "--out", picture],
                        ["--list-maps", os.path.join(folder, "absent.wad")], ["--list-maps", picture]):
                done = run(*bad)
                self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done)
            wad = os.path.join(folder, "empty.wad")
            with open(wad, "wb") as file:
                file.write(b"PWAD" + bytes(4) + b"\x0c\x00\x00\x00")
            done = run("--list-maps", wad)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("no map", done.stdout)

            names = (b"MAP01", b"THINGS", b"LINEDEFS", b"VERTEXES", b"SECTORS")
            with open(wad, "wb") as file:
                file.write(struct.pack("<4sii", b"PWAD", len(names), 12))
                for name in names:
                    file.write(struct.pack("<ii8s", 12, 0, name))
            done = run("--list-maps", wad)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done)
            self.assertIn("MAP01 SIDEDEFS: is missing", done.stderr)

    def test_nobody_is_not_healthy(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            other.bind(("127.0.0.1", 0))  # bound, so nobody else is there; it never answers
            done = run("--health", "127.0.0.1:%d" % other.getsockname()[1])
        self.assertEqual(done.returncode, 1)
        self.assertIn("does not answer", done.stderr)


    def test_checking_goes_the_way_of_a_start_and_leaves_no_trace(self):
        with tempfile.TemporaryDirectory() as folder, socket.socket() as taken:
            arguments = ["--world", os.path.join(folder, "deep", "world"), "--record", os.path.join(folder, "%Y.rec")]
            done = run("--check-config", "--port", "0", *arguments, *QUICK)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(os.listdir(folder), [])
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            done = run("--check-config", "--listen", "127.0.0.1", "--port", str(taken.getsockname()[1]), *arguments, *QUICK)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done)
            self.assertEqual(os.listdir(folder), [])

    def test_compose_passes_every_variable_on(self):
        compose = pathlib.Path(__file__).resolve().parents[2] / "docker" / "compose.yaml"
        passed = set(re.findall(r"^      - (ASHLAR_\w+)$", compose.read_text(encoding="utf-8"), re.MULTILINE))
        flags = re.findall(r"^  --([a-z0-9-]+)", run("--help").stdout.split("Files and questions")[0], re.MULTILINE)
        known = {"ASHLAR_" + flag.upper().replace("-", "_") for flag in flags} | {"ASHLAR_CONFIG"}
        self.assertEqual(passed, known - {"ASHLAR_PORT", "ASHLAR_WORLD"})  # the host's; the volume's


class Life(unittest.TestCase):
    def test_a_new_world_is_reloaded_in_silence(self):
        with tempfile.TemporaryDirectory() as folder:
            with Running("--world", os.path.join(folder, "world"), "--map", "COURTYARD", "--monsters", "0") as server:
                server.wait_for("ready")
                server.process.send_signal(signal.SIGHUP)
                server.wait_for("reloaded")
                code, events, _ = server.end(signal.SIGTERM)
                self.assertEqual((code, events.count("reload_ignored")), (0, 0))

    def test_it_says_that_it_starts_before_it_compiles_maps(self):
        with Running("--map", "COURTYARD") as server:
            starting, ready = server.wait_for("starting"), server.wait_for("ready")
            self.assertEqual(starting["pid"], server.process.pid)
            events = [line["event"] for line in server.lines]
            self.assertLess(events.index("starting"), events.index("content"))
            self.assertGreater(ready["time"], starting["time"])
            place = [line for line in server.lines if line["event"] == "map"][0]
            self.assertEqual((place["sectors"], place["doorway_sectors"] > 0), (COURTYARD_SECTORS, True))
            done = run("--health", f"pid:{server.process.pid}")
            self.assertEqual(done.returncode, 2)
            self.assertIn("port 0", done.stderr)
            self.assertEqual(server.end(signal.SIGTERM)[0], 0)

    def test_a_health_check_finds_the_port_in_the_flags_of_the_process(self):
        with Running(*QUICK) as server:
            port = server.wait_for("ready")["port"]
            server.end(signal.SIGTERM)
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "c.toml"), "w", encoding="utf-8") as file:
                file.write(f"port = {port}\n")
            for flags, variables in ((["--port", str(port)], {}), ([], {"ASHLAR_PORT": str(port)}),
                                     (["--config", "c.toml"], {})):
                with subprocess.Popen([os.path.abspath(SERVER), *flags, *QUICK], stdout=subprocess.PIPE, text=True,
                                      cwd=folder, env=environment(**variables),
                                      stdin=subprocess.DEVNULL) as process:
                    try:
                        for line in process.stdout:
                            if "event=ready" in line:
                                break
                        done = run("--health", f"pid:{process.pid}")
                        self.assertEqual((done.returncode, done.stderr), (0, ""))
                        self.assertIn(f":{port} answers", done.stdout)
                    finally:
                        process.terminate()

    def test_recordings_go_on_after_a_restart_and_old_ones_go(self):
        with tempfile.TemporaryDirectory() as folder:
            arguments = ["--record", os.path.join(folder, "m-%Y.rec"), "--record-existing", "next", "--for", "100ms",
                         "--record-keep-days", "30", *QUICK]
            old = os.path.join(folder, "m-1999.rec")
            for path, head in ((old, b"ASHREC01"), (os.path.join(folder, "m-1998.rec"), b"precious")):
                with open(path, "wb") as file:
                    file.write(head)
                os.utime(path, (0, 0))
            for run_number in (1, 2, 3):
                with Running(*arguments) as server:
                    name = os.path.basename(server.wait_for("recording")["file"])
                    self.assertRegex(name, r"^m-\d{4}.rec$" if run_number == 1 else rf"^m-\d{{4}}-{run_number}.rec$")
                    code, events, _ = server.finish()
                    self.assertEqual(code, 0)
                    self.assertEqual("recording_removed" in events, run_number == 1)
            self.assertFalse(os.path.exists(old))
            self.assertEqual(len(os.listdir(folder)), 4)

    def test_from_ready_over_reload_to_sigterm(self):
        with tempfile.TemporaryDirectory() as folder:
            world = os.path.join(folder, "world")
            with Running("--world", world, "--seed", "7", *QUICK, ASHLAR_NONSENSE="1") as server:
                ready = server.wait_for("ready")
                self.assertEqual(ready["seed"], 7)
                self.assertIn("unknown_variable", [line["event"] for line in server.lines])
                self.assertNotIn("setting_without_effect", [line["event"] for line in server.lines])
                with open(os.path.join(world, "server.toml"), "a", encoding="utf-8") as file:
                    file.write('\nmotd = "news"\nmax_clients = 9\n')
                server.process.send_signal(signal.SIGHUP)
                self.assertEqual(server.wait_for("reloaded")["motd"], "news")
                ignored = [line["key"] for line in server.lines if line["event"] == "reload_ignored"]
                self.assertEqual(ignored, ["max_clients"])
                address = "127.0.0.1:%d" % ready["port"]
                healthy = run("--health", address)
                self.assertEqual(healthy.returncode, 0, healthy.stderr)
                if socket.has_dualstack_ipv6():
                    self.assertEqual(run("--health", "[::1]:%d" % ready["port"]).returncode, 0)
                code, events, errors = server.end(signal.SIGTERM)
                self.assertEqual((code, errors), (0, ""))
                self.assertEqual(events[-3:], ["stopping", "saved", "stopped"])
                self.assertEqual(run("--health", address).returncode, 1)
            # The world is there, and is the same one without being told its seed.
            with Running("--world", world, "--for", "100ms") as again:
                self.assertEqual(again.wait_for("ready")["seed"], 7)
                self.assertEqual(again.finish()[0], 0)

    def test_kinds_are_checked_by_a_reload_and_those_of_the_world_stay(self):
        with tempfile.TemporaryDirectory() as folder:
            kinds = os.path.join(folder, "kinds.toml")

            def write(content):
                with open(kinds, "w", encoding="utf-8") as file:
                    file.write(content)

            write("[monster.imp]\nhealth = 80\n")
            for rotation, effect in ([], "next start"), (["--rotation", "COURTYARD"], "next map"):
                write("[monster.imp]\nhealth = 80\n")
                quick = [] if rotation else QUICK
                with Running(*quick, *rotation, "--kinds", kinds) as server:
                    server.wait_for("ready")
                    server.process.send_signal(signal.SIGHUP)
                    server.wait_for("reloaded")
                    write("[monster.imp]\nhealth = 90\nhorns = 2\n")
                    server.process.send_signal(signal.SIGHUP)
                    wrong = server.wait_for("kinds_not_read")
                    self.assertIn("kinds.toml line 3: a monster has no \"horns\"", wrong["error"])
                    self.assertIn("stay", wrong["effect"])
                    server.wait_for("reloaded")
                    write("[monster.imp]\nhealth = 90\n")
                    server.process.send_signal(signal.SIGHUP)
                    self.assertIn(effect, server.wait_for("kinds_read")["effect"])
                    code, events, errors = server.end(signal.SIGTERM)
                    self.assertEqual((code, errors, events.count("kinds_not_read"), events.count("kinds_read")),
                                     (0, "", 1, 1))

    def test_the_maps_of_a_rotation_have_the_kinds_that_were_read_well_last(self):
        with tempfile.TemporaryDirectory() as folder:
            kinds = os.path.join(folder, "kinds.toml")

            def write(content):
                with open(kinds, "w", encoding="utf-8") as file:
                    file.write(content)

            good = "[monster.imp]\nhealth = 80\n"
            write(good)
            with Running("--rotation", "COURTYARD", "--kinds", kinds, "--monsters", "0",
                         stdin=subprocess.PIPE) as server:
                server.wait_for("ready")

                def go_on():
                    server.process.stdin.write("next\n")
                    server.process.stdin.flush()
                    for line in server.process.stdout:
                        server.lines.append(json.loads(line))
                        self.assertNotEqual(server.lines[-1]["event"], "rotation_failed", server.lines[-1])
                        if server.lines[-1]["event"] == "world":
                            return
                    self.fail("no world")

                write(good + "[monster.imp\n")
                go_on()  # nobody said that the file is whole
                server.process.send_signal(signal.SIGHUP)
                server.wait_for("kinds_not_read")
                go_on()
                write("[monster.imp]\nhealth = 90\n")
                server.process.send_signal(signal.SIGHUP)
                server.wait_for("kinds_read")
                os.remove(kinds)
                go_on()
                code, events, errors = server.end(signal.SIGTERM)
                self.assertEqual((code, errors, events.count("kinds_read")), (0, "", 1))

    def test_a_signal_while_it_starts_ends_the_start(self):
        # However far the start has come when it sees the signal: it ends cleanly, and half a start leaves nothing.
        with tempfile.TemporaryDirectory() as folder:
            world = os.path.join(folder, "world")
            with Running("--world", world, "--monsters", "0") as server:
                server.wait_for("starting")
                code, events, errors = server.end(signal.SIGTERM)
                self.assertEqual((code, errors, events[-1]), (0, "", "stopped"))
                self.assertEqual(events.count("stopping"), 1)
            if "ready" not in events and "content" not in events:  # nothing was kept before those lines
                self.assertFalse(os.path.exists(os.path.join(world, "world.toml")), "half a start was kept")

    def test_sigint(self):
        with Running(*QUICK) as server:
            server.wait_for("ready")
            code, events, errors = server.end(signal.SIGINT)
            self.assertEqual((code, errors, events[-1]), (0, "", "stopped"))

    def test_a_reader_of_the_log_that_leaves_does_not_end_the_server(self):
        with Running("--status-every", "1", *QUICK) as server:
            port = server.wait_for("ready")["port"]
            server.process.stdout.close()
            time.sleep(2.5)  # two lines of status into the closed pipe
            self.assertEqual(run("--health", "127.0.0.1:%d" % port).returncode, 0)
            server.process.send_signal(signal.SIGTERM)
            self.assertEqual(server.process.wait(PATIENCE_S), 0)

    def lives_and_ends(self, stdout, silence, *arguments):
        """A server whose output goes where nobody reads, from when silence() is called on, serves and ends."""
        process = subprocess.Popen([SERVER, "--port", "0", "--log-level", "debug", *arguments, *QUICK],
                                   stdout=stdout, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                                   env=environment())
        try:
            port = port_of(process)

            def healthy():
                return run("--health", "127.0.0.1:%d" % port).returncode == 0

            deadline = time.monotonic() + PATIENCE_S
            while not healthy() and time.monotonic() < deadline:
                self.assertIsNone(process.poll(), "it ended by itself")
            silence()
            # Longer than the view's second and the console's status, so that there is something to say.
            until = time.monotonic() + 3
            while time.monotonic() < until:
                self.assertTrue(healthy())
                time.sleep(0.2)
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(timeout=PATIENCE_S), 0)
        finally:
            if process.poll() is None:
                process.kill()
            process.communicate()

    def test_a_stopped_terminal_stops_nothing(self):
        for arguments in (["--live"], ["--status-every", "1"]):
            with self.subTest(arguments=arguments):
                try:
                    master, terminal = pty.openpty()
                except OSError as error:  # a chroot without /dev/pts
                    self.skipTest(str(error))
                drain = threading.Thread(target=self.read_until_stopped, args=(master,), daemon=True)
                self.reading = True
                drain.start()

                def stop():
                    os.write(master, b"\x13")  # Ctrl-S

                try:
                    self.lives_and_ends(terminal, stop, *arguments)
                finally:
                    self.reading = False
                    drain.join()
                    os.close(terminal)
                    os.close(master)

    def read_until_stopped(self, master):
        while self.reading:
            if select.select([master], [], [], 0.1)[0]:
                os.read(master, 65536)

    def test_a_log_pipe_that_nobody_reads_stops_nothing(self):
        reader, writer = os.pipe()
        try:
            fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
            os.write(writer, b"x" * 4096)  # full before the first line
            self.lives_and_ends(writer, lambda: None, "--status-every", "1")
        finally:
            os.close(reader)
            os.close(writer)

    def test_a_configuration_that_cannot_be_read_to_its_end_stops_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            config = os.path.join(folder, "server.toml")
            open(config, "w", encoding="utf-8").close()
            with Running("--config", config, *QUICK) as server:
                port = server.wait_for("ready")["port"]
                os.remove(config)
                os.mkfifo(config)
                server.process.send_signal(signal.SIGHUP)
                for _ in range(5):
                    self.assertEqual(run("--health", "127.0.0.1:%d" % port).returncode, 0)
                    time.sleep(0.1)
                code, events, _ = server.end(signal.SIGTERM)
                self.assertEqual(code, 0)
                self.assertEqual(events[-1], "stopped")

    def test_a_full_disk_ends_the_recording_and_is_told_at_once(self):
        with tempfile.TemporaryDirectory() as folder:
            limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
            with Running("--record", os.path.join(folder, "match"), *QUICK, preexec_fn=limit) as server:
                self.assertIn("match", server.wait_for("recording_failed")["error"])
                code, events, _ = server.end(signal.SIGTERM)
                self.assertEqual((code, events.count("recording_failed"), events[-1]), (0, 1, "stopped"))

    def test_closed_standard_streams_are_not_taken_for_files_and_sockets(self):
        with tempfile.TemporaryDirectory() as folder:
            report = os.path.join(folder, "fds")
            command = 'exec "$0" "$@" <&- >&- 2>&-'
            process = subprocess.Popen(["sh", "-c", command, SERVER, "--port", "0", "--status-every", "1",
                                        "--record", report, *QUICK], env=environment())
            try:
                port = port_of(process)
                deadline = time.monotonic() + PATIENCE_S
                while run("--health", "127.0.0.1:%d" % port).returncode != 0 and time.monotonic() < deadline:
                    time.sleep(0.1)
                for number in (0, 1, 2):
                    self.assertEqual(os.readlink(f"/proc/{process.pid}/fd/{number}"), "/dev/null")
            finally:
                process.terminate()
            self.assertEqual(process.wait(PATIENCE_S), 0)

    def test_the_console_obeys_and_its_end_does_not_end_the_server(self):
        with Running(*QUICK, stdin=subprocess.PIPE) as server:
            server.wait_for("ready")
            for line, event, key in (("statsu", "console", "error"), ("help", "console", "commands"),
                                     ("status", "status", "tick_ms_p99"), ("motd news", "console", "motd"),
                                     ("players", "console", "players"), ("say hello", "console", "say"),
                                     ("kick ann", "console", "error")):
                server.process.stdin.write(line + "\n")
                server.process.stdin.flush()
                self.assertIn(key, server.wait_for(event))
            # What will not be done is not told as done.
            for line, why in (("set 9000 0 40 brick", "not loaded"), ("dig 0 0 -2000", "not loaded"),
                              ("fill 9000 0 3 9001 1 4 brick", "not loaded"), ("blast 9000 0 5 3", "not loaded"),
                              ("set 0 0 40 pick", "is a tool")):
                server.process.stdin.write(line + "\n")
                server.process.stdin.flush()
                self.assertIn(why, server.wait_for("console")["error"])
            server.process.stdin.write("stop\n")
            server.process.stdin.flush()
            self.assertEqual(server.wait_for("stopping")["reason"], "console")
            self.assertEqual(server.finish()[0], 0)
        with Running(*QUICK, stdin=subprocess.PIPE) as server:
            port = server.wait_for("ready")["port"]
            server.process.stdin.close()
            server.process.stdin = None
            time.sleep(0.3)
            self.assertEqual(run("--health", "127.0.0.1:%d" % port).returncode, 0)
            self.assertEqual(server.end(signal.SIGTERM)[0], 0)

    def test_bans_outlive_the_server_and_are_read_again(self):
        def say(server, line):
            server.process.stdin.write(line + "\n")
            server.process.stdin.flush()

        with tempfile.TemporaryDirectory() as folder:
            world = os.path.join(folder, "world")
            with Running("--world", world, *QUICK, stdin=subprocess.PIPE) as server:
                server.wait_for("ready")
                say(server, "ban 192.0.2.0/24 for 2h a flood")
                kept = server.wait_for("console")
                self.assertEqual((kept["ban"], kept["reason"]), ("192.0.2.0/24", "a flood"))
                self.assertNotIn("kept", kept)  # which it is not yet
                self.assertEqual(server.wait_for("bans_kept")["file"], os.path.join(world, "bans.toml"))
                say(server, "ban token:account-7")
                self.assertIn("ban", server.wait_for("console"))
                say(server, "unban 192.0.2.0")
                self.assertIn("nobody is banned", server.wait_for("console")["error"])
                say(server, "stop")
                self.assertEqual(server.finish()[0], 0)
            path = os.path.join(world, "bans.toml")
            with Running("--world", world, stdin=subprocess.PIPE) as again:
                self.assertEqual(again.wait_for("bans")["bans"], 2)
                again.wait_for("ready")
                say(again, "unban token:account-7")
                self.assertEqual(again.wait_for("console")["unban"], "token:account-7")
                for _ in range(100):
                    with open(path, encoding="utf-8") as file:
                        if "account-7" not in file.read():
                            break
                    time.sleep(0.05)
                with open(path, "a", encoding="utf-8") as file:
                    file.write('\n[[ban]]\naddress = "198.51.100.1"\n')
                say(again, "reload")
                self.assertEqual(again.wait_for("bans_read")["bans"], 2)
                with open(path, "a", encoding="utf-8") as file:
                    file.write('nonsense = "1"\n')
                again.process.send_signal(signal.SIGHUP)
                self.assertIn("unknown key", again.wait_for("bans_not_read")["error"])
                say(again, "bans")
                self.assertEqual(again.wait_for("console")["bans"], 2)
                say(again, "stop")
                self.assertEqual(again.finish()[0], 0)

    def test_bans_that_are_not_written_hold_and_are_written_where_a_link_leads(self):
        with tempfile.TemporaryDirectory() as folder:
            link, kept = os.path.join(folder, "link.toml"), os.path.join(folder, "disk", "bans.toml")

            def write(text):
                os.makedirs(os.path.dirname(kept))
                with open(kept, "w", encoding="utf-8") as file:
                    file.write(text)

            # One of the two is over, and no less the griefer's.
            write('[[ban]]\naddress = "192.0.2.1"\nname = "Griefer"\n'
                  '[[ban]]\naddress = "192.0.2.2"\nname = "Griefer"\nuntil = "2020-01-01T00:00:00Z"\n')
            os.symlink(kept, link)
            with Running("--ban-file", link, *QUICK, stdin=subprocess.PIPE) as server:
                def say(line):
                    server.process.stdin.write(line + "\n")
                    server.process.stdin.flush()

                server.wait_for("ready")
                say("unban Griefer")
                self.assertEqual({server.wait_for("console")["unban"] for _ in range(2)}, {"192.0.2.1", "192.0.2.2"})
                server.wait_for("bans_kept")
                os.remove(kept)
                os.rmdir(os.path.dirname(kept))
                say("ban 198.51.100.1")
                self.assertIn("hold until its end", server.wait_for("bans_not_kept")["error"])
                write("")
                server.process.send_signal(signal.SIGHUP)
                self.assertEqual(server.wait_for("bans_read")["bans"], 1)
                server.wait_for("bans_kept")
                say("stop")
                self.assertEqual(server.finish()[0], 0)
            self.assertTrue(os.path.islink(link))
            with open(kept, encoding="utf-8") as file:
                self.assertIn("198.51.100.1", file.read())
            os.remove(kept)
            done = run("--check-config", "--port", "0", "--ban-file", link, *QUICK)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1))
            self.assertIn("which is not there", done.stderr)

    def test_a_log_goes_on_in_whole_lines_when_a_full_disk_has_room_again(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "log")
            with open(path, "a", encoding="utf-8") as log:
                process = subprocess.Popen([SERVER, "--port", "0", "--log-format", "json", *QUICK], stdout=log,
                                           stderr=subprocess.PIPE, stdin=subprocess.PIPE, text=True, env=environment())

            def text():
                with open(path, encoding="utf-8") as log:
                    return log.read()

            try:
                deadline = time.monotonic() + PATIENCE_S
                while '"event":"ready"' not in text() and time.monotonic() < deadline:
                    time.sleep(0.05)
                before = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)
                resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (len(text()) + 200, before[1]))
                for number in range(5):
                    process.stdin.write(f"say line {number}\n")
                process.stdin.flush()
                self.assertIn("cannot write the log", process.stderr.readline())
                resource.prlimit(process.pid, resource.RLIMIT_FSIZE, before)
                process.stdin.write("say again\nstop\n")
                process.stdin.flush()
                self.assertEqual(process.wait(PATIENCE_S), 0)
            finally:
                process.kill()
                process.communicate()
            whole, torn = [], []
            for line in text().splitlines():
                try:
                    whole.append(json.loads(line))
                except ValueError:
                    torn.append(line)
            self.assertEqual(len(torn), 1, torn)
            said = [line["say"] for line in whole if "say" in line]
            self.assertEqual((said[0], said[-1], whole[-1]["event"]), ("line 0", "again", "stopped"))
            self.assertEqual(whole[-1]["log_lines_lost"], 5 + 1 - len(said))

    def test_a_log_that_cannot_be_written_is_told_once(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([SERVER, "--port", "0", "--for", "2s", "--status-every", "1", *QUICK], stdout=full,
                                  stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S, env=environment(),
                                  stdin=subprocess.DEVNULL)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (0, 1), done.stderr)
        self.assertIn("cannot write the log: No space left on device", done.stderr)

    def test_maps_follow_each_other(self):
        with Running("--rotation", "COURTYARD", "--rotation", "COURTYARD", "--monsters", "3", "--status-every", "1",
                     "--mode", "deathmatch", stdin=subprocess.PIPE) as server:
            server.wait_for("ready")
            played = [server.wait_for("status")["tick"] for _ in range(3)][-1]
            server.process.stdin.write("next\n")
            server.process.stdin.flush()
            self.assertEqual(server.wait_for("world")["map"], "COURTYARD")
            # Its match is told though the one before had the same number and phase.
            self.assertEqual(server.wait_for("match")["phase"], "playing")
            server.process.stdin.write("map NOWHERE\n")
            server.process.stdin.flush()
            self.assertIn("NOWHERE", server.wait_for("rotation_failed")["error"])
            played += server.wait_for("status")["tick"]
            server.process.stdin.write("stop\n")
            server.process.stdin.flush()
            self.assertEqual(server.finish()[0], 0)
            self.assertGreaterEqual(server.lines[-1]["ticks"], played)  # of both worlds
        with Running(*QUICK, stdin=subprocess.PIPE) as server:
            server.wait_for("ready")
            server.process.stdin.write("next\nstop\n")
            server.process.stdin.flush()
            self.assertIn("--rotation", server.wait_for("console")["error"])
            self.assertEqual(server.finish()[0], 0)

    def test_it_asks_for_huge_pages_unless_told_not_to(self):
        variable = "GLIBC_TUNABLES"
        given_to_all = {variable: os.environ[variable]} if variable in os.environ else {}
        for given in (given_to_all, {variable: "glibc.malloc.hugetlb=0"}):
            with Running(*QUICK, **given) as server:
                server.wait_for("ready")
                process = "/proc/%d/" % server.process.pid
                # It is the process that was started, by the name that it was started by.
                with open(process + "comm", encoding="utf-8") as name:
                    self.assertEqual(name.read().strip(), os.path.basename(SERVER)[:15])
                with open(process + "environ", encoding="utf-8") as its:
                    tunables = [entry for entry in its.read().split("\0") if entry.startswith(variable)]
                self.assertEqual(tunables, [variable + "=" + given.get(variable, "glibc.malloc.hugetlb=1")])
                self.assertEqual(server.end(signal.SIGTERM)[0], 0)

    def test_connections_that_speak_garbage_are_closed(self):
        with Running("--listen", "127.0.0.1", *QUICK) as server:
            port = server.wait_for("ready")["port"]
            with socket.create_connection(("127.0.0.1", port)) as peer:
                peer.settimeout(PATIENCE_S)
                peer.sendall(b"\xff\xffGET / HTTP/1.1\r\n\r\n")
                self.assertEqual(peer.recv(1), b"")
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
                for size in (0, 1, 24, 1199, 1200, 1201, 9000):
                    peer.sendto(b"\x01" * size, ("127.0.0.1", port))
            self.assertEqual(run("--health", "127.0.0.1:%d" % port).returncode, 0)
            self.assertEqual(server.end(signal.SIGTERM)[0], 0)


if __name__ == "__main__":
    SERVER = sys.argv.pop(1)
    unittest.main()
