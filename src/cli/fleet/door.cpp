// Passwords come from files or the environment: what stands in a command line, every user of the machine can read.
#include "cli/fleet/door.h"

#include <CLI/CLI.hpp>

#include "cli/terminal.h"
#include "osler/base/file_system.h"

namespace osler::cli {

CLI::Option* add_door_options(CLI::App& verb, DoorWords& words, const std::string& option) {
  verb.add_option("--password-file", words.password_file,
                  "A file with the password (or the variable OSLER_STORE_PASSWORD)")
      ->type_name("FILE");
  verb.add_option("--ca", words.ca_file, "Certificates to trust in place of the system's, for clickhouses://")
      ->type_name("FILE");
  return verb
      .add_option(option, words.address,
                  "clickhouse://[user@]host[:port]/database?project=NAME (or the variable OSLER_STORE)")
      ->type_name("STORE");
}

Result<Door> open_door(const DoorWords& words) {
  constexpr std::uint64_t kLongest = 4096;
  const std::string text = words.address.empty() ? store_from_environment() : words.address;
  if (text.empty()) return Error{ErrorCode::invalid_argument, "name the store: --store clickhouse://HOST/DATABASE", {}};
  auto address = parse_store_address(text);
  if (!address) return address.error();
  Door door{std::move(*address), {store_password_from_environment(), store_token_from_environment(), words.ca_file}};
  if (words.password_file.empty()) return door;
  const auto password = read_whole(real_file_system(), words.password_file, kLongest);
  if (!password) return password.error();
  door.access.password = password->substr(0, password->find_last_not_of("\r\n") + 1);
  if (door.access.password.empty()) return Error{ErrorCode::invalid_argument, "holds no password", words.password_file};
  return door;
}

}  // namespace osler::cli
