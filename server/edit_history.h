#pragma once
#include <cstdint>
#include <expected>
#include <optional>
#include <string>

#include "server/admin/edit_order.h"
#include "server/admin/reply.h"
#include "server/background.h"
#include "server/host/host.h"
#include "server/log/log.h"
#include "server/store/rollback.h"
#include "world/sim/ground_edits.h"

namespace ashlar::server {

/// Who changed what, asked on the console of a server that plays: looks into the log beside the loop, answers
/// there and to the admin who asked, and puts blocks back as that one's edits or the operator's, a tick's
/// worth at a time, each when those before it and what other operators ordered are done. One order at once.
/// The loop's thread.
class EditHistory {
 public:
  /// Blocks that a rollback puts back in one tick.
  static constexpr std::size_t blocks_per_tick = GroundEdits::batch_blocks_max;

  /// @param file  the world's database; empty: no world is kept, every order is answered so
  EditHistory(std::string file, Log& log) : file_(std::move(file)), reply_(log) {}

  /// What the log is asked has all been saved first. @param saver  of that world; outlives this
  void follow(WorldSaver& saver) { saver_ = &saver; }

  /// @param reply  is told what comes of it
  void ask(const EditOrder& order, Reply reply);
  /// Before a tick: hands the host what is to be put back, and says what came of it. Cheap while there is
  /// nothing.
  void feed(Host& host);
  /// Is a rollback under way whose blocks are being put back?
  bool puts_back() const { return plan_.has_value(); }
  /// Or one that still looks for what there is to put back?
  bool rolls_back() const { return plan_.has_value() || (order_ && order_->rollback); }

 private:
  struct Answer {
    FoundEdits found;
    RollbackPlan plan;
    std::string trouble;  ///< one line; empty: there is an answer
  };
  bool all_saved();
  void look();
  void tell(const Host& host, const FoundEdits& found);
  void put_back(Host& host);
  void end_rollback();

  std::string file_;
  WorldSaver* saver_ = nullptr;            ///< null: nobody saves beside this
  bool looking_ = false;                   ///< the order was handed on
  std::optional<std::uint32_t> saved_by_;  ///< the tick that has to be on the disk before
  Reply reply_;                            ///< of the order under way
  std::optional<EditOrder> order_;         ///< under way
  Background<Answer> look_;
  std::optional<RollbackPlan> plan_;  ///< of a rollback that is being done
  std::size_t next_ = 0;              ///< of its blocks
  std::uint64_t put_ = 0, left_ = 0, away_ = 0;
};

}  // namespace ashlar::server
