#include "server/host/packed_snapshot.h"

#include <algorithm>

#include "server/host/snapshot_budget.h"
#include "world/math/assert.h"

namespace ashlar::server {
namespace {

// Whatever a client is told anew, this share of a snapshot's room is left for entities.
constexpr std::size_t sectors_share = 2;

// Of each snapshot so many bytes are for blocks that are to be forgotten, of which one takes at most the
// other.
constexpr std::size_t gone_room_bytes = 16;
constexpr std::size_t gone_item_bytes = 8;

// Everybody so many times a second, before the nearest are told of in each snapshot.
constexpr std::uint32_t told_least_hz = 10;

// A motion that goes on as foreseen is told again after so long, whatever became of it at its receiver.
constexpr std::uint32_t motion_again_s = 4;

// And what only shows takes at most this share of the room.
constexpr std::size_t cues_share = 8;

static_assert(coded_block_bytes_max + packed_item_bytes_max <= packed_part_room,
              "a part has room for any block");
static_assert(coded_slice_bytes_max + packed_item_bytes_max <= packed_part_room);
static_assert(coded_group_bytes_max + packed_item_bytes_max <= packed_part_room);
static_assert(coded_own_bytes_max + packed_item_bytes_max <= packed_part_room);

// A plain part has room for any block beside the own player, as the one part that a narrow path takes.
static_assert(plain_block_bytes_max + 2 * plain_item_bytes_max + plain_own_bytes <= plain_part_room);
static_assert(plain_slice_bytes_max + plain_item_bytes_max <= plain_part_room);
static_assert(plain_group_bytes_max + 3 * plain_item_bytes_max <= plain_part_room);

}  // namespace

/// Adds something to the part that is being filled, or to the next one.
template <class Parts, class Add>
bool PackedSnapshot::place(Parts& parts, JournalItem item, Add&& add) {
  if (!add(parts[part_count_ - 1])) {
    if (part_count_ == parts_max_) return false;
    full_bytes_ += parts[part_count_ - 1].size() + beside_message_bytes;
    head_.part = static_cast<std::uint8_t>(part_count_);
    parts[part_count_].begin(head_);
    placed_[part_count_].clear();
    items_[part_count_++].clear();
    if (!add(parts[part_count_ - 1])) return false;
  }
  items_[part_count_ - 1].push_back(item);
  return true;
}

template <class Add>
bool PackedSnapshot::place(JournalItem item, Add&& add) {
  return is_plain() ? place(plain_parts_, item, add) : place(packed_parts_, item, add);
}

std::size_t PackedSnapshot::bytes() const { return full_bytes_ + last_part_bytes() + beside_message_bytes; }

void PackedSnapshot::place_own(const PackedRequest& request, ClientBlocks& client) {
  own_ = *request.own;
  if (!is_plain() && request.foreseen != 0 && own_hash(own_) == request.foreseen)
    client.note_foreseen(head_.tick, own_);
  const ClientBlocks::OwnBase base = client.own_base(head_.tick);
  const std::uint32_t age = base.own == nullptr ? 0 : head_.tick - base.tick;
  std::size_t size = 0;
  const auto coded = [&] { return std::span<const std::uint8_t>(own_bytes_).first(size); };
  if (is_plain()) {
    std::array<std::uint8_t, plain_own_bytes> before{};
    size = encode_plain_own(own_, own_bytes_);
    if (base.own != nullptr) encode_plain_own(*base.own, before);
    if (base.own != nullptr && std::ranges::equal(coded(), before)) size = 0;  // as it was, to the bit
    place(plain_parts_, {JournalItem::Kind::own, 0}, [&](auto& part) { return part.add_own(age, coded()); });
    return;
  }
  if (!base.foreseen || age != 0) {  // else it is the base
    BitWriter bits(own_bytes_);
    encode_own(own_, base.own == nullptr ? OwnPlayer{} : *base.own, age, request.tick_rate_hz, bits);
    size = bits.finish();
  }
  place(packed_parts_, {JournalItem::Kind::own, 0},
        [&](auto& part) { return part.add_own(age, coded(), base.foreseen); });
}

void PackedSnapshot::place_gone(PackedWorld& world, ClientBlocks& client) {
  for (const ClientBlock& entry : client.blocks()) {
    if (!entry.leaving) continue;
    find_moved(world, entry.number, entry.held, gone_item_bytes, client);
    if (bytes() >= bytes_max_ || !place({JournalItem::Kind::gone, entry.number}, [&](auto& part) {
          return add_moved(part, gone_item_bytes) && part.add_gone(entry.number);
        })) {
      cut_ = true;
      return;
    }
  }
}

/// Those who left a block after the tick as of which the client holds it, into others that are for the
/// client. No more than a part of their own takes with the block.
void PackedSnapshot::find_moved(const PackedWorld& world, std::uint16_t number, std::uint32_t since,
                                std::size_t block_bytes, ClientBlocks& client) {
  constexpr std::size_t part_bytes = unreliable_bytes_max - 128;  // what heads take is less
  const std::size_t most = (part_bytes - std::min(part_bytes, block_bytes)) / sizeof(MovedEntity);
  moved_.clear();
  for (const BlockMove& move : world.moves_from(number)) {
    if (move.tick <= since || moved_.size() >= most) continue;
    const PartitionBlock* const now = world.block_of(move.id);
    if (now == nullptr || now->number == number) continue;
    const ClientBlock* const entry = client.find(now->number);
    if (entry != nullptr && entry->born == now->born && !entry->leaving)
      moved_.push_back({move.id, now->number});
  }
}

/// Names them, but for those whose block is in this part already: together with what is told of so many
/// bytes, or not at all.
template <class Part>
bool PackedSnapshot::add_moved(Part& part, std::size_t bytes) {
  if (moved_.empty()) return true;
  if (!part.has_room(moved_.size(), bytes)) return false;
  for (const MovedEntity& moved : moved_) {
    const auto told = [&](const JournalItem& item) {
      return item.kind == JournalItem::Kind::block && item.number == moved.block;
    };
    if (std::ranges::none_of(items_[part_count_ - 1], told)) part.add_moved(moved);
  }
  return true;
}

/// Groups that the client does not hold as they are, whole; and those that are not for it any more, empty.
void PackedSnapshot::place_fields(const PackedRequest& request, ClientBlocks& client) {
  if (request.fields == nullptr) return;
  const auto add = [&](FieldAudience to, std::uint16_t number, std::uint16_t key,
                       std::span<const PrivateEntity> entities) {
    const ReplicationRegistry& registry = request.fields->registry();
    const std::size_t size = is_plain() ? encode_plain_group(entities, to, registry, group_bytes_)
                                        : encode_group(entities, to, registry, group_bytes_);
    const auto bytes = std::span<const std::uint8_t>(group_bytes_).first(size);
    if (!place({JournalItem::Kind::fields, key},
               [&](auto& part) { return part.add_fields(to, number, bytes); }))
      cut_ = true;
  };
  groups_.clear();
  request.fields->find(request.own->id, request.team, groups_);
  for (const FieldGroup& group : groups_) {
    const ClientFields& known = client.want_fields(group.key(), group.source, head_.tick);
    if (known.held == 0 || known.held < group.changed)
      add(group.to, group.number, group.key(), request.fields->entities(group));
  }
  for (ClientFields& known : client.fields()) {
    if (known.wanted == head_.tick) continue;
    if (known.source != 0) known = {known.key, 0, head_.tick, 0, known.wanted};
    if (known.held != 0) continue;  // it knows that nobody is in it
    const bool team = (known.key & 0x8000) != 0;
    add(team ? FieldAudience::team : FieldAudience::owner, known.key & 0x7fff, known.key, {});
  }
}

/// In one part, as far as they fit: what does not is never told.
void PackedSnapshot::place_cues(std::span<const Cue> cues) {
  cues_ = {};
  if (cues.empty()) return;
  const std::size_t room = std::min(bytes_max_, parts_max_ * packed_part_room) / cues_share;
  const auto out = std::span(cue_bytes_).first(std::min(room, cue_bytes_.size()));
  CodedCues coded;
  if (is_plain())
    coded.count = encode_plain_cues(cues, out), coded.bytes = coded.count * plain_cue_bytes;
  else
    coded = encode_cues(cues, out);
  const auto bytes = std::span<const std::uint8_t>(cue_bytes_).first(coded.bytes);
  if (coded.count == 0 ||
      !place({JournalItem::Kind::cues, 0}, [&](auto& part) { return part.add_cues(bytes); }))
    return;
  cues_ = coded;
}

/// What the client has not acknowledged since it last went otherwise than foreseen; and each now and then.
template <class RoomLeft>
void PackedSnapshot::place_motions(const PackedRequest& request, ClientBlocks& client, RoomLeft&& room_left) {
  const std::span<const MovingPlane> planes = request.motions;
  std::size_t told = 0;
  for (std::size_t n = 0; n < planes.size(); ++n) {
    const std::size_t i = (client.next_motion + n) % planes.size();
    const std::uint32_t held = client.motion_held(planes[i].key);
    if (held >= planes[i].changed && held != 0 && head_.tick - held < motion_again_s * request.tick_rate_hz)
      continue;
    if (told++ == snapshot_motions_max || !room_left() ||
        !place({JournalItem::Kind::motion, planes[i].key},
               [&](auto& part) { return part.add_motion(planes[i].motion); })) {
      client.next_motion = i;
      return;
    }
  }
}

void PackedSnapshot::place_sectors(PackedWorld& world, const PackedRequest& request, ClientBlocks& client) {
  // Where the own player takes all the budget, one goes in any case, or it would wait for ever.
  const std::size_t before = bytes();
  const std::size_t room = (bytes_max_ - std::min(bytes_max_, before)) / sectors_share;
  const auto room_left = [&] {
    const std::size_t taken = bytes() - before;
    return part_count_ <= (parts_max_ + 1) / sectors_share && (taken == 0 || taken < room);
  };
  place_motions(request, client, room_left);
  if (!request.heights) return;
  const auto slices = world.heights().slices();
  for (std::size_t n = 0; n < slices.size(); ++n) {
    const std::size_t i = (client.next_slice + n) % slices.size();
    const std::uint32_t held = client.slice_held(i);
    if (held != 0 && held >= slices[i].changed) continue;
    const bool known = held != 0 && held < head_.tick && head_.tick - held <= base_age_max;
    const auto bytes = world.heights().coded(i, known ? held : 0, encoding_);
    if (!room_left() || !place({JournalItem::Kind::heights, static_cast<std::uint16_t>(i)}, [&](auto& part) {
          return part.add_heights(slices[i].map, slices[i].number, known ? head_.tick - held : 0, bytes);
        })) {
      client.next_slice = i;
      return;
    }
  }
}

/// Of each block in reach: is one of the nearest in it? Where there is room for all, whatever their blocks
/// cost, nobody is counted, and all of them are.
std::span<const std::uint8_t> PackedSnapshot::find_nearest(PackedWorld& world, const PackedRequest& request) {
  const std::size_t usual_entity_bytes = is_plain() ? sizeof(EntityRecord) : 8;
  std::size_t entities = 0;
  for (const PackedWorld::Near& near : request.near) entities += world.frames().blocks()[near.block].count;
  const std::size_t room = std::min(bytes_max_, parts_max_ * packed_part_room);
  near_room_ = bytes_max_ / 2, near_parts_ = parts_max_ / 2;
  if (entities <= packed_nearest + 1 || entities * usual_entity_bytes <= room / 2) return {};
  near_room_ += bytes_max_ / 4, near_parts_ = parts_max_ * 3 / 4;
  return world.holds_nearest(request.eye_m, request.near, packed_nearest + 1);  // and the own player
}

/// Notes where in the client's blocks each of those in interest is.
void PackedSnapshot::want_blocks(const PackedWorld& world, const PackedRequest& request,
                                 ClientBlocks& client) {
  const auto blocks = world.frames().blocks();
  const std::size_t before = client.blocks().size();
  seats_.clear();
  // Where each is, instead of searching for all of them one by one.
  const std::span<const std::uint16_t> held = client.numbers();  // ascending
  if (!held.empty() && held.back() >= seat_of_number_.size())
    seat_of_number_.resize(held.back() + std::size_t{1});
  for (std::size_t seat = 0; seat < held.size(); ++seat)
    seat_of_number_[held[seat]] = static_cast<std::uint16_t>(seat);
  for (const PackedWorld::Near& near : request.near) {
    const std::uint16_t number = blocks[near.block].number;
    const std::size_t seat = number < seat_of_number_.size() ? seat_of_number_[number] : 0;
    const ClientBlock* const entry = client.want(number, seat, blocks[near.block].born, head_.tick);
    if (entry == nullptr) cut_ = true;
    seats_.push_back(entry == nullptr ? no_seat : client.seat_of(*entry));
  }
  const std::size_t wanted = client.blocks().size();
  client.let_go(head_.tick > request.linger_ticks ? head_.tick - request.linger_ticks : 0, head_.tick);
  const bool moved = wanted != before || client.blocks().size() != wanted;
  for (std::size_t i = 0; moved && i < seats_.size(); ++i) {
    const ClientBlock* const entry = client.find(blocks[request.near[i].block].number);
    seats_[i] = entry == nullptr ? no_seat : client.seat_of(*entry);
  }
}

void PackedSnapshot::find_candidates(PackedWorld& world, const PackedRequest& request, ClientBlocks& client) {
  candidates_.clear();
  const auto blocks = world.frames().blocks();
  want_blocks(world, request, client);

  const auto nearest = find_nearest(world, request);
  client.waits.begin(head_.tick);
  const auto add = [&](std::uint32_t at, ClientBlock& entry, bool is_near, bool due) {
    const bool known = entry.knows(blocks[at].changed);
    std::uint32_t told = entry.told;
    if (client.waits.any()) {
      told = client.waits.since(world.slots(at));
      if (known) client.waits.told(world.slots(at));
    }
    if (known)
      entry.told = head_.tick;
    else if (due)
      candidates_.push_back({at, client.seat_of(entry), entry.number, told, entry.held, is_near, false});
    else
      held_back_ = true;
  };
  for (std::size_t i = 0; i < request.near.size(); ++i) {
    if (seats_[i] == no_seat) continue;
    const PackedWorld::Near& near = request.near[i];
    ClientBlock& entry = client.blocks()[seats_[i]];
    const bool far = near.distance2 > request.far_m * request.far_m;
    const bool due = !far || entry.told == 0 || head_.tick - entry.told >= request.far_ticks;
    add(near.block, entry, nearest.empty() || nearest[i] != 0, due);
  }
  // Those that went out of sight a moment ago.
  for (ClientBlock& entry : client.blocks()) {
    if (entry.leaving || entry.wanted == head_.tick) continue;
    const auto it = std::ranges::lower_bound(blocks, entry.number, {}, &FrameBlock::number);
    if (it != blocks.end() && it->number == entry.number && it->born == entry.born)
      add(static_cast<std::uint32_t>(it - blocks.begin()), entry, false, true);
    else
      entry.wanted = 0;  // dissolved
  }
  const std::size_t count = client.blocks().size();
  client.let_go(1, head_.tick);
  if (client.blocks().size() == count) return;
  for (Candidate& candidate : candidates_) candidate.seat = client.seat_of(*client.find(candidate.number));
}

bool PackedSnapshot::place_block(PackedWorld& world, Candidate& candidate, ClientBlocks& client,
                                 std::size_t bytes_max) {
  const BlockFrames::Coded coded = world.frames().coded(candidate.block, candidate.held, encoding_);
  if (bytes() + coded.bytes.size() + packed_item_bytes_max > bytes_max) return false;
  find_moved(world, candidate.number, candidate.held, coded.bytes.size(), client);
  const auto seat = static_cast<std::uint8_t>(std::min<std::uint32_t>(candidate.seat, UINT8_MAX));
  candidate.placed = place({JournalItem::Kind::block, candidate.number, seat}, [&](auto& part) {
    return add_moved(part, coded.bytes.size()) && part.add_block(candidate.number, coded.age, coded.bytes);
  });
  if (candidate.placed) placed_[part_count_ - 1].push_back(candidate.block);
  return candidate.placed;
}

/// Who has waited longest first, the more urgent one of those who have waited alike; where there are no
/// turns, the most urgent first. Counted and not compared, as which one is more can hardly be foreseen.
void PackedSnapshot::order_by_wait(bool turns) {
  constexpr std::uint32_t waits_max = 64;  // that are told apart by counting
  std::array<std::uint32_t, waits_max + 1> first{};
  const auto place = [&](const Candidate& candidate) {
    return turns ? waits_max - 1 - std::min(head_.tick - candidate.told, waits_max - 1) : 0;
  };
  for (const Candidate& candidate : candidates_) ++first[place(candidate) + 1];
  for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
  by_wait_.resize(candidates_.size());
  for (std::uint32_t i = 0; i < candidates_.size(); ++i) by_wait_[first[place(candidates_[i])]++] = i;
  // Those who have waited for longer than is told apart: hardly ever more than one.
  if (turns)
    std::sort(by_wait_.begin(), by_wait_.begin() + first[0], [this](std::uint32_t a, std::uint32_t b) {
      return std::pair(candidates_[a].told, a) < std::pair(candidates_[b].told, b);
    });
}

/// Whom the client was not told of for a tenth of a second: before the nearest, who are told of all the time,
/// but in no more than half of the room. What they take the nearest have less only where there is not enough.
void PackedSnapshot::place_overdue(PackedWorld& world, ClientBlocks& client) {
  const std::size_t before = bytes(), room = before + (bytes_max_ - std::min(bytes_max_, before)) / 2;
  const std::size_t all_parts = parts_max_, parts_before = part_count_;
  parts_max_ = std::max(part_count_, parts_max_ / 2);
  for (const std::uint32_t i : by_wait_)
    if (head_.tick - candidates_[i].told < overdue_ticks_ ||
        !place_block(world, candidates_[i], client, room))
      break;
  parts_max_ = all_parts;
  near_room_ = std::min(bytes_max_, near_room_ + bytes() - before);
  near_parts_ = std::min(parts_max_, near_parts_ + part_count_ - parts_before);
}

void PackedSnapshot::place_blocks(PackedWorld& world, ClientBlocks& client, bool turns) {
  // The nearest in each snapshot, as many as their share of it holds: the first that does not fit ends it. A
  // part is left to the others whole: who has waited longest would not fit into what a large block leaves of
  // it.
  const std::size_t all_parts = parts_max_;
  order_by_wait(turns);
  if (turns && near_room_ > 0) place_overdue(world, client);
  parts_max_ = std::max(part_count_, near_parts_);
  for (Candidate& candidate : candidates_) {
    if (!candidate.near || candidate.placed) continue;
    if (part_count_ > near_parts_) break;
    if (!place_block(world, candidate, client, near_room_)) break;
  }
  parts_max_ = all_parts;
  // The first goes in any case, or a block larger than the budget would wait for ever.
  constexpr std::size_t any = std::numeric_limits<std::size_t>::max();
  bool first = true;
  for (const std::uint32_t i : by_wait_) {
    if (candidates_[i].placed) continue;
    if ((!first && bytes() >= bytes_max_) || !place_block(world, candidates_[i], client, any)) {
      cut_ = true;
      break;
    }
    first = false;
  }
  for (const Candidate& candidate : candidates_)
    if (!candidate.placed) waited_ticks_ = std::max(waited_ticks_, head_.tick - candidate.told);
}

std::size_t PackedSnapshot::lay_out(PackedWorld& world, const PackedRequest& request, ClientBlocks& client) {
  ASHLAR_ASSERT(request.parts_max >= 1 && request.parts_max <= snapshot_parts_max && request.own != nullptr);
  encoding_ = request.encoding;
  world_ = &world;
  head_ = request.head;
  head_.epoch = client.epoch();
  head_.part = 0;
  parts_max_ = request.parts_max;
  bytes_max_ = request.bytes_max;
  overdue_ticks_ =
      std::max(request.tick_rate_hz / told_least_hz, request.every_ticks + 1) - request.every_ticks;
  full_bytes_ = 0;
  cut_ = held_back_ = false;
  waited_ticks_ = 0;
  is_plain() ? plain_parts_[0].begin(head_) : packed_parts_[0].begin(head_);
  items_[0].clear();
  placed_[0].clear();
  part_count_ = 1;
  place_own(request, client);
  place_fields(request, client);
  find_candidates(world, request, client);
  // Some are named even where the own player took all of the budget.
  const std::size_t budget = bytes_max_;
  bytes_max_ = std::max(budget, bytes() + gone_room_bytes);
  place_gone(world, client);
  bytes_max_ = budget;
  place_cues(request.cues);
  place_sectors(world, request, client);
  place_blocks(world, client, request.turns);
  if (cut_ && !client.waits.any())
    for (const Candidate& candidate : candidates_)
      if (!candidate.placed) client.waits.wait(world.slots(candidate.block));
  client.waits.end(cut_);
  if (cut_ || held_back_ || part_count_ > 1) client.uneven_tick = head_.tick;
  for (std::size_t i = 0; i < part_count_; ++i)
    is_plain() ? plain_parts_[i].set_part_count(part_count_) : packed_parts_[i].set_part_count(part_count_);
  return part_count_;
}

void PackedSnapshot::note_sent(std::size_t part, std::uint64_t sequence, ClientBlocks& client) {
  client.note_sent(sequence, head_.tick, items_[part]);
  for (const JournalItem& item : items_[part]) {
    if (item.kind == JournalItem::Kind::own) client.note_own(head_.tick, own_);
    if (item.kind != JournalItem::Kind::block) continue;
    if (ClientBlock* const entry = client.find(item.number, item.seat))
      entry->told = entry->sent = head_.tick;
  }
  if (!client.waits.any()) return;
  for (const std::uint32_t block : placed_[part]) client.waits.told(world_->slots(block));
}

}  // namespace ashlar::server
