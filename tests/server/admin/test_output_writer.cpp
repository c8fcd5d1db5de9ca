#include "server/admin/output_writer.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <string>
#include <thread>

#include "server/background.h"
#include "server/every.h"
#include "tests/catch.h"
#include "tests/server/full_at.h"
#include "tests/temporary_folder.h"

namespace ashlar::server {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

struct OutputPipe {
  OutputPipe() { REQUIRE(::pipe2(ends, O_CLOEXEC) == 0); }
  ~OutputPipe() {
    for (const int end : ends) ::close(end);
  }
  /// All that comes until it ends with `last`.
  std::string read_until(const std::string& last) {
    std::string all;
    const auto give_up = Clock::now() + 60s;
    while (!all.ends_with(last) && Clock::now() < give_up) {
      pollfd poll{ends[0], POLLIN, 0};
      if (::poll(&poll, 1, 100) != 1) continue;
      char bytes[4096];
      const ssize_t count = ::read(ends[0], bytes, sizeof bytes);
      if (count <= 0) break;
      all.append(bytes, static_cast<std::size_t>(count));
    }
    return all;
  }
  int ends[2]{};
};

}  // namespace

TEST_CASE("lines arrive in their order and all are out when the writer ends", "[server][output_writer]") {
  OutputPipe pipe;
  {
    OutputWriter writer(pipe.ends[1]);
    for (int i = 0; i < 300; ++i) writer.line("line " + std::to_string(i));
  }
  std::string expected;
  for (int i = 0; i < 300; ++i) expected += "line " + std::to_string(i) + "\n";
  CHECK(pipe.read_until("line 299\n") == expected);
}

TEST_CASE("lines that cannot be written are counted", "[server][output_writer]") {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  REQUIRE(full >= 0);
  {
    OutputWriter writer(full);
    writer.line("one");
    writer.line("two");
    const auto give_up = Clock::now() + 60s;
    while (writer.lines_lost() < 2 && Clock::now() < give_up) std::this_thread::sleep_for(1ms);
    CHECK(writer.lines_lost() == 2);
  }
  ::close(full);
}

TEST_CASE("a line that a full disk tore is lost alone, and the next one begins anew",
          "[server][output_writer]") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.write("log", "");
  const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  REQUIRE(file >= 0);
  {
    OutputWriter writer(file);
    const auto wait_for_lost = [&](std::uint64_t lost) {
      const auto give_up = Clock::now() + 60s;
      while (writer.lines_lost() < lost && Clock::now() < give_up) std::this_thread::sleep_for(1ms);
      return writer.lines_lost();
    };
    {
      const test::FullAt full(25);
      for (const char* line : {"line one.", "line two.", "line three"}) writer.line(line);
      CHECK(wait_for_lost(1) == 1);
      writer.line("line four");
      CHECK(wait_for_lost(2) == 2);
    }
    writer.line("line five");
    writer.line("line six");
  }
  ::close(file);
  CHECK(folder.read("log") == "line one.\nline two.\nline \nline five\nline six\n");
}

TEST_CASE("a block stays below the lines", "[server][output_writer]") {
  OutputPipe pipe;
  OutputWriter writer(pipe.ends[1]);
  writer.line("one");
  CHECK(pipe.read_until("one\n") == "one\n");
  writer.show("block\n");
  CHECK(pipe.read_until("\x1b[?7h") == "\x1b[?7lblock\n\x1b[?7h");
  writer.line("two");
  CHECK(pipe.read_until("\x1b[?7h") == "\x1b[1A\r\x1b[Jtwo\n\x1b[?7lblock\n\x1b[?7h");
}

TEST_CASE("a pipe that nobody reads holds up nobody: the oldest lines are lost, and the end comes",
          "[server][output_writer]") {
  OutputPipe pipe;
  const std::string text(200, 'x');
  {
    OutputWriter writer(pipe.ends[1]);
    for (std::size_t i = 0; i < 2 * OutputWriter::lines_max; ++i) writer.line(text);
    writer.show(text);
    // A pipe holds 64 KiB; what the thread has taken besides is bounded, too.
    CHECK(writer.lines_lost() > OutputWriter::lines_max / 2);
    CHECK(writer.lines_lost() < 2 * OutputWriter::lines_max);
  }
  SUCCEED("the writer's end came");
}

TEST_CASE("a reader that goes away ends nothing", "[server][output_writer]") {
  OutputPipe pipe;
  ::signal(SIGPIPE, SIG_IGN);
  ::close(pipe.ends[0]);
  pipe.ends[0] = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  OutputWriter writer(pipe.ends[1]);
  for (int i = 0; i < 100; ++i) writer.line("nobody reads this");
}

TEST_CASE("what is due in an interval is done once after a stall", "[server][every]") {
  Every every(10s, 5s);
  CHECK_FALSE(every.due(9s));
  CHECK(every.due(10s));
  CHECK_FALSE(every.due(14s));
  CHECK(every.due(16s));
  CHECK(every.due(20s));
  CHECK(every.due(100s));
  CHECK_FALSE(every.due(100s));
  CHECK_FALSE(every.due(104s));
  CHECK(every.due(105s));
}

TEST_CASE("what runs in the background is picked up once, and the newest order behind it",
          "[server][background]") {
  Background<int> background;
  CHECK_FALSE(background.take().has_value());
  const auto wait = [&] {
    std::optional<int> got;
    const auto give_up = Clock::now() + 60s;
    while (!(got = background.take()) && Clock::now() < give_up) std::this_thread::sleep_for(1ms);
    return got;
  };
  background.start([] { return 1; });
  background.start([] { return 2; });
  background.start([] { return 3; });
  CHECK(wait() == 1);
  CHECK(wait() == 3);
  CHECK_FALSE(background.take().has_value());
}

TEST_CASE("what the background threw is thrown by who takes it, and nothing else is held up",
          "[server][background]") {
  Background<int> background;
  background.start([]() -> int { throw std::runtime_error("no room"); });
  background.start([] { return 2; });
  std::string thrown;
  std::optional<int> got;
  const auto give_up = Clock::now() + 60s;
  while (!got && Clock::now() < give_up) {
    try {
      got = background.take();
    } catch (const std::runtime_error& error) {
      thrown += error.what();
    }
    std::this_thread::sleep_for(1ms);
  }
  CHECK(thrown == "no room");
  CHECK(got == 2);
}

}  // namespace ashlar::server
