#include "server/props.h"

#include <algorithm>

#include "server/config/file.h"
#include "world/content/obj.h"
#include "world/math/assert.h"

namespace ashlar::server {
namespace {

std::expected<PropModel, std::string> read_model(const std::string& file, ModelUp up) {
  const auto text = read_file(file, obj_bytes_max);
  const bool list = file.find('@') != std::string::npos;
  if (!text)
    return std::unexpected(text.error() +
                           (list ? "; several are separated by ; in a variable" : "; see --prop"));
  auto model = read_obj({reinterpret_cast<const std::uint8_t*>(text->data()), text->size()}, file, up);
  if (!model) return std::unexpected(model.error().line());
  model->name = file.substr(file.rfind('/') + 1);  // npos + 1 is 0
  return std::move(*model);
}

}  // namespace

std::expected<PropModels, std::string> PropModels::read(std::span<const PropRequest> requests) {
  PropModels models;
  for (const PropRequest& request : requests) {
    const auto same = [&](const Entry& e) { return e.file == request.file && e.model.up == request.up; };
    if (std::ranges::any_of(models.entries_, same)) continue;
    auto model = read_model(request.file, request.up);
    if (!model) return std::unexpected(std::move(model.error()));
    models.entries_.push_back({request.file, std::move(*model)});
  }
  return models;
}

const PropModel& PropModels::of(const PropRequest& request) const {
  const auto found = std::ranges::find_if(
      entries_, [&](const Entry& e) { return e.file == request.file && e.model.up == request.up; });
  ASHLAR_ASSERT(found != entries_.end());
  return found->model;
}

std::expected<PlacedProps, std::string> place_props(std::span<const PropRequest> requests,
                                                    const PropModels& models, const Terrain& terrain) {
  PlacedProps placed;
  for (const PropRequest& request : requests) {
    PropRequest settled = request;
    if (!settled.z_m)
      settled.z_m = surface_height(terrain, floor_to_int(request.at_m.x), floor_to_int(request.at_m.y));
    const PropPlace place{{request.at_m.x, request.at_m.y, *settled.z_m},
                          turn_of_degrees(request.yaw_deg),
                          static_cast<float>(request.scale)};
    auto prop = Prop::place(models.of(request), place);
    if (!prop) return std::unexpected("prop " + to_text(request) + ": " + prop.error());
    placed.props.push_back(std::move(*prop));
    placed.requests.push_back(std::move(settled));
  }
  return placed;
}

std::expected<PlacedProps, std::string> place_props(std::span<const PropRequest> requests,
                                                    const Terrain& terrain) {
  const auto models = PropModels::read(requests);
  if (!models) return std::unexpected(models.error());
  return place_props(requests, *models, terrain);
}

}  // namespace ashlar::server
