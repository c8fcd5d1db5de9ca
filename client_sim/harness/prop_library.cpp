#include "client_sim/harness/prop_library.h"

#include <filesystem>

#include "client_sim/harness/read_file.h"
#include "world/content/obj.h"

namespace ashlar::client_sim {

std::expected<PropLibrary, std::string> PropLibrary::open(const std::vector<std::string>& files) {
  PropLibrary library;
  for (const std::string& path : files) {
    const std::string name = std::filesystem::path(path).filename().string();
    for (const File& other : library.files_)
      if (other.name == name)
        return std::unexpected("two props are called " + name + ": give each with --prop once");
    auto bytes = read_file(path, obj_bytes_max);
    if (!bytes) return std::unexpected(bytes.error() + "; see --prop");
    if (const auto model = read_obj(*bytes, path); !model) return std::unexpected(model.error().line());
    library.files_.push_back({name, std::move(*bytes)});
  }
  return library;
}

std::expected<std::shared_ptr<const Prop>, std::string> PropLibrary::place(const std::string& name,
                                                                           ModelUp up,
                                                                           const PropPlace& place) {
  for (const Known& k : known_)
    if (k.name == name && k.up == up && k.place == place) return k.prop;
  known_.push_back({name, up, place, std::unexpected("there is no prop " + name + ": give it with --prop")});
  auto& result = known_.back().prop;
  for (const File& file : files_) {
    if (file.name != name) continue;
    const auto model = read_obj(file.bytes, name, up);
    if (!model) return result = std::unexpected(model.error().line());
    return result = Prop::place(*model, place);
  }
  return result;
}

std::optional<std::uint64_t> PropLibrary::content_hash(const WelcomeProp& prop) {
  const auto placed = place(prop.name, prop.up, prop.place);
  if (!placed) return std::nullopt;
  return (*placed)->content_hash();
}

}  // namespace ashlar::client_sim
