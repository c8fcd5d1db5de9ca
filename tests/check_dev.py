#!/usr/bin/env python3
"""Holds ./dev to its promises without building anything: a copy of the scripts runs with a cmake that does
nothing and with programs that play server and clients. Usage: check_dev.py ROOT
"""
import fcntl
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
COMMANDS = ("run", "test", "build", "bench", "fuzz", "web", "docker", "format", "lint")

# Answers --health once it is "listening"; ends on SIGTERM with the code it is told, or by itself after a while.
SERVER = """#!/usr/bin/env python3
import os, pathlib, signal, sys, time
ready = pathlib.Path(os.environ["FAKE_DIR"], "ready")
if "--health" in sys.argv:
    sys.exit(0 if ready.exists() else 1)
def end(number, frame):
    ready.unlink()
    sys.exit(int(os.environ.get("SERVER_EXIT", "0")))
signal.signal(signal.SIGTERM, end)
signal.signal(signal.SIGINT, lambda number, frame: print("the server was interrupted", flush=True))
print("event=ready", *sys.argv[1:], flush=True)
pathlib.Path(os.environ["FAKE_DIR"], "server.pid").write_text(str(os.getpid()))
ready.touch()
time.sleep(float(os.environ.get("SERVER_LIVES", "60")))
sys.exit(3)
"""
CLIENTS = """#!/usr/bin/env python3
import os, signal, sys, time
signal.signal(signal.SIGINT, lambda number, frame: (print("report: interrupted", flush=True), sys.exit(0)))
print("clients", *sys.argv[1:], flush=True)
time.sleep(float(sys.argv[sys.argv.index("--duration") + 1].rstrip("s")))
print("report: done")
sys.exit(int(os.environ.get("CLIENTS_EXIT", "0")))
"""


