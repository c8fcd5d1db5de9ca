#include "server/store/edit_search.h"

#include <sqlite3.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "protocol/hexadecimal.h"
#include "protocol/secure/key_text.h"
#include "server/store/edit_log.h"
#include "server/store/sqlite_store.h"
#include "world/math/random.h"
#include "world/voxel/chunk.h"
#include "world/voxel/chunk_place.h"
#include "world/voxel/volume.h"

namespace ashlar::server {
namespace {

/// Bearers of one name that are told of.
constexpr std::size_t bearers_told = 8;

EditAuthor author_from(std::span<const std::uint8_t> identity, std::string name) {
  EditAuthor author;
  if (identity.size() == author.identity.size()) {
    author.kind = EditAuthor::Kind::player;
    std::ranges::copy(identity, author.identity.begin());
    author.name = std::move(name);
  } else if (!identity.empty()) {
    author.kind = EditAuthor::Kind::operators;
  }
  return author;
}

/// Runs one query, handing each row to `use` until it says false.
template <class Use>
std::expected<void, StoreTrouble> each_row(const Database& database, Statement& rows, const Use& use) {
  int code = rows.step();
  for (; code == SQLITE_ROW; code = rows.step())
    if (!use(rows)) return {};
  if (code != SQLITE_DONE) return std::unexpected(database.trouble(code));
  return {};
}

/// The area of a query in cells, and a cell of a row (edit_log.h).
constexpr std::int32_t cell_bits = 3, cell_y_shift = 10, cell_x_shift = 28;
constexpr std::int32_t cells_z = 512, cells_xy = 1 << 17;  // from the lowest cell to 0, along each axis
static_assert(chunk_bits == cell_bits + 2);

struct Cell {
  std::int64_t x = 0, y = 0, z = 0;
  std::int64_t key() const { return x << cell_x_shift | y << cell_y_shift | z; }
};
Cell cell_of(IVec3 block) {
  return {(block.x >> cell_bits) + cells_xy, (block.y >> cell_bits) + cells_xy,
          (block.z >> cell_bits) + cells_z};
}
Cell cell_of(std::int64_t key) {
  constexpr std::int64_t xy_mask = 2 * cells_xy - 1, z_mask = 2 * cells_z - 1;
  return {key >> cell_x_shift, key >> cell_y_shift & xy_mask, key & z_mask};
}
ChunkCoord chunk_of(Cell cell) {
  return {static_cast<std::int32_t>(cell.x - cells_xy) >> 2,
          static_cast<std::int32_t>(cell.y - cells_xy) >> 2,
          static_cast<std::int32_t>(cell.z - cells_z) >> 2};
}
EditArea within_the_world(EditArea area) {
  constexpr std::int32_t across = cells_xy << cell_bits, up = cells_z << cell_bits;
  const IVec3 low{-across, -across, -up}, high{across - 1, across - 1, up - 1};
  for (const auto axis : {&IVec3::x, &IVec3::y, &IVec3::z}) {
    area.low.*axis = std::clamp(area.low.*axis, low.*axis, high.*axis);
    area.high.*axis = std::clamp(area.high.*axis, low.*axis, high.*axis);
  }
  return area;
}

/// An edit that the query fits, as far as its indexes tell.
struct Hit {
  std::int64_t time_s = 0, id = 0, author = 0;
};
bool newer(const Hit& a, const Hit& b) { return std::pair(a.time_s, a.id) > std::pair(b.time_s, b.id); }

/// The newest hits, as many as are asked for.
class NewestHits {
 public:
  /// @param limit  0: all
  explicit NewestHits(std::uint64_t limit) : limit_(limit) {}
  void add(const Hit& hit) {
    if (limit_ > 0 && hits_.size() == limit_) {
      if (!newer(hit, hits_.front())) return;
      std::ranges::pop_heap(hits_, newer);
      hits_.back() = hit;
    } else {
      hits_.push_back(hit);
    }
    if (limit_ > 0) std::ranges::push_heap(hits_, newer);
  }
  bool full() const { return limit_ > 0 && hits_.size() == limit_; }
  /// What is older is none of them.
  std::int64_t oldest_s(std::int64_t since_s) const {
    return full() ? std::max(since_s, hits_.front().time_s) : since_s;
  }
  bool too_many() const { return hits_.size() > edits_found_max; }
  std::vector<Hit> take() {
    std::ranges::sort(hits_, newer);
    return std::move(hits_);
  }

