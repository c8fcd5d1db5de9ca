"""The two programs as their users run them, for the scripts that check them."""
import json
import os
import pathlib
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

SIM = SERVER = ""
# Generous: sanitizers and busy machines make everything slow, and only a failing test waits for it.
PATIENCE_S = 180


def main():
    """Takes SIM, SERVER and the classes to run from the command line."""
    global SIM, SERVER
    SIM, SERVER = sys.argv[1], sys.argv[2]
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)


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


def load(*arguments, seconds):
    """Clients that play for so long once all of them are in, or until none is any more: how soon they are in, a machine
    with much to do decides."""
    command = [SIM, "load", *arguments, "--duration", f"{PATIENCE_S}s", "--progress", "250ms"]
    with tempfile.TemporaryFile("w+") as errors, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True,
                                                                  env=environment(), stdin=subprocess.DEVNULL) as process:
        out, quarters = "", 0
        for line in process.stdout:
            out += line
            quarters += re.search(r"playing (\d+) of \1 ", line) is not None
            if quarters > 4 * seconds:
                process.send_signal(signal.SIGINT)
                break
        out += rest_of(process)
        errors.seek(0)
        return subprocess.CompletedProcess(command, process.returncode, out, errors.read())


class Player:
    def play_until(self, server, enough, *arguments):
        """Plays longer and longer until that much happened: what a machine does in a second is no promise."""
        for seconds in (2, 6, 20, 60):
            done, report = self.play(server, *arguments, seconds=seconds)
            if enough(report):
                break
        else:
            self.fail(report)
        return done, report

    def play(self, server, *arguments, seconds=2):
        """Everybody comes in, stays and is told of the world all the time."""
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder) / "report.json"
            done = load("--server", f"127.0.0.1:{server.port}", "--report", str(report), *arguments, seconds=seconds)
            self.assertEqual(done.returncode, 0, done)
            return done, json.loads(report.read_text())

    def fail_to_play(self, server, *arguments):
        """Some are not let in."""
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder) / "report.json"
            done = run("load", "--server", f"127.0.0.1:{server.port}", "--duration", "2s", "--progress", "1s",
                       "--report", str(report), *arguments)
            self.assertEqual(done.returncode, 1, done)
            return done, json.loads(report.read_text())


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
