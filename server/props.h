#pragma once
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "server/config/prop_request.h"
#include "world/collide/prop.h"
#include "world/voxel/terrain.h"

namespace ashlar::server {

/// Props read and placed, and their requests with every height settled, so that a kept world stays what it
/// is.
struct PlacedProps {
  std::vector<std::shared_ptr<const Prop>> props;
  std::vector<PropRequest> requests;
};

/// The models of prop files, each read once.
class PropModels {
 public:
  /// @return or one line that names the file and the remedy
  static std::expected<PropModels, std::string> read(std::span<const PropRequest> requests);
  const PropModel& of(const PropRequest& request) const;  ///< one that was read

 private:
  struct Entry {
    std::string file;
    PropModel model;
  };
  std::vector<Entry> entries_;
};

/// Places props; those without a height stand on the terrain's surface, on a map's roof where there is one.
/// Nothing is left half-made. @param models  holds those of the requests
/// @return or one line that names the file, the prop and the remedy
std::expected<PlacedProps, std::string> place_props(std::span<const PropRequest> requests,
                                                    const PropModels& models, const Terrain& terrain);

/// Reads and places.
std::expected<PlacedProps, std::string> place_props(std::span<const PropRequest> requests,
                                                    const Terrain& terrain);

}  // namespace ashlar::server
