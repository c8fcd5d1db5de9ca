#include "protocol/snapshot/block_delta.h"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "protocol/snapshot/block_models.h"
#include "protocol/snapshot/entity_coding.h"
#include "world/math/assert.h"

namespace ashlar {
namespace {

static_assert(block_entities_max <= 64, "a word of bits holds a block's entities");
constexpr unsigned cell_bits = 16;
constexpr unsigned plain_count_bits = 6;
static_assert(block_entities_max < 1u << plain_count_bits);

/// Nobody asks where the bits go.
struct NoMarks {
  static constexpr bool counts = false;
  void frame() {}
  void field(BlockField) {}
  void entity(EntityKind, bool) {}
};

/// Counts what was read from one mark to the next: bits that are there, as zeros at the end are not written.
class Marks {
 public:
  static constexpr bool counts = true;
  Marks(const RangeReader& in, std::size_t bytes, BlockTally& tally)
      : in_(in), bits_max_(8 * bytes), tally_(tally) {}
  void frame() { tally_.frame(take(in_.bits_read())); }
  /// What the last byte was filled up with is the frame's.
  void end() {
    if (bits_max_ > at_) tally_.frame(static_cast<unsigned>(bits_max_ - at_));
  }
  void field(BlockField which) { fields_[static_cast<std::size_t>(which)] += take(in_.bits_read()); }
  void entity(EntityKind of, bool whole) {
    for (std::size_t i = 0; i < fields_.size(); ++i)
      if (fields_[i] > 0) tally_.field(of, static_cast<BlockField>(i), fields_[i]);
    fields_ = {};
    tally_.entity(of, whole);
  }

 private:
  unsigned take(std::size_t bits_read) {
    const std::size_t at = std::min(bits_read, bits_max_);
    return static_cast<unsigned>(at - std::exchange(at_, at));
  }
  const RangeReader& in_;
  std::size_t bits_max_;
  BlockTally& tally_;
  std::size_t at_ = 0;
  std::array<unsigned, block_field_count> fields_{};
};

/// What a writer knows of a block's entities before it writes, and a reader finds out.
struct Membership {
  std::uint64_t gone = 0;   ///< bits by place in the base
  std::uint64_t fresh = 0;  ///< bits by place among those of now; a reader's are the first ones
  std::size_t gone_count = 0, fresh_count = 0;
  bool others() const { return gone_count + fresh_count > 0; }
};

Membership compare(std::span<const MovingRecord> now, std::span<const MovingRecord> before) {
  Membership out;
  std::size_t n = 0, b = 0;
  while (n < now.size() || b < before.size()) {
    const bool only_now = b == before.size() || (n < now.size() && now[n].record.id < before[b].record.id);
    if (only_now) {
      out.fresh |= std::uint64_t{1} << n++;
      ++out.fresh_count;
    } else if (n < now.size() && now[n].record.id == before[b].record.id) {
      ++n, ++b;
    } else {
      out.gone |= std::uint64_t{1} << b++;
      ++out.gone_count;
    }
  }
  return out;
}

template <class Coder>
bool code_cell(Coder& coder, CellCoord& cell) {
  for (std::int16_t CellCoord::* const axis : {&CellCoord::x, &CellCoord::y, &CellCoord::z})
    cell.*axis = static_cast<std::int16_t>(coder.raw(cell_bits, static_cast<std::uint16_t>(cell.*axis)));
  return cell_in_world(cell);
}

/// Who is gone and who is new, those whole.
void write_others(RangeWriter& out, BlockModels& odds, EntityCoding<RangeWriter, NoMarks>& coding,
                  std::span<const MovingRecord> now, std::span<const MovingRecord> before,
                  const Membership& members) {
  for (std::size_t i = 0; i < before.size(); ++i) out.bit(odds.gone, (members.gone >> i & 1) != 0);
  std::int32_t level = before.empty() ? 0 : before[0].record.z;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if ((members.fresh >> i & 1) == 0) continue;
    out.bit(odds.fresh, true);
    MovingRecord e = now[i];
    coding.whole(e, level);
  }
  if (now.size() < block_entities_max) out.bit(odds.fresh, false);
}

/// How fast things fall, as the first one shows that flew, still does and is of those that always fall; the
/// usual where none does.
std::int32_t pull_of(std::span<const MovingRecord> now, const BlockBase& base, std::uint32_t tick_rate_hz) {
  const auto up = [](const MovingRecord& e) {
    const bool flies = (e.record.flags & entity_flag::grounded) == 0;
    return flies && always_falls(e.record.kind) ? e.velocity[2] : std::int16_t{0};
  };
  std::size_t n = 0;
  for (const MovingRecord& e : base.entities) {
    while (n < now.size() && now[n].record.id < e.record.id) ++n;
    if (n == now.size()) break;
    if (now[n].record.id != e.record.id || up(e) == 0 || up(now[n]) == 0) continue;
    const std::int32_t per_s = (e.velocity[2] - now[n].velocity[2]) * static_cast<std::int32_t>(tick_rate_hz);
    const auto over = static_cast<std::int32_t>(16 * base.age);
    const std::int32_t pull = (per_s + over / 2) / over;
    if (per_s >= 0 && pull < 1 << pull_bits) return pull;
  }
  return usual_pull_mps2;
}

/// The decisions that come before the mood is known.
struct FirstOdds {
  Odds whole = block_models[0].whole, quiet = block_models[0].quiet, usual_pace = block_models[0].usual_pace;
};

template <class Coder>
std::int32_t code_pace(Coder& coder, FirstOdds& odds, std::int32_t pace) {
  if (coder.bit(odds.usual_pace, pace == usual_pace_steps)) return usual_pace_steps;
  return static_cast<std::int32_t>(coder.raw(pace_bits, static_cast<std::uint32_t>(pace)));
}
template <class Coder>
std::int32_t code_pull(Coder& coder, BlockModels& odds, std::int32_t pull) {
  if (coder.bit(odds.usual_pull, pull == usual_pull_mps2)) return usual_pull_mps2;
  return static_cast<std::int32_t>(coder.raw(pull_bits, static_cast<std::uint32_t>(pull)));
}

/// How those of a base move.
struct Motions {
  std::array<EntityMotion, block_entities_max> of;
  bool any_flies = false;
  BlockMood mood{};

