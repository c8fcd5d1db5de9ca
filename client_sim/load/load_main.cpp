#include <csignal>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <system_error>

#include "client_sim/harness/out_file.h"
#include "client_sim/load/act_journal.h"
#include "client_sim/load/load.h"

namespace ashlar::client_sim {
namespace {

volatile std::sig_atomic_t interrupted = 0;

extern "C" void on_signal(int) { interrupted = 1; }

int fail(const std::string& line) {
  std::fprintf(stderr, "ashlar-sim load: %s\n", line.c_str());
  return 2;
}

std::expected<void, std::string> write_acts(OutFile& file, std::deque<ActJournal>& journals) {
  if (!file.is_open()) return {};
  std::string text = ActJournal::header;
  for (ActJournal& journal : journals) text += journal.take();
  return file.write({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

/// Two names of one file, whether or not it is there yet.
bool same_file(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return false;
  std::error_code error;
  const auto is = std::filesystem::status(a, error);
  if (std::filesystem::exists(is) && !std::filesystem::is_regular_file(is)) return a == b;
  if (std::filesystem::equivalent(a, b, error)) return true;
  const auto whole = [&error](const std::string& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
  };
  return whole(a) == whole(b);
}

std::expected<void, std::string> write_report(OutFile& file, const LoadReport& report,
                                              const LoadOptions& options) {
  if (!file.is_open()) return {};
  const std::string text = to_json(report, options);
  return file.write({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

}  // namespace

int load_main(int argc, const char* const* argv) {
  const LoadCommand command = parse_load(argc, argv);
  if (!command.options) {
    std::fprintf(command.exit_code == 0 ? stdout : stderr, "%s\n", command.text.c_str());
    return command.exit_code;
  }
  for (const std::string& note : command.notes) std::fprintf(stderr, "ashlar-sim load: %s\n", note.c_str());
  const LoadOptions& options = *command.options;
  auto maps = MapLibrary::open(options.wads);
  if (!maps) return fail(maps.error());
  auto props = PropLibrary::open(options.props);
  if (!props) return fail(props.error());
  ContentLibrary content(*maps, *props, ContentCache(options.cache, options.cache_mib << 20));
  if (same_file(options.report, options.acts))
    return fail("--report and --acts name the same file: " + options.acts);
  // Opened before the run: a report that cannot be written should not cost the run.
  auto json = OutFile::open(options.report);
  if (!json) return fail("--report: " + json.error());
  auto acts = OutFile::open(options.acts);
  if (!acts) return fail("--acts: " + acts.error());
  std::deque<ActJournal> journals;

  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  std::signal(SIGPIPE, SIG_IGN);  // who reads our lines may go: then the clients say goodbye, too
  LoadHooks hooks;
  hooks.line = [](const std::string& line) {
    std::puts(line.c_str());
    std::fflush(stdout);
  };
  hooks.stop = [] { return interrupted != 0 || std::ferror(stdout) != 0; };
  if (acts->is_open())
    hooks.tap = [&journals](std::uint32_t index) {
      return &journals.emplace_back("sim-" + std::to_string(index + 1));
    };
  const auto report = run_load(options, content, hooks);
  if (!report) return fail(report.error());
  if (!content.trouble().empty())
    std::fprintf(stderr, "ashlar-sim load: what was fetched is not kept: %s; see --cache\n",
                 content.trouble().c_str());
  std::fputs(to_text(*report).c_str(), stdout);
  std::fflush(stdout);
  // Both, whatever becomes of the other.
  const auto reported = write_report(*json, *report, options);
  const auto kept = write_acts(*acts, journals);
  if (!reported) fail("--report: " + reported.error());
  if (!kept) fail("--acts: " + kept.error());
  if (!reported || !kept) return 2;
  if (report->nobody_answered())
    std::fprintf(stderr, "ashlar-sim load: nobody answers at %s: is a server running there?\n",
                 options.server.c_str());
  return report->passed() ? 0 : 1;
}

}  // namespace ashlar::client_sim
