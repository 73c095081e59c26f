// Reading one run back from the tables, event by event.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "osler/base/result.h"
#include "osler/run/event.h"
#include "store/client.h"

namespace osler::store {

/// A file of a run, as the store knows it.
struct StoredStream {
  std::uint64_t id = 0;
  std::string path;
  std::uint32_t generation = 0;
  std::uint32_t position = 0;  ///< among the files of the run
  std::uint64_t inode = 0;
  std::string format;
  bool is_void = false;  ///< what it told does not count: its file was written anew
};

/// The streams of a run in the order they are read, those that are void among them.
[[nodiscard]] Result<std::vector<StoredStream>> streams_of(Client& client, std::uint64_t run);

/// Tells what a run's streams hold, each event once however often it was sent.
[[nodiscard]] Result<void> read_streams(Client& client, std::uint64_t run, const std::vector<StoredStream>& streams,
                                        EventSink& sink);

}  // namespace osler::store
