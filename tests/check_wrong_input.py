#!/usr/bin/env python3
"""Wrong input, one row each: what is typed, what the environment and the files hold, what it must answer.

Every row must end by itself with its exit code, say exactly one line on standard error that names the thing (and
matches the row), never be ready, and leave its folder as it was. Usage: check_wrong_input.py SERVER SIM
"""
import contextlib
import os
import pathlib
import resource
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import unittest

SERVER = SIM = ""
# Generous: sanitizers and busy machines make everything slow, and only a failing row waits for it.
PATIENCE_S = 180
TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"


# ---- what a row needs on the disk; each takes the row's folder --------------------------------------------

def text(name, content):
    return lambda folder: (folder / name).write_text(content, encoding="utf-8")


def raw(name, content):
    return lambda folder: (folder / name).write_bytes(content)


def pipe(name):
    return lambda folder: os.mkfifo(folder / name)


def link(name, target):
    return lambda folder: (folder / name).symlink_to(target)


def directory(name, mode=0o755):
    def make(folder):
        (folder / name).mkdir(parents=True)
        (folder / name).chmod(mode)
    return make


def world(edit=None, *arguments):
    """A world that the server made, in the folder w, then changed by `edit`, which is given that folder."""
    def make(folder):
        done = subprocess.run([SERVER, "--port", "0", "--world", "w", "--map", "none", "--monsters", "0", "--for",
                               "50ms", *arguments], cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S,
                              env=environment({}), stdin=subprocess.DEVNULL)
        assert done.returncode == 0, done.stderr
        if edit:
            edit(folder / "w")
    return make


def cut(path, size):
    path.write_bytes(path.read_bytes()[:size])


def given_to(user):
    """Of a world: its folder is another user's, who may not write its database."""
    def give(folder):
        for path in (folder.parent, folder, *folder.iterdir()):
            os.chown(path, user, user)
        (folder / "world.db").chmod(0o444)
    return give


def replaced(path, old, new):
    content = path.read_text(encoding="utf-8")
    assert old in content
    path.write_text(content.replace(old, new), encoding="utf-8")


def wad(name, lumps, kind=b"PWAD"):
    directory_bytes, body = b"", b""
    for lump, data in lumps:
        directory_bytes += struct.pack("<ii8s", 12 + len(body), len(data), lump)
        body += data
    return raw(name, struct.pack("<4sii", kind, len(lumps), 12 + len(body)) + body + directory_bytes)


MAP_LUMPS = [b"THINGS", b"LINEDEFS", b"SIDEDEFS", b"VERTEXES", b"SEGS", b"SSECTORS", b"NODES", b"SECTORS"]


def map_wad(name, *, rename=None):
    return wad(name, [(b"MAP01", b"")] + [(b"RENAMED" if lump == rename else lump, b"") for lump in MAP_LUMPS])


# ---- what a row runs under -------------------------------------------------------------------------------

@contextlib.contextmanager
def full_disk(folder):
    """A file system of one page in the row's folder, at `disk`; only root can have one."""
    (folder / "disk").mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "ashlar-test", str(folder / "disk")], check=True,
                   capture_output=True)
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder / "disk")], check=True)


@contextlib.contextmanager
def read_only_disk(folder):
    (folder / "disk").mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "ro,size=4k", "ashlar-test", str(folder / "disk")], check=True,
                   capture_output=True)
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder / "disk")], check=True)


def open_files(count):
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))


def as_user(number):
    def become():
        os.setgroups([])
        os.setgid(number)
        os.setuid(number)
    return become


@contextlib.contextmanager
def readable_copy(program):
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield shutil.copy(program, folder)


class Row:
    def __init__(self, program, arguments, line, *, files=(), env=None, code=2, under=None, before=None, root=False,
                 stdout=None, user=None):
        self.program, self.arguments, self.line, self.files = program, arguments, line, files
        self.env, self.code, self.under, self.before, self.root = env or {}, code, under, before, root
        self.stdout, self.user = stdout, user


def server(arguments, line, **rest):
    return Row("server", arguments.split("|") if arguments else [], line, **rest)


def sim(arguments, line, **rest):
    return Row("sim", arguments.split("|"), line, **rest)


def prop(content, line):
    return server("--map|none|--prop|o.obj@1,2", line, files=[text("o.obj", content)])


def kinds(content, line):
    return server("--map|none|--kinds|k.toml", line, files=[text("k.toml", content)])


