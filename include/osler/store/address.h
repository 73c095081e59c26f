// StoreAddress: where a store is, as one line that a person writes.
#pragma once

#include <string>
#include <string_view>

#include "osler/base/result.h"

namespace osler {

/// A database of a ClickHouse server, and the project of a team within it.
struct StoreAddress {
  bool secure = false;  ///< over TLS
  std::string user = "default";
  std::string host;
  int port = 0;
  std::string database;
  std::string project = "default";

  friend bool operator==(const StoreAddress&, const StoreAddress&) = default;
};

/// Reads "clickhouse://[user@]host[:port]/database[?project=P]"; "clickhouses://" goes over TLS. The port is that of
/// ClickHouse's HTTP interface, 8123 or 8443 where none is given. A password in the address is refused: every user of
/// the machine could read it.
[[nodiscard]] Result<StoreAddress> parse_store_address(std::string_view text);

/// Whether `text` is meant as such an address.
[[nodiscard]] bool is_store_address(std::string_view text);

/// The address as one line again, without what is as always.
[[nodiscard]] std::string to_string(const StoreAddress& address);

/// What opens the door. Never part of an address.
struct StoreAccess {
  std::string password;
  std::string token;    ///< shown as a bearer in place of user and password; empty: none
  std::string ca_file;  ///< certificates that are trusted, in PEM; empty: those of the system
};

}  // namespace osler
