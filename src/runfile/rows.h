// Rows: what lies in the tables of a run file, each under a checksum of its own.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "osler/base/result.h"
#include "runfile/database.h"

namespace osler::runfile {

/// The tables. Their numbers go into the checksums, so they never change.
enum class Table : std::uint8_t {
  meta = 1,
  series = 2,
  segment = 3,
  axis = 4,
  chunk = 5,
  tail = 6,
  mark = 7,
  config = 8,
  layer = 9,
  histogram = 10,
  report = 11,
};

/// One column of a table.
struct TableColumn {
  std::string_view name;
  bool integer = false;  ///< else bytes
};

/// A table as docs/formats/run.md describes it. Before the columns come `id` and `crc`.
struct TableLayout {
  Table table;
  std::string_view name;
  std::vector<TableColumn> columns;
};
[[nodiscard]] const std::vector<TableLayout>& table_layouts();
[[nodiscard]] const TableLayout& layout_of(Table table);

/// An integer or bytes.
using Cell = std::variant<std::int64_t, std::string>;

/// A row without its checksum.
struct Row {
  std::int64_t id = 0;
  std::vector<Cell> cells;

  [[nodiscard]] std::int64_t integer(std::size_t column) const { return std::get<std::int64_t>(cells[column]); }
  [[nodiscard]] const std::string& bytes(std::size_t column) const { return std::get<std::string>(cells[column]); }
};

/// The CRC-32C over table, id and cells.
[[nodiscard]] std::uint32_t checksum(Table table, const Row& row);

/// Writes rows; a row with the id of another replaces it.
class RowWriter {
 public:
  [[nodiscard]] static Result<RowWriter> open(Database& database);
  [[nodiscard]] Result<void> put(Table table, const Row& row);

 private:
  std::vector<Statement> inserts_;  // in the order of table_layouts()
};

/// The statement that selects rows of a table: id, crc, columns. `where` may hold parameters.
[[nodiscard]] std::string selection(Table table, std::string_view where);
/// The row a statement made with `selection` stands on; `corrupt` when its checksum does not match.
[[nodiscard]] Result<Row> row_at(Table table, const Statement& statement);

/// What makes a SQLite file a run file, in PRAGMA application_id: "Oslr".
inline constexpr std::int64_t kApplicationId = 0x4F736C72;

/// The SQL that leads from each version of the schema to the next; the first makes an empty database a run file.
[[nodiscard]] std::span<const std::string> schema_steps();
/// The newest version, in PRAGMA user_version.
[[nodiscard]] std::int64_t schema_version();
/// The version of a run file, 0 for an empty database; fails on a newer one, or another file.
[[nodiscard]] Result<std::int64_t> stored_version(Database& database);
/// Brings an empty database or an older run file up to the newest version, in one transaction.
[[nodiscard]] Result<void> migrate(Database& database);

}  // namespace osler::runfile
