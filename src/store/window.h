// A stretch of a stored series in few columns, made by the store itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "osler/base/result.h"
#include "osler/runfile/reader.h"
#include "store/client.h"

namespace osler::store {

[[nodiscard]] Result<std::vector<WindowSpan>> window_of(Client& client, std::uint64_t run, const std::string& series,
                                                        const WindowRequest& request);

}  // namespace osler::store