# Arguments stand between bars. What the line must hold is a regular expression.
ROWS = {
    "flags": [
        server("--prot|1", r"there is no flag --prot: did you mean --port"),
        server("--port", r"--port needs a value"),
        server("--port|70000", r"--port: 70000 is out of range: give 0 to 65535"),
        server("--port|1e3", r"--port: \"1e3\" is not a whole number"),
        server("--port|99999999999999999999999", r"--port: 9+ is out of range"),
        server("--port|1|--port|2", r"--port is given 2 times"),
        server("--seed|-1", r"--seed: -1 is out of range"),
        server("--gravity-mps2|nan", r"--gravity-mps2: .*give 0 to 200"),
        server("--gravity-mps2|inf", r"--gravity-mps2: .*give 0 to 200"),
        server("--gravity-mps2|", r"--gravity-mps2: \"\" is not a number"),
        server("--for|soon", r"--for: .*30s"),
        server("--for|-5s", r"--for: .*30s"),
        server("serve", r"\"serve\" belongs to no flag"),
        server("--listen|", r"--listen is empty: give ADDRESS"),
        server("--record|", r"--record is empty: give FILE"),
        server("--world|", r"--world is empty: give DIR"),
        server("--config|", r"--config has an empty file name"),
        server("--listen|example.org", r"--listen: .*example\.org"),
        server("--listen|192.0.2.1", r"cannot listen on 192\.0\.2\.1"),
        server("--check-config|--listen|192.0.2.1", r"cannot listen on 192\.0\.2\.1"),
        server("--check-config|--print-config", r"exclude each other"),
        server("--out|x", r"--out belongs to --draw-map"),
        server("--motd|a\x01b", r"--motd: holds a control character"),
        server("--motd|a\u202eb", r"--motd: holds what is not printable"),
        server("--map|MAP01@1", r"--map: .*X,Y"),
        server("--map|MAP01@1,99999999999", r"--map: .*two whole numbers"),
        server("--port|0|--map|COURTYARD@1048000,0", r"map COURTYARD at .* is too far away: .*place it nearer"),
        server("--map|none|--map|MAP01", r"\"none\" stands beside other maps"),
        server("--accept-world", r"--accept-world .*--world"),
        server("--help", r"cannot write to standard output", stdout="/dev/full"),
        server("--version", r"cannot write to standard output", stdout="/dev/full"),
        server("--print-config", r"cannot write to standard output", stdout="/dev/full"),
        server("--health|nowhere.invalid:7777", r"--health: .*nowhere\.invalid"),
        server("--health|127.0.0.1:0", r"--health|port", code=(1, 2)),
        server("--health|pid:x", r"--health: .*pid:1"),
        server("--health|pid:999999999", r"--health: there is no process 999999999"),
    ],
    "commands": [
        server("--live|run", r"\"run\" is a command: it comes before all flags"),
        server("run|--prot|1", r"there is no flag --prot: did you mean --port"),
        server("key", r"say ashlar-server key new or key show"),
        server("key|make", r"there is no command \"key make\".*key new or key show"),
        server("key|new", r"key new: --out FILE is missing"),
        server("key|new|--port|1|--out|k", r"key new: there is no option --port"),
        server("key|new|--out|k", r"cannot write k: it is there already", files=[text("k", "precious")]),
        server("key|new|--out|no/k", r"cannot write no/k: No such file"),
        server("key|new|--out|disk/k", r"cannot write disk/k: Read-only file system", under=read_only_disk, root=True),
        server("key|new|--out|k", r"cannot write k: Permission denied", user=65534, root=True),
        server("key|new|--help", r"cannot write to standard output", stdout="/dev/full"),
        server("key|show|absent", r"cannot read absent: No such file"),
        server("key|show|pipe", r"cannot read pipe: it is no regular file", files=[pipe("pipe")]),
        server("key|show|k", r"k holds no key", files=[text("k", "hello")]),
        server("key|show|k", r"k has a wrong character", files=[text("k", "ashlar-public-" + 48 * "A")]),
        server("token|forge", r"there is no command \"token forge\".*token mint or token show"),
        server("token|mint|--id|x", r"token mint: --client-key TEXT\|FILE is missing"),
        server("token|mint|--secret|x", r"token mint: there is no option --secret"),
        server("token|show|ashlar-token-AAAA", r"token show: this is of a version"),
        server("token|show|t", r"t is no token", files=[text("t", "hello")]),
        server("token|show|.", r"cannot read \.: it is a folder"),
    ],
    "access": [
        server("--access|token", r"--access: .*no issuer is trusted.*--token-issuers"),
        server("--access|closed", r"--access: .*open or token"),
        server("--token-issuers|hello", r"--token-issuers: is no key"),
        server("--key-file|absent", r"--key-file: cannot read absent: No such file.*key new --out"),
        server("--port|0|--map|none|--key-file|k", r"--key-file: k is no key", files=[text("k", "hello")]),
        server("--port|0|--map|none|--world|w", r"w/server\.key was cut", files=[world(lambda w: cut(w / "server.key", 40))]),
        server("--port|0|--map|none|--world|w", r"w/server\.key holds a secret that others can read: chmod 600 w/server\.key",
               files=[world(lambda w: (w / "server.key").chmod(0o644))]),
        server("--away-grace-s|-1", r"--away-grace-s: .*0 to 3600"),
    ],
    "variables": [
        server("", r"ASHLAR_SEED: \"abc\" is not a whole number", env={"ASHLAR_SEED": "abc"}),
        server("", r"ASHLAR_PORT: \"tcp://10\.0\.0\.1:7777\"", env={"ASHLAR_PORT": "tcp://10.0.0.1:7777"}),
        server("", r"ASHLAR_MAP: .*separated by ;", env={"ASHLAR_MAP": "MAP01,MAP02"}),
        server("", r"ASHLAR_MAP: .*separated by ;", env={"ASHLAR_MAP": "MAP01@1,2,MAP02@3,4"}),
        server("", r"a\.obj@1,2,b\.obj: .*separated by ;", env={"ASHLAR_PROP": "a.obj@1,2,b.obj@3,4"}),
        server("", r"a\.wad,b\.wad.*separated by ;", env={"ASHLAR_WAD": "a.wad,b.wad"}),
        server("", r"cannot read /nowhere/c\.toml: No such file", env={"ASHLAR_CONFIG": "/nowhere/c.toml"}),
        server("", r"ASHLAR_LIVE: \"maybe\" is neither true nor false", env={"ASHLAR_LIVE": "maybe"}),
    ],
    "settings": [
        server("--config|absent.toml", r"cannot read absent\.toml: No such file"),
        server("--config|.", r"cannot read \.: it is a folder"),
        server("--config|pipe", r"cannot read pipe: it is a pipe", files=[pipe("pipe")]),
        server("--config|/dev/zero", r"cannot read /dev/zero: it is a device"),
        server("--config|round", r"cannot read round: Too many levels", files=[link("round", "round")]),
        server("--config|c.toml", r"cannot read c\.toml: it is longer than 1 MiB",
               files=[text("c.toml", "#" * (1 << 20) + "\n")]),
        server("--config|c.toml", r"c\.toml:3: unknown key \"max_cleints\": did you mean \"max_clients\"",
               files=[text("c.toml", "port = 1\n\nmax_cleints = 3\n")]),
        server("--config|c.toml", r"c\.toml:1: .*in quotes", files=[text("c.toml", "seed = 9223372036854775808\n")]),
        server("--config|c.toml", r"c\.toml:1: port is a text", files=[text("c.toml", "port = \"7777\"\n")]),
        server("--config|c.toml", r"c\.toml:1: .*not UTF-8", files=[raw("c.toml", b"motd = \"\xff\"\n")]),
        server("--config|c.toml", r"c\.toml:1:", files=[raw("c.toml", b"\x7fELF\x02\x01\x01\0\0\0")]),
    ],
    "worlds": [
        server("--port|0|--world|w", r"w/world\.toml: its last line, the check, is missing.*--accept-world",
               files=[world(lambda w: cut(w / "world.toml", 1500))]),
        server("--port|0|--world|w", r"w/world\.toml: it is empty.*backup",
               files=[world(lambda w: cut(w / "world.toml", 0))]),
        server("--port|0|--world|w", r"w/world\.toml: it is not as the server wrote it.*--accept-world",
               files=[world(lambda w: replaced(w / "world.toml", "seed = 1", "seed = 2"))]),
        server("--port|0|--world|w|--accept-world", r"w/world\.toml: it lacks its seed or its maps.*backup",
               files=[world(lambda w: cut(w / "world.toml", (w / "world.toml").read_text().index("[[map]]")))]),
        server("--port|0|--world|w", r"world w has lost its world\.toml.*backup",
               files=[world(lambda w: (w / "world.toml").unlink())]),
        server("--port|0|--world|w", r"world w has lost its world\.toml.*backup",
               files=[directory("w/cache")]),
        server("--port|0|--world|w", r"w/world\.toml is a link to /nowhere/world\.toml.*mount",
               files=[directory("w"), link("w/world.toml", "/nowhere/world.toml")]),
        server("--port|0|--world|w", r"world w is a link to /nowhere/volume.*mount", files=[link("w", "/nowhere/volume")]),
        server("--port|0|--world|w", r"cannot look at w", files=[link("w", "w")]),
        server("--port|0|--world|w", r"cannot read w/world\.toml: it is a pipe", files=[directory("w"), pipe("w/world.toml")]),
        server("--port|0|--world|w", r"cannot read w/world\.toml: it is a folder", files=[directory("w/world.toml")]),
        server("--port|0|--world|w", r"cannot read w/server\.toml: it is a pipe", files=[directory("w"), pipe("w/server.toml")]),
        server("--port|0|--world|w", r"world w is not a folder", files=[text("w", "")]),
        server("--port|0|--world|w/below", r"cannot look at w/below: Not a directory", files=[text("w", "")]),
        server("--port|0|--world|/proc/foo", r"cannot make the world's folder /proc/foo"),
        server("--check-config|--port|0|--world|/proc/foo", r"cannot make the world's folder /proc/foo"),
        server("--port|0|--world|" + "w" * 300, r"w+: File name too long"),
        server("--port|0|--world|w|--seed|5", r"world w has seed 1, but --seed says 5", files=[world()]),
        server("--port|0|--map|none|--world|disk/w", r"cannot write disk/w/server\.toml: No space left", under=full_disk,
               root=True),
        server("--check-config|--port|0|--map|none|--world|disk/w", r"cannot write disk/w/server\.toml: No space left",
               under=full_disk, root=True),
        server("--port|0|--map|none|--world|disk/w", r"cannot make the world's folder disk/w: Read-only file system",
               under=read_only_disk, root=True),
        server("--port|0|--map|none|--world|w", r"cannot write w/server\.toml: Permission denied.*chown -R 65534 w",
               files=[directory("w")], user=65534, root=True),
        server("--port|0|--map|none|--world|w", r"w.*Permission denied.*chown -R 65534", files=[directory("w", 0o700)],
               user=65534, root=True),
    ],
    "world tools": [
        server("--port|0|--map|none|--world|w", r"w/world\.db: .*readonly.*chmod u\+rwX w/world\.db",
               files=[world(given_to(65534))], user=65534, root=True),
        server("world|salvage|w", r"w/world\.db: .*readonly.*chown -R 65534 w", files=[world()], user=65534, root=True),
        server("world|prune|w", r"cannot read w/world\.toml: Permission denied.*chown -R 65534 w", files=[world()],
               user=65534, root=True),
        server("world|backup|w|--out|out", r"--out: out is no folder", files=[world(), text("out", "")]),
        server("world|restore|w|--to|out|--replace", r"--to: out is no folder: name one that is not there yet\n",
               files=[world(), text("out", "")]),
        server("world|restore|w|--to|w|--replace", r"--to: w is the backup itself", files=[world()]),
        server("world|log|nowhere", r"nowhere holds no world"),
        server("world|log|w|--since|noon", r"--since: .*noon", files=[world()]),
        server("world|log|w|--player|@nobody", r"--player: @nobody is nobody: there are @operator", files=[world()]),
        server("world|log|w|--area|1,2", r"--area: give X,Y,R", files=[world()]),
        server("world|log|w|--area|1,2,513", r"--area: .*512 metres", files=[world()]),
        server("world|log|w|--limit|0", r"--limit: 0 is out of range", files=[world()]),
        server("world|log|w|--since|1h|--until|2h", r"--until lies before --since", files=[world()]),
        server("world|rollback|w|--player|ann", r"--since", files=[world()]),
        server("world|rollback|nowhere|--since|1h", r"nowhere holds no world"),
        server("world|restore|nowhere|--to|v", r"nowhere holds no world"),
        server("world|restore|w", r"--to", files=[world()]),
        server("--port|0|--map|none|--protect|1,2,3", r"--protect: \"1,2,3\" has no six whole numbers"),
        server("--port|0|--map|none|--protect|0,0,0,0,0,9999", r"--protect: .*reaches out of the world"),
        server("world|prune|nowhere", r"nowhere"),
        server("world|prune|w|--keep-near|100", r"--keep-near and --unchanged-for belong together", files=[world()]),
        server("world|prune|w|--keep-near|far|--unchanged-for|1d", r"--keep-near: .*far", files=[world()]),
        server("world|prune|w|--log-older-than|long", r"--log-older-than", files=[world()]),
        server("world|export|w|--area|0,0,4", r"--out", files=[world()]),
        server("world|export|w|--area|0,0,4|--out|x.ply", r"x\.ply has to end in \.obj", files=[world()]),
        server("world|export|w|--area|0,0,4|--out|x.obj", r"x\.obj is there already",
               files=[world(), text("x.obj", "mine")]),
        server("world|export|w|--area|0,0,200|--out|x.obj", r"at most 128 metres", files=[world()]),
        server("world|export|w|--area|nan|--out|x.obj", r"--area: give X,Y,R.* at most 128 metres", files=[world()]),
        server("world|export|w|--area|0,0,4|--out|no/x.obj", r"there is no folder no", files=[world()]),
    ],
    "recordings": [
        server("--port|0|--map|none|--record|/nope/x", r"cannot record to /nope/x: No such file"),
        server("--check-config|--port|0|--map|none|--record|/nope/x", r"cannot record to /nope/x: No such file"),
        server("--port|0|--map|none|--record|m.rec|--world|w", r"cannot record to m\.rec: it is there already.*--record-existing",
               files=[text("m.rec", "precious")]),
        server("--port|0|--map|none|--record|.", r"cannot record to \.: "),
        server("--record|a/", r"--record: is a folder's name"),
        server("--record|m-%T.rec", r"--record: has a % that stands for no time.*%Y"),
        server("--record|%Y/m.rec", r"--record: has a time in a folder's name"),
        server("--record-existing|maybe", r"--record-existing: .*refuse or next"),
        server("--record-keep-mib|-1", r"--record-keep-mib: "),
    ],
    "WADs and maps": [
        server("--wad|absent.wad", r"there is no WAD absent\.wad.*--wad"),
        server("--wad|.", r"WAD \. is a folder: name a file in it"),
        server("--wad|pipe", r"WAD pipe is a pipe", files=[pipe("pipe")]),
        server("--wad|a.wad", r"a\.wad: not a WAD", files=[text("a.wad", "hello, this is no WAD\n")]),
        server("--wad|a.wad", r"a\.wad directory: .*cut off", files=[raw("a.wad", b"PWAD\x01\0\0\0\xff\0\0\0")]),
        server("--wad|a.wad", r"a\.wad holds no map", files=[wad("a.wad", [])]),
        server("--wad|a.wad", r"MAP01 SSECTORS: is missing from the map: RENAMED stands", files=[map_wad("a.wad", rename=b"SSECTORS")]),
        server("--wad|a.wad", r"MAP01 SECTORS: is missing from the map: RENAMED stands", files=[map_wad("a.wad", rename=b"SECTORS")]),
        server("--wad|a.wad", r"MAP01 LINEDEFS: the map has no lines", files=[map_wad("a.wad")]),
        server("--map|NOSUCHMAP", r"NOSUCHMAP"),
        server("--config|c.toml", r"c\.toml:2: .*NOSUCHMAP", files=[text("c.toml", 'port = 0\nrotation = ["NOSUCHMAP"]\n')]),
        server("--list-maps|absent.wad", r"there is no WAD absent\.wad"),
        server("--list-maps|.", r"WAD \. is a folder"),
        server("--draw-map|COURTYARD", r"--draw-map needs --out FILE"),
        server("--draw-terrain|0,0,64", r"--draw-terrain needs --out FILE\.png or FILE\.svg"),
        server("--draw-terrain|0,0,64|--out|x.gif", r"--out: x\.gif tells no format"),
        server("--draw-terrain|0,0|--out|x.png", r"--draw-terrain: \"0,0\" is no place with a radius: give X,Y,R"),
        server("--draw-terrain|0,0,1|--out|x.png", r"--draw-terrain: \"0,0,1\" .* R from 16 to 16384"),
        server("--draw-terrain|0,0,64|--world|w|--out|x.png", r"--world: there is no world w to draw"),
        server("--draw-terrain|0,0,64|--out|no/x.png", r"--out: cannot write no/x\.png: No such file"),
        server("--ores", r"--ores belongs to --draw-terrain"),
        server("--terrain|mountains", r"--terrain: \"mountains\" is not one of its values: give plains, hills, flat or void"),
        server("--draw-map|COURTYARD|--out|no/x.svg", r"--out: cannot write no/x\.svg: No such file"),
        server("--draw-map|COURTYARD|--out|.", r"--out: cannot write \.: Is a directory"),
        server("--draw-map|COURTYARD|--out|pipe", r"--out: cannot write pipe", files=[pipe("pipe")]),
        server("--draw-map|COURTYARD|--out|/dev/full", r"--out: cannot write /dev/full: No space left"),
        server("--draw-map|NOSUCHMAP|--out|x.svg", r"NOSUCHMAP"),
        server("--draw-map|COURTYARD|--out|my.wad", r"--out: my\.wad is there already", files=[text("my.wad", "w")]),
        server("--draw-map|COURTYARD|--out|x.svg|--from|here", r"--from: \"here\" is no place"),
        server("--draw-map|COURTYARD|--out|x.svg|--from|999999,999999", r"--from: .*-65536 to 65536"),
        server("--draw-map|COURTYARD|--out|x.svg|--from|60000,60000", r"--from: 60000,60000 lies beyond the map, which reaches from"),
        server("--draw-map|COURTYARD|--out|x.svg|--from|-300,600", r"--from: -300,600 lies in the void.*start"),
    ],
    "blocks": [
        server("--blocks|absent.toml", r"absent\.toml"),
        server("--blocks|b.toml", r"b\.toml line 3: shape has to be one of none, full, slab",
               files=[text("b.toml", '[[block]]\nname = "marble"\nshape = "ball"\n')]),
        server("--blocks|b.toml", r"b\.toml line 2: unknown key|b\.toml line 2: .*this is not TOML",
               files=[text("b.toml", '[[block]]\nname = \n')]),
        server("--blocks|b.toml", r"b\.toml line 3: has a letter beyond ASCII",
               files=[text("b.toml", '# \u00e4\n[[block]]\nname = "m\u00e4rble"\n')]),
    ],
    "kinds and weapons": [
        server("--kinds|absent.toml", r"kinds: cannot read absent\.toml: No such file"),
        server("--kinds|.", r"kinds: cannot read \.: it is a folder"),
        server("--kinds|pipe", r"kinds: cannot read pipe: it is a pipe", files=[pipe("pipe")]),
        kinds('[monster.imp]\nhealth = 80\nheallth = 81\n', r"k\.toml line 3: a monster has no \"heallth\""),
        kinds('[monster.imp]\nhealth = 0\n', r"k\.toml line 2: health has to be from 1 to 65535"),
        kinds('[monster.imp]\nhealth = 1.5\n', r"k\.toml line 2: health has to be a whole number"),
        kinds('[monster.imp]\nspeed_mps = nan\n', r"k\.toml line 2: speed_mps has to be from 0 to 60"),
        kinds('[monster.imp]\nhealth = "much"\n', r"k\.toml line 2: health has to be a number"),
        kinds('\n[monster.hulk]\nhealth = 80\n', r"k\.toml line 2: hulk is none of ours: `like`"),
        kinds('[monster.hulk]\nlike = "giant"\n', r"k\.toml line 2: there is no kind \"giant\" above"),
        kinds('[monster.imp.ranged]\nform = "spell"\n', r"k\.toml line 2: form has to be one of none, melee"),
        kinds('[monster.imp.melee]\nform = "missile"\n', r"k\.toml line 1: melee has to be of the form"),
        kinds('[projectile.rocket]\nsplash = 1\n', r"k\.toml line 2: a projectile has no \"splash\""),
        kinds('[[spawn]]\nmonster = "imp"\nground = "cheese"\n', r"k\.toml line 3: ground: there is no block \"cheese\""),
        kinds('[[spawn]]\nground = "grass"\n', r"k\.toml line 1: a spawn rule has to name its monster"),
        kinds('[creature.imp]\n', r"k\.toml line 1: unknown table \"creature\""),
        kinds('[monster.imp\n', r"k\.toml line 1: .*"),
        kinds('# kinds\n[[[monster.imp]\nhealth = 5\n', r"k\.toml line 2: is no TOML: its brackets or quotes"),
        kinds('# an editor of another script\n[monster.imp]\nhealth = "\xe4\n', r"k\.toml line 3: "),
        kinds('[weapon.pistol]\n\ninterval = 0.2\n', r"k\.toml line 3: a weapon has no \"interval\""),
        kinds('[weapon.pistol]\nslot = 11\n', r"k\.toml line 2: slot has to be from 1 to 10"),
        kinds('[weapon.pistol]\nform = "song"\n', r"k\.toml line 2: form has to be one of melee, hitscan, missile"),
        kinds('[weapon.pistol]\nprojectile = "song"\n', r"k\.toml line 2: there is no projectile \"song\""),
        kinds('[weapon.mortar]\nslot = 8\n', r"k\.toml line 1: mortar is none of ours: `like`"),
        kinds('\n[weapon.""]\nlike = "pistol"\n', r"k\.toml line 2: a kind's name has to be of printable ASCII"),
        kinds('[weapon."\\u001b[31m"]\nlike = "pistol"\n', r"k\.toml line 1: a kind's name has to be of printable"),
        kinds('[weapon.fist]\nstart = 0\n[weapon.pistol]\nstart = 0\n', r"k\.toml line 1: no weapon has start = 1"),
        kinds('# \u00e4\n[weapon."m\u00f6rser"]\nlike = "pistol"\n', r"k\.toml line 2: has a letter beyond ASCII"),
        kinds('[ammo.arrows]\nmost = 1\n', r"k\.toml line 1: there is no ammunition \"arrows\""),
        kinds('[ammo.shells]\nmost = -1\n', r"k\.toml line 2: most has to be from 0 to 30000"),
    ],
    "modes": [
        server("--mode|chess", r"--mode: \"chess\" is not one of its values: give sandbox, cooperative, deathmatch, teams or building"),
        server("--mode|", r"--mode: \"\" is not one of its values"),
        server("--config|c.toml", r"c\.toml:2: mode \"chess\" is not one of its values",
               files=[text("c.toml", "\nmode = \"chess\"\n")]),
        server("--config|c.toml", r"c\.toml:1: mode has to be a text|c\.toml:1: mode.*text", files=[text("c.toml", "mode = 3\n")]),
        server("--config|c.toml", r"c\.toml:2: frag_limit.*0 to 30000",
               files=[text("c.toml", "mode = \"deathmatch\"\nfrag_limit = 30001\n")]),
        server("--config|c.toml", r"c\.toml:1: intermission_s.*1 to 3600", files=[text("c.toml", "intermission_s = 0\n")]),
    ],
    "props": [
        prop("v nan 0 0\n" + TRIANGLE, r"o\.obj line 1: the coordinate \"nan\""),
        prop("v inf 0 0\n" + TRIANGLE, r"o\.obj line 1: the coordinate \"inf\""),
        prop(TRIANGLE + "f 1 2 12345678901234567890\n", r"o\.obj line 5: a face's corner"),
        prop(TRIANGLE + "f 1 2 9\n", r"o\.obj face 2: it names a vertex that does not exist"),
        prop("hello world\n", r"o\.obj: not a model: it has no vertices"),
        prop("", r"o\.obj: the file is empty"),
        server("--map|none|--prop|o.obj", r"--prop: .*says no place after an @", files=[text("o.obj", TRIANGLE)]),
        server("--map|none|--prop|absent.obj@1,2", r"cannot read absent\.obj: No such file.*--prop"),
        server("--map|none|--prop|pipe@1,2", r"cannot read pipe: it is a pipe", files=[pipe("pipe")]),
        server("--map|none|--prop|o.obj@1,2,3,nan", r"--prop: .*yaw", files=[text("o.obj", TRIANGLE)]),
        server("--map|none|--prop|o.obj@99999999,2", r"--prop: .*wrong x", files=[text("o.obj", TRIANGLE)]),
    ],
    "the machine": [
        server("--map|none", r"8 open files.*ulimit -Hn", before=open_files(8)),
        server("--map|none", r"20 open files.*ulimit -Hn", before=open_files(20)),
    ],
    "load": [
        sim("", r"there is no command ''"),
        sim("fly", r"'fly'.*--help"),
        sim("load|--colour|red", r"--colour"),
        sim("load|--clients|0", r"--clients"),
        sim("load|--report|f|--acts|f", r"--report and --acts name the same file"),
        sim("bytes|old.rec|--svg|old.rec", r"--svg: old\.rec is the recording itself", files=[text("old.rec", "r")]),
        sim("load|--clients|-1", r"--clients"),
        sim("load|--clients|010", r"--clients: '010' begins with a 0, .*: write 10"),
        sim("load|--clients|0x10", r"--clients: '0x10' .*whole number"),
        sim("bytes|--clients|010", r"--clients: '010' begins with a 0"),
        sim("replay|x.rec|--until|010", r"--until: '010' begins with a 0"),
        sim("load|--duration|0s", r"--duration: is no time to play in"),
        sim("load|--duration|5x", r"--duration: '5x' .*30s"),
        sim("load|--seed|-1", r"--seed: '-1' is not a seed"),
        sim("load|--seed|", r"--seed"),
        sim("load|--loss|nan", r"--loss: 'nan' is not a share"),
        sim("load|--rate|-5", r"--rate: '-5' is not a rate"),
        sim("load|--server|127.0.0.1:99999", r"127\.0\.0\.1:99999.*65535"),
        sim("load|--server|", r"the host is missing"),
        sim("load|--wad|absent.wad", r"there is no WAD absent\.wad"),
        sim("load|--wad|.", r"WAD \. is a folder"),
        sim("load|--prop|pipe", r"cannot read pipe: it is a pipe", files=[pipe("pipe")]),
        sim("load|--prop|o.obj", r"o\.obj: not a model", files=[text("o.obj", "hello\n")]),
        sim("load|--report|/nowhere/r.json", r"--report: cannot write /nowhere/r\.json"),
        sim("load|--report|pipe", r"--report: cannot write pipe: it is a pipe that nobody reads", files=[pipe("pipe")]),
        sim("load|--clients|500", r"100 open files.*ulimit -Hn", before=open_files(100)),
        sim("load|--server|DEAD|--clients|2|--duration|1s", r"nobody answers at 127\.0\.0\.1:\d+", code=1),
        sim("load|--server|DEAD|--clients|2|--duration|1s|--transport|tcp", r"nobody answers at 127\.0\.0\.1:\d+", code=1),
        sim("load|--server-key|hello", r"--server-key: is no key.*ashlar-public-"),
        sim("load|--identity|absent", r"--identity: cannot read absent"),
        sim("load|--identity|k", r"--identity: k is no key", files=[text("k", "hello")]),
        sim("load|--token|t", r"--token: t line 1 is no connect token", files=[text("t", "hello")]),
        sim("load|--print-keys", r"--print-keys: .*--identity FILE"),
        sim("--help", r"cannot write to standard output", stdout="/dev/full"),
        sim("load|--help", r"cannot write to standard output", stdout="/dev/full"),
    ],
    "simulate and replay": [
        sim("simulate|--minutes|nan", r"--minutes: 'nan' is no number of minutes"),
        sim("simulate|--minutes|0", r"--minutes"),
        sim("simulate|--record|old.rec", r"old\.rec is there already.*another", files=[text("old.rec", "r")]),
        sim("watch|x.rec|--every|nan", r"--every"),
        sim("watch|x.rec|--from|nan", r"--from"),
        sim("watch|x.rec|--from|5|--until|3", r"--from is behind --until"),
        sim("simulate|--seed|-1", r"--seed: '-1' is not a seed"),
        sim("simulate|--clients|4|--fighters|5", r"--fighters 5 is more than --clients 4"),
        sim("simulate|--clients|4|--stream-ground|5", r"--stream-ground 5 is more than --clients 4"),
        sim("simulate|--rates|plague=1", r"plague"),
        sim("simulate|--line|loss=101", r"--line: 'loss=101' is not KIND=SHARE with a share of 0 to 60 per cent"),
        sim("simulate|--clients|010", r"--clients: '010' begins with a 0"),
        sim("simulate|--rates|loss=nan", r"loss"),
        sim("simulate|--record|/nowhere/r", r"cannot write /nowhere/r"),
        sim("simulate|--record|pipe|--map|none|--minutes|0.1", r"cannot write pipe: it is a pipe that nobody reads", files=[pipe("pipe")]),
        sim("simulate|--faults|pipe", r"cannot read pipe: it is a pipe", files=[pipe("pipe")]),
        sim("simulate|--faults|f", r"f, ", files=[text("f", "hello\n")]),
        sim("simulate|--prop|o.obj@1,2", r"o\.obj", files=[text("o.obj", "hello\n")]),
        sim("simulate|--map|COURTYARD@1048000,0", r"map COURTYARD at .* is too far away: .*place it nearer"),
        sim("replay|absent.rec", r"cannot read absent\.rec: No such file"),
        sim("replay|pipe", r"cannot read pipe: it is a pipe", files=[pipe("pipe")]),
        sim("replay|.", r"cannot read \.: Is a directory"),
        sim("replay|r", r"r: .*not an Ashlar recording", files=[text("r", "hello\n")]),
        sim("replay|r", r"r: .*not an Ashlar recording", files=[text("r", "")]),
        sim("replay|/dev/zero", r"cannot read /dev/zero: it is a pipe, a device"),
    ],
}


