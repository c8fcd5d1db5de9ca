#!/usr/bin/env python3
"""What the ciphers, keys, packets and tokens of protocol/secure must come to, computed from the papers alone: nothing
here is shared with the C++. First it holds itself against the papers' own test vectors.
Usage: known_answers.py FILE   writes FILE;   known_answers.py --check FILE   fails where FILE says something else
"""
import hashlib
import hmac as hmac_module
import sys

P = 2**255 - 19


def hexed(b):
    return bytes(b).hex()


def le(n, size):
    return n.to_bytes(size, "little")


# --- X25519 (RFC 7748)
def x25519(scalar, u):
    k = bytearray(scalar)
    k[0] &= 248
    k[31] = k[31] & 127 | 64
    k = int.from_bytes(k, "little")
    x1 = int.from_bytes(u, "little") & (2**255 - 1)
    x2, z2, x3, z3, swap = 1, 0, x1, 1, 0
    for t in reversed(range(255)):
        bit = k >> t & 1
        if swap ^ bit:
            x2, x3, z2, z3 = x3, x2, z3, z2
        swap = bit
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        da, cb, aa, bb = d * a, c * b, a * a, b * b
        x3, z3 = pow(da + cb, 2, P), x1 * pow(da - cb, 2, P) % P
        e = aa - bb
        x2, z2 = aa * bb % P, e * (aa + 121665 * e) % P
    if swap:
        x2, z2 = x3, z3
    return le(x2 * pow(z2, P - 2, P) % P, 32)


BASE = le(9, 32)


# --- Ed25519 (RFC 8032)
Q = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P


def ed_add(p, q):
    (x1, y1), (x2, y2) = p, q
    t = D * x1 * x2 * y1 * y2 % P
    return ((x1 * y2 + x2 * y1) * pow(1 + t, P - 2, P) % P, (y1 * y2 + x1 * x2) * pow(1 - t, P - 2, P) % P)


def ed_times(n, p):
    out = (0, 1)
    while n:
        if n & 1:
            out = ed_add(out, p)
        p, n = ed_add(p, p), n >> 1
    return out


