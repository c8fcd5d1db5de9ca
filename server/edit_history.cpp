#include "server/edit_history.h"

#include "server/config/moment.h"
#include "server/store/saver.h"
#include "world/sim/world.h"
#include "world/voxel/block_registry.h"
#include "world/voxel/volume.h"

namespace ashlar::server {
namespace {

std::string kind_name(const Host& host, BlockId id) {
  const BlockRegistry& kinds = *host.world().setup().blocks;
  return kinds.knows(id) ? kinds.type(id).name : std::to_string(static_cast<unsigned>(id));
}

/// A box of blocks, and what it holds where it is one and the plan says that.
/// @param undo  of its first
void put_back_box(Host& host, const BlockUndo& undo, const AdminCommand& act) {
  AdminCommand fill;
  fill.action = AdminAction::fill_block;
  fill.player = act.player;
  fill.box = act.box;
  // Its loot is in it again: what is left of that in the chest that it had become is not to lie beside it.
  const bool treasure = undo.to == host.world().setup().blocks->treasure() && undo.to != BlockId::air;
  if (undo.held && treasure) host.admin(fill);
  host.admin(act);
  if (!undo.held) return;
  fill.data = *undo.held;
  host.admin(fill);
}

/// The next one up in the same column: one box takes both.
bool follows(const BlockUndo& lower, const BlockUndo& upper) {
  return upper.to == lower.to && !lower.held && !upper.held && upper.block == lower.block + IVec3{0, 0, 1};
}

}  // namespace

void EditHistory::ask(const EditOrder& order, Reply reply) {
  if (file_.empty())
    return reply.warning("console", {{"error", "no world is kept, so nothing is remembered: see --world"}});
  if (order_)
    return reply.warning(
        "console", {{"error", "the log is being asked for " + order_->subject + ": wait for its answer"}});
  reply_ = reply;
  order_ = order;
  looking_ = false;
  saved_by_.reset();
  if (saver_ == nullptr) look();
}

/// Is what happened up to the order on the disk, where the log is? Where nothing can be saved the log is
/// asked all the same.
bool EditHistory::all_saved() {
  if (!saved_by_) saved_by_ = saver_->hurry();
  return saver_->durable().tick >= *saved_by_ || !saver_->status().failure.empty();
}

void EditHistory::look() {
  looking_ = true;
  look_.start([file = file_, order = *order_] {
    Answer answer;
    const auto log = open_log(file);
    if (!log) return answer.trouble = log.error().line, answer;
    // "since 10m" with a name that is spelled otherwise would look as if there were nothing to put back.
    if (const auto known = check_player_known(*log, order.query); !known)
      return answer.trouble = known.error().line + ": log @all names who is", answer;
    if (order.rollback) {
      auto plan = plan_rollback(*log, order.query, order.force);
      if (!plan) return answer.trouble = plan.error().line, answer;
      answer.plan = std::move(*plan);
    } else {
      auto found = find_edits(*log, order.query);
      if (!found) return answer.trouble = found.error().line, answer;
      answer.found = std::move(*found);
    }
    return answer;
  });
}

void EditHistory::feed(Host& host) {
  if (!order_) return;
  if (plan_) return put_back(host);
  if (!looking_) {
    if (all_saved()) look();
    return;
  }
  auto answer = look_.take();
  if (!answer) return;
  if (!answer->trouble.empty()) {
    reply_.warning("console", {{"error", answer->trouble}});
    order_.reset();
  } else if (order_->rollback) {
    plan_ = std::move(answer->plan);
    next_ = 0, put_ = 0, left_ = plan_->left, away_ = 0;
  } else {
    tell(host, answer->found);
    order_.reset();
  }
}

void EditHistory::tell(const Host& host, const FoundEdits& found) {
  for (const FoundEdit& edit : found.edits)
    reply_.info("edit", {{"at", moment_text(edit.time_s)},
                         {"by", author_name(found.authors[edit.author])},
                         {"key", author_key(found.authors[edit.author])},
                         {"x", edit.block.x},
                         {"y", edit.block.y},
                         {"z", edit.block.z},
                         {"before", kind_name(host, edit.before)},
                         {"after", kind_name(host, edit.after)},
                         {"contents", edit.contents ? "changed" : "same"}});
  reply_.info("console", {{"log", order_->subject}, {"edits", found.edits.size()}});
}

/// One batch at a time: what somebody built meanwhile is seen, and the end is told when it is there.
void EditHistory::put_back(Host& host) {
  if (host.ground_waits()) return;
  if (next_ == plan_->blocks.size()) return end_rollback();
  const VoxelVolume& volume = *host.world().space().voxels;
  const std::vector<BlockUndo>& blocks = plan_->blocks;
  const std::size_t end = std::min(blocks.size(), next_ + blocks_per_tick);
  while (next_ < end) {
    const BlockUndo& first = blocks[next_];
    if (volume.find(chunk_of(first.block)) == nullptr) {
      ++next_, ++away_;
      continue;
    }
    const auto wanted = [&](const BlockUndo& undo) {
      return order_->force || volume.block(undo.block) == undo.expected;
    };
    if (!wanted(first)) {
      ++next_, ++left_;
      continue;
    }
    std::size_t last = next_;
    while (last + 1 < end && follows(blocks[last], blocks[last + 1]) && wanted(blocks[last + 1]) &&
           chunk_of(blocks[last + 1].block) == chunk_of(first.block))
      ++last;
    put_ += last - next_ + 1;
    if (!order_->dry_run) {
      AdminCommand act;
      act.action = AdminAction::fill_box;
      act.player = reply_.by();
      act.box = {first.block, blocks[last].block + IVec3{1, 1, 1}};
      act.id = first.to;
      put_back_box(host, first, act);
    }
    next_ = last + 1;
  }
  if (next_ == blocks.size() && !host.ground_waits()) end_rollback();
}

void EditHistory::end_rollback() {
  reply_.info("console", {{"rollback", order_->subject},
                          {"edits", plan_->edits},
                          {order_->dry_run ? "would_put_back" : "put_back", put_},
                          {"left", left_},
                          {"not_loaded", away_}});
  if (away_ > 0)
    reply_.warning("console", {{"remedy",
                                "nobody is near to what is not loaded: go there and ask again, or stop the "
                                "server and use ashlar-server world rollback"}});
  plan_.reset();
  order_.reset();
}

}  // namespace ashlar::server
