#pragma once
#include <cstddef>
#include <expected>
#include <string>
#include <utility>
#include <vector>

#include "server/config/config.h"
#include "server/config/settings.h"

namespace ashlar::server {

/// Makes a row one of a list of values, each a text of its own.
/// @param called  what they are, as "has more than 64 maps" needs it
/// @param parse   of one text: a value, or what is wrong with it
/// @param text    of one value: what parse() reads
/// @param whole   of all values: what is wrong with them together, if anything
template <class Value, class Parse, class Text, class Whole>
void is_list(Setting& s, std::vector<Value> Config::* list, std::size_t most, const char* called, Parse parse,
             Text text, Whole whole) {
  s.set = [=](Config& config, const RawValue& raw) -> std::expected<void, std::string> {
    if (raw.size() > most) return std::unexpected("has more than " + std::to_string(most) + " " + called);
    std::vector<Value> values;
    for (const std::string& one : raw) {
      auto value = parse(one);
      if (!value) return std::unexpected(std::move(value.error()));
      values.push_back(std::move(*value));
    }
    if (std::expected<void, std::string> good = whole(values); !good) return good;
    config.*list = std::move(values);
    return {};
  };
  s.get = [=](const Config& config) {
    RawValue raw;
    for (const Value& value : config.*list) raw.push_back(text(value));
    return raw;
  };
}

/// Of values that may be any together.
template <class Value>
std::expected<void, std::string> any_of_them(const std::vector<Value>&) {
  return {};
}

}  // namespace ashlar::server
