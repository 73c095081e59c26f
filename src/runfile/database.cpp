// SQLite with results for errors and owners for handles.
#include "runfile/database.h"

#include <sqlite3.h>

namespace osler::runfile {
namespace {

constexpr int kBusyMilliseconds = 10'000;  // as long as a slow disk may take to write the log back

ErrorCode kind_of(int code) {
  switch (code & 0xFF) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
      return ErrorCode::corrupt;
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_NOMEM:
      return ErrorCode::io;
    default:
      return ErrorCode::internal;
  }
}

Error error_of(sqlite3* handle, int code) {
  return {kind_of(code), handle != nullptr ? sqlite3_errmsg(handle) : sqlite3_errstr(code), {}};
}

/// A path as an URI; the characters that mean something in it are escaped.
std::string uri_of(const std::filesystem::path& path) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string uri = "file:";
  for (const char c : path.string()) {
    if (c == '?' || c == '#' || c == '%') {
      uri += '%';
      uri += kHex[static_cast<unsigned char>(c) >> 4];
      uri += kHex[static_cast<unsigned char>(c) & 15];
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

void Database::Close::operator()(sqlite3* handle) const {
  sqlite3_close_v2(handle);
}

Statement& Statement::bind(int number, std::int64_t value) {
  if (const int code = sqlite3_bind_int64(statement_.get(), number, value); code != SQLITE_OK) bind_failure_ = code;
  return *this;
}

Statement& Statement::bind_text(int number, std::string_view text) {
  const int code = sqlite3_bind_text64(statement_.get(), number, text.data() != nullptr ? text.data() : "", text.size(),
                                       SQLITE_STATIC, SQLITE_UTF8);
  if (code != SQLITE_OK) bind_failure_ = code;
  return *this;
}

Statement& Statement::bind_blob(int number, std::string_view bytes) {
  const int code = sqlite3_bind_blob64(statement_.get(), number, bytes.data() != nullptr ? bytes.data() : "",
                                       bytes.size(), SQLITE_STATIC);
  if (code != SQLITE_OK) bind_failure_ = code;
  return *this;
}

Error Statement::error(int code) const {
  return error_of(sqlite3_db_handle(statement_.get()), code);
}

Result<bool> Statement::step() {
  if (bind_failure_ != 0) return error(bind_failure_);
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return error(code);
}

Result<void> Statement::run() {
  const auto stepped = step();
  reset();
  if (!stepped) return stepped.error();
  return {};
}

void Statement::reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
  bind_failure_ = 0;
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string_view Statement::bytes(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return data == nullptr ? std::string_view() : std::string_view(data, static_cast<std::size_t>(size));
}

bool Statement::is_integer(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_INTEGER;
}

Result<Database> Database::open(const std::filesystem::path& path, Mode mode, const std::string& vfs) {
  std::string name = mode == Mode::read_unlocked ? uri_of(path) : path.string();
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  if (mode == Mode::read || mode == Mode::read_unlocked) {
    flags |= SQLITE_OPEN_READONLY;
  } else {
    flags |= SQLITE_OPEN_READWRITE | (mode == Mode::tend ? 0 : SQLITE_OPEN_CREATE);
  }
  if (mode == Mode::read_unlocked) flags |= SQLITE_OPEN_URI;
  if (mode == Mode::temporary) name.clear();
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &handle, flags, vfs.empty() ? nullptr : vfs.c_str());
  Database database;
  database.handle_.reset(handle);
  if (code != SQLITE_OK) {
    Error error = error_of(handle, code);
    error.context = path.string();
    return error;
  }
  sqlite3_busy_timeout(handle, kBusyMilliseconds);
  return database;
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return error_of(handle_.get(), code);
  return Statement(statement);
}

Result<void> Database::execute(const std::string& sql) {
  const int code = sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return error_of(handle_.get(), code);
  return {};
}

Result<std::int64_t> Database::ask(std::string_view sql) {
  auto statement = prepare(sql);
  if (!statement) return statement.error();
  const auto row = statement->step();
  if (!row) return row.error();
  return *row ? statement->integer(0) : 0;
}

Result<void> Database::close() {
  if (handle_ == nullptr) return {};
  const int code = sqlite3_close(handle_.get());
  if (code != SQLITE_OK) return error_of(handle_.get(), code);
  static_cast<void>(handle_.release());
  return {};
}

std::filesystem::path log_beside(const std::filesystem::path& path) {
  return path.string() + "-wal";
}

void remove_empty_log(const std::filesystem::path& path) {
  std::error_code failed;
  if (std::filesystem::file_size(log_beside(path), failed) != 0 || failed) return;
  auto database = Database::open(path, Database::Mode::tend);
  // SQLite looks at the log with the first question, and takes it away, under its locks, when the last one closes.
  if (database) static_cast<void>(database->ask("SELECT count(*) FROM sqlite_schema"));
}

}  // namespace osler::runfile
