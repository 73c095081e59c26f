// Client: SQL to a ClickHouse server over its HTTP interface, and answers as text or bytes.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "osler/base/result.h"
#include "osler/store/address.h"
#include "store/block.h"

namespace osler::store {

/// A row of text. A field that an odd answer leaves out reads as empty.
class Row {
 public:
  void push_back(std::string field) { fields_.push_back(std::move(field)); }
  [[nodiscard]] const std::string& at(std::size_t column) const {
    static const std::string nothing;
    return column < fields_.size() ? fields_[column] : nothing;
  }

 private:
  std::vector<std::string> fields_;
};
using Rows = std::vector<Row>;

/// What is inserted at once into one table: as it goes over the wire, and as it lies in a spool.
struct Insert {
  std::string table;
  std::string columns;  ///< "(run, series)"
  std::string body;     ///< a gzip member that holds a Native block
};

/// The rows of a block for a table. The block must have some.
[[nodiscard]] Result<Insert> to_insert(std::string_view table, const Block& block);

/// Speaks to one server. One thread at a time. Errors have a code that says what to do: `io` when it may be another one
/// later (nobody answers, the disk is full), `not_found` where tables or columns are missing, `invalid_argument` when
/// the door stays shut, `internal` for statements that the server does not take.
class Client {
 public:
  Client(StoreAddress address, const StoreAccess& access);
  ~Client();
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;

  /// Runs a statement; what it answers.
  [[nodiscard]] Result<std::string> ask(const std::string& sql);
  /// Runs a statement outside the database, which may not be there yet.
  [[nodiscard]] Result<std::string> ask_server(const std::string& sql);
  /// Rows of text, their fields as they are in the table.
  [[nodiscard]] Result<Rows> rows(const std::string& sql);
  /// Returns when the server has the rows.
  [[nodiscard]] Result<void> insert(const Insert& insert);

  [[nodiscard]] const StoreAddress& address() const;

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

/// A text in quotes, as SQL wants it.
[[nodiscard]] std::string quoted(std::string_view text);
/// "1, 2, 3"; "0" for none, so that IN (...) stays a sentence.
[[nodiscard]] std::string listed(const std::vector<std::uint64_t>& numbers);

/// The rows of a TabSeparated answer.
[[nodiscard]] Rows split_rows(std::string_view text);

/// The number that a server's message begins with ("Code: 60, ..."), 0 without one.
[[nodiscard]] int server_code(std::string_view message);

}  // namespace osler::store
