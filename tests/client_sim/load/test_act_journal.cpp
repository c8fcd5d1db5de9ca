#include "client_sim/load/act_journal.h"

#include "tests/catch.h"

using namespace ashlar;
using namespace ashlar::client_sim;

TEST_CASE("a journal of acts has each verdict with its act, and at the end those without",
          "[client_sim][load]") {
  ActJournal journal("ada");
  journal.act_out(7, {{}, 1, BlockActKind::place, BlockFace::top, {3, 4, 5}, BlockId::brick, 0, {}});
  journal.act_out(8, {{}, 2, BlockActKind::dig, BlockFace::top, {3, 4, -5}, BlockId::air, 0, {}});
  journal.act_out(9, {{}, 3, BlockActKind::stop, {}, {}, BlockId::air, 0, {}});
  journal.answers_in({8, {{1, ActVerdict::done, {3, 4, 6}}, {2, ActVerdict::progress, {3, 4, -5}}}, 1});
  journal.saved_in(8);
  journal.answers_in({10, {{2, ActVerdict::stopped, {3, 4, -5}}, {1, ActVerdict::done, {3, 4, 6}}}, 1});
  CHECK(journal.take() ==
        "ada,8,done,1,1,3,4,6,8\n"
        "ada,8,progress,2,0,3,4,-5,0\n"
        "ada,8,saved,0,0,0,0,0,0\n"
        "ada,10,stopped,2,0,3,4,-5,0\n"
        "ada,10,unasked,1,0,3,4,6,0\n"
        "ada,9,unanswered,3,2,0,0,0,0\n");
  CHECK(journal.take().empty());
}
