// One entry for each table. Keys begin with the run, so that all that is asked about a run lies together.
#include "store/tables.h"

#include <fmt/format.h>

#include <algorithm>

namespace osler::store {
namespace {

/// The runs themselves, and how far each of their files has come.
void add_runs(std::vector<Table>& all) {
  using K = Kind;
  all.push_back({"osler_schema", {{"version", K::u32}, {"applied", K::f64}}, "version", "", "version"});
  all.push_back({"runs",
                 {{"run", K::u64},
                  {"project", K::text},
                  {"name", K::text},
                  {"machine", K::text},
                  {"format", K::text},
                  {"changed", K::u64},
                  {"began", K::f64},
                  {"last_time", K::f64},
                  {"points", K::u64},
                  {"events", K::u64}},  // since version 2
                 "run",
                 "changed"});
  all.push_back({"labels",
                 {{"run", K::u64}, {"label", K::text}, {"value", K::text}, {"changed", K::u64}},
                 "run, label",
                 "changed"});
  all.push_back({"streams",
                 {{"run", K::u64},
                  {"stream", K::u64},
                  {"path", K::text},
                  {"generation", K::u32},
                  {"position", K::u32},
                  {"inode", K::u64},
                  {"format", K::text},
                  {"void", K::u8},
                  {"changed", K::u64}},
                 "run, stream",
                 "changed"});
  all.push_back({"progress",
                 {{"run", K::u64}, {"stream", K::u64}, {"number", K::u64}, {"bytes", K::u64}, {"fingerprint", K::u64}},
                 "run, stream",
                 "number"});
  all.push_back({"series",
                 {{"run", K::u64}, {"series", K::u64}, {"stream", K::u64}, {"name", K::text}, {"position", K::u32}},
                 "run, series, stream",
                 ""});
}

/// What the logs hold.
void add_values(std::vector<Table>& all) {
  using K = Kind;
  using P = Packing;
  all.push_back({"points",
                 {{"run", K::u64, P::rising},
                  {"series", K::u64, P::rising},
                  {"stream", K::u64, P::rising},
                  {"number", K::u64, P::rising},
                  {"step", K::i64, P::rising},
                  {"time", K::f64, P::rising},
                  {"value", K::f64}},
                 "run, series, stream, number, step",
                 ""});
  all.push_back({"histograms",
                 {{"run", K::u64},
                  {"series", K::u64},
                  {"stream", K::u64},
                  {"number", K::u64},
                  {"step", K::i64},
                  {"time", K::f64},
                  {"least", K::f64},
                  {"most", K::f64},
                  {"count", K::f64},
                  {"sum", K::f64},
                  {"sum_squares", K::f64},
                  {"limits", K::f64_list},
                  {"counts", K::f64_list}},
                 "run, series, stream, number, step",
                 ""});
  all.push_back({"marks",
                 {{"run", K::u64},
                  {"stream", K::u64},
                  {"number", K::u64},
                  {"step", K::i64},
                  {"kind", K::u8},
                  {"time", K::f64},
                  {"text", K::text}},
                 "run, stream, number, step, kind, text",
                 ""});
  all.push_back({"config",
                 {{"run", K::u64}, {"stream", K::u64}, {"key", K::text}, {"value", K::text}, {"number", K::u64}},
                 "run, stream, key",
                 "number"});
}

/// What examiners leave, and the settings of projects.
void add_reports(std::vector<Table>& all) {
  using K = Kind;
  all.push_back({"leases",
                 {{"run", K::u64}, {"worker", K::text}, {"until", K::u64}, {"changed", K::u64}},
                 "run, worker",
                 "changed"});
  all.push_back({"reports",
                 {{"run", K::u64},
                  {"since", K::u64},
                  {"changed", K::u64},
                  {"examined", K::f64},
                  {"status", K::text},
                  {"headline", K::text},
                  {"cause", K::text},
                  {"probability", K::f64},
                  {"worker", K::text},
                  {"json", K::text}},
                 "run, since",
                 "changed"});
  // Since version 2: what a dashboard shows of a run, made by who examined it.
  all.push_back({"pages",
                 {{"run", K::u64},
                  {"changed", K::u64},
                  {"gradient_norm", K::f64},
                  {"card", K::text},
                  {"figures", K::text},
                  {"page", K::text},
                  {"layers", K::text}},
                 "run",
                 "changed"});
  all.push_back({"findings",
                 {{"run", K::u64},
                  {"finding", K::text},
                  {"episode", K::u32},
                  {"seen", K::f64},
                  {"severity", K::text},
                  {"confidence", K::f64},
                  {"first_step", K::i64},
                  {"began", K::f64},
                  {"summary", K::text},
                  {"gone", K::f64},
                  {"changed", K::u64}},
                 "run, finding, episode",
                 "changed"});
  all.push_back({"projects",
                 {{"project", K::text}, {"setting", K::text}, {"value", K::text}, {"changed", K::u64}},
                 "project, setting",
                 "changed",
                 "cityHash64(project)"});
}

std::vector<Table> make_tables() {
  std::vector<Table> all;
  add_runs(all);
  add_values(all);
  add_reports(all);
  return all;
}

std::string_view codec(Packing packing) {
  switch (packing) {
    case Packing::plain:
      return " CODEC(ZSTD(1))";
    case Packing::rising:
      return " CODEC(Delta(8), ZSTD(1))";
  }
  return "";
}

std::string in_sql(const TableColumn& column, bool codecs) {
  return fmt::format("{} {}{}", column.name, sql_type(column.kind), codecs ? codec(column.packing) : "");
}

std::string columns_of(const Table& table, bool codecs) {
  std::string out;
  for (const TableColumn& column : table.columns) {
    if (!out.empty()) out += ", ";
    out += in_sql(column, codecs);
  }
  return out;
}

}  // namespace

const std::vector<Table>& tables() {
  static const std::vector<Table> all = make_tables();
  return all;
}

const Table& table(std::string_view name) {
  return *std::find_if(tables().begin(), tables().end(), [&](const Table& table) { return table.name == name; });
}

Block block_for(std::string_view table_name) {
  std::vector<ColumnType> columns;
  for (const TableColumn& column : table(table_name).columns) columns.push_back({column.name, column.kind});
  return Block(columns);
}

std::vector<std::string> statements_for(const Table& table, const std::string& database, const Dialect& dialect) {
  const std::string columns = columns_of(table, dialect.codecs);
  if (dialect.cluster.empty()) {
    return {fmt::format("CREATE TABLE IF NOT EXISTS {}.{} ({}) ENGINE = ReplacingMergeTree({}) ORDER BY ({})", database,
                        table.name, columns, table.version, table.key)};
  }
  const std::string place = fmt::format("'/clickhouse/tables/{{shard}}/{}/{}', '{{replica}}'", database, table.name);
  const std::string version = table.version.empty() ? "" : fmt::format(", {}", table.version);
  return {fmt::format("CREATE TABLE IF NOT EXISTS {}.{}_local ON CLUSTER {} ({}) ENGINE = "
                      "ReplicatedReplacingMergeTree({}{}) ORDER BY ({})",
                      database, table.name, dialect.cluster, columns, place, version, table.key),
          fmt::format(
              "CREATE TABLE IF NOT EXISTS {0}.{1} ON CLUSTER {2} ({3}) ENGINE = Distributed({2}, {0}, {1}_local, {4})",
              database, table.name, dialect.cluster, columns_of(table, false), table.shard_by)};
}

std::vector<std::string> statements_for_columns(const Table& table, const std::string& database, const Dialect& dialect,
                                                const PresentColumns& present) {
  std::vector<std::string> statements;
  const auto lacks = [](const std::vector<std::string>& there, const TableColumn& column) {
    return std::find(there.begin(), there.end(), column.name) == there.end();
  };
  const bool clustered = !dialect.cluster.empty();
  const std::string name = fmt::format("{}.{}", database, table.name);
  const std::string place = clustered ? fmt::format("{}_local ON CLUSTER {}", name, dialect.cluster) : name;
  bool outdated = false;
  for (const TableColumn& column : table.columns) {
    outdated = outdated || lacks(present.above, column);
    if (!lacks(present.place, column)) continue;
    statements.push_back(fmt::format("ALTER TABLE {} ADD COLUMN {}", place, in_sql(column, dialect.codecs)));
  }
  if (!clustered || !outdated) return statements;
  // A Distributed table holds no rows; 18.16 does not alter it on a cluster.
  statements.push_back(fmt::format("DROP TABLE {} ON CLUSTER {}", name, dialect.cluster));
  statements.push_back(statements_for(table, database, dialect).back());
  return statements;
}

}  // namespace osler::store
