// Database and Statement: SQLite with results for errors and owners for handles.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "osler/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace osler::runfile {

/// A prepared statement. Must not outlive its database.
class Statement {
 public:
  Statement& bind(int number, std::int64_t value);
  /// The bytes must stay until `reset`.
  Statement& bind_text(int number, std::string_view text);
  Statement& bind_blob(int number, std::string_view bytes);

  /// Goes to the next row; false when there is none.
  [[nodiscard]] Result<bool> step();
  /// Runs a statement without rows, and makes it ready for the next time.
  [[nodiscard]] Result<void> run();
  void reset();

  [[nodiscard]] std::int64_t integer(int column) const;
  /// Text or blob; valid until the next step.
  [[nodiscard]] std::string_view bytes(int column) const;
  [[nodiscard]] bool is_integer(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  [[nodiscard]] Error error(int code) const;

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int bind_failure_ = 0;  // told by the next step
};

/// An open SQLite database. One thread at a time.
class Database {
 public:
  enum class Mode {
    read,           ///< along with a writer
    read_unlocked,  ///< a file that nobody writes, in a folder that cannot be written to
    tend,           ///< a file that is there: to tidy up beside it
    write,
    temporary,  ///< an empty one that disappears; takes no path
  };
  [[nodiscard]] static Result<Database> open(const std::filesystem::path& path, Mode mode, const std::string& vfs = {});

  [[nodiscard]] Result<Statement> prepare(std::string_view sql);
  [[nodiscard]] Result<void> execute(const std::string& sql);
  /// The single integer that `sql` asks for; 0 when it gives no row.
  [[nodiscard]] Result<std::int64_t> ask(std::string_view sql);
  /// Lets go of the file; statements must be gone.
  [[nodiscard]] Result<void> close();

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  std::unique_ptr<sqlite3, Close> handle_;
};

/// Where the log of SQLite for the database at `path` lies: what was written last, or nothing.
[[nodiscard]] std::filesystem::path log_beside(const std::filesystem::path& path);

/// Takes away an empty log and what belongs to it, if nobody else has the database open. A reader makes them beside a
/// closed file, and only a connection that may write takes them away.
void remove_empty_log(const std::filesystem::path& path);

}  // namespace osler::runfile