  Motions(std::span<const MovingRecord> base, std::int32_t pace) {
    for (std::size_t i = 0; i < base.size(); ++i) {
      of[i] = motion_of(base[i], pace);
      any_flies = any_flies || of[i].gait == Gait::flies;
    }
    mood = mood_of(std::span(of).first(base.size()));
  }
  const BlockModels& odds() const { return block_models[static_cast<std::size_t>(mood)]; }
};

/// Those who stay. The coder is in registers for as long as it is nobody else's.
void write_changes(RangeWriter& out, BlockModels& odds, const Foretelling& by, const BlockRules& rules,
                   std::span<const MovingRecord> now, std::span<const MovingRecord> before,
                   const Membership& members, const Motions& motions) {
  RangeWriter writer = out;
  NoMarks none;
  EntityCoding<RangeWriter, NoMarks> coding(writer, odds, by, rules, none);
  std::size_t at = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if ((members.gone >> i & 1) != 0) continue;
    while ((members.fresh >> at & 1) != 0) ++at;
    MovingRecord e = now[at++];
    coding.change(e, before[i], motions.of[i]);
  }
  out = writer;
}

/// The form that always fits.
std::size_t write_plain(const BlockContent& now, const BlockBase& base, std::span<std::uint8_t> out) {
  RangeWriter writer(out);
  FirstOdds first;
  writer.bit(first.whole, true);
  writer.bit(first.quiet, base.quiet);
  CellCoord cell = now.cell;
  if (base.age == 0) code_cell(writer, cell);
  BlockModels odds = block_models[0];
  writer.raw(plain_count_bits, static_cast<std::uint32_t>(now.entities.size()));
  NoMarks none;
  const Foretelling by(0, 1, 0);
  const BlockRules rules;
  EntityCoding<RangeWriter, NoMarks> coding(writer, odds, by, rules, none);
  for (MovingRecord e : now.entities) coding.plain(e);
  if (now.registry != nullptr) {
    FieldCoding<RangeWriter> fields(writer, odds, *now.registry);
    for (std::size_t i = 0; i < now.entities.size() && now.registry->shares_fields(); ++i) {
      FieldValues values = now.fields[i];
      fields.plain(now.entities[i].record.kind, values);
    }
  }
  const std::size_t size = writer.finish();
  ASHLAR_ASSERT(!writer.overflowed());
  return size;
}

}  // namespace

