#include "protocol/secure/packet_protection.h"

#include <sodium.h>

#include <cstring>

#include "protocol/secure/key_derivation.h"
#include "world/math/assert.h"

namespace ashlar::secure {

static_assert(sizeof(crypto_aead_aes256gcm_state) == 512 && alignof(crypto_aead_aes256gcm_state) <= 16);
static_assert(crypto_aead_aes256gcm_ABYTES == seal_tag_bytes);
static_assert(crypto_aead_chacha20poly1305_ietf_ABYTES == seal_tag_bytes);

namespace {

using HeaderBytes = std::array<std::uint8_t, sealed_header_bytes>;

const crypto_aead_aes256gcm_state* prepared_of(const std::array<std::uint8_t, 512>& bytes) {
  return reinterpret_cast<const crypto_aead_aes256gcm_state*>(bytes.data());
}

void put_u32(std::uint8_t* out, std::uint32_t v) {
  for (int i = 0; i < 4; ++i) out[i] = static_cast<std::uint8_t>(v >> (8 * i));
}

std::uint32_t get_u32(const std::uint8_t* in) {
  return in[0] | static_cast<std::uint32_t>(in[1]) << 8 | static_cast<std::uint32_t>(in[2]) << 16 |
         static_cast<std::uint32_t>(in[3]) << 24;
}

/// The unmasked header, as it is authenticated.
HeaderBytes header_bytes(std::uint8_t version, bool key_phase, std::uint32_t connection,
                         std::uint64_t sequence) {
  HeaderBytes out;
  out[0] = version;
  out[1] = key_phase ? sealed_type | key_phase_bit : sealed_type;
  put_u32(&out[2], connection);
  put_u32(&out[6], static_cast<std::uint32_t>(sequence));
  return out;
}

/// The low 4 bytes hide the sequence, the bit above them the key phase.
void apply_mask(std::uint64_t mask, std::uint8_t* header) {
  put_u32(header + 6, get_u32(header + 6) ^ static_cast<std::uint32_t>(mask));
  if (((mask >> 32) & 1) != 0) header[1] ^= key_phase_bit;
}

/// The number nearest to the one after `highest` with these low 32 bits. Source: RFC 9000, appendix A.3.
std::uint64_t whole_sequence(std::uint64_t highest, std::uint32_t low) {
  constexpr std::uint64_t window = std::uint64_t{1} << 32;
  const std::uint64_t expected = highest + 1;
  const std::uint64_t candidate = (expected & ~(window - 1)) | low;
  if (candidate + window / 2 <= expected && candidate < 0 - window) return candidate + window;
  if (candidate > expected + window / 2 && candidate >= window) return candidate - window;
  return candidate;
}

}  // namespace

std::expected<std::uint32_t, DropReason> sealed_connection(ByteSpan packet, std::uint8_t version) {
  if (packet.empty()) return std::unexpected{DropReason::too_short};
  if (packet[0] != version) return std::unexpected{DropReason::wrong_version};
  if (packet.size() < seal_overhead_bytes) return std::unexpected{DropReason::too_short};
  if (packet.size() > datagram_bytes_max) return std::unexpected{DropReason::too_long};
  if ((packet[1] & ~key_phase_bit) != sealed_type) return std::unexpected{DropReason::bad_header};
  return get_u32(&packet[2]);
}

PacketProtection::PacketProtection(const SessionKeys& keys, End end, Micros now, Micros key_age)
    : send_secret_(end == End::client ? keys.client_to_server : keys.server_to_client),
      now_(now),
      key_age_(key_age),
      send_key_since_(now),
      connection_(keys.connection),
      version_(keys.version),
      cipher_(keys.cipher) {
  ASHLAR_ASSERT(key_age > Micros{0} && key_age <= key_age_max);
  prepare_ciphers();
  ASHLAR_ASSERT(cipher_ != Cipher::aes256_gcm || aes_available());
  const Secret& receive = end == End::client ? keys.server_to_client : keys.client_to_server;
  expand(send_secret_.bytes(), "header", {}, send_header_key_);
  expand(receive.bytes(), "header", {}, receive_header_key_);
  make_key(send_secret_, send_key_);
  make_key(receive, receive_key_);
  // The next key lies ready: who turns the phase bit of forgeries must not buy hashes with it.
  receive_next_secret_ = expand(receive, "next");
  make_key(receive_next_secret_, receive_next_);
}

PacketProtection::~PacketProtection() { wipe_all(); }

PacketProtection::PacketProtection(PacketProtection&& other) noexcept
    : now_(other.now_), send_key_since_(other.send_key_since_) {
  *this = std::move(other);
}

PacketProtection& PacketProtection::operator=(PacketProtection&& other) noexcept {
  if (this == &other) return *this;
  send_key_ = other.send_key_, receive_previous_ = other.receive_previous_;
  receive_key_ = other.receive_key_, receive_next_ = other.receive_next_;
  send_secret_ = other.send_secret_, receive_next_secret_ = other.receive_next_secret_;
  send_header_key_ = other.send_header_key_, receive_header_key_ = other.receive_header_key_;
  now_ = other.now_, key_age_ = other.key_age_;
  send_key_since_ = other.send_key_since_, previous_until_ = other.previous_until_;
  send_sequence_ = other.send_sequence_, send_epoch_first_ = other.send_epoch_first_;
  send_epoch_packets_ = other.send_epoch_packets_;
  receive_highest_ = other.receive_highest_, receive_epoch_within_ = other.receive_epoch_within_;
  forgeries_ = other.forgeries_;
  send_epoch_ = other.send_epoch_, receive_epoch_ = other.receive_epoch_;
  connection_ = other.connection_, version_ = other.version_, cipher_ = other.cipher_;
  send_key_confirmed_ = other.send_key_confirmed_, has_previous_ = other.has_previous_;
  other.wipe_all();
  return *this;
}

void PacketProtection::wipe_all() {
  for (Key* key : {&send_key_, &receive_previous_, &receive_key_, &receive_next_}) {
    wipe(key->prepared);
    wipe(key->iv);
  }
  wipe(send_secret_.writable());
  wipe(receive_next_secret_.writable());
  wipe(send_header_key_);
  wipe(receive_header_key_);
}

void PacketProtection::make_key(const Secret& secret, Key& key) const {
  const Secret plain = expand(secret, "key");
  expand(secret.bytes(), "iv", {}, key.iv);
  wipe(key.prepared);
  if (cipher_ == Cipher::aes256_gcm) {
    crypto_aead_aes256gcm_beforenm(reinterpret_cast<crypto_aead_aes256gcm_state*>(key.prepared.data()),
                                   plain.bytes().data());
  } else {
    std::ranges::copy(plain.bytes(), key.prepared.begin());
  }
}

PacketProtection::Nonce PacketProtection::nonce_of(const Key& key, std::uint64_t sequence) {
  Nonce out = key.iv;
  for (std::size_t i = 0; i < 8; ++i) out[4 + i] ^= static_cast<std::uint8_t>(sequence >> (8 * i));
  return out;
}

std::uint64_t PacketProtection::mask(const Bytes16& header_key, const std::uint8_t* tag) const {
  if (cipher_ == Cipher::none) return 0;
  std::array<std::uint8_t, crypto_shorthash_BYTES> out;
  crypto_shorthash(out.data(), tag, seal_tag_bytes, header_key.data());
  return get_u32(&out[0]) | static_cast<std::uint64_t>(get_u32(&out[4])) << 32;
}

void PacketProtection::advance(Micros now) {
  now_ = now;
  if (!has_previous_ || now < previous_until_) return;
  has_previous_ = false;
  wipe(receive_previous_.prepared);
  wipe(receive_previous_.iv);
}

std::size_t PacketProtection::seal(std::uint64_t sequence, ByteSpan plaintext,
                                   std::span<std::uint8_t> packet) {
  ASHLAR_ASSERT(sequence >= send_sequence_);
  ASHLAR_ASSERT(plaintext.size() <= sealed_plaintext_bytes_max);
  ASHLAR_ASSERT(packet.size() >= plaintext.size() + seal_overhead_bytes);
  if (send_epoch_packets_ >= key_packets_max) return 0;
  if (send_epoch_packets_++ == 0) send_epoch_first_ = sequence;
  send_sequence_ = sequence + 1;

  HeaderBytes header = header_bytes(version_, (send_epoch_ & 1) != 0, connection_, sequence);
  const Nonce nonce = nonce_of(send_key_, sequence);
  std::uint8_t* const body = packet.data() + sealed_header_bytes;
  std::uint8_t* const tag = body + plaintext.size();
  switch (cipher_) {
    case Cipher::aes256_gcm:
      crypto_aead_aes256gcm_encrypt_detached_afternm(body, tag, nullptr, plaintext.data(), plaintext.size(),
                                                     header.data(), header.size(), nullptr, nonce.data(),
                                                     prepared_of(send_key_.prepared));
      break;
    case Cipher::chacha20_poly1305:
      crypto_aead_chacha20poly1305_ietf_encrypt_detached(body, tag, nullptr, plaintext.data(),
                                                         plaintext.size(), header.data(), header.size(),
                                                         nullptr, nonce.data(), send_key_.prepared.data());
      break;
    case Cipher::none:
      if (!plaintext.empty()) std::memmove(body, plaintext.data(), plaintext.size());
      std::memset(tag, 0, seal_tag_bytes);
      break;
  }
  apply_mask(mask(send_header_key_, tag), header.data());
  std::memcpy(packet.data(), header.data(), header.size());
  return plaintext.size() + seal_overhead_bytes;
}

void PacketProtection::confirmed(std::uint64_t sequence) {
  if (send_epoch_packets_ > 0 && sequence >= send_epoch_first_) send_key_confirmed_ = true;
}

bool PacketProtection::rekey_due() const {
  return send_key_confirmed_ && (send_epoch_packets_ >= rekey_packets || now_ - send_key_since_ >= key_age_);
}

bool PacketProtection::rekey() {
  if (!send_key_confirmed_) return false;
  send_secret_ = expand(send_secret_, "next");
  make_key(send_secret_, send_key_);
  ++send_epoch_;
  send_epoch_packets_ = 0;
  send_key_since_ = now_;
  send_key_confirmed_ = false;
  return true;
}

std::expected<SealedHeader, DropReason> PacketProtection::peek(ByteSpan packet) const {
  const auto connection = sealed_connection(packet, version_);
  if (!connection) return std::unexpected{connection.error()};
  if (*connection != connection_) return std::unexpected{DropReason::unknown_connection};
  HeaderBytes header;
  std::memcpy(header.data(), packet.data(), header.size());
  apply_mask(mask(receive_header_key_, &packet[packet.size() - seal_tag_bytes]), header.data());
  return SealedHeader{.sequence = whole_sequence(receive_highest_, get_u32(&header[6])),
                      .key_phase = (header[1] & key_phase_bit) != 0};
}

/// Of two keys with the same phase the previous one sealed only what comes before all of the present one's,
/// the next one only what comes after: any packet of the present one tells them apart, and one try is enough.
const PacketProtection::Key* PacketProtection::key_for(const SealedHeader& header) const {
  if (header.key_phase == ((receive_epoch_ & 1) != 0)) return &receive_key_;
  if (header.sequence >= receive_epoch_within_) return &receive_next_;
  return has_previous_ ? &receive_previous_ : nullptr;
}

std::expected<std::size_t, DropReason> PacketProtection::open(ByteSpan packet, const SealedHeader& peeked,
                                                              std::span<std::uint8_t> out) {
  ASHLAR_ASSERT(packet.size() >= seal_overhead_bytes);
  const std::size_t size = packet.size() - seal_overhead_bytes;
  ASHLAR_ASSERT(out.size() >= size);
  const Key* const key = key_for(peeked);
  if (key == nullptr) return std::unexpected{DropReason::too_old};

  const HeaderBytes header = header_bytes(version_, peeked.key_phase, connection_, peeked.sequence);
  const Nonce nonce = nonce_of(*key, peeked.sequence);
  const std::uint8_t* const body = packet.data() + sealed_header_bytes;
  const std::uint8_t* const tag = body + size;
  int failed = 0;
  switch (cipher_) {
    case Cipher::aes256_gcm:
      failed = crypto_aead_aes256gcm_decrypt_detached_afternm(out.data(), nullptr, body, size, tag,
                                                              header.data(), header.size(), nonce.data(),
                                                              prepared_of(key->prepared));
      break;
    case Cipher::chacha20_poly1305:
      failed = crypto_aead_chacha20poly1305_ietf_decrypt_detached(out.data(), nullptr, body, size, tag,
                                                                  header.data(), header.size(), nonce.data(),
                                                                  key->prepared.data());
      break;
    case Cipher::none:
      if (size != 0) std::memmove(out.data(), body, size);
      break;
  }
  if (failed != 0) {
    ++forgeries_;
    return std::unexpected{DropReason::corrupt};
  }
  if (key == &receive_next_) follow(peeked.sequence);
  receive_highest_ = std::max(receive_highest_, peeked.sequence);
  return size;
}

void PacketProtection::follow(std::uint64_t sequence) {
  receive_previous_ = receive_key_;
  receive_key_ = receive_next_;
  receive_next_secret_ = expand(receive_next_secret_, "next");
  make_key(receive_next_secret_, receive_next_);
  ++receive_epoch_;
  receive_epoch_within_ = sequence;
  forgeries_ = 0;
  has_previous_ = true;
  previous_until_ = now_ + previous_key_kept;
}

}  // namespace ashlar::secure
