#include "server/props.h"

#include "server/config/config_file.h"
#include "world/content/obj.h"

namespace ashlar::server {
namespace {

struct OpenModel {
  std::string file;
  PropModel model;
};

std::expected<PropModel, std::string> read_model(const std::string& file, ModelUp up) {
  const auto text = read_text_file(file, obj_bytes_max);
  if (!text) return std::unexpected(text.error() + "; see --prop");
  auto model = read_obj({reinterpret_cast<const std::uint8_t*>(text->data()), text->size()}, file, up);
  if (!model) return std::unexpected(model.error().line());
  model->name = file.substr(file.rfind('/') + 1);  // npos + 1 is 0
  return std::move(*model);
}

}  // namespace

std::expected<PlacedProps, std::string> place_props(std::span<const PropRequest> requests,
                                                    const Terrain& terrain) {
  PlacedProps placed;
  std::vector<OpenModel> models;
  for (const PropRequest& request : requests) {
    const OpenModel* open = nullptr;
    for (const OpenModel& m : models)
      if (m.file == request.file && m.model.up == request.up) open = &m;
    if (open == nullptr) {
      auto model = read_model(request.file, request.up);
      if (!model) return std::unexpected(std::move(model.error()));
      models.push_back({request.file, std::move(*model)});
      open = &models.back();
    }
    PropRequest settled = request;
    if (!settled.z_m)
      settled.z_m = surface_height(terrain, floor_to_int(request.at_m.x), floor_to_int(request.at_m.y));
    const PropPlace place{{request.at_m.x, request.at_m.y, *settled.z_m},
                          turn_of_degrees(request.yaw_deg),
                          static_cast<float>(request.scale)};
    auto prop = Prop::place(open->model, place);
    if (!prop) return std::unexpected("prop " + to_text(request) + ": " + prop.error());
    placed.props.push_back(std::move(*prop));
    placed.requests.push_back(std::move(settled));
  }
  return placed;
}

}  // namespace ashlar::server
