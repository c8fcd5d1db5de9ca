#include "protocol/secure/door_secrets.h"

#include <sodium.h>

#include "protocol/little_endian.h"
#include "protocol/secure/key_derivation.h"
#include "world/math/assert.h"

namespace ashlar::secure {
namespace {

std::uint32_t slot_of(Micros now) { return static_cast<std::uint32_t>(now / door_slot); }

}  // namespace

std::array<std::uint8_t, address_bytes> bytes_of(const PeerAddress& address) {
  std::array<std::uint8_t, address_bytes> out{};
  std::ranges::copy(address.ip, out.begin());
  put_little(&out[16], address.scope);
  put_little(&out[20], address.port);
  out[22] = static_cast<std::uint8_t>(address.transport);
  put_little(&out[23], address.link);
  return out;
}

DoorSecrets::DoorSecrets(const Secret& seed, Micros now) {
  ASHLAR_ASSERT(now >= Micros(0));
  prepare_ciphers();
  begin(slot_of(now), expand(seed, "door"));
}

DoorSecrets::~DoorSecrets() {
  wipe(present_.cookie_key);
  wipe(previous_.cookie_key);
}

void DoorSecrets::begin(std::uint32_t number, const Secret& secret) {
  present_.number = number;
  present_.secret = secret;
  expand(secret.bytes(), "cookie", {}, present_.cookie_key);
}

std::uint32_t DoorSecrets::advance(Micros now) {
  const std::uint32_t number = slot_of(now);
  if (number <= present_.number) return 0;
  const std::uint32_t begun = number - present_.number;
  const Secret next = expand(present_.secret, "next");
  has_previous_ = begun == 1;
  previous_ = has_previous_ ? present_ : Slot{};
  begin(number, next);
  return begun;
}

const DoorSecrets::Slot* DoorSecrets::find(std::uint32_t number) const {
  if (number == present_.number) return &present_;
  return has_previous_ && number == previous_.number ? &previous_ : nullptr;
}

Cookie DoorSecrets::cookie(const Slot& slot, ByteSpan hello, const PeerAddress& from) const {
  std::array<std::uint8_t, 4 + address_bytes + hello_cookie_at> said;
  put_little(said.data(), slot.number);
  std::ranges::copy(bytes_of(from), said.begin() + 4);
  std::ranges::copy(hello.first(hello_cookie_at), said.begin() + 4 + address_bytes);
  Cookie out;
  put_little(out.data(), slot.number);
  static_assert(crypto_shorthash_siphashx24_BYTES == cookie_bytes - 4);
  crypto_shorthash_siphashx24(&out[4], said.data(), said.size(), slot.cookie_key.data());
  return out;
}

const DoorSecrets::Slot* DoorSecrets::proven(ByteSpan hello, const PeerAddress& from) const {
  const ByteSpan given = hello.subspan(hello_cookie_at, cookie_bytes);
  const Slot* const slot = find(get_little<std::uint32_t>(given.data()));
  return slot != nullptr && equal(cookie(*slot, hello, from), given) ? slot : nullptr;
}

}  // namespace ashlar::secure