 private:
  std::uint64_t limit_;
  std::vector<Hit> hits_;  // a heap, the oldest first, where there is a limit
};

using Outcome = std::expected<void, StoreTrouble>;
using Advance = std::expected<bool, StoreTrouble>;  // done? or why not

/// One way to the hits of a query, as far at a time as it is let.
class EditSearch {
 public:
  EditSearch(const Database& database, const EditQuery& query, std::span<const std::int64_t> players)
      : hits(query.limit), database_(database), query_(query), players_(players) {}
  virtual ~EditSearch() = default;
  /// Goes on for so many rows, roughly.
  virtual Advance advance(std::int64_t rows) = 0;

  NewestHits hits;

 protected:
  const Database& database_;
  const EditQuery& query_;
  std::span<const std::int64_t> players_;
};

/// Goes back through the time, of each of the players or of everybody.
class SearchByTime final : public EditSearch {
 public:
  using EditSearch::EditSearch;
  Advance advance(std::int64_t rows) override {
    const std::size_t turns = query_.player ? players_.size() : 1;
    for (; turn_ < turns; ++turn_) {
      if (!begun_)
        if (auto good = begin(); !good) return std::unexpected(std::move(good.error()));
      for (;;) {
        if (rows-- <= 0 || hits.too_many()) return false;
        const int code = statement_.step();
        if (code == SQLITE_DONE) break;
        if (code != SQLITE_ROW) return std::unexpected(database_.trouble(code));
        const Hit hit{statement_.whole(1), statement_.whole(0), statement_.whole(2)};
        // Of one time the highest number comes first.
        if (hits.full() && hit.time_s < hits.oldest_s(query_.since_s)) break;
        if (fits(statement_.whole(3), statement_.whole(4))) hits.add(hit);
        if (hits.full() && turns == 1) break;
      }
      begun_ = false;
    }
    return true;
  }

 private:
  Outcome begin() {
    const std::string sql =
        std::string("SELECT id, time, author, place, block FROM edits INDEXED BY ") +
        (query_.player ? "edits_by_author WHERE author = ?3 AND " : "edits_by_time WHERE ") +
        "time BETWEEN ?1 AND ?2 ORDER BY time DESC, id DESC";
    auto made = Statement::make(database_, sql.c_str());
    if (!made) return std::unexpected(std::move(made.error()));
    statement_ = std::move(*made);
    statement_.bind(1, hits.oldest_s(query_.since_s)).bind(2, query_.until_s);
    if (query_.player) statement_.bind(3, players_[turn_]);
    begun_ = true;
    return {};
  }
  bool fits(std::int64_t place, std::int64_t index) const {
    if (place <= 0 || index < 0 || index >= std::int64_t{chunk_blocks}) return false;  // nowhere
    const ChunkCoord at = chunk_at_place(place);
    if (!VoxelVolume::in_range(at)) return false;
    return !query_.area || query_.area->contains(block_of_index(at, static_cast<std::uint32_t>(index)));
  }

  Statement statement_;
  std::size_t turn_ = 0;
  bool begun_ = false;
};

/// Looks into the cells of the area in which anything happened, one after the other, in no order: so few of
/// them have anything newer than what was found in those before.
class SearchByCell final : public EditSearch {
 public:
  SearchByCell(const Database& database, const EditQuery& query, std::span<const std::int64_t> players)
      : EditSearch(database, query, players),
        area_(within_the_world(*query.area)),
        low_(cell_of(area_.low)),
        high_(cell_of(area_.high)),
        at_(low_) {}