std::size_t encode_block(const BlockContent& now, const BlockBase& base, std::uint32_t tick_rate_hz,
                         std::span<std::uint8_t> out) {
  ASHLAR_ASSERT(out.size() >= coded_block_bytes_max && base.age <= base_age_max);
  ASHLAR_ASSERT(now.entities.size() <= block_entities_max && base.entities.size() <= block_entities_max);
  out = out.first(coded_block_bytes_max);
  RangeWriter writer(out);
  ASHLAR_ASSERT(now.pace >= 0 && now.pace < 1 << pace_bits);
  FirstOdds first;
  writer.bit(first.whole, false);
  writer.bit(first.quiet, base.quiet);
  if (base.age == 0) {
    ASHLAR_ASSERT(base.entities.empty());
    CellCoord cell = now.cell;
    code_cell(writer, cell);
  }
  BlockRules rules;
  rules.pace = code_pace(writer, first, now.pace);
  const Motions motions(base.entities, rules.pace);
  BlockModels odds = motions.odds();
  if (motions.any_flies) rules.pull = code_pull(writer, odds, pull_of(now.entities, base, tick_rate_hz));
  const Foretelling by(base.age, tick_rate_hz, base.tick);
  NoMarks none;
  EntityCoding<RangeWriter, NoMarks> coding(writer, odds, by, rules, none);
  const Membership members = compare(now.entities, base.entities);
  if (writer.bit(odds.others, members.others()))
    write_others(writer, odds, coding, now.entities, base.entities, members);
  write_changes(writer, odds, by, rules, now.entities, base.entities, members, motions);
  if (now.registry != nullptr && now.registry->shares_fields()) {
    std::vector<FieldValues> none_read;
    FieldCoding<RangeWriter>(writer, odds, *now.registry)
        .all({now.entities, now.fields}, {base.entities, base.fields}, none_read);
  }
  const std::size_t size = writer.finish();
  return writer.overflowed() ? write_plain(now, base, out) : size;
}

namespace {

/// Reads one block.
template <class Mark>
class BlockReading {
 public:
  BlockReading(RangeReader& in, Mark& mark, const BlockBase& base, std::uint32_t tick_rate_hz,
               const ReplicationRegistry* registry, DecodedBlock& out)
      : in_(in),
        mark_(mark),
        by_(base.age, tick_rate_hz, base.tick),
        base_(base),
        registry_(registry != nullptr && registry->shares_fields() ? registry : nullptr),
        out_(out) {}

  bool read() {
    FirstOdds first;
    const bool plain = in_.bit(first.whole);
    out_.quiet = in_.bit(first.quiet);
    if (base_.age == 0 && !code_cell(in_, out_.cell)) return false;
    out_.same_members = false;
    out_.fields.clear();
    return plain ? read_plain() : read_changes(first);
  }

 private:
  using Coding = EntityCoding<RangeReader, Mark>;

  bool read_plain() {
    BlockModels odds = block_models[0];
    const BlockRules rules;
    Coding coding(in_, odds, by_, rules, mark_);
    const std::uint32_t count = in_.raw(plain_count_bits);
    if (count > block_entities_max) return false;
    mark_.frame();
    out_.entities.clear();
    for (std::uint32_t i = 0; i < count; ++i)
      if (!coding.plain(out_.entities.emplace_back())) return false;
    if (!ascending()) return false;
    if (registry_ != nullptr) {
      FieldCoding<RangeReader> fields(in_, odds, *registry_);
      for (const MovingRecord& e : out_.entities) fields.plain(e.record.kind, out_.fields.emplace_back());
    }
    mark_.frame();
    return true;
  }

