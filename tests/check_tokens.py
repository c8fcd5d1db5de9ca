#!/usr/bin/env python3
"""Goes the way of an operator who closes a server: keys, settings, tokens; and holds the programs to it.

Usage: check_tokens.py SERVER SIM
"""
import base64
import datetime
import hashlib
import os
import pathlib
import re
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import unittest

SERVER = SIM = ""
PATIENCE_S = 180
SECRET = re.compile(r"ashlar-(?:issuer-)?secret-[\w-]{8}")


def environment(**extra):
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("ASHLAR_", "DOOMWAD"))}
    return {**clean, **extra}


def key_bytes(text, prefix):
    """The 32 bytes of a key's text, its checksum proven: by hand, as WIRE.md draws it."""
    assert text.startswith(prefix), text
    raw = base64.urlsafe_b64decode(text[len(prefix):])
    assert len(raw) == 36 and hashlib.sha256(prefix.encode() + raw[:32]).digest()[:4] == raw[32:], text
    return raw[:32]


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


class Tokens(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def call(self, program, *arguments, **extra):
        done = subprocess.run([program, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True,
                              timeout=PATIENCE_S, env=environment(**extra), stdin=subprocess.DEVNULL, umask=0o022)
        self.assertNotRegex(done.stdout + done.stderr, SECRET)
        return done

    def run_well(self, *arguments, program=None, **extra):
        done = self.call(program or SERVER, *arguments, **extra)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return done.stdout.removesuffix("\n")

    def refused(self, line, *arguments, program=None, code=2, **extra):
        done = self.call(program or SERVER, *arguments, **extra)
        self.assertEqual(done.returncode, code, done)
        self.assertRegex(done.stderr, r"\A[^\n]+\n\Z")
        self.assertRegex(done.stderr, line)

    def keys(self):
        self.server = self.run_well("key", "new", "--out", "server.key")
        self.player = self.run_well("key", "new", "--out", "player.key")
        self.issuer = self.run_well("key", "new", "--issuer", "--out", "issuer.key")

    def mint(self, *changes):
        return self.run_well("token", "mint", "--issuer-key", "issuer.key", "--client-key", self.player, "--id", "anna-1",
                             "--name", "Anna", "--expires", "10m", "--server", self.server, *changes)

    def start(self, *arguments, **extra):
        """The ready line's fields of a server that ends by itself, and all it said."""
        said = self.run_well("run", "--port", "0", "--map", "none", "--monsters", "0", "--for", "50ms", *arguments, **extra)
        ready = next(line for line in said.splitlines() if "event=ready" in line)
        return dict(re.findall(r"(\w+)=(\S+)", ready)), said

    def test_keys_are_new_secret_and_known_by_their_public_part(self):
        self.keys()
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["issuer.key", "player.key", "server.key"])
        self.assertNotEqual(key_bytes(self.server, "ashlar-public-"), key_bytes(self.player, "ashlar-public-"))
        key_bytes(self.issuer, "ashlar-issuer-public-")
        for name, prefix in [("server", "ashlar-secret-"), ("player", "ashlar-secret-"), ("issuer", "ashlar-issuer-secret-")]:
            path = self.folder / f"{name}.key"
            self.assertEqual(mode(path), 0o600)
            key_bytes(path.read_text(encoding="ascii").strip(), prefix)
            self.assertEqual(self.run_well("key", "show", path), getattr(self, name))
        before = (self.folder / "server.key").read_bytes()
        self.refused(r"server\.key: it is there already", "key", "new", "--out", "server.key")
        self.assertEqual((self.folder / "server.key").read_bytes(), before)

    def test_a_key_is_as_secret_under_any_umask(self):
        for umask in (0o000, 0o777):
            name = f"{umask:o}.key"
            subprocess.run([SERVER, "key", "new", "--out", name], cwd=self.folder, check=True, umask=umask,
                           env=environment(), capture_output=True, timeout=PATIENCE_S)
            self.assertEqual(mode(self.folder / name), 0o600)

    def test_of_many_who_make_the_same_key_at_once_one_succeeds(self):
        codes = []

        def make():
            codes.append(self.call(SERVER, "key", "new", "--out", "k").returncode)
        threads = [threading.Thread(target=make) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(codes), [0] + 7 * [2])
        self.assertEqual([path.name for path in self.folder.iterdir()], ["k"])

    def test_a_token_holds_what_was_said(self):
        self.keys()
        token = self.mint("--server", "player.key")
        raw = base64.urlsafe_b64decode(token.removeprefix("ashlar-token-") + "==")
        # By hand, as WIRE.md draws it.
        self.assertEqual(raw[0], 1)
        self.assertEqual(raw[1:9], hashlib.sha256(key_bytes(self.issuer, "ashlar-issuer-public-")).digest()[:8])
        self.assertEqual(raw[9:41], key_bytes(self.player, "ashlar-public-"))
        not_before, expires = struct.unpack("<qq", raw[41:57])
        now = datetime.datetime.now(datetime.timezone.utc).timestamp()
        self.assertEqual(expires - not_before, 660)
        self.assertLess(abs(expires - 600 - now), PATIENCE_S)
        self.assertEqual(raw[57:-64], b"\x06anna-1\x04Anna\x02" + key_bytes(self.server, "ashlar-public-") +
                         key_bytes(self.player, "ashlar-public-"))

    def test_show_tells_a_token(self):
        self.keys()
        token = self.mint()
        shown = self.run_well("token", "show", token)
        for part in ["anna-1", "Anna", self.player, self.server, "valid now   yes", "not looked at"]:
            self.assertIn(part, shown)
        self.assertRegex(shown, r"expires +\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
        (self.folder / "token").write_text(token + "\n", encoding="ascii")
        for issuer in (self.issuer, "issuer.key"):
            self.assertIn("signature   right", self.run_well("token", "show", "token", "--issuer", issuer))
        other = self.run_well("key", "new", "--issuer", "--out", "other.key")
        foreign = self.call(SERVER, "token", "show", token, "--issuer", other)
        self.assertEqual((foreign.returncode, foreign.stderr), (1, ""))
        self.assertIn("another issuer", foreign.stdout)
        self.refused(r"--issuer: .*server or player, but has to be the public key of an issuer", "token", "show", token, "--issuer", self.server)
        later = self.call(SERVER, "token", "show", self.mint("--not-before", "5m"))
        self.assertEqual(later.returncode, 1)
        self.assertRegex(later.stdout, r"not yet, it begins in [45]m")

    def test_mistakes_of_who_mints(self):
        self.keys()
        usual = {"--issuer-key": "issuer.key", "--client-key": self.player, "--id": "a", "--expires": "10m", "--server": self.server}

        def wrong(line, **changes):
            options = {**usual, **{"--" + k.replace("_", "-"): v for k, v in changes.items()}}
            self.refused(line, "token", "mint", *[word for pair in options.items() if pair[1] is not None for word in pair])
        wrong(r"--expires: .*has expired already", expires="2020-01-01T00:00:00Z")
        wrong(r"--expires: .*has expired already", expires="0s")
        wrong(r"--expires: \"-5m\" is no time", expires="-5m")
        wrong(r"--expires: .*at most 366d", expires="3000d")
        wrong(r"--expires: .*no time", expires="99999999999d")
        wrong(r"--expires: .*before it begins", not_before="1h")
        wrong(r"--expires TIME is missing", expires=None)
        wrong(r"--server TEXT\|FILE is missing", server=None)
        wrong(r"--client-key: is the public key of an issuer", client_key=self.issuer)
        wrong(r"--server: is the public key of an issuer", server=self.issuer)
        wrong(r"--issuer-key: player\.key is a secret key of a server or player", issuer_key="player.key")
        wrong(r"--issuer-key: .*put it into a file of mode 600", issuer_key=(self.folder / "issuer.key").read_text().strip())
        wrong(r"--client-key: .*put it into a file of mode 600", client_key=(self.folder / "player.key").read_text().strip())
        wrong(r"--issuer-key FILE is missing.*ASHLAR_ISSUER_KEY_FILE", issuer_key=None)
        (self.folder / "issuer.key").chmod(0o640)
        wrong(r"--issuer-key: issuer\.key holds a secret that others can read: chmod 600 issuer\.key")
        (self.folder / "issuer.key").chmod(0o600)
        options = [word for pair in usual.items() if pair[0] != "--issuer-key" for word in pair]
        self.run_well("token", "mint", *options, ASHLAR_ISSUER_KEY_FILE="issuer.key")
        self.refused(r"ASHLAR_ISSUER_KEY_FILE: cannot read gone", "token", "mint", *options, ASHLAR_ISSUER_KEY_FILE="gone")

    def test_a_server_says_who_it_is_and_whom_it_lets_in(self):
        self.keys()
        ready, said = self.start()
        self.assertEqual(ready["access"], "open")
        self.assertIn("event=key_of_this_start", said)
        self.assertNotEqual(ready["key"], self.start()[0]["key"])
        ready, said = self.start("--access", "token", "--token-issuers", self.issuer, "--key-file", "server.key")
        self.assertEqual((ready["access"], ready["key"]), ("token", self.server))
        self.assertNotIn("key_of_this_start", said)
        ready, _ = self.start(ASHLAR_ACCESS="token", ASHLAR_TOKEN_ISSUERS=self.issuer, ASHLAR_KEY_FILE="server.key")
        self.assertEqual((ready["access"], ready["key"]), ("token", self.server))
        self.refused(r"--token-issuers: names issuers", "run", "--token-issuers", self.issuer)
        self.refused(r"--token-issuers: is the secret key of an issuer", "run", "--access", "token", "--token-issuers",
                     (self.folder / "issuer.key").read_text().strip())

    def test_a_world_keeps_its_servers_key(self):
        self.run_well("--check-config", "--port", "0", "--map", "none", "--world", "w")
        self.assertEqual(list(self.folder.iterdir()), [])
        ready, _ = self.start("--world", "w")
        self.assertEqual(mode(self.folder / "w/server.key"), 0o600)
        self.assertEqual(self.run_well("key", "show", "w/server.key"), ready["key"])
        self.assertEqual(self.start("--world", "w")[0]["key"], ready["key"])
        self.assertEqual(sorted(path.name for path in (self.folder / "w").iterdir()), ["server.key", "server.toml", "world.db", "world.toml"])
        own = self.run_well("key", "new", "--out", "own.key")
        self.assertEqual(self.start("--world", "w", "--key-file", "own.key")[0]["key"], own)
        self.assertEqual(self.run_well("key", "show", "w/server.key"), ready["key"])

    def test_simulated_clients_have_keys_to_mint_tokens_for(self):
        self.keys()
        keys = self.run_well("load", "--identity", "player.key", "--clients", "3", "--print-keys", program=SIM).split("\n")
        self.assertEqual((len(set(keys)), keys[0]), (3, self.player))
        tokens = [self.run_well("token", "mint", "--issuer-key", "issuer.key", "--client-key", key, "--id", f"bot{i}",
                                "--expires", "5m", "--server", "server.key") for i, key in enumerate(keys)]
        (self.folder / "tokens").write_text("\n".join(tokens) + "\n", encoding="ascii")
        self.refused(r"--token: there are 3 tokens for 2 clients", "load", "--identity", "player.key", "--token", "tokens",
                     "--clients", "2", program=SIM)
        self.refused(r"--token: token 1 is of another client's key", "load", "--identity", "server.key", "--token", "tokens",
                     "--clients", "3", program=SIM)
        self.refused(r"--token: token 1 is for other servers", "load", "--identity", "player.key", "--token", "tokens",
                     "--clients", "3", "--server-key", self.player, program=SIM)
        self.refused(r"--token: a token is of use only with the key", "load", "--clients", "3", program=SIM,
                     ASHLAR_TOKEN_FILE="tokens")
        (self.folder / "player.key").chmod(0o604)
        self.refused(r"player\.key holds a secret .*chmod 600", "load", "--identity", "player.key", program=SIM)


if __name__ == "__main__":
    SERVER, SIM = (os.path.abspath(path) for path in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1])
