// The schema of a store: which version is there, and how it is brought to the newest.
#pragma once

#include <cstdint>
#include <string>

#include "osler/base/result.h"
#include "osler/store/store.h"
#include "store/client.h"

namespace osler::store {

/// Makes what is missing. Every step may be done twice, so that one who was interrupted begins again.
[[nodiscard]] Result<std::uint32_t> init_schema(Client& client, const StoreSetup& setup);

/// The cluster over which the tables lie; empty where they lie on one server, or are not there.
[[nodiscard]] Result<std::string> cluster_of(Client& client);

/// Whether the schema is the one that this program knows.
[[nodiscard]] Result<void> check_schema(Client& client);

}  // namespace osler::store
