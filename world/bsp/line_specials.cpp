#include "world/bsp/line_specials.h"

#include <algorithm>
#include <array>

namespace ashlar {
namespace {

// Facts about the numbers: the published Doom source (linedef types 1 to 141) and the Boom reference 1.3
// (142 and up). A tic is 1/35 s.

constexpr double per_tic(double units) { return units * map_unit_m * doom_tic_hz; }
constexpr double tics(double count) { return count / doom_tic_hz; }

// How a line is set off: once or repeatedly.
enum class On : std::uint8_t { w1, wr, s1, sr, g1, gr, d1, dr };
using enum On;

using E = LineEffect;
using T = HeightTarget;

/// One row of the table. `units` is the target's offset, or the rise of a stair.
struct Row {
  std::uint16_t number;
  On on;
  E effect;
  T target = T::by_amount;
  double units = 0;
  double units_per_tic = 0;
  double wait_s = 0;
  std::uint8_t keys = 0;
  enum Flags : std::uint8_t { plain = 0, monsters = 1, monsters_only = 2, crushes = 4, slows = 8 };
  unsigned flags = plain;
};

constexpr double door = 2, blaze = 8, slow = 1, half = 0.5, lift = 4, turbo = 4, quarter = 0.25;
constexpr double door_wait = tics(150), lift_wait = 3, half_minute = 30;
constexpr unsigned mon = Row::monsters;
constexpr unsigned only = Row::monsters | Row::monsters_only;
constexpr unsigned press = Row::crushes | Row::slows;

constexpr Row doors(std::uint16_t n, On on, E e, double speed, std::uint8_t keys = 0, unsigned flags = 0) {
  const double wait = e == E::door_close_wait_open ? half_minute : door_wait;
  return {n, on, e, T::lowest_ceiling, -4, speed, wait, keys, flags};
}
constexpr Row lifts(std::uint16_t n, On on, E e, double speed, unsigned flags = 0) {
  return {n, on, e, T::lowest_floor, 0, speed, lift_wait, 0, flags};
}
constexpr Row floors(std::uint16_t n, On on, T target, double units, double speed, unsigned flags = 0) {
  return {n, on, E::floor, target, units, speed, 0, 0, flags};
}
constexpr Row ceilings(std::uint16_t n, On on, T target, double units, double speed, unsigned flags = 0) {
  return {n, on, E::ceiling, target, units, speed, 0, 0, flags};
}
constexpr Row crushers(std::uint16_t n, On on, double speed, unsigned flags) {
  return {n, on, E::crusher, T::own_floor, 8, speed, 0, 0, flags};
}
constexpr Row stairs(std::uint16_t n, On on, double rise, double speed) {
  return {n, on, E::stairs, T::by_amount, rise, speed, 0, 0, 0};
}
constexpr Row other(std::uint16_t n, On on, E e, unsigned flags = 0) {
  return {n, on, e, T::by_amount, 0, e == E::donut ? half : slow, 0, 0, flags};
}
constexpr Row inert(std::uint16_t n, On on = w1) { return other(n, on, E::inert); }

// "Raise by the shortest lower texture" (30, 96, 158, 176) needs the heights of textures, which are never
// loaded: the next higher floor stands in for it. No Freedoom map has one.
constexpr Row texture_rise(std::uint16_t n, On on) { return floors(n, on, T::next_higher_floor, 0, slow); }

constexpr Row table[] = {
    doors(1, dr, E::door_raise, door, 0, mon),
    doors(2, w1, E::door_open, door),
    doors(3, w1, E::door_close, door),
    doors(4, w1, E::door_raise, door, 0, mon),
    floors(5, w1, T::lowest_ceiling, 0, slow),
    crushers(6, w1, 2, Row::crushes),
    stairs(7, s1, 8, quarter),
    stairs(8, w1, 8, quarter),
    other(9, s1, E::donut),
    lifts(10, w1, E::lift, lift, mon),
    other(11, s1, E::exit),
    inert(12),
    inert(13),
    floors(14, s1, T::by_amount, 32, half),
    floors(15, s1, T::by_amount, 24, half),
    doors(16, w1, E::door_close_wait_open, door),
    inert(17),
    floors(18, s1, T::next_higher_floor, 0, slow),
    floors(19, w1, T::highest_floor, 0, slow),
    floors(20, s1, T::next_higher_floor, 0, half),
    lifts(21, s1, E::lift, lift),
    floors(22, w1, T::next_higher_floor, 0, half),
    floors(23, s1, T::lowest_floor, 0, slow),
    floors(24, g1, T::lowest_ceiling, 0, slow),
    crushers(25, w1, 1, press),
    doors(26, dr, E::door_raise, door, key::blue),
    doors(27, dr, E::door_raise, door, key::yellow),
    doors(28, dr, E::door_raise, door, key::red),
    doors(29, s1, E::door_raise, door),
    texture_rise(30, w1),
    doors(31, d1, E::door_open, door),
    doors(32, d1, E::door_open, door, key::blue),
    doors(33, d1, E::door_open, door, key::red),
    doors(34, d1, E::door_open, door, key::yellow),
    inert(35),
    floors(36, w1, T::highest_floor, 8, turbo),
    floors(37, w1, T::lowest_floor, 0, slow),
    floors(38, w1, T::lowest_floor, 0, slow),
    other(39, w1, E::teleport, mon),
    // It asks for the lowest floor as well, which Doom never starts: the ceiling has the sector by then.
    ceilings(40, w1, T::highest_ceiling, 0, slow),
    ceilings(41, s1, T::own_floor, 0, slow),
    doors(42, sr, E::door_close, door),
    ceilings(43, sr, T::own_floor, 0, slow),
    ceilings(44, w1, T::own_floor, 8, slow, press),
    floors(45, sr, T::highest_floor, 0, slow),
    doors(46, gr, E::door_open, door, 0, mon),
    floors(47, g1, T::next_higher_floor, 0, half),
    inert(48),
    crushers(49, s1, 1, press),
    doors(50, s1, E::door_close, door),
    other(51, s1, E::exit),
    other(52, w1, E::exit),
    lifts(53, w1, E::lift_perpetual, slow),
    other(54, w1, E::lift_stop),
    floors(55, s1, T::lowest_ceiling, -8, slow, Row::crushes),
    floors(56, w1, T::lowest_ceiling, -8, slow, Row::crushes),
    other(57, w1, E::crusher_stop),
    floors(58, w1, T::by_amount, 24, slow),
    floors(59, w1, T::by_amount, 24, slow),
    floors(60, sr, T::lowest_floor, 0, slow),
    doors(61, sr, E::door_open, door),
    lifts(62, sr, E::lift, lift),
    doors(63, sr, E::door_raise, door),
    floors(64, sr, T::lowest_ceiling, 0, slow),
    floors(65, sr, T::lowest_ceiling, -8, slow, Row::crushes),
    floors(66, sr, T::by_amount, 24, half),
    floors(67, sr, T::by_amount, 32, half),
    floors(68, sr, T::next_higher_floor, 0, half),
    floors(69, sr, T::next_higher_floor, 0, slow),
    floors(70, sr, T::highest_floor, 8, turbo),
    floors(71, s1, T::highest_floor, 8, turbo),
    ceilings(72, wr, T::own_floor, 8, slow, press),
    crushers(73, wr, 1, press),
    other(74, wr, E::crusher_stop),
    doors(75, wr, E::door_close, door),
    doors(76, wr, E::door_close_wait_open, door),
    crushers(77, wr, 2, Row::crushes),
    inert(78, sr),
    inert(79, wr),
    inert(80, wr),
    inert(81, wr),
    floors(82, wr, T::lowest_floor, 0, slow),
    floors(83, wr, T::highest_floor, 0, slow),
    floors(84, wr, T::lowest_floor, 0, slow),
    inert(85),
    doors(86, wr, E::door_open, door),
    lifts(87, wr, E::lift_perpetual, slow),
    lifts(88, wr, E::lift, lift, mon),
    other(89, wr, E::lift_stop),
    doors(90, wr, E::door_raise, door),
    floors(91, wr, T::lowest_ceiling, 0, slow),
    floors(92, wr, T::by_amount, 24, slow),
    floors(93, wr, T::by_amount, 24, slow),
    floors(94, wr, T::lowest_ceiling, -8, slow, Row::crushes),
    floors(95, wr, T::next_higher_floor, 0, half),
    texture_rise(96, wr),
    other(97, wr, E::teleport, mon),
    floors(98, wr, T::highest_floor, 8, turbo),
    doors(99, sr, E::door_open, blaze, key::blue),
    stairs(100, w1, 16, turbo),
    floors(101, s1, T::lowest_ceiling, 0, slow),
    floors(102, s1, T::highest_floor, 0, slow),
    doors(103, s1, E::door_open, door),
    inert(104),
    doors(105, wr, E::door_raise, blaze),
    doors(106, wr, E::door_open, blaze),
    doors(107, wr, E::door_close, blaze),
    doors(108, w1, E::door_raise, blaze),
    doors(109, w1, E::door_open, blaze),
    doors(110, w1, E::door_close, blaze),
    doors(111, s1, E::door_raise, blaze),
    doors(112, s1, E::door_open, blaze),
    doors(113, s1, E::door_close, blaze),
    doors(114, sr, E::door_raise, blaze),
    doors(115, sr, E::door_open, blaze),
    doors(116, sr, E::door_close, blaze),
    doors(117, dr, E::door_raise, blaze),
    doors(118, d1, E::door_open, blaze),
    floors(119, w1, T::next_higher_floor, 0, slow),
    lifts(120, wr, E::lift, 8),
    lifts(121, w1, E::lift, 8),
    lifts(122, s1, E::lift, 8),
    lifts(123, sr, E::lift, 8),
    other(124, w1, E::exit),
    other(125, w1, E::teleport, only),
    other(126, wr, E::teleport, only),
    stairs(127, s1, 16, turbo),
    floors(128, wr, T::next_higher_floor, 0, slow),
    floors(129, wr, T::next_higher_floor, 0, turbo),
    floors(130, w1, T::next_higher_floor, 0, turbo),
    floors(131, s1, T::next_higher_floor, 0, turbo),
    floors(132, sr, T::next_higher_floor, 0, turbo),
    doors(133, s1, E::door_open, blaze, key::blue),
    doors(134, sr, E::door_open, blaze, key::red),
    doors(135, s1, E::door_open, blaze, key::red),
    doors(136, sr, E::door_open, blaze, key::yellow),
    doors(137, s1, E::door_open, blaze, key::yellow),
    inert(138, sr),
    inert(139, sr),
    floors(140, s1, T::by_amount, 512, slow),
    crushers(141, w1, 1, press),
    // Boom's.
    floors(142, w1, T::by_amount, 512, slow),
    floors(143, w1, T::by_amount, 24, half),
    floors(144, w1, T::by_amount, 32, half),
    ceilings(145, w1, T::own_floor, 0, slow),
    other(146, w1, E::donut),
    floors(147, wr, T::by_amount, 512, slow),
    floors(148, wr, T::by_amount, 24, half),
    floors(149, wr, T::by_amount, 32, half),
    crushers(150, wr, 1, press),
    other(151, wr, E::floor_and_ceiling),
    ceilings(152, wr, T::own_floor, 0, slow),
    inert(153),
    inert(154, wr),
    other(155, wr, E::donut),
    inert(156, wr),
    inert(157, wr),
    texture_rise(158, s1),
    floors(159, s1, T::lowest_floor, 0, slow),
    floors(160, s1, T::by_amount, 24, slow),
    floors(161, s1, T::by_amount, 24, slow),
    lifts(162, s1, E::lift_perpetual, slow),
    other(163, s1, E::lift_stop),
    crushers(164, s1, 2, Row::crushes),
    crushers(165, s1, 1, press),
    ceilings(166, s1, T::highest_ceiling, 0, slow),
    ceilings(167, s1, T::own_floor, 8, slow, press),
    other(168, s1, E::crusher_stop),
    inert(169, s1),
    inert(170, s1),
    inert(171, s1),
    inert(172, s1),
    inert(173, s1),
    other(174, s1, E::teleport, mon),
    doors(175, s1, E::door_close_wait_open, door),
    texture_rise(176, sr),
    floors(177, sr, T::lowest_floor, 0, slow),
    floors(178, sr, T::by_amount, 512, slow),
    floors(179, sr, T::by_amount, 24, slow),
    floors(180, sr, T::by_amount, 24, slow),
    lifts(181, sr, E::lift_perpetual, slow),
    other(182, sr, E::lift_stop),
    crushers(183, sr, 2, Row::crushes),
    crushers(184, sr, 1, press),
    crushers(185, sr, 1, press),
    ceilings(186, sr, T::highest_ceiling, 0, slow),
    ceilings(187, sr, T::own_floor, 8, slow, press),
    other(188, sr, E::crusher_stop),
    inert(189, s1),
    inert(190, sr),
    other(191, sr, E::donut),
    inert(192, sr),
    inert(193, sr),
    inert(194, sr),
    other(195, sr, E::teleport, mon),
    doors(196, sr, E::door_close_wait_open, door),
    other(197, g1, E::exit),
    other(198, g1, E::exit),
    ceilings(199, w1, T::lowest_ceiling, 0, slow),
    ceilings(200, w1, T::highest_floor, 0, slow),
    ceilings(201, wr, T::lowest_ceiling, 0, slow),
    ceilings(202, wr, T::highest_floor, 0, slow),
    ceilings(203, s1, T::lowest_ceiling, 0, slow),
    ceilings(204, s1, T::highest_floor, 0, slow),
    ceilings(205, sr, T::lowest_ceiling, 0, slow),
    ceilings(206, sr, T::highest_floor, 0, slow),
    other(207, w1, E::teleport, mon),
    other(208, wr, E::teleport, mon),
    other(209, s1, E::teleport, mon),
    other(210, sr, E::teleport, mon),
    inert(213),
    floors(219, w1, T::next_lower_floor, 0, slow),
    floors(220, wr, T::next_lower_floor, 0, slow),
    floors(221, s1, T::next_lower_floor, 0, slow),
    floors(222, sr, T::next_lower_floor, 0, slow),
    other(243, w1, E::teleport_line, mon),
    other(244, wr, E::teleport_line, mon),
    other(252, w1, E::carry),
    other(253, w1, E::carry),
    inert(254),
    inert(255),
    stairs(256, wr, 8, quarter),
    stairs(257, wr, 16, turbo),
    stairs(258, sr, 8, quarter),
    stairs(259, sr, 16, turbo),
    inert(260),
    inert(261),
    other(266, w1, E::teleport_line, only),
    other(267, wr, E::teleport_line, only),
    other(268, w1, E::teleport, only),
    other(269, wr, E::teleport, only),
};

constexpr bool ascending() {
  for (std::size_t i = 1; i < std::size(table); ++i)
    if (table[i - 1].number >= table[i].number) return false;
  return true;
}
static_assert(ascending(), "rows are found by bisection");

const Row* find_row(std::uint16_t number) {
  const auto at = std::ranges::lower_bound(table, number, {}, &Row::number);
  return at != std::end(table) && at->number == number ? &*at : nullptr;
}

LineAction action_of(const Row& row) {
  LineAction a;
  switch (row.on) {
    case w1:
    case wr: a.trigger = LineTrigger::walk; break;
    case g1:
    case gr: a.trigger = LineTrigger::shoot; break;
    default: a.trigger = LineTrigger::use; break;
  }
  a.repeats = row.on == wr || row.on == sr || row.on == gr || row.on == dr;
  a.sector_behind = row.on == d1 || row.on == dr;
  a.effect = row.effect;
  if (a.effect == LineEffect::inert || a.effect == LineEffect::carry) a.trigger = LineTrigger::none;
  a.target = row.target;
  a.monsters = (row.flags & Row::monsters) != 0;
  a.players = (row.flags & Row::monsters_only) == 0;
  a.crushes = (row.flags & Row::crushes) != 0;
  a.slows = (row.flags & Row::slows) != 0;
  a.keys = row.keys;
  if (row.effect == LineEffect::stairs)
    a.step_m = row.units * map_unit_m;
  else
    a.offset_m = row.units * map_unit_m;
  a.speed_mps = per_tic(row.units_per_tic);
  a.wait_s = row.wait_s;
  return a;
}

}  // namespace

bool special_known(SpecialNumbers numbers, std::uint16_t special) {
  if (numbers == SpecialNumbers::zdoom) {
    MapLine line;
    line.special = special;
    return detail::zdoom_action(line).has_value();
  }
  return find_row(special) != nullptr || detail::boom_general_action(special).has_value();
}

std::optional<LineAction> line_action(const SectorMap& map, const MapLine& line) {
  if (line.special == 0) return std::nullopt;
  if (map.specials == SpecialNumbers::zdoom) return detail::zdoom_action(line);
  std::optional<LineAction> out;
  if (const Row* row = find_row(line.special))
    out = action_of(*row);
  else
    out = detail::boom_general_action(line.special);
  if (out) out->tag = line.tag;
  return out;
}

std::vector<std::pair<std::uint16_t, std::uint32_t>> unknown_specials(const SectorMap& map) {
  std::vector<std::uint16_t> numbers;
  for (const MapLine& line : map.lines)
    if (line.special != 0 && !special_known(map.specials, line.special)) numbers.push_back(line.special);
  std::ranges::sort(numbers);
  std::vector<std::pair<std::uint16_t, std::uint32_t>> out;
  for (const std::uint16_t n : numbers) {
    if (out.empty() || out.back().first != n) out.emplace_back(n, 0);
    ++out.back().second;
  }
  return out;
}

std::uint8_t key_of_thing(std::uint16_t type) {
  switch (type) {
    case 5:
    case 40: return key::blue;
    case 6:
    case 39: return key::yellow;
    case 13:
    case 38: return key::red;
    default: return 0;
  }
}

}  // namespace ashlar
