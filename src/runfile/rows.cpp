// The schema of run files and the checksums of their rows.
#include "runfile/rows.h"

#include <fmt/format.h>

#include <span>

#include "base/crc32c.h"

namespace osler::runfile {
namespace {

constexpr TableColumn whole(std::string_view name) {
  return {name, true};
}
constexpr TableColumn bytes(std::string_view name) {
  return {name, false};
}

void mix(std::uint32_t& crc, std::string_view data) {
  crc = crc32c(std::as_bytes(std::span(data)), crc);
}

void mix(std::uint32_t& crc, std::uint64_t number) {
  char data[sizeof number];
  for (std::size_t i = 0; i < sizeof number; ++i) data[i] = static_cast<char>(number >> (8 * i));
  mix(crc, std::string_view(data, sizeof number));
}

std::string column_names(const TableLayout& layout) {
  std::string names = "id, crc";
  for (const TableColumn& column : layout.columns) names += fmt::format(", {}", column.name);
  return names;
}

}  // namespace

const std::vector<TableLayout>& table_layouts() {
  static const std::vector<TableLayout> layouts = {
      {Table::meta, "meta", {bytes("key"), bytes("value")}},
      {Table::series, "series", {bytes("name")}},
      {Table::segment, "segment", {whole("first_step"), whole("time")}},
      {Table::axis, "axis", {bytes("data")}},
      {Table::chunk,
       "chunk",
       {whole("series"), whole("level"), whole("segment"), whole("start"), whole("entries"), whole("first_step"),
        whole("last_step"), whole("axis"), bytes("data")}},
      {Table::tail, "tail", {whole("segment"), whole("points"), bytes("data")}},
      {Table::mark, "mark", {whole("kind"), whole("step"), whole("time"), bytes("text")}},
      {Table::config, "config", {bytes("key"), bytes("value")}},
      {Table::layer, "layer", {bytes("name"), bytes("type"), bytes("shape"), whole("parameters")}},
      {Table::histogram, "histogram", {whole("series"), whole("step"), whole("time"), bytes("data")}},
      {Table::report, "report", {whole("step"), whole("time"), bytes("json")}},
  };
  return layouts;
}

const TableLayout& layout_of(Table table) {
  return table_layouts()[static_cast<std::size_t>(table) - 1];
}

std::uint32_t checksum(Table table, const Row& row) {
  std::uint32_t crc = 0;
  mix(crc, static_cast<std::uint64_t>(table));
  mix(crc, static_cast<std::uint64_t>(row.id));
  for (const Cell& cell : row.cells) {
    if (const auto* number = std::get_if<std::int64_t>(&cell)) {
      mix(crc, static_cast<std::uint64_t>(*number));
    } else {
      const std::string& data = std::get<std::string>(cell);
      mix(crc, data.size());
      mix(crc, data);
    }
  }
  return crc;
}

Result<RowWriter> RowWriter::open(Database& database) {
  RowWriter writer;
  for (const TableLayout& layout : table_layouts()) {
    std::string marks = "?, ?";
    for (std::size_t i = 0; i < layout.columns.size(); ++i) marks += ", ?";
    auto insert = database.prepare(
        fmt::format("INSERT OR REPLACE INTO {}({}) VALUES({})", layout.name, column_names(layout), marks));
    if (!insert) return insert.error();
    writer.inserts_.push_back(std::move(*insert));
  }
  return writer;
}

Result<void> RowWriter::put(Table table, const Row& row) {
  Statement& insert = inserts_[static_cast<std::size_t>(table) - 1];
  insert.bind(1, row.id).bind(2, checksum(table, row));
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const int number = static_cast<int>(i) + 3;
    if (const auto* integer = std::get_if<std::int64_t>(&row.cells[i])) {
      insert.bind(number, *integer);
    } else if (layout_of(table).columns[i].name == "data") {
      insert.bind_blob(number, std::get<std::string>(row.cells[i]));
    } else {
      insert.bind_text(number, std::get<std::string>(row.cells[i]));
    }
  }
  return insert.run();
}

std::string selection(Table table, std::string_view where) {
  const TableLayout& layout = layout_of(table);
  return fmt::format("SELECT {} FROM {} {}", column_names(layout), layout.name, where);
}

Result<Row> row_at(Table table, const Statement& statement) {
  const TableLayout& layout = layout_of(table);
  Row row;
  row.id = statement.integer(0);
  const Error damaged{ErrorCode::corrupt, fmt::format("row {} of table {} is damaged", row.id, layout.name), {}};
  for (std::size_t i = 0; i < layout.columns.size(); ++i) {
    const int column = static_cast<int>(i) + 2;
    if (layout.columns[i].integer != statement.is_integer(column)) return damaged;
    if (layout.columns[i].integer) {
      row.cells.emplace_back(statement.integer(column));
    } else {
      row.cells.emplace_back(std::string(statement.bytes(column)));
    }
  }
  if (statement.integer(1) != checksum(table, row)) return damaged;
  return row;
}

std::span<const std::string> schema_steps() {
  static const std::vector<std::string> steps = [] {
    std::string tables;
    for (const TableLayout& layout : table_layouts()) {
      tables += fmt::format("CREATE TABLE {}(id INTEGER PRIMARY KEY, crc INTEGER NOT NULL", layout.name);
      for (const TableColumn& column : layout.columns) {
        const char* type = column.integer ? "INTEGER" : column.name == "data" ? "BLOB" : "TEXT";
        tables += fmt::format(", {} {} NOT NULL", column.name, type);
      }
      tables += ");\n";
    }
    tables += "CREATE INDEX chunk_by_series ON chunk(series, level, segment, start, entries, first_step, last_step);\n";
    return std::vector<std::string>{tables, "CREATE INDEX histogram_by_series ON histogram(series, step);\n"};
  }();
  return steps;
}

std::int64_t schema_version() {
  return static_cast<std::int64_t>(schema_steps().size());
}

Result<std::int64_t> stored_version(Database& database) {
  const auto id = database.ask("PRAGMA application_id");
  if (!id) return id.error();
  auto version = database.ask("PRAGMA user_version");
  if (!version) return version.error();
  if (*id != kApplicationId) {
    const auto tables = database.ask("SELECT count(*) FROM sqlite_master");
    if (!tables) return tables.error();
    if (*id == 0 && *version == 0 && *tables == 0) return 0;
    return Error{ErrorCode::invalid_argument, "this is a SQLite file, but no run file", {}};
  }
  if (*version < 1 || *version > schema_version()) {
    return Error{ErrorCode::unsupported,
                 fmt::format("the run file has version {}, and this Osler knows up to {}: a newer one can read it",
                             *version, schema_version()),
                 {}};
  }
  return version;
}

Result<void> migrate(Database& database) {
  auto version = stored_version(database);
  if (!version) return version.error();
  if (*version == schema_version()) return {};
  std::string sql = "BEGIN IMMEDIATE;\n";
  for (const std::string& step : schema_steps().subspan(static_cast<std::size_t>(*version))) sql += step;
  sql += fmt::format("PRAGMA application_id = {};\nPRAGMA user_version = {};\nCOMMIT;\n", kApplicationId,
                     schema_version());
  auto done = database.execute(sql);
  // Nothing to roll back is fine too; the first failure is what matters.
  if (!done) static_cast<void>(database.execute("ROLLBACK"));
  return done;
}

}  // namespace osler::runfile
