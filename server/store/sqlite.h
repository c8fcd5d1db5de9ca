#pragma once
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "server/store/world_store.h"

struct sqlite3;
struct sqlite3_stmt;

// As much of SQLite as the store uses, with results as values. A connection and its statements belong to one
// thread at a time.

namespace ashlar::server {

/// How a database is opened.
enum class OpenMode : std::uint8_t {
  make,        ///< made where it is absent
  write,       ///< has to be there
  read,        ///< likewise, and nothing of it is changed; where only reading is allowed as read_still
  read_still,  ///< likewise, of a file that nobody writes and nothing waits beside: nothing is made there
};

/// How long tools wait for a server that writes.
inline constexpr int tool_patience_ms = 5000;

/// One connection to a database file.
class Database {
 public:
  /// Opens; the file is looked at when the first statement runs. Waits for at most `patience_ms` for others
  /// who hold it, now and in every statement.
  /// @param disk  of the library's virtual file systems the one that it lies on; null: the system's
  static std::expected<Database, StoreTrouble> open(const std::string& file, OpenMode mode, int patience_ms,
                                                    const char* disk = nullptr);

  /// One or more statements without results.
  std::expected<void, StoreTrouble> run(const char* sql) const;
  /// The first number of a statement's first row; 0 where there is no row.
  std::expected<std::int64_t, StoreTrouble> number(const char* sql) const;
  /// What the last call failed with, as a line.
  StoreTrouble trouble() const;
  /// The same with a result code that is known.
  StoreTrouble trouble(int code) const;
  bool in_transaction() const;

  /// Copies all of it as of one moment to a file that is not there yet; it gets its name when it is whole.
  std::expected<void, StoreTrouble> copy_to(const std::string& file) const;
  /// Leaves what waits beside the file (-wal) as it is when the connection closes.
  void change_nothing_on_close() const;

  /// The library's own handle, as long as this lives.
  sqlite3* get() const { return handle_.get(); }
  const std::string& file() const { return file_; }

 private:
  struct Close {
    std::string tidied;  ///< file that nothing lay beside before; empty: what lies there stays
    void operator()(sqlite3* handle) const;
  };
  std::unique_ptr<sqlite3, Close> handle_;
  std::string file_;
};

/// A prepared statement. What is bound has to live until reset() or the next bind.
class Statement {
 public:
  static std::expected<Statement, StoreTrouble> make(const Database& database, const char* sql);

  /// Gives a parameter its value; places count from 1. Bytes and texts are copied.
  Statement& bind(int place, std::int64_t value);
  Statement& bind(int place, double value);
  Statement& bind(int place, std::span<const std::uint8_t> bytes);
  Statement& bind(int place, std::string_view text);

  /// @return SQLITE_ROW, SQLITE_DONE or what went wrong
  int step();
  /// Runs to its end: for statements without rows. Resets.
  bool run();
  void reset();

  // Of the row that step() came to; places count from 0.
  /// A column of the present row; places count from 0. Spans last until the next step.
  std::int64_t whole(int place) const;
  double real(int place) const;
  std::span<const std::uint8_t> bytes(int place) const;
  std::string text(int place) const;

 private:
  struct Finish {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finish> statement_;
};

}  // namespace ashlar::server
