#pragma once
#include <array>
#include <string>
#include <type_traits>
#include <vector>

#include "world/sim/rules.h"

namespace ashlar::testing {

/// Every value another than a fresh rule set's, and sane.
inline Rules other_rules() {
  Rules rules;
  visit_rules(rules, [](const RuleInfo& info, auto& value) {
    using Value = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_enum_v<Value>)
      value = static_cast<double>(value) > info.low ? Value{0} : Value{1};
    else
      value = static_cast<Value>(static_cast<double>(value) * 0.9);
  });
  return rules;
}

/// The keys of the rules in which two sets differ.
inline std::vector<std::string> rules_that_differ(const Rules& a, const Rules& b) {
  std::array<double, rule_count()> values{};
  std::size_t i = 0;
  visit_rules(a, [&](const RuleInfo&, const auto& value) { values[i++] = static_cast<double>(value); });
  i = 0;
  std::vector<std::string> out;
  visit_rules(b, [&](const RuleInfo& info, const auto& value) {
    if (values[i++] != static_cast<double>(value)) out.emplace_back(info.key);
  });
  return out;
}

}  // namespace ashlar::testing
