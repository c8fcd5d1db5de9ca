#pragma once
#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "protocol/content/content.h"
#include "protocol/messages.h"

namespace ashlar::client_sim {

/// Gets the maps and props of a welcome that a client lacks from the server, one after the other, and proves
/// each by its hash. A value: requests come out, messages go in. What comes wrong is refused with one line,
/// and the next is asked for. Takes memory for what has arrived, at most bytes_max in all, and for what that
/// unpacks to, at most layout_bytes_max. One thread.
class ContentFetch {
 public:
  /// Of all that is fetched for one welcome.
  static constexpr std::size_t bytes_max_usual = std::size_t{64} << 20;
  /// Of all that is fetched for one welcome, unpacked.
  static constexpr std::size_t layout_bytes_max = std::size_t{512} << 20;

  ContentFetch() = default;  ///< wants nothing
  /// @param held  is the content with this hash there already?
  ContentFetch(const Welcome& welcome, const std::function<bool(std::uint64_t hash)>& held,
               std::size_t bytes_max = bytes_max_usual);

  /// What to send on the control stream now; nothing while an answer is on its way, or when all is there.
  std::optional<ContentRequest> request();
  /// Another connection, or another world: what an earlier fetch has of something that this one wants is
  /// kept, and that is asked for first, from there on. Precondition: nothing was asked for yet.
  void take_over(ContentFetch&& before);

  /// What came on the bulk stream. Parts of what is not awaited are ignored.
  void take(const ContentPart& part);
  void take(const ContentRefused& refused);

  /// One that is whole, or why one is not to be had.
  struct Fetched {
    std::uint64_t hash = 0;
    std::string name;                             ///< as the welcome has it
    std::vector<std::uint8_t> bytes;              ///< as it came, for a cache; empty when it failed
    std::expected<Content, std::string> content;  ///< or one line that names it and the remedy
  };
  /// Each once. Decodes and places: tens of milliseconds for a map.
  std::optional<Fetched> next();

  /// All that was lacking came, or was refused, and next() has given it out.
  bool done() const { return at_ == wanted_.size() && arrived_.empty(); }
  std::size_t bytes_arrived() const { return bytes_.size(); }  ///< of it

 private:
  struct Wanted {
    std::uint64_t hash = 0;
    ContentKind kind{};
    std::string name;
  };
  struct Arrived {
    Wanted what;
    std::vector<std::uint8_t> bytes;
    std::string failure;  ///< empty: it is whole
  };
  void unpack_later();
  void finish(std::string failure);

  std::vector<Wanted> wanted_;
  std::size_t at_ = 0;  // of wanted_: on its way
  bool asked_ = false;
  std::uint32_t total_ = 0;
  std::vector<std::uint8_t> bytes_;
  std::vector<Arrived> arrived_;
  std::size_t bytes_left_ = 0, layout_bytes_left_ = layout_bytes_max;
};

}  // namespace ashlar::client_sim
