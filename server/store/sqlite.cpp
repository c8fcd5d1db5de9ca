#include "server/store/sqlite.h"

#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "server/config/owner_remedy.h"
#include "world/math/assert.h"

namespace ashlar::server {
namespace {

bool fails_to_write(int code) {
  return code == SQLITE_IOERR_WRITE || code == SQLITE_IOERR_FSYNC || code == SQLITE_IOERR_TRUNCATE ||
         code == SQLITE_IOERR_SHMSIZE;
}

StoreTrouble::Kind kind_of(int code, int system_error) {
  using Kind = StoreTrouble::Kind;
  if (system_error == ENOSPC || system_error == EFBIG || system_error == EDQUOT) return Kind::full;
  // A commit that cannot be written names no reason: most of all there is no room.
  if (system_error == 0 && fails_to_write(code)) return Kind::full;
  switch (code & 0xff) {
    case SQLITE_FULL: return Kind::full;
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return Kind::busy;
    case SQLITE_CORRUPT: return Kind::damaged;
    case SQLITE_NOTADB: return Kind::foreign;
    default: return Kind::machine;
  }
}

bool is_there(const std::string& file) {
  std::error_code ignored;
  return std::filesystem::exists(file, ignored);
}

/// Does something wait beside the database that is not in it yet?
bool has_waiting(const std::string& file) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(file + "-wal", error);
  return !error && bytes > 0;
}

/// Can nothing be made in its folder?
bool folder_is_shut(const std::string& file) {
  const std::filesystem::path above = std::filesystem::path(file).parent_path();
  return ::access(above.empty() ? "." : above.c_str(), W_OK) != 0;
}

/// Even who only reads writes beside the file: who else does is noted there.
std::string read_only_remedy(const std::string& file) {
  const std::filesystem::path above = std::filesystem::path(file).parent_path();
  const std::string folder = above.empty() ? "." : above.string();
  const std::string& shut = ::access(folder.c_str(), W_OK) != 0 ? folder : file;
  const int error = ::access(shut.c_str(), W_OK) != 0 ? errno : 0;
  const std::string owner = owner_remedy(shut, error);
  return owner.empty() ? shut + " has to be writable: copy the folder to where it is" : owner.substr(2);
}

std::string remedy_of(StoreTrouble::Kind kind, const std::string& file, int code, int system_error) {
  using Kind = StoreTrouble::Kind;
  if ((code & 0xff) == SQLITE_IOERR && system_error == 0) return "look at its disk: is there room on it?";
  switch (kind) {
    case Kind::full: return "make room on its disk";
    case Kind::busy: return "another program holds it: end that one";
    case Kind::damaged:
      return "restore it from a backup, or ashlar-server world salvage makes "
             "a new one of what can be read";
    case Kind::foreign: return "it is no world's database: move it away, or restore it from a backup";
    default: {
      const bool beside = (code & 0xff) == SQLITE_CANTOPEN && has_waiting(file) && folder_is_shut(file);
      if ((code & 0xff) == SQLITE_READONLY || beside) return read_only_remedy(file);
      const std::string owner = owner_remedy(file, system_error);
      return owner.empty() ? "see --world" : owner.substr(2);
    }
  }
}

/// Any path as the library wants to hear that its file stands still.
std::string still_uri(const std::string& file) {
  std::string uri = "file:";
  for (const char c : file) {
    const bool means_more = c == '%' || c == '?' || c == '#';
    if (means_more)
      uri += c == '%' ? "%25" : c == '?' ? "%3f" : "%23";
    else
      uri += c;
  }
  return uri + "?immutable=1";
}

}  // namespace

void Database::Close::operator()(sqlite3* handle) const {
  sqlite3_close_v2(handle);
  if (tidied.empty() || !is_there(tidied + "-shm") || has_waiting(tidied)) return;
  // Who only reads leaves there what it made. The last who may write and closes takes it away, by the
  // library's own locks: not under a server that has begun meanwhile.
  sqlite3* last = nullptr;
  if (sqlite3_open_v2(tidied.c_str(), &last, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr) ==
      SQLITE_OK)
    sqlite3_exec(last, "SELECT count(*) FROM sqlite_master", nullptr, nullptr, nullptr);
  sqlite3_close_v2(last);
}

std::expected<Database, StoreTrouble> Database::open(const std::string& file, OpenMode mode, int patience_ms,
                                                     const char* disk) {
  const int flags = mode == OpenMode::make    ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                    : mode == OpenMode::write ? SQLITE_OPEN_READWRITE
                                              : SQLITE_OPEN_READONLY;
  sqlite3* handle = nullptr;
  // Ours by one thread at a time: no mutex of theirs.
  const bool alone =
      mode == OpenMode::read && disk == nullptr && !is_there(file + "-shm") && !has_waiting(file);
  const bool still = mode == OpenMode::read_still || (alone && folder_is_shut(file));
  const int code = sqlite3_open_v2(still ? still_uri(file).c_str() : file.c_str(), &handle,
                                   flags | SQLITE_OPEN_NOMUTEX | (still ? SQLITE_OPEN_URI : 0), disk);
  Database database;
  database.handle_.reset(handle);
  database.file_ = file;
  if (alone && !still && !is_there(file + "-wal")) database.handle_.get_deleter().tidied = file;
  if (handle == nullptr) return std::unexpected(StoreTrouble{{}, "no memory to open " + file});
  if (code != SQLITE_OK) return std::unexpected(database.trouble());
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, patience_ms);
  // It opens what it may not write to all the same, and says so when something is saved, which is too late.
  if ((flags & SQLITE_OPEN_READWRITE) != 0 && sqlite3_db_readonly(handle, "main") == 1)
    return std::unexpected(database.trouble(SQLITE_READONLY));
  return database;
}

