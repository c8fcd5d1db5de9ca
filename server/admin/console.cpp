#include "server/admin/console.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "protocol/messages.h"
#include "server/config/settings.h"
#include "server/config/values.h"

namespace ashlar::server {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

std::string_view console_help() {
  return "help, status (log it now), motd TEXT (for those who join from now on), noclip NAME on|off (lets a "
         "player fly "
         "through everything), reload (as SIGHUP), stop";
}

std::expected<ConsoleCommand, std::string> parse_console_line(std::string_view line) {
  const std::string_view text = trimmed(line);
  const std::size_t blank = text.find_first_of(" \t");
  const std::string word(text.substr(0, blank));
  const std::string argument(blank == std::string_view::npos ? "" : trimmed(text.substr(blank)));
  const std::vector<std::string> words{"help", "status", "motd", "noclip", "reload", "stop"};
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) {
    const std::string near = nearest_name(word, words);
    return std::unexpected("there is no command \"" + word + "\"" +
                           (near.empty() ? ": type help" : ": did you mean " + near + "?"));
  }
  const auto verb = static_cast<ConsoleVerb>(found - words.begin());
  if (verb == ConsoleVerb::noclip) {
    // Names may hold blanks: the last word says what to do.
    const std::size_t last = argument.find_last_of(" \t");
    const std::string how = last == std::string::npos ? "" : argument.substr(last + 1);
    if ((how != "on" && how != "off") || trimmed(argument.substr(0, last)).empty())
      return std::unexpected("noclip needs a player and what to do: noclip NAME on|off");
    return ConsoleCommand{verb, std::string(trimmed(argument.substr(0, last))), how == "on"};
  }
  if (verb != ConsoleVerb::motd && !argument.empty())
    return std::unexpected(word + " takes nothing behind it: leave \"" + argument + "\" out");
  if (verb == ConsoleVerb::motd)
    if (const auto good = check_text(argument, motd_bytes_max); !good)
      return std::unexpected("motd " + good.error());
  return ConsoleCommand{verb, argument};
}

bool Console::readable() const {
  pollfd poll{descriptor_, POLLIN, 0};
  if (::poll(&poll, 1, 0) != 1) return false;
  // Reading a terminal from the background would stop the whole process (SIGTTIN).
  return ::isatty(descriptor_) != 1 || ::tcgetpgrp(descriptor_) == ::getpgrp();
}

std::vector<std::string> Console::poll() {
  std::vector<std::string> lines;
  if (ended_ || !readable()) return lines;
  std::array<char, 4096> buffer;
  const ssize_t size = ::read(descriptor_, buffer.data(), buffer.size());
  if (size < 0) {
    ended_ = errno != EINTR && errno != EAGAIN;
    return lines;
  }
  for (const char c : std::string_view(buffer.data(), static_cast<std::size_t>(size))) {
    if (c == '\n') {
      lines.push_back(std::move(partial_));
      partial_.clear();
    } else if (partial_.size() < line_bytes_max) {
      partial_ += c;
    }
  }
  if (size == 0) {
    ended_ = true;
    if (!partial_.empty()) lines.push_back(std::move(partial_));
  }
  return lines;
}

}  // namespace ashlar::server
