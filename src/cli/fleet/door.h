// Which store a verb speaks to, and with what it is let in.
#pragma once

#include <string>

#include "osler/base/result.h"
#include "osler/store/address.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace osler::cli {

/// The words as they stand on the command line.
struct DoorWords {
  std::string address;
  std::string password_file;
  std::string ca_file;
};

/// A store and its key.
struct Door {
  StoreAddress address;
  StoreAccess access;
};

/// Adds `option` ("--store" or "--to"), --password-file and --ca to a verb.
CLI::Option* add_door_options(CLI::App& verb, DoorWords& words, const std::string& option);

/// The store that is meant, OSLER_STORE where none is named, with the password from its file or from the environment.
[[nodiscard]] Result<Door> open_door(const DoorWords& words);

}  // namespace osler::cli
