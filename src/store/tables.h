// The tables of a store as data: their columns, their keys, how they are packed.
// docs/decisions/0022-runs-in-clickhouse.md says why.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "store/block.h"

namespace osler::store {

/// How a column is best packed, where the server knows such codecs.
enum class Packing {
  plain,   ///< as it is: values of a log have few digits, which Gorilla does not see and ZSTD does
  rising,  ///< by differences: what mostly rises by about the same amount
};

struct TableColumn {
  std::string_view name;
  Kind kind;
  Packing packing = Packing::plain;
};

/// A table whose rows with the same key are one row: the one with the highest `version`, else the one that came last.
struct Table {
  std::string_view name;
  std::vector<TableColumn> columns;
  std::string_view key;      ///< "run, stream"
  std::string_view version;  ///< a column; may be empty
  std::string_view shard_by = "run";
};

/// Every table of the newest schema.
[[nodiscard]] const std::vector<Table>& tables();
/// The table called `name`, which must be one.
[[nodiscard]] const Table& table(std::string_view name);
/// An empty block with the columns of a table.
[[nodiscard]] Block block_for(std::string_view table_name);

/// What is known of a server before tables are made on it.
struct Dialect {
  bool codecs = false;  ///< it knows CODEC(...) on columns: ClickHouse 20 and later
  std::string cluster;  ///< tables are made on every replica of this cluster, each a Distributed one over them
};

/// The statements that make a table where it is not there yet.
[[nodiscard]] std::vector<std::string> statements_for(const Table& table, const std::string& database,
                                                      const Dialect& dialect);

/// The statements that give a table of an older version the columns it has not. `present` has those that are there in
/// the place where the rows lie and in the Distributed table above it; without a cluster both are the same.
struct PresentColumns {
  std::vector<std::string> place;
  std::vector<std::string> above;
};
[[nodiscard]] std::vector<std::string> statements_for_columns(const Table& table, const std::string& database,
                                                              const Dialect& dialect, const PresentColumns& present);

}  // namespace osler::store