StoreTrouble Database::trouble() const { return trouble(sqlite3_extended_errcode(get())); }

StoreTrouble Database::trouble(int code) const {
  const int system_error =
      (code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN || (code & 0xff) == SQLITE_FULL
          ? sqlite3_system_errno(get())
          : 0;
  const StoreTrouble::Kind kind = kind_of(code, system_error);
  std::string reason = sqlite3_errstr(code & 0xff);
  if (system_error != 0) reason += " (" + std::generic_category().message(system_error) + ")";
  // In words of its own only where the code says too little.
  if ((code & 0xff) == SQLITE_ERROR) reason = sqlite3_errmsg(get());
  return {kind, file_ + ": " + reason + ": " + remedy_of(kind, file_, code, system_error)};
}

std::expected<void, StoreTrouble> Database::run(const char* sql) const {
  if (sqlite3_exec(get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) return std::unexpected(trouble());
  return {};
}

std::expected<std::int64_t, StoreTrouble> Database::number(const char* sql) const {
  auto statement = Statement::make(*this, sql);
  if (!statement) return std::unexpected(std::move(statement.error()));
  const int code = statement->step();
  if (code == SQLITE_DONE) return 0;
  if (code != SQLITE_ROW) return std::unexpected(trouble(code));
  return statement->whole(0);
}

bool Database::in_transaction() const { return sqlite3_get_autocommit(get()) == 0; }

void Database::change_nothing_on_close() const {
  sqlite3_db_config(get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

std::expected<void, StoreTrouble> Database::copy_to(const std::string& file) const {
  std::error_code ignored;
  if (std::filesystem::exists(file, ignored))
    return std::unexpected(StoreTrouble{{}, file + " is there already: name another, or remove it"});
  const std::string part = file + ".new";
  std::filesystem::remove(part, ignored);
  {
    auto copy = open(part, OpenMode::make, 0);
    if (!copy) return std::unexpected(std::move(copy.error()));
    sqlite3_backup* backup = sqlite3_backup_init(copy->get(), "main", get(), "main");
    int code = backup == nullptr ? sqlite3_errcode(copy->get()) : SQLITE_OK;
    // All in one step: a copy that is taken in several begins anew whenever somebody writes between them.
    if (backup != nullptr) {
      sqlite3_backup_step(backup, -1);
      code = sqlite3_backup_finish(backup);
      // One file, whose readers leave nothing beside it. Who writes to it makes it as the original is.
      if (code == SQLITE_OK && !copy->run("PRAGMA journal_mode=DELETE")) code = sqlite3_errcode(copy->get());
    }
    if (code != SQLITE_OK) {
      StoreTrouble trouble = copy->trouble(code);
      copy->handle_.reset();
      std::filesystem::remove(part, ignored);
      return std::unexpected(std::move(trouble));
    }
  }
  if (std::rename(part.c_str(), file.c_str()) == 0) return {};
  const int error = errno;
  std::filesystem::remove(part, ignored);
  return std::unexpected(StoreTrouble{
      {},
      "cannot write " + file + ": " + std::generic_category().message(error) + owner_remedy(file, error)});
}

void Statement::Finish::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

std::expected<Statement, StoreTrouble> Statement::make(const Database& database, const char* sql) {
  sqlite3_stmt* made = nullptr;
  if (sqlite3_prepare_v3(database.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &made, nullptr) != SQLITE_OK)
    return std::unexpected(database.trouble());
  Statement statement;
  statement.statement_.reset(made);
  return statement;
}

// A place that is not there is our mistake, and nothing else can fail here but for memory.
Statement& Statement::bind(int place, std::int64_t value) {
  const int code = sqlite3_bind_int64(statement_.get(), place, value);
  ASHLAR_ASSERT(code == SQLITE_OK);
  return *this;
}

Statement& Statement::bind(int place, double value) {
  const int code = sqlite3_bind_double(statement_.get(), place, value);
  ASHLAR_ASSERT(code == SQLITE_OK);
  return *this;
}

Statement& Statement::bind(int place, std::span<const std::uint8_t> bytes) {
  // Without bytes there may be no address, and that would be NULL.
  const void* data = bytes.empty() ? static_cast<const void*>("") : bytes.data();
  const int code = sqlite3_bind_blob64(statement_.get(), place, data, bytes.size(), SQLITE_STATIC);
  ASHLAR_ASSERT(code == SQLITE_OK);
  return *this;
}

Statement& Statement::bind(int place, std::string_view text) {
  const char* data = text.empty() ? "" : text.data();
  const int code =
      sqlite3_bind_text64(statement_.get(), place, data, text.size(), SQLITE_STATIC, SQLITE_UTF8);
  ASHLAR_ASSERT(code == SQLITE_OK);
  return *this;
}

int Statement::step() { return sqlite3_step(statement_.get()); }

bool Statement::run() {
  int code = step();
  while (code == SQLITE_ROW) code = step();
  sqlite3_reset(statement_.get());
  return code == SQLITE_DONE;
}

void Statement::reset() { sqlite3_reset(statement_.get()); }

std::int64_t Statement::whole(int place) const { return sqlite3_column_int64(statement_.get(), place); }
double Statement::real(int place) const { return sqlite3_column_double(statement_.get(), place); }

std::span<const std::uint8_t> Statement::bytes(int place) const {
  const void* data = sqlite3_column_blob(statement_.get(), place);
  const int size = sqlite3_column_bytes(statement_.get(), place);
  if (data == nullptr || size <= 0) return {};
  return {static_cast<const std::uint8_t*>(data), static_cast<std::size_t>(size)};
}

std::string Statement::text(int place) const {
  const auto data = bytes(place);
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}

}  // namespace ashlar::server