def environment(extra):
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("ASHLAR_", "DOOMWAD"))}
    return {**clean, **extra}


def dead_address():
    """A port that nobody listens at, UDP or TCP."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tcp, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        tcp.bind(("127.0.0.1", 0))
        udp.bind(("127.0.0.1", tcp.getsockname()[1]))
        return "127.0.0.1:%d" % tcp.getsockname()[1]


def contents(folder):
    """Names, kinds and texts below a folder."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        found[name] = path.read_bytes() if path.is_file() else os.readlink(path) if path.is_symlink() else ""
    return found


class WrongInput(unittest.TestCase):
    def play(self, row):
        if row.root and os.geteuid() != 0:
            print("skipped, as it needs root:", row.program, *row.arguments, file=sys.stderr)
            return
        with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
            folder = pathlib.Path(name)
            folder.chmod(0o755)
            for make in row.files:
                make(folder)
            if row.under:
                try:
                    stack.enter_context(row.under(folder))
                except subprocess.CalledProcessError as error:
                    print("skipped, as nothing can be mounted here:", *row.arguments, error.stderr, file=sys.stderr)
                    return
            before = contents(folder)
            program = {"server": SERVER, "sim": SIM}[row.program]
            arguments = [dead_address() if word == "DEAD" else word for word in row.arguments]
            if row.user:  # who may not look into the folder that it was built in
                program = stack.enter_context(readable_copy(program))
            out = stack.enter_context(open(row.stdout, "w", encoding="utf-8")) if row.stdout else subprocess.PIPE
            done = subprocess.run([program, *arguments], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE,
                                  text=True, timeout=PATIENCE_S, cwd=folder, env=environment(row.env),
                                  preexec_fn=as_user(row.user) if row.user else row.before)
            codes = row.code if isinstance(row.code, tuple) else (row.code,)
            self.assertIn(done.returncode, codes, done.stderr)
            self.assertRegex(done.stderr, r"\A[^\n]+\n\Z")
            self.assertRegex(done.stderr, row.line)
            self.assertNotIn("event=ready", done.stdout or "")
            self.assertEqual(contents(folder), before)

    def test_every_row(self):
        for group, rows in ROWS.items():
            for row in rows:
                with self.subTest(f"{group}: {row.program} {' '.join(row.arguments)} {row.env or ''}"):
                    self.play(row)


if __name__ == "__main__":
    SERVER, SIM = (os.path.abspath(path) for path in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1])
