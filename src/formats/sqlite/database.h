// Database: questions to a SQLite file that nobody has to trust, in bounded memory.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "osler/base/file_system.h"
#include "osler/base/result.h"

namespace osler::sqlite {

/// Bytes that can be read at any place.
class RandomBytes {
 public:
  virtual ~RandomBytes() = default;
  /// Reads up to `buffer.size()` bytes at `offset`; fewer only at the end.
  [[nodiscard]] virtual Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> buffer) = 0;
  [[nodiscard]] virtual std::uint64_t size() const = 0;
};

[[nodiscard]] std::unique_ptr<RandomBytes> bytes_of(std::string bytes);
[[nodiscard]] Result<std::unique_ptr<RandomBytes>> bytes_of(FileSystem& files, const std::filesystem::path& path);

/// Whether the head of a file is that of a SQLite database.
[[nodiscard]] bool is_database(std::string_view head);

/// One row of an answer. Columns count from 0; texts live until the next row.
class Row {
 public:
  explicit Row(sqlite3_stmt* statement) : statement_(statement) {}
  [[nodiscard]] std::string_view text(int column) const;
  [[nodiscard]] double number(int column) const { return sqlite3_column_double(statement_, column); }
  [[nodiscard]] std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  [[nodiscard]] bool null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

 private:
  sqlite3_stmt* statement_;
};

/// A database opened for reading. Locks and journals are left alone: what the file holds is what counts.
class Database {
 public:
  [[nodiscard]] static Result<Database> open(std::unique_ptr<RandomBytes> bytes, std::stop_token stop = {});

  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  /// Calls `take` for each row of the answer; rows that came before an error stand.
  [[nodiscard]] Result<void> query(const char* sql, std::initializer_list<std::string_view> bindings,
                                   const std::function<void(const Row&)>& take);
  /// Whether there is a plain table of that name.
  [[nodiscard]] bool has_table(std::string_view name);
  [[nodiscard]] bool has_column(std::string_view table, std::string_view column);
  /// Whether the file is shorter than its own header says.
  [[nodiscard]] bool cut_off() const;

 private:
  struct Parts;
  explicit Database(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace osler::sqlite
