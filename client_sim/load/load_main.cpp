#include <csignal>
#include <cstdio>
#include <deque>

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
  if (!options.report.empty() && options.report == options.acts)
    return fail("--report and --acts name the same file: " + options.acts);
  // Opened before the run: a report that cannot be written should not cost the run.
  auto json = OutFile::open(options.report);
  if (!json) return fail("--report: " + json.error());
  auto acts = OutFile::open(options.acts);
  if (!acts) return fail("--acts: " + acts.error());
  std::deque<ActJournal> journals;

  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  LoadHooks hooks;
  hooks.line = [](const std::string& line) {
    std::puts(line.c_str());
    std::fflush(stdout);
  };
  hooks.stop = [] { return interrupted != 0; };
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
  if (json->is_open()) {
    const std::string text = to_json(*report, options);
    const auto written = json->write({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    if (!written) return fail("--report: " + written.error());
  }
  if (auto written = write_acts(*acts, journals); !written) return fail("--acts: " + written.error());
  if (report->nobody_answered())
    std::fprintf(stderr, "ashlar-sim load: nobody answers at %s: is a server running there?\n",
                 options.server.c_str());
  return report->passed() ? 0 : 1;
}

}  // namespace ashlar::client_sim
