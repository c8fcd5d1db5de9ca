#include "server/tools/ground_commands.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>
#include <utility>

#include "server/config/moment.h"
#include "server/config/values.h"
#include "server/store/edit_query.h"
#include "server/store/kept_ground.h"
#include "server/store/prune.h"
#include "server/store/stored_ground.h"
#include "server/store/world_lock.h"
#include "server/tools/export_obj.h"
#include "world/voxel/volume.h"

namespace ashlar::server {
namespace {

namespace fs = std::filesystem;

constexpr std::int32_t export_radius_m_max = 128;
constexpr std::uint64_t keep_near_m_max = 1'000'000;

constexpr CommandOption prune_options[] = {
    {"--keep-near", "M",
     "With --unchanged-for: also drops what lies further than M metres from the start, from every "
     "map and from every player's last place, and was not changed for so long."},
    {"--unchanged-for", "SPAN", "As far as the log of edits reaches back, such as 90d."},
    {"--log-older-than", "SPAN", "Drops edits older than that from the log."},
    {"--dry-run", "", "Only says what it would do."},
    {"--no-copy", "", "Makes no copy of the database first (world.db.before-prune)."}};
constexpr CommandOption export_options[] = {
    {"--area", "X,Y,R",
     "Blocks within R metres (at most 128) of a place, at any height; X,Y,Z,R: at that height.", true},
    {"--out", "FILE.obj",
     "Where the model goes; its materials go to FILE.mtl beside it. Neither may be there yet.", true}};

std::string count_text(std::uint64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::expected<PruneOptions, std::string> prune_options_of(const CommandWords& words) {
  PruneOptions options{.dry_run = words.has("--dry-run"), .copy = !words.has("--no-copy")};
  if (words.has("--keep-near") != words.has("--unchanged-for"))
    return std::unexpected("--keep-near and --unchanged-for belong together: give both, or neither");
  if (words.has("--keep-near")) {
    const auto metres = parse_whole(words.value("--keep-near"), 0, keep_near_m_max);
    if (!metres) return std::unexpected("--keep-near: " + metres.error());
    const auto span = parse_span_s(words.value("--unchanged-for"));
    if (!span) return std::unexpected("--unchanged-for: " + span.error());
    options.far = {static_cast<std::int32_t>(*metres), *span};
  }
  if (words.has("--log-older-than")) {
    const auto span = parse_span_s(words.value("--log-older-than"));
    if (!span) return std::unexpected("--log-older-than: " + span.error());
    options.log_age_s = std::max<std::int64_t>(1, *span);
  }
  return options;
}

/// The area cut to where ground is. @return or what is wrong with it
std::expected<BlockBox, std::string> export_box(const EditArea& area, TerrainKind kind) {
  const ColumnSpan span = column_span(kind);
  const BlockBox box{{area.low.x, area.low.y, std::max(area.low.z, span.low * chunk_size)},
                     {area.high.x + 1, area.high.y + 1, std::min(area.high.z + 1, span.high * chunk_size)}};
  if (box.min.z < box.max.z) return box;
  return std::unexpected("--area: no ground is at that height: it reaches from " +
                         std::to_string(span.low * chunk_size) + " to " +
                         std::to_string(span.high * chunk_size));
}

/// Both files of a model, which may not be there yet. @return or one line
std::expected<std::pair<fs::path, fs::path>, std::string> model_files(const std::string& out) {
  const fs::path obj = out;
  if (obj.extension() != ".obj") return std::unexpected("--out: " + out + " has to end in .obj");
  fs::path mtl = obj;
  mtl.replace_extension(".mtl");
  std::error_code error;
  for (const fs::path& path : {obj, mtl})
    if (fs::exists(path, error))
      return std::unexpected("--out: " + path.string() + " is there already: name another");
  if (const fs::path folder = obj.parent_path(); !folder.empty() && !fs::is_directory(folder, error))
    return std::unexpected("--out: there is no folder " + folder.string() + ": make it, or name another");
  return std::pair(obj, mtl);
}

std::expected<void, std::string> write_model_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.flush();
  if (file) return {};
  return std::unexpected("cannot write " + path + ": see that the folder is there and has room");
}

}  // namespace

constexpr CommandTable world_prune_table{
    "world prune",
    "Makes a world's database smaller: changed chunks that are as they were generated again go, and what the "
    "options "
    "name; the file is written anew without holes. No server may run on the world.",
    "DIR", prune_options};

constexpr CommandTable world_export_table{"world export",
                                          "Writes an area of a world's blocks as a Wavefront OBJ model: "
                                          "metres, y up, one material a kind of block, "
                                          "neighbouring faces of one kind joined. Also beside a running "
                                          "server. A world takes such a model as a prop.",
                                          "DIR", export_options};

CommandResult world_prune(const CommandWords& words, const CommandWorld& world) {
  auto options = prune_options_of(words);
  if (!options) return std::unexpected(options.error());
  const auto kept = open_kept_ground(words.operand);
  if (!kept) return std::unexpected(kept.error());
  options->spawn = kept->spawn;
  options->maps = kept->terrain.footprints;
  const auto lock = WorldLock::take(words.operand);  // nobody plays in it
  if (!lock) return std::unexpected(lock.error());
  const auto report = prune_store(
      kept->file, *options, [&](ChunkCoord at) { return generate_chunk(kept->terrain, at); }, world.now_s);
  if (!report) return std::unexpected(report.error().line);
  std::string out = count_text(report->same, "chunk") + " as generated";
  if (options->far) out += ", " + std::to_string(report->far) + " far away";
  if (options->log_age_s > 0) out += " and " + count_text(report->edits, "old edit");
  out += options->dry_run ? " would go, " : " gone, ";
  out += count_text(report->kept, "chunk") + (options->dry_run ? " would stay" : " kept");
  if (!options->dry_run)
    out += "; the database is " + std::to_string(report->bytes_after / 1000) + " kB, it was " +
           std::to_string(report->bytes_before / 1000) + " kB";
  if (!report->copy.empty()) out += "; as it was: " + report->copy;
  return CommandAnswer{out + "\n", 0};
}

CommandResult world_export(const CommandWords& words, const CommandWorld&) {
  const auto area = parse_edit_area(words.value("--area"), export_radius_m_max);
  if (!area) return std::unexpected("--area: " + area.error());
  const auto files = model_files(words.value("--out"));
  if (!files) return std::unexpected(files.error());
  const auto kept = open_kept_ground(words.operand);
  if (!kept) return std::unexpected(kept.error());
  const auto box = export_box(*area, kept->terrain.kind);
  if (!box) return std::unexpected(box.error());
  const auto chunks = read_chunks(*kept, chunk_of(box->min), chunk_of(box->max - IVec3{1, 1, 1}));
  if (!chunks) return std::unexpected(chunks.error());
  const ObjModel model = export_obj(**chunks, *box, *kept->blocks, files->second.filename().string());
  std::error_code error;
  for (const auto& [path, text] : {std::pair(files->first, &model.obj), std::pair(files->second, &model.mtl)})
    if (auto written = write_model_file(path.string(), *text); !written) {
      fs::remove(files->first, error);
      fs::remove(files->second, error);
      return std::unexpected(written.error());
    }
  return CommandAnswer{files->first.string() + " holds " + count_text(model.faces, "face") + "\n", 0};
}

}  // namespace ashlar::server
