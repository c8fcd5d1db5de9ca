#include "client_sim/load/act_journal.h"

#include <cstdio>
#include <utility>

namespace ashlar::client_sim {

void ActJournal::line(std::uint32_t tick, std::string_view verdict, std::uint32_t number, const BlockAct& act,
                      IVec3 block) {
  char text[160];
  const int size =
      std::snprintf(text, sizeof text, ",%u,%.*s,%u,%u,%d,%d,%d,%u\n", tick, static_cast<int>(verdict.size()),
                    verdict.data(), number, static_cast<unsigned>(act.kind), block.x, block.y, block.z,
                    static_cast<unsigned>(act.id));
  lines_ += player_;
  lines_.append(text, static_cast<std::size_t>(size));
}

void ActJournal::act_out(std::uint32_t tick, const BlockAct& act) { open_[act.number] = {tick, act}; }

void ActJournal::answers_in(const ActAnswers& answers) {
  for (const ActAnswer& answer : answers.answers) {
    const auto sent = open_.find(answer.number);
    // A second last word, or one that nobody asked for, is to be seen, too: it has no kind of its own.
    const BlockAct act = sent == open_.end() ? BlockAct{} : sent->second.act;
    const std::string_view verdict = sent == open_.end() ? "unasked" : name(answer.verdict);
    line(answers.tick, verdict, answer.number, act, answer.block);
    if (sent != open_.end() && answer.verdict != ActVerdict::progress) open_.erase(sent);
  }
}

void ActJournal::saved_in(std::uint32_t tick) { line(tick, "saved", 0, {}, {}); }

std::string ActJournal::take() {
  for (const auto& [number, sent] : open_) line(sent.tick, "unanswered", number, sent.act, sent.act.block);
  open_.clear();
  return std::exchange(lines_, {});
}

}  // namespace ashlar::client_sim
