// A pipe being read, which Ctrl-C can end while it waits.
#pragma once

#include <filesystem>
#include <memory>

#include "osler/base/file_system.h"
#include "osler/base/result.h"

namespace osler::cli {

/// Opens standard input ("-") or a named pipe. When `interrupt` becomes readable the stream ends, as if its writer had
/// closed it; FileSystem's files would go on waiting. So it does with `cancel`, where there is one. Does not wait for a
/// writer to open the pipe.
[[nodiscard]] Result<std::unique_ptr<ReadableFile>> open_stream(const std::filesystem::path& path, int interrupt,
                                                                int cancel = -1);

}  // namespace osler::cli