  Advance advance(std::int64_t rows) override {
    if (!begun_)
      if (auto good = begin(); !good) return std::unexpected(std::move(good.error()));
    while (at_.x <= high_.x) {
      if (rows <= 0) return false;
      rows -= 4;
      if (auto good = find_cell(); !good) return std::unexpected(std::move(good.error()));
      if (at_.x > high_.x) shuffle();
    }
    for (; next_ < cells_.size(); ++next_) {
      if (rows <= 0 || hits.too_many()) return false;
      rows -= 2;
      // One is looked through in one go: more than some thousand rows in 512 blocks are rare.
      auto read = look_into(cells_[next_]);
      if (!read) return std::unexpected(std::move(read.error()));
      rows -= *read;
    }
    return true;
  }

 private:
  Outcome begin() {
    auto next =
        Statement::make(database_,
                        "SELECT cell FROM edits INDEXED BY edits_by_cell WHERE cell BETWEEN ?1 AND ?2 "
                        "ORDER BY cell LIMIT 1");
    if (!next) return std::unexpected(std::move(next.error()));
    next_cell_ = std::move(*next);
    auto rows =
        Statement::make(database_,
                        "SELECT id, time, author, block FROM edits INDEXED BY edits_by_cell WHERE cell "
                        "= ?1 AND time BETWEEN ?2 AND ?3 ORDER BY time DESC");
    if (!rows) return std::unexpected(std::move(rows.error()));
    rows_ = std::move(*rows);
    begun_ = true;
    return {};
  }
  /// The next one with an edit; cells of one x and neighbouring y lie side by side.
  Outcome find_cell() {
    const Cell last{at_.x, high_.y, high_.z};
    next_cell_.bind(1, at_.key()).bind(2, last.key());
    const int code = next_cell_.step();
    if (code != SQLITE_ROW && code != SQLITE_DONE) return std::unexpected(database_.trouble(code));
    if (code == SQLITE_DONE) {
      at_ = {at_.x + 1, low_.y, low_.z};
    } else {
      const Cell found = cell_of(next_cell_.whole(0));
      if (found.z >= low_.z && found.z <= high_.z) cells_.push_back(found.key());
      if (found.z < low_.z)
        at_ = {found.x, found.y, low_.z};
      else if (found.z < high_.z)
        at_ = {found.x, found.y, found.z + 1};
      else if (found.y < high_.y)
        at_ = {found.x, found.y + 1, low_.z};
      else
        at_ = {found.x + 1, low_.y, low_.z};
    }
    next_cell_.reset();
    return {};
  }
  void shuffle() {
    Rng rng{1};
    for (std::size_t i = cells_.size(); i > 1; --i)
      std::swap(cells_[i - 1], cells_[rng.below(static_cast<std::uint32_t>(i))]);
  }
  /// @return how many rows were read
  std::expected<std::int64_t, StoreTrouble> look_into(std::int64_t cell) {
    const ChunkCoord chunk = chunk_of(cell_of(cell));
    rows_.bind(1, cell).bind(2, hits.oldest_s(query_.since_s)).bind(3, query_.until_s);
    std::int64_t read = 0;
    int code = rows_.step();
    for (; code == SQLITE_ROW; code = rows_.step(), ++read) {
      const Hit hit{rows_.whole(1), rows_.whole(0), rows_.whole(2)};
      if (hits.too_many() || (hits.full() && hit.time_s < hits.oldest_s(query_.since_s))) break;
      if (query_.player && std::ranges::find(players_, hit.author) == players_.end()) continue;
      const IVec3 block = block_of_index(chunk, static_cast<std::uint32_t>(rows_.whole(3)) % chunk_blocks);
      if (area_.contains(block)) hits.add(hit);
    }
    rows_.reset();
    if (code != SQLITE_ROW && code != SQLITE_DONE) return std::unexpected(database_.trouble(code));
    return read;
  }