def ed_base():
    y = 4 * pow(5, P - 2, P) % P
    xx = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(xx, (P + 3) // 8, P)
    if x * x % P != xx:
        x = x * pow(2, (P - 1) // 4, P) % P
    return (x if x % 2 == 0 else P - x, y)


def ed_pack(p):
    return le(p[1] | (p[0] & 1) << 255, 32)


def ed_secret(seed):
    h = hashlib.sha512(seed).digest()
    a = int.from_bytes(h[:32], "little") & (2**254 - 8) | 2**254
    return a, h[32:]


def ed_public(seed):
    return ed_pack(ed_times(ed_secret(seed)[0], ed_base()))


def ed_sign(seed, said):
    a, prefix = ed_secret(seed)
    public = ed_public(seed)
    number = lambda b: int.from_bytes(hashlib.sha512(b).digest(), "little") % Q
    r = number(prefix + said)
    big_r = ed_pack(ed_times(r, ed_base()))
    return big_r + le((r + number(big_r + public + said) * a) % Q, 32)


# --- ChaCha20-Poly1305 (RFC 8439)
def chacha_block(key, counter, nonce):
    rotl = lambda v, n: (v << n | v >> (32 - n)) & 0xFFFFFFFF
    words = lambda b: [int.from_bytes(b[i:i + 4], "little") for i in range(0, len(b), 4)]
    start = words(b"expand 32-byte k") + words(key) + [counter] + words(nonce)
    s = start[:]

    def quarter(a, b, c, d):
        for x, y, z, n in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            s[x] = (s[x] + s[y]) & 0xFFFFFFFF
            s[z] = rotl(s[z] ^ s[x], n)

    for _ in range(10):
        for i in range(4):
            quarter(i, 4 + i, 8 + i, 12 + i)
        for i in range(4):
            quarter(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return b"".join(le((a + b) & 0xFFFFFFFF, 4) for a, b in zip(s, start))


def poly1305(key, said):
    r = int.from_bytes(key[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
    total = 0
    for i in range(0, len(said), 16):
        total = (total + int.from_bytes(said[i:i + 16] + b"\1", "little")) * r % (2**130 - 5)
    return le((total + int.from_bytes(key[16:], "little")) & (2**128 - 1), 16)


def padded(b):
    return b + bytes(-len(b) % 16)


def chacha_seal(key, nonce, said, plain):
    stream = b"".join(chacha_block(key, 1 + i, nonce) for i in range((len(plain) + 63) // 64))
    c = bytes(a ^ b for a, b in zip(plain, stream))
    mac = padded(said) + padded(c) + le(len(said), 8) + le(len(c), 8)
    return c + poly1305(chacha_block(key, 0, nonce)[:32], mac)


# --- AES-256-GCM (FIPS 197, NIST SP 800-38D)
def aes_tables():
    exp, log, v = [0] * 256, [0] * 256, 1
    for i in range(255):
        exp[i], log[v] = v, i
        v ^= v << 1 ^ (0x11B if v & 0x80 else 0)
        v &= 0xFF
    inverse = lambda x: exp[(255 - log[x]) % 255] if x else 0
    rot = lambda x, n: (x << n | x >> (8 - n)) & 0xFF
    return [rot(i, 0) ^ rot(i, 1) ^ rot(i, 2) ^ rot(i, 3) ^ rot(i, 4) ^ 0x63 for i in map(inverse, range(256))]


SBOX = aes_tables()


def aes_block(key, block):
    w = [list(key[i:i + 4]) for i in range(0, 32, 4)]
    rcon = 1
    for i in range(8, 60):
        t = list(w[i - 1])
        if i % 8 == 0:
            t = [SBOX[b] for b in t[1:] + t[:1]]
            t[0] ^= rcon
            rcon <<= 1
        elif i % 8 == 4:
            t = [SBOX[b] for b in t]
        w.append([a ^ b for a, b in zip(w[i - 8], t)])
    s = [a ^ b for a, b in zip(block, sum(w[:4], []))]
    double = lambda x: (x << 1 ^ (0x1B if x & 0x80 else 0)) & 0xFF
    for n in range(1, 15):
        s = [SBOX[s[(i + 4 * (i % 4)) % 16]] for i in range(16)]
        if n < 14:
            mixed = []
            for c in range(0, 16, 4):
                a = s[c:c + 4]
                for r in range(4):
                    mixed.append(double(a[r]) ^ double(a[(r + 1) % 4]) ^ a[(r + 1) % 4] ^ a[(r + 2) % 4] ^ a[(r + 3) % 4])
            s = mixed
        s = [a ^ b for a, b in zip(s, sum(w[4 * n:4 * n + 4], []))]
    return bytes(s)


def gcm_seal(key, nonce, said, plain):
    h = int.from_bytes(aes_block(key, bytes(16)), "big")

    def times(x, y):
        z = 0
        for i in range(127, -1, -1):
            if x >> i & 1:
                z ^= y
            y = y >> 1 ^ (0xE1 << 120 if y & 1 else 0)
        return z

    c = b""
    for i in range(0, len(plain), 16):
        stream = aes_block(key, nonce + (2 + i // 16).to_bytes(4, "big"))
        c += bytes(a ^ b for a, b in zip(plain[i:i + 16], stream))
    total = 0
    mac = padded(said) + padded(c) + (8 * len(said)).to_bytes(8, "big") + (8 * len(c)).to_bytes(8, "big")
    for i in range(0, len(mac), 16):
        total = times(total ^ int.from_bytes(mac[i:i + 16], "big"), h)
    tag = total ^ int.from_bytes(aes_block(key, nonce + b"\0\0\0\1"), "big")
    return c + tag.to_bytes(16, "big")


# --- SipHash-2-4, 64 and 128 bits (Aumasson and Bernstein)
def siphash(key, said, size=8):
    m64 = 2**64 - 1
    rotl = lambda v, n: (v << n | v >> (64 - n)) & m64
    k0, k1 = int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]
    if size == 16:
        v[1] ^= 0xEE

    def rounds(n):
        for _ in range(n):
            v[0] = (v[0] + v[1]) & m64; v[1] = rotl(v[1], 13) ^ v[0]; v[0] = rotl(v[0], 32)
            v[2] = (v[2] + v[3]) & m64; v[3] = rotl(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & m64; v[3] = rotl(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & m64; v[1] = rotl(v[1], 17) ^ v[2]; v[2] = rotl(v[2], 32)

    tail = said[len(said) // 8 * 8:]
    blocks = [said[i:i + 8] for i in range(0, len(said) // 8 * 8, 8)]
    blocks.append(tail + bytes(7 - len(tail)) + bytes([len(said) & 0xFF]))
    for block in blocks:
        word = int.from_bytes(block, "little")
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xEE if size == 16 else 0xFF
    rounds(4)
    out = le(v[0] ^ v[1] ^ v[2] ^ v[3], 8)
    if size == 16:
        v[1] ^= 0xDD
        rounds(4)
        out += le(v[0] ^ v[1] ^ v[2] ^ v[3], 8)
    return out


# --- Hashes and keys
def sha256(b):
    return hashlib.sha256(b).digest()


def hmac(key, said):
    return hmac_module.new(key, said, hashlib.sha256).digest()


def hkdf_expand(key, info, size):
    out, block = b"", b""
    while len(out) < size:
        block = hmac(key, block + info + bytes([len(out) // 32 + 1]))
        out += block
    return out[:size]


def expand(key, label, context=b"", size=32):
    return hkdf_expand(key, b"ashlar " + label.encode() + b"\0" + context, size)


def papers():
    """The papers' own vectors."""
    un = bytes.fromhex
    # RFC 7748, section 5.2: the iterated one, once
    k = x25519(BASE, BASE)
    assert hexed(k) == "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079", hexed(k)
    # RFC 8032, section 7.1, test 1
    seed = un("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
    assert hexed(ed_public(seed)) == "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    assert hexed(ed_sign(seed, b"")) == ("e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
                                         "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b")
    # RFC 8439, section 2.8.2
    text = (b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, "
            b"sunscreen would be it.")
    sealed = chacha_seal(bytes(range(0x80, 0xA0)), un("070000004041424344454647"),
                         un("50515253c0c1c2c3c4c5c6c7"), text)
    assert hexed(sealed[:16]) == "d31a8d34648e60db7b86afbc53ef7ec2"
    assert hexed(sealed[-16:]) == "1ae10b594f09e26a7e902ecbd0600691"
    # GCM specification, cases 13 and 14
    assert hexed(gcm_seal(bytes(32), bytes(12), b"", b"")) == "530f8afbc74536b9a963b4f1c4cb738b"
    assert hexed(gcm_seal(bytes(32), bytes(12), b"", bytes(16))) == (
        "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919")
    # The SipHash paper, appendix A
    assert siphash(bytes(range(16)), bytes(range(15))) == le(0xA129CA6149BE45E5, 8)
    # Its reference implementation, vectors of 128 bits, the first
    assert hexed(siphash(bytes(range(16)), b"", 16)) == "a3817f04ba25a8e66df67214c7550293"
    # RFC 5869, case 1
    prk = hmac(bytes(range(13)), b"\x0b" * 22)
    assert hexed(hkdf_expand(prk, bytes(range(0xF0, 0xFA)), 42)) == (
        "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865")


# --- Sealed packets
def packet_keys(secret, epoch):
    header = expand(secret, "header", size=16)
    for _ in range(epoch):
        secret = expand(secret, "next")
    return expand(secret, "key"), expand(secret, "iv", size=12), header


def sealed_packet(seal, version, secret, epoch, connection, sequence, plain):
    key, iv, header_key = packet_keys(secret, epoch)
    header = bytes([version, 5 | (0x10 if epoch & 1 else 0)]) + le(connection, 4) + le(sequence & 0xFFFFFFFF, 4)
    nonce = bytes(a ^ b for a, b in zip(iv, bytes(4) + le(sequence, 8)))
    body = seal(key, nonce, header, plain)
    mask = siphash(header_key, body[-16:])
    masked = bytes([header[0], header[1] ^ (mask[4] & 1) << 4]) + header[2:6]
    return masked + bytes(a ^ b for a, b in zip(header[6:], mask[:4])) + body


# --- The handshake
class Noise:
    def __init__(self, hello, ephemeral):
        self.h = self.ck = b"Noise_XX_25519_ChaChaPoly_SHA256"
        self.mix_hash(hello)
        self.mix_hash(ephemeral)
        self.mix_hash(b"")

    def mix_hash(self, said):
        self.h = sha256(self.h + said)

    def mix_key(self, shared):
        t = hmac(self.ck, shared)
        self.ck = hmac(t, b"\1")
        self.k, self.n = hmac(t, self.ck + b"\2"), 0

    def encrypt(self, plain):
        out = chacha_seal(self.k, bytes(4) + le(self.n, 8), self.h, plain)
        self.n += 1
        self.mix_hash(out)
        return out


def ramp(first, size=32):
    return bytes((first + i) & 0xFF for i in range(size))


def handshake(out):
    version, offer, cipher, slot = 3, 3, 1, 20
    address = bytes(10) + b"\xff\xff" + bytes([127, 0, 0, 1]) + le(0, 4) + le(4000, 2) + b"\0" + le(0, 4)
    entropy = ramp(1)  # the first bytes drawn at each end
    server_secret, client_secret = ramp(0x20), ramp(0x60)
    server_public, client_public = x25519(server_secret, BASE), x25519(client_secret, BASE)
    client_ephemeral = expand(entropy, "client ephemeral", le(0, 4))
    nonce = expand(entropy, "client nonce", le(0, 4), 8)
    prefix = lambda kind, first=0: bytes([version, kind, first]) + bytes(13) + nonce
    e = x25519(client_ephemeral, BASE)
    fields = prefix(1, offer) + e
    slot_secret = expand(entropy, "door")
    cookie = le(slot, 4) + siphash(expand(slot_secret, "cookie", size=16), le(slot, 4) + address + fields, 16)
    hello = fields + cookie
    noise = Noise(hello, e)
    handshake_id = sha256(noise.h + address)
    server_ephemeral = expand(slot_secret, "ephemeral", handshake_id)
    accept = prefix(3) + x25519(server_ephemeral, BASE)
    noise.mix_hash(accept[24:])
    noise.mix_key(x25519(server_ephemeral, e))
    accept += noise.encrypt(server_public)
    noise.mix_key(x25519(server_secret, e))
    accept += noise.encrypt(bytes([cipher]))
    state = noise.ck + noise.k + noise.h + bytes([noise.n, cipher])
    ticket = le(slot, 4) + handshake_id + chacha_seal(
        expand(slot_secret, "ticket", handshake_id), bytes(12), bytes([version]) + le(slot, 4) + address, state)
    accept += noise.encrypt(ticket)
    finish = prefix(4)
    noise.mix_hash(finish)
    binding = noise.h
    finish += ticket + noise.encrypt(client_public)
    noise.mix_key(x25519(client_secret, x25519(server_ephemeral, BASE)))
    finish += noise.encrypt(b"what the player says")
    session = hmac(noise.h, noise.ck)
    number = le(0x01020304, 4)
    out("server_public", server_public)
    out("client_public", client_public)
    out("hello_fields", hello[:56])
    out("retry", prefix(2) + cookie)
    out("accept", accept)
    out("finish", finish)
    out("handshake_id", handshake_id[:16])
    out("binding", binding)
    out("transcript", noise.h)
    out("client_to_server", expand(session, "client to server", number))
    out("server_to_client", expand(session, "server to client", number))
    out("resumption", expand(session, "resumption", number))
    out("resume_proof", hmac(expand(session, "resumption", number), b"ashlar resume" + binding))
    out("reset_token", siphash(expand(server_secret, "reset", size=16), number, 16))


def tokens(out):
    seed, client, server = ramp(0x33), ramp(0x77), ramp(0x99)
    issuer = ed_public(seed)
    said = (bytes([1]) + sha256(issuer)[:8] + client + le(1000, 8) + le(2000, 8) + b"\x07id-4711" + b"\x03Ann" +
            b"\x02" + ramp(0x10) + server)
    out("issuer_public", issuer)
    out("token", said + ed_sign(seed, b"ashlar connect token\0" + said))
    for prefix, key in ((b"ashlar-secret-", seed), (b"ashlar-issuer-public-", issuer)):
        out("checked_" + prefix.decode()[7:-1].replace("-", "_"), key + sha256(prefix + key)[:4])


def answers():
    lines = ["# Written by known_answers.py, which says what each line is. Hexadecimal."]
    out = lambda name, value: lines.append(f"{name} {hexed(value)}")
    out("sha256_abc", sha256(b"abc"))
    out("expand", expand(ramp(0), "label", b"context", 50))
    secret = ramp(0x40)
    for name, seal in (("chacha20_poly1305", chacha_seal), ("aes256_gcm", gcm_seal)):
        for epoch in range(3):
            out(f"sealed_{name}_{epoch}",
                sealed_packet(seal, 3, secret, epoch, 0x01020304, 0x1_0000_0007 + epoch, b"plain text of a packet"))
        out(f"sealed_{name}_empty", sealed_packet(seal, 3, secret, 0, 0x01020304, 1, b""))
    handshake(out)
    tokens(out)
    return "\n".join(lines) + "\n"


def main():
    papers()
    text, path = answers(), sys.argv[-1]
    if len(sys.argv) == 3 and sys.argv[1] == "--check":
        with open(path, encoding="ascii") as file:
            if file.read() != text:
                sys.exit(f"{path} does not hold what known_answers.py computes")
    elif len(sys.argv) == 2:
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
    else:
        sys.exit(__doc__)


main()
