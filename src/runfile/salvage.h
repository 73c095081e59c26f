// salvage(): finds the sound rows of a run file that SQLite cannot read any more.
#pragma once

#include <filesystem>

#include "osler/base/damage.h"
#include "osler/base/result.h"
#include "runfile/database.h"

namespace osler::runfile {

/// Looks at every page of the file and of its write-ahead log, whatever SQLite thinks of them, and copies each row
/// whose checksum matches into a temporary database with the schema of a run file. What was lost goes into `damage`.
/// Fails when no series is left.
[[nodiscard]] Result<Database> salvage(const std::filesystem::path& path, DamageReport& damage);

}  // namespace osler::runfile