  EditArea area_;
  Cell low_, high_, at_;  // at_: the lowest that was not looked for yet
  Statement next_cell_, rows_;
  std::vector<std::int64_t> cells_;
  std::size_t next_ = 0;
  bool begun_ = false;
};

/// Whom a query means, as the table knows them: a name may have been that of several.
std::expected<std::vector<std::int64_t>, StoreTrouble> authors_meant(const Database& database,
                                                                     const std::string& player) {
  // Nobody's identity has so few bytes.
  const bool named = !is_no_player(player);
  auto rows = Statement::make(database,
                              named ? "SELECT id FROM authors WHERE length(identity) > 1 AND (name = ?1 OR "
                                      "lower(hex(identity)) = ?1)"
                              : player == world_author ? "SELECT id FROM authors WHERE length(identity) = 0"
                                                       : "SELECT id FROM authors WHERE length(identity) = 1");
  if (!rows) return std::unexpected(std::move(rows.error()));
  // A key may be given as it is told everywhere else, too.
  const auto key = secure::read_public_key(player);
  const std::string wanted = key ? hexadecimal(key->bytes) : player;
  if (named) rows->bind(1, std::string_view(wanted));
  std::vector<std::int64_t> meant;
  auto read = each_row(database, *rows, [&](Statement& row) { return meant.push_back(row.whole(0)), true; });
  if (!read) return std::unexpected(std::move(read.error()));
  return meant;
}

/// One look into the log.
class EditFinder {
 public:
  EditFinder(const Database& database, const EditQuery& query) : database_(database), query_(query) {}

  std::expected<FoundEdits, StoreTrouble> find() {
    if (query_.player) {
      auto meant = authors_meant(database_, *query_.player);
      if (!meant) return std::unexpected(std::move(meant.error()));
      players_ = std::move(*meant);
    }
    auto hits = search();
    if (!hits) return std::unexpected(std::move(hits.error()));
    if (auto good = read(*hits); !good) return std::unexpected(std::move(good.error()));
    if (auto named = name_authors(); !named) return std::unexpected(std::move(named.error()));
    return std::move(found_);
  }

 private:
  /// Where there is an area, by its cells and by time in turns, until one of both is through: nobody has to
  /// know before which is the narrower one. Cells get three rows of four, as the ways through many of them
  /// are the longest: by cells it takes at most a third longer than they alone, by time four times as long.
  std::expected<std::vector<Hit>, StoreTrouble> search() {
    SearchByTime by_time(database_, query_, players_);
    std::optional<SearchByCell> by_cell;
    if (query_.area) by_cell.emplace(database_, query_, players_);
    for (std::int64_t rows = 4096;; rows *= 2) {
      for (EditSearch* way :
           {by_cell ? static_cast<EditSearch*>(&*by_cell) : nullptr, static_cast<EditSearch*>(&by_time)}) {
        if (way == nullptr) continue;
        const auto done = way->advance(way == &by_time && by_cell ? rows / 3 : rows);
        if (!done) return std::unexpected(done.error());
        if (way->hits.too_many())
          return std::unexpected(StoreTrouble{{},
                                              "there are more than " + std::to_string(edits_found_max) +
                                                  " such edits: narrow the area or the time"});
        if (*done) return way->hits.take();
      }
    }
  }