  bool read_changes(FirstOdds& first) {
    const std::span<const MovingRecord> before =
        base_.age == 0 ? std::span<const MovingRecord>{} : base_.entities;
    BlockRules rules;
    rules.pace = code_pace(in_, first, 0);
    const Motions motions(before, rules.pace);
    BlockModels odds = motions.odds();  // the one copy of two kilobytes that a block needs
    if (motions.any_flies) rules.pull = code_pull(in_, odds, 0);
    Coding coding(in_, odds, by_, rules, mark_);
    Membership members;
    if (in_.bit(odds.others) && !read_others(coding, odds, before, members)) return false;
    out_.same_members = base_.age != 0 && !members.others();
    // Those who stay are written whole, over whom another block left there.
    out_.entities.resize(members.fresh_count + before.size() - members.gone_count);
    if (!read_changed(odds, rules, before, members, motions)) return false;
    if (members.fresh_count > 0)
      std::ranges::sort(out_.entities, {}, [](const MovingRecord& e) { return e.record.id; });
    if (members.fresh_count > 0 && !ascending()) return false;
    const FieldRows fields_before{before, base_.age == 0 ? std::span<const FieldValues>{} : base_.fields};
    if (registry_ != nullptr)
      FieldCoding<RangeReader>(in_, odds, *registry_).all({out_.entities, {}}, fields_before, out_.fields);
    mark_.frame();
    return true;
  }

  /// Those who stay. The coder is in registers for as long as it is nobody else's.
  bool read_changed(BlockModels& odds, const BlockRules& rules, std::span<const MovingRecord> before,
                    const Membership& members, const Motions& motions) {
    std::conditional_t<Mark::counts, RangeReader&, RangeReader> in = in_;
    Coding coding(in, odds, by_, rules, mark_);
    MovingRecord* next = out_.entities.data() + members.fresh_count;
    for (std::size_t i = 0; i < before.size(); ++i)
      if ((members.gone >> i & 1) == 0 && !coding.change(*next++, before[i], motions.of[i])) return false;
    if constexpr (!Mark::counts) in_ = in;
    return true;
  }

  bool read_others(Coding& coding, BlockModels& odds, std::span<const MovingRecord> before,
                   Membership& members) {
    for (std::size_t i = 0; i < before.size(); ++i)
      if (in_.bit(odds.gone)) members.gone |= std::uint64_t{1} << i, ++members.gone_count;
    std::int32_t level = before.empty() ? 0 : before[0].record.z;
    mark_.frame();
    out_.entities.clear();
    while (before.size() - members.gone_count + members.fresh_count < block_entities_max &&
           in_.bit(odds.fresh)) {
      mark_.frame();
      ++members.fresh_count;
      if (!coding.whole(out_.entities.emplace_back(), level)) return false;
    }
    mark_.frame();
    return true;
  }

  bool ascending() const {
    return std::ranges::adjacent_find(out_.entities, std::ranges::greater_equal{}, [](const MovingRecord& e) {
             return e.record.id;
           }) == out_.entities.end();
  }

  RangeReader& in_;
  Mark& mark_;
  Foretelling by_;
  const BlockBase& base_;
  const ReplicationRegistry* registry_;
  DecodedBlock& out_;
};

}  // namespace

bool decode_block(std::span<const std::uint8_t> bytes, CellCoord base_cell, const BlockBase& base,
                  std::uint32_t tick_rate_hz, DecodedBlock& out, const ReplicationRegistry* registry,
                  BlockTally* tally) {
  ASHLAR_ASSERT(base.entities.size() <= block_entities_max);
  out.cell = base_cell;
  RangeReader in(bytes);
  if (tally == nullptr) {
    NoMarks none;
    return BlockReading<NoMarks>(in, none, base, tick_rate_hz, registry, out).read() && in.at_end();
  }
  Marks marks(in, bytes.size(), *tally);
  if (!BlockReading<Marks>(in, marks, base, tick_rate_hz, registry, out).read() || !in.at_end()) return false;
  marks.end();
  tally->block(out.cell, bytes.size());
  return true;
}

}  // namespace ashlar
