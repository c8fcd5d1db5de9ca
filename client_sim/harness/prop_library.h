#pragma once
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "protocol/messages.h"
#include "world/collide/prop.h"

namespace ashlar::client_sim {

/// The models of props that clients of this process hold. Files are read at the start; props are placed when
/// a welcome or a recording asks for them, each once. One thread.
class PropLibrary {
 public:
  /// Reads OBJ files. They are known by their names without folders, which must differ.
  /// @return or one line that names the file and the remedy
  static std::expected<PropLibrary, std::string> open(const std::vector<std::string>& files);

  /// Hash of the prop as it stands when placed as the welcome says; nullopt: no such model here.
  std::optional<std::uint64_t> content_hash(const WelcomeProp& prop);

  /// @return or one line that names the prop and what is wrong or missing
  std::expected<std::shared_ptr<const Prop>, std::string> place(const std::string& name, ModelUp up,
                                                                const PropPlace& place);

 private:
  struct File {
    std::string name;
    std::vector<std::uint8_t> bytes;
  };
  struct Known {
    std::string name;
    ModelUp up{};
    PropPlace place;
    std::expected<std::shared_ptr<const Prop>, std::string> prop;
  };
  std::vector<File> files_;
  std::vector<Known> known_;
};

}  // namespace ashlar::client_sim