  /// What the rows of the hits say. In their order on the disk: those lie side by side.
  Outcome read(std::vector<Hit>& hits) {
    std::ranges::sort(hits, std::ranges::greater(), &Hit::id);
    auto row =
        Statement::make(database_, "SELECT place, block, before, after, held FROM edits WHERE id = ?1");
    if (!row) return std::unexpected(std::move(row.error()));
    found_.edits.reserve(hits.size());
    for (const Hit& hit : hits) {
      row->bind(1, hit.id);
      auto good = each_row(database_, *row, [&](Statement& edit) {
        const std::int64_t place = edit.whole(0);
        const ChunkCoord at = chunk_at_place(place);
        if (place <= 0 || !VoxelVolume::in_range(at)) return false;  // nowhere: `world check` names it
        const IVec3 block = block_of_index(at, static_cast<std::uint32_t>(edit.whole(1)) % chunk_blocks);
        found_.edits.push_back({hit.id, hit.time_s, index_of(hit.author), block,
                                static_cast<BlockId>(edit.whole(2)), static_cast<BlockId>(edit.whole(3)),
                                !edit.bytes(4).empty()});
        return false;
      });
      if (!good) return good;
      row->reset();
    }
    return {};
  }

  std::uint32_t index_of(std::int64_t author) {
    return authors_.try_emplace(author, static_cast<std::uint32_t>(authors_.size())).first->second;
  }

  Outcome name_authors() {
    found_.authors.resize(authors_.size());
    auto row = Statement::make(database_, "SELECT identity, name FROM authors WHERE id = ?1");
    if (!row) return std::unexpected(std::move(row.error()));
    for (const auto& [id, index] : authors_) {
      row->bind(1, id);
      auto read = each_row(database_, *row, [&](Statement& author) {
        // There are as many as authors_.
        found_.authors[index] =  // NOLINT(clang-analyzer-core.NullDereference)
            author_from(author.bytes(0), author.text(1));
        return false;
      });
      if (!read) return read;
      row->reset();
    }
    return {};
  }

  const Database& database_;
  const EditQuery& query_;
  std::vector<std::int64_t> players_;
  std::map<std::int64_t, std::uint32_t> authors_;  // id in the table to index in found_
  FoundEdits found_;
};

}  // namespace

std::expected<FoundEdits, StoreTrouble> find_edits(const Database& database, const EditQuery& query) {
  return EditFinder(database, query).find();
}

std::expected<void, StoreTrouble> check_one_player(const Database& database, const EditQuery& query) {
  if (!query.player) return {};
  const auto meant = authors_meant(database, *query.player);
  if (!meant) return std::unexpected(meant.error());
  if (meant->size() < 2) return {};
  std::string line = *query.player + " is the name of " + std::to_string(meant->size()) +
                     " players: give the key of one instead of the name:";
  auto row = Statement::make(database, "SELECT identity FROM authors WHERE id = ?1");
  if (!row) return std::unexpected(std::move(row.error()));
  for (std::size_t i = 0; i < std::min(meant->size(), bearers_told); ++i) {
    row->bind(1, (*meant)[i]);
    auto read = each_row(database, *row, [&](Statement& author) {
      line += (i == 0 ? " " : ", ") + author_key(author_from(author.bytes(0), {}));
      return false;
    });
    if (!read) return read;
    row->reset();
  }
  if (meant->size() > bearers_told) line += " and " + std::to_string(meant->size() - bearers_told) + " more";
  return std::unexpected(StoreTrouble{{}, std::move(line)});
}

std::expected<void, StoreTrouble> check_player_known(const Database& database, const EditQuery& query) {
  if (!query.player || is_no_player(*query.player)) return {};
  const auto meant = authors_meant(database, *query.player);
  if (!meant) return std::unexpected(meant.error());
  if (!meant->empty()) return {};
  return std::unexpected(StoreTrouble{{}, "nobody in the log is called " + *query.player});
}

std::int64_t edit_cell(IVec3 block) { return cell_of(block).key(); }

const std::string& author_name(const EditAuthor& author) {
  static const std::string world(world_author), operators(operator_author);
  if (author.kind == EditAuthor::Kind::player) return author.name;
  return author.kind == EditAuthor::Kind::world ? world : operators;
}

std::string author_key(const EditAuthor& author) {
  return author.kind == EditAuthor::Kind::player ? hexadecimal(author.identity) : std::string();
}

}  // namespace ashlar::server
