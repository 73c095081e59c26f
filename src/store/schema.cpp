// Versions are rows of osler_schema; a version's row is written when all its tables are there.
#include "store/schema.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "store/clock.h"
#include "store/fields.h"
#include "store/tables.h"

namespace osler::store {
namespace {

/// The server's version before its first dot.
Result<int> server_version(Client& client) {
  const auto answer = client.ask_server("SELECT version()");
  if (!answer) return answer.error();
  return static_cast<int>(to_u64(answer->substr(0, answer->find('.'))));
}

/// 0 where there is no store yet.
Result<std::uint32_t> present_version(Client& client) {
  const auto found = client.ask("SELECT max(version) FROM osler_schema");
  if (found) return static_cast<std::uint32_t>(to_u64(found->substr(0, found->find('\n'))));
  if (found.error().code == ErrorCode::not_found) return std::uint32_t{0};
  return found.error();
}

Error too_new(const StoreAddress& address, std::uint32_t version) {
  return {
      ErrorCode::unsupported,
      fmt::format("its tables have version {}, and this Osler knows {}: install a newer one", version, kStoreSchema),
      to_string(address)};
}

Error other_place(const StoreAddress& address, const std::string& cluster) {
  const std::string where = cluster.empty() ? "on one server" : "on the cluster " + cluster;
  return {ErrorCode::invalid_argument,
          fmt::format("its tables lie {}: another place needs another database, and osler ship", where),
          to_string(address)};
}

/// What statements must not be made of.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
                              std::string::npos;
}

Result<std::vector<std::string>> columns_of(Client& client, const std::string& table) {
  const auto rows = client.rows(fmt::format("SELECT name FROM system.columns WHERE database = {} AND table = {}",
                                            store::quoted(client.address().database), store::quoted(table)));
  if (!rows) return rows.error();
  std::vector<std::string> names;
  for (const auto& row : *rows) names.push_back(row.at(0));
  return names;
}

/// Makes a table, or gives it the columns that it has not.
Result<void> bring_up_to_date(Client& client, const Table& table, const Dialect& dialect) {
  const std::string& database = client.address().database;
  const std::string name(table.name);
  std::vector<std::string> statements = statements_for(table, database, dialect);
  for (const std::string& statement : statements) {
    if (const auto made = client.ask(statement); !made) return made.error();
  }
  auto above = columns_of(client, name);
  if (!above) return above.error();
  auto place = dialect.cluster.empty() ? above : columns_of(client, name + "_local");
  if (!place) return place.error();
  for (const std::string& statement : statements_for_columns(table, database, dialect, {*place, *above})) {
    if (const auto made = client.ask(statement); !made) return made.error();
  }
  return {};
}

}  // namespace

Result<std::string> cluster_of(Client& client) {
  const auto rows =
      client.rows("SELECT engine_full FROM system.tables WHERE database = " + store::quoted(client.address().database) +
                  " AND name = 'osler_schema'");
  if (!rows) return rows.error();
  constexpr std::string_view kDistributed = "Distributed(";
  const std::string engine = rows->empty() ? "" : rows->front().at(0);
  if (!engine.starts_with(kDistributed)) return std::string();
  std::string cluster = engine.substr(kDistributed.size(), engine.find(',') - kDistributed.size());
  std::erase(cluster, '\'');
  std::erase(cluster, '`');
  return cluster;
}

Result<std::uint32_t> init_schema(Client& client, const StoreSetup& setup) {
  if (!setup.cluster.empty() && !is_plain_name(setup.cluster)) {
    return Error{ErrorCode::invalid_argument, "is no name of a cluster", setup.cluster};
  }
  const auto server = server_version(client);
  if (!server) return server.error();
  constexpr int kFirstWithCodecs = 20;
  Dialect dialect{*server >= kFirstWithCodecs, setup.cluster};
  const std::string& database = client.address().database;
  const auto before = present_version(client);
  if (!before) return before.error();
  if (*before > kStoreSchema) return too_new(client.address(), *before);
  if (*before > 0) {
    const auto cluster = cluster_of(client);
    if (!cluster) return cluster.error();
    if (!setup.cluster.empty() && setup.cluster != *cluster) return other_place(client.address(), *cluster);
    dialect.cluster = *cluster;
  }
  const std::string everywhere = dialect.cluster.empty() ? "" : " ON CLUSTER " + dialect.cluster;
  if (const auto made = client.ask_server(fmt::format("CREATE DATABASE IF NOT EXISTS {}{}", database, everywhere));
      !made)
    return made.error();
  for (const Table& table : tables()) {
    if (auto done = bring_up_to_date(client, table, dialect); !done) return done.error();
  }
  if (*before == kStoreSchema) return *before;
  Block row = block_for("osler_schema");
  row.u32(kStoreSchema).f64(now_seconds());
  const auto insert = to_insert("osler_schema", row);
  if (!insert) return insert.error();
  if (const auto written = client.insert(*insert); !written) return written.error();
  return *before;
}

Result<void> check_schema(Client& client) {
  const auto version = present_version(client);
  if (!version) return version.error();
  if (*version > kStoreSchema) return too_new(client.address(), *version);
  if (*version == kStoreSchema) return {};
  if (*version == 0) {
    return Error{ErrorCode::not_found, "there are no tables of Osler yet: osler store init makes them",
                 to_string(client.address())};
  }
  return Error{
      ErrorCode::not_found,
      fmt::format("its tables have version {}, and this Osler needs {}: osler store init brings them up to date",
                  *version, kStoreSchema),
      to_string(client.address())};
}

}  // namespace osler::store
