#include "protocol/secure/server_door.h"

#include <sodium.h>

#include "protocol/little_endian.h"
#include "protocol/messages.h"
#include "protocol/secure/connect_token.h"
#include "protocol/secure/key_derivation.h"
#include "world/math/assert.h"

namespace ashlar::secure {

/// What a server gave away to be given back.
struct ServerDoor::Ticket {
  HandshakeState state;
  Cipher cipher;
  Bytes32 id;
  const Slot* slot;
};

namespace {

constexpr std::size_t ticket_id_at = 4;
constexpr std::size_t ticket_sealed_at = ticket_id_at + 32;
constexpr std::size_t ticket_plain_bytes = HandshakeState::bytes + 1;
// What a hello may be has room in a finish, and its token is one.
static_assert(hello_bytes_max == finish_payload_bytes_max && hello_token_bytes_max == token_bytes_max);
static_assert(ticket_sealed_at + ticket_plain_bytes + handshake_tag_bytes == ticket_bytes);

/// Of 32 bytes half are plenty.
HandshakeId handshake_id(const Bytes32& id) {
  HandshakeId out;
  std::ranges::copy_n(id.begin(), 16, out.begin());
  return out;
}

PublicKey key_at(ByteSpan packet, std::size_t at) {
  PublicKey out;
  std::ranges::copy(packet.subspan(at, 32), out.bytes.begin());
  return out;
}

/// What the secrets for one answer are made of. Over TCP nothing in the hello belongs to its link, and the
/// same one may come over many: without the address they would share the keys of an accept and of its ticket.
Bytes32 id_of(const HandshakeState& state, const PeerAddress& from) {
  return sha256({state.hash(), bytes_of(from)});
}

/// A ticket's key seals one thing only (a hello, from one address, in one slot of time), so its nonce is 0.
using TicketNonce = std::array<std::uint8_t, crypto_aead_chacha20poly1305_ietf_NPUBBYTES>;

struct TicketSeal {
  TicketSeal(std::uint8_t version, const DoorSecrets::Slot& slot, const Bytes32& id, const PeerAddress& from)
      : key(expand(slot.secret, "ticket", id)) {
    said[0] = version;
    put_little(&said[1], slot.number);
    std::ranges::copy(bytes_of(from), said.begin() + 5);
  }
  Secret key;
  std::array<std::uint8_t, 5 + address_bytes> said{};
  TicketNonce nonce{};
};

Cipher cipher_for(std::uint8_t both) {
  if ((both & offer_aes256) != 0) return Cipher::aes256_gcm;
  return (both & offer_chacha20) != 0 ? Cipher::chacha20_poly1305 : Cipher::none;
}

/// Would cipher_for() choose it?
bool chooses(std::uint8_t ciphers, std::uint8_t cipher) {
  if (cipher == static_cast<std::uint8_t>(Cipher::aes256_gcm)) return (ciphers & offer_aes256) != 0;
  return cipher == static_cast<std::uint8_t>(Cipher::chacha20_poly1305) && (ciphers & offer_chacha20) != 0;
}

/// Whole, and zero where it must be: nothing can be changed in a hello without somebody noticing.
bool hello_ok(ByteSpan packet) {
  return packet.size() == hello_bytes && open_prefix_ok(packet, PacketType::hello, hello_offer_at + 1) &&
         std::ranges::all_of(packet.subspan(hello_fields_bytes), [](std::uint8_t b) { return b == 0; });
}

bool pays(DoorPurse* purse, DoorCost cost) { return purse == nullptr || purse->pays(cost); }

Bytes16 memory_key(Entropy& entropy) {
  Bytes16 out;
  entropy.fill(out);
  return out;
}

}  // namespace

std::uint8_t ciphers_here() { return aes_available() ? offer_chacha20 | offer_aes256 : offer_chacha20; }

ServerDoor::ServerDoor(ServerDoorSetup setup, Entropy& entropy, Micros now)
    : setup_(std::move(setup)), secrets_(entropy.secret(), now), finished_(memory_key(entropy)) {
  setup_.ciphers &= ciphers_here();
}

void ServerDoor::advance(Micros now) { finished_.advance(secrets_.advance(now)); }

Arrival ServerDoor::receive(ByteSpan packet, const PeerAddress& from, std::span<std::uint8_t> out,
                            DoorPurse* purse) {
  ASHLAR_ASSERT(out.size() >= datagram_bytes_max);
  const auto type = packet_type(packet, setup_.version);
  if (!type) {
    if (type.error() != DropReason::wrong_version) return type.error();
    if (!pays(purse, DoorCost::hash)) return DropReason::rate_limited;
    const std::size_t bytes = write_refuse_version(packet, setup_.version, out);
    return bytes == 0 ? Arrival{DropReason::wrong_version} : Arrival{Answer{bytes}};
  }
  if (*type == PacketType::hello) return hello(packet, from, out, purse);
  if (*type == PacketType::finish) return finish(packet, from, purse);
  return DropReason::wrong_state;
}

Arrival ServerDoor::hello(ByteSpan packet, const PeerAddress& from, std::span<std::uint8_t> out,
                          DoorPurse* purse) {
  if (packet.size() < hello_bytes) return DropReason::too_short;
  if (!hello_ok(packet)) return DropReason::malformed;
  // A link is its client's proof; the cookie in it, if any, is one more number that both hash.
  const Slot* const slot =
      from.transport == Transport::tcp ? &secrets_.present() : secrets_.proven(packet, from);
  if (!pays(purse, slot != nullptr ? DoorCost::accept : DoorCost::hash)) return DropReason::rate_limited;
  if (slot != nullptr) return accept(packet, *slot, from, out);
  ++counters_.retries;
  write_open_prefix(out, setup_.version, PacketType::retry, open_nonce(packet));
  std::ranges::copy(secrets_.cookie(secrets_.present(), packet, from), out.begin() + open_prefix_bytes);
  return Answer{retry_bytes};
}

Arrival ServerDoor::accept(ByteSpan hello, const Slot& slot, const PeerAddress& from,
                           std::span<std::uint8_t> out) {
  const Cipher cipher = cipher_for(hello[hello_offer_at] & setup_.ciphers);
  if (cipher == Cipher::none) return DropReason::out_of_range;
  const PublicKey theirs = key_at(hello, hello_ephemeral_at);
  HandshakeState state(hello.first(hello_fields_bytes), theirs);
  const Bytes32 id = id_of(state, from);
  // The same question gets the same answer without a memory of it.
  const KeyPair ephemeral = key_pair(expand(slot.secret, "ephemeral", id));
  const auto ee = shared_secret(ephemeral.secret, theirs);
  const auto es = shared_secret(setup_.identity.secret, theirs);
  if (!ee || !es) return DropReason::malformed;

  write_open_prefix(out, setup_.version, PacketType::accept, open_nonce(hello));
  std::ranges::copy(ephemeral.open.bytes, out.begin() + accept_ephemeral_at);
  state.mix_hash(ephemeral.open.bytes);
  state.mix_key(*ee);
  state.encrypt(setup_.identity.open.bytes, out.subspan(accept_static_at, 32 + handshake_tag_bytes));
  state.mix_key(*es);
  const auto number = static_cast<std::uint8_t>(cipher);
  state.encrypt({&number, 1}, out.subspan(accept_cipher_at, 1 + handshake_tag_bytes));
  std::array<std::uint8_t, ticket_bytes> ticket;
  write_ticket(state, cipher, slot, id, from, ticket);
  state.encrypt(ticket, out.subspan(accept_ticket_at, ticket_bytes + handshake_tag_bytes));
  ++counters_.accepts;
  return Answer{accept_bytes};
}

void ServerDoor::write_ticket(const HandshakeState& state, Cipher cipher, const Slot& slot, const Bytes32& id,
                              const PeerAddress& from, std::span<std::uint8_t, ticket_bytes> out) const {
  put_little(out.data(), slot.number);
  std::ranges::copy(id, out.begin() + ticket_id_at);
  std::array<std::uint8_t, ticket_plain_bytes> plain;
  state.save(std::span(plain).first<HandshakeState::bytes>());
  plain.back() = static_cast<std::uint8_t>(cipher);
  const TicketSeal seal(setup_.version, slot, id, from);
  crypto_aead_chacha20poly1305_ietf_encrypt(&out[ticket_sealed_at], nullptr, plain.data(), plain.size(),
                                            seal.said.data(), seal.said.size(), nullptr, seal.nonce.data(),
                                            seal.key.bytes().data());
  wipe(plain);
}

std::expected<ServerDoor::Ticket, DropReason> ServerDoor::read_ticket(ByteSpan ticket,
                                                                      const PeerAddress& from) const {
  const Slot* const slot = secrets_.find(get_little<std::uint32_t>(ticket.data()));
  if (slot == nullptr) return std::unexpected{DropReason::too_old};
  Bytes32 id;
  std::ranges::copy(ticket.subspan(ticket_id_at, 32), id.begin());
  const TicketSeal seal(setup_.version, *slot, id, from);
  std::array<std::uint8_t, ticket_plain_bytes> plain;
  if (crypto_aead_chacha20poly1305_ietf_decrypt(
          plain.data(), nullptr, nullptr, &ticket[ticket_sealed_at], plain.size() + handshake_tag_bytes,
          seal.said.data(), seal.said.size(), seal.nonce.data(), seal.key.bytes().data()) != 0)
    return std::unexpected{DropReason::corrupt};
  if (!chooses(setup_.ciphers, plain.back())) {
    wipe(plain);
    return std::unexpected{DropReason::corrupt};
  }
  Ticket out{HandshakeState(std::span(plain).first<HandshakeState::bytes>()),
             static_cast<Cipher>(plain.back()), id, slot};
  wipe(plain);
  return out;
}

Arrival ServerDoor::finish(ByteSpan packet, const PeerAddress& from, DoorPurse* purse) {
  if (packet.size() < finish_bytes_min) return DropReason::too_short;
  if (!open_prefix_ok(packet, PacketType::finish)) return DropReason::malformed;
  auto ticket = read_ticket(packet.subspan(finish_ticket_at, ticket_bytes), from);
  const bool repeated = ticket && finished_.known(handshake_id(ticket->id));
  if (!pays(purse, ticket && !repeated ? DoorCost::finish : DoorCost::hash)) return DropReason::rate_limited;
  if (!ticket) return ticket.error();
  if (repeated) {
    ++counters_.repeats;
    return Repeated{};
  }
  if (finished_.full()) {
    ++counters_.full;
    return DropReason::rate_limited;
  }
  return finish(packet, *ticket);
}

/// Whose ticket is good, and was not used.
Arrival ServerDoor::finish(ByteSpan packet, Ticket& ticket) {
  HandshakeState& state = ticket.state;
  std::array<std::uint8_t, ticket_bytes + handshake_tag_bytes> as_said;
  state.encrypt(packet.subspan(finish_ticket_at, ticket_bytes),
                as_said);  // as the accept did: now both have hashed the same
  state.mix_hash(packet.first(open_prefix_bytes));
  Accepted out;
  out.id = handshake_id(ticket.id);
  out.slot = ticket.slot->number;
  out.binding = state.hash();
  if (!state.decrypt(packet.subspan(finish_static_at, 32 + handshake_tag_bytes), out.client.bytes))
    return DropReason::corrupt;
  const auto se = shared_secret(expand(ticket.slot->secret, "ephemeral", ticket.id), out.client);
  if (!se) return DropReason::malformed;
  state.mix_key(*se);
  const auto payload = std::span(payload_).first(packet.size() - finish_bytes_min);
  if (!state.decrypt(packet.subspan(finish_payload_at), payload)) return DropReason::corrupt;
  out.payload = payload;
  out.session = state.session(setup_.version, ticket.cipher);
  finished_.add(out.id);
  ++counters_.finishes;
  return out;
}

}  // namespace ashlar::secure
