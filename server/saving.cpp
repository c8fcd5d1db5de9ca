#include "server/saving.h"

#include <algorithm>
#include <chrono>

#include "server/store/edit_log.h"

namespace ashlar::server {
namespace {

/// Docker kills ten seconds after it asked for an end; goodbyes and the log need some of them.
constexpr std::chrono::seconds save_grace{6};

SaverOptions saver_options(const Config& config) {
  SaverOptions options;
  options.every = std::chrono::milliseconds{config.save_interval_ms};
  options.state_every = std::max<std::chrono::microseconds>(options.state_every, options.every);
  options.log.rows_max = (std::uint64_t{config.edit_log_mib} << 20) / edit_row_bytes;
  options.log.age_s = std::int64_t{config.edit_log_days} * 24 * 3600;
  return options;
}

}  // namespace

Saving::Saving(const Startup& startup, Log& log)
    : log_(log),
      history_(startup.store == nullptr ? std::string() : startup.loaded.config.world_dir + "/" + store_name,
               log),
      stored_(startup.stored) {
  if (startup.store == nullptr) return;
  const std::uint64_t tick = startup.store->world().tick;
  saver_ = std::make_unique<WorldSaver>(startup.store, tick, saver_options(startup.loaded.config));
  history_.follow(*saver_);
  log_.info("store", {{"file", startup.loaded.config.world_dir + "/" + store_name}, {"saved_tick", tick}});
  if (!startup.store->copied().empty())
    log_.info("store_upgraded", {{"format", store_format}, {"copy", startup.store->copied()}});
  watch();
}

void Saving::attach(const Host& host, LoopOptions& options) {
  options.history = &history_;
  if (saver_ == nullptr) return;
  options.saver = saver_.get();
  options.save = [this, &host](const std::function<void()>& goodbye) { save_all(host, goodbye); };
}

void Saving::watch() {
  if (saver_ == nullptr) return;
  for (const LostChunk& lost : stored_->take_lost())
    log_.event(
        LogLevel::error, "chunk_damaged",
        {{"x", lost.at.x},
         {"y", lost.at.y},
         {"z", lost.at.z},
         {"reason", lost.reason},
         {"now", lost.regenerated ? "regenerated" : "closed"},
         {"remedy", "see ashlar-server world check; restore the world from a backup to have it back"}});
  const SaverStatus status = saver_->status();
  if (!status.failure.empty() && !failing_)
    log_.event(LogLevel::error, "saving_failed",
               {{"error", status.failure}, {"dirty_chunks", status.dirty_chunks}});
  if (status.failure.empty() && failing_)
    log_.info("saving_recovered", {{"saved_tick", status.saved_tick}, {"dirty_chunks", status.dirty_chunks}});
  if (status.dirty_waiting > 0 && !beyond_)
    log_.warning("saving_behind",
                 {{"dirty_chunks", status.dirty_chunks},
                  {"remedy", "the disk is too slow or full: what is announced as saved stays behind"}});
  if (!status.log_failure.empty() && !log_damaged_)
    log_.event(
        LogLevel::error, "edit_log_damaged",
        {{"error", status.log_failure},
         {"remedy", status.log_off ? "the world is saved, who changed it is not: stop the server and run "
                                     "ashlar-server world salvage"
                                   : "the world is saved, who changed it is not: it is tried again with each "
                                     "group; see to the disk"}});
  if (status.log_failure.empty() && status.failure.empty() && log_damaged_)
    log_.info("edit_log_recovered", {{"edits_unlogged", status.edits_unlogged}});
  if (status.failure.empty()) log_damaged_ = !status.log_failure.empty();
  if (status.edits_unlogged > 0 && !unlogged_ && !log_damaged_)
    log_.warning("edits_unlogged", {{"edits", status.edits_unlogged},
                                    {"remedy", "more blocks change at once than the log of edits takes"}});
  unlogged_ = status.edits_unlogged > 0;
  failing_ = !status.failure.empty();
  beyond_ = status.dirty_waiting > 0;
}

void Saving::save_all(const Host& host, const std::function<void()>& goodbye) {
  const auto begun = Loop::now();
  const std::vector<KeptPlayer> here = host.present_players();
  KeptState state;
  host.world().keep_state(state);
  saver_->note(begun, number(host.world().tick()), *host.world().space().voxels,
               {.chunks = {}, .players = here, .state = &state});
  saver_->finish(std::chrono::duration_cast<std::chrono::milliseconds>(save_grace),
                 *host.world().space().voxels, goodbye);
  watch();
  const SaverStatus status = saver_->status();
  if (status.all_saved)
    log_.info("saved", {{"saved_tick", status.saved_tick},
                        {"took_ms", static_cast<double>((Loop::now() - begun).count() / 100) / 10.0}});
}

void Saving::save_noted(const Host& host) {
  if (saver_ == nullptr) return;
  saver_->finish(std::chrono::duration_cast<std::chrono::milliseconds>(save_grace),
                 *host.world().space().voxels);
  watch();
}

std::uint64_t Saving::groups() const { return saver_ == nullptr ? 0 : saver_->status().groups; }

std::expected<void, std::string> Saving::outcome() const {
  if (saver_ == nullptr) return {};
  const SaverStatus status = saver_->status();
  if (status.all_saved) return {};
  return std::unexpected("the world was not saved: " + std::to_string(status.dirty_chunks) +
                         " changed chunks are lost, and what players and monsters did last: " +
                         (status.failure.empty() ? std::string("the disk is too slow") : status.failure));
}

}  // namespace ashlar::server