def alive(pid):
    """Whether a process runs; one that has ended and waits to be collected by another does not."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


class Dev(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        shutil.copy(ROOT / "dev", self.folder / "dev")
        shutil.copytree(ROOT / "cmake", self.folder / "cmake")
        shutil.copytree(ROOT / "docker", self.folder / "docker")
        for name, text in (("bin/cmake", "#!/bin/sh\n"), ("build/release/bin/ashlar-server", SERVER),
                           ("build/release/bin/ashlar-sim", CLIENTS), ("a.wad", "PWAD")):
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            path.chmod(0o755)
        # Without dpkg-query nothing is installed; the programs it would look for are given.
        for name in ("ninja", "flatc"):
            shutil.copy(self.folder / "bin/cmake", self.folder / "bin" / name)
        self.environment = {**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}",
                            "FAKE_DIR": str(self.folder)}

    def dev(self, *arguments, **environment):
        return subprocess.run([str(self.folder / "dev"), *arguments], env={**self.environment, **environment},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)

    def run_play(self, *arguments, **environment):
        return self.dev("run", "--port", "0", "--wad", "a.wad", *arguments, **environment)

    def start(self, *arguments):
        """./dev run in the background, in a process group of its own like a shell's job, with its clients on."""
        process = subprocess.Popen([str(self.folder / "dev"), "run", "--port", "0", "--wad", "a.wad", *arguments],
                                   env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, start_new_session=True)
        deadline = time.monotonic() + 60
        log = self.folder / "build/run/harness.log"
        while not (log.exists() and "clients" in log.read_text()) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.server_pid = int((self.folder / "server.pid").read_text())
        return process

    def assert_server_gone(self):
        deadline = time.monotonic() + 20
        while alive(self.server_pid) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertFalse(alive(self.server_pid))

    def test_every_command_explains_itself(self):
        self.assertEqual(self.dev().returncode, 0)
        for command in COMMANDS:
            with self.subTest(command):
                answer = self.dev(command, "--help")
                self.assertEqual(answer.returncode, 0, answer.stderr)
                self.assertIn(f"usage: ./dev {command}", answer.stdout)

    def test_wrong_usage_is_one_line_and_exit_code_2(self):
        for arguments in (["nothing"], ["run", "--for"], ["run", "--for", "soon"], ["run", "--clients", "-1"],
                          ["run", "--port", "65536"], ["run", "--transport", "smoke"], ["run", "--wad", "no.wad"],
                          ["run", "--what"], ["test", "--preset", "none"], ["test", "--folder", "none"],
                          ["build", "none"], ["bench", "none"], ["fuzz", "--for", "1y"],
                          ["web", "none"], ["docker", "--wads", "none"],
                          ["format", "none.cpp"], ["lint", "none.cpp"]):
            with self.subTest(arguments):
                answer = self.dev(*arguments)
                self.assertEqual(answer.returncode, 2, answer.stderr)
                self.assertRegex(answer.stderr, r"\Adev: [^\n]+\n\Z")

    def test_run_passes_options_on_and_the_verdict_back(self):
        answer = self.run_play("--for", "1s", "--clients", "5", "--monsters", "7", "--", "--motd", "hello")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertRegex(answer.stdout, r"event=ready --port \d+ --seed 1 --monsters 7 --monster-respawn-s 20 --wad a\.wad --map MAP01")
        self.assertIn("--motd hello", answer.stdout)
        self.assertIn("--clients 5 --transport udp --duration 1s --progress 0", answer.stdout)
        self.assertTrue(answer.stdout.endswith("report: done\n"))

    def test_run_takes_a_wad_that_came_with_the_packages(self):
        (self.folder / "bin/cmake").write_text('#!/bin/sh\ntouch "$FAKE_DIR/freedoom2.wad"\n')
        answer = self.dev("run", "--port", "0", "--for", "1s", DOOMWADDIR=str(self.folder))
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn(f"--wad {self.folder}/freedoom2.wad --map MAP01", answer.stdout)

    def test_run_fails_when_the_clients_do(self):
        self.assertEqual(self.run_play("--for", "1s", CLIENTS_EXIT="1").returncode, 1)

    def test_run_fails_when_the_server_does_not_end_well(self):
        answer = self.run_play("--for", "1s", SERVER_EXIT="5")
        self.assertEqual(answer.returncode, 1)
        self.assertIn("the server ended with exit code 5", answer.stderr)

    def test_run_fails_and_stops_the_clients_when_the_server_ends_early(self):
        answer = self.run_play("--for", "50s", SERVER_LIVES="1")
        self.assertEqual(answer.returncode, 1)
        self.assertIn("the server ended with exit code 3", answer.stderr)
        self.assertIn("report: interrupted", answer.stdout)

    def test_run_without_clients_is_a_server_for_a_time(self):
        answer = self.run_play("--for", "1s", "--clients", "0")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertNotIn("report", answer.stdout)

    def test_interrupting_run_ends_the_clients_first_and_is_no_failure(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                process = self.start()
                process.send_signal(number)
                output, _ = process.communicate(timeout=60)
                self.assertEqual(process.returncode, 0, output)
                self.assertIn("report: interrupted", output)
                self.assertNotIn("the server was interrupted", output)
                self.assert_server_gone()
                shutil.rmtree(self.folder / "build/run")

    def test_a_key_press_on_the_terminal_reaches_the_script_alone(self):
        process = self.start()
        os.killpg(process.pid, signal.SIGINT)
        output, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, output)
        self.assertNotIn("the server was interrupted", output)
        self.assert_server_gone()

    def test_killing_run_leaves_no_server_behind(self):
        process = self.start()
        process.kill()
        process.communicate(timeout=60)
        self.assert_server_gone()

    def test_a_checkout_that_was_moved_is_built_afresh(self):
        cache = self.folder / "build/debug/CMakeCache.txt"
        def configure(home):
            cache.parent.mkdir(parents=True, exist_ok=True)
            cache.write_text(f"CMAKE_HOME_DIRECTORY:INTERNAL={home}\n"
                             f"CMAKE_CACHEFILE_DIR:INTERNAL={home}/build/debug\n")
            return self.dev("build", "debug")
        answer = configure(self.folder)
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        self.assertTrue(cache.exists())
        answer = configure("/where/it/was")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertRegex(answer.stderr, r"\Adev: build/debug was made for /where/it/was: [^\n]+\n\Z")
        self.assertFalse(cache.exists())

    def test_who_comes_second_to_a_build_folder_waits(self):
        lock = self.folder / "build/.debug.lock"
        with open(lock, "w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            second = subprocess.Popen([str(self.folder / "dev"), "build", "debug"], env=self.environment,
                                      stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            self.assertRegex(second.stderr.readline(), r"\Adev: another ./dev builds in build/debug: [^\n]+\n\Z")
            self.assertIsNone(second.poll())
        self.assertEqual(second.communicate(timeout=60), (None, ""))
        self.assertEqual(second.returncode, 0)

    def test_a_taken_port_is_named(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
            taken.bind(("0.0.0.0", 0))
            port = str(taken.getsockname()[1])
            answer = self.dev("run", "--for", "1s", "--wad", "a.wad", "--port", port)
        self.assertEqual(answer.returncode, 2)
        self.assertRegex(answer.stderr, rf"\Adev: port {port} is taken[^\n]+\n\Z")


if __name__ == "__main__":
    unittest.main()
