// Shipper: brings runs into a store while they are written, so that every point is there once whatever breaks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "osler/base/file_system.h"
#include "osler/base/result.h"
#include "osler/formats/follow.h"
#include "osler/run/event.h"
#include "osler/store/address.h"

namespace osler {

/// How a shipper works.
struct ShipOptions {
  std::string machine;                  ///< whose runs these are: part of what tells runs apart
  double every_seconds = 1;             ///< how long an event waits at most before it is sent
  std::size_t most_waiting = 400'000;   ///< events that are sent at once when there are that many
  std::filesystem::path spool;          ///< where batches wait while the store is away; empty: the source is held up
  std::uint64_t spool_bytes = 1 << 30;  ///< the most that may wait there; when it is full the source is held up
  std::function<void(const std::string&)> tell;  ///< hears when the store goes away, and when it is back; may be empty
  std::stop_token stop;                          ///< ends all waiting for the store
};

/// What a shipper has done.
struct ShipTally {
  std::uint64_t runs = 0;
  std::uint64_t points = 0;   ///< sent and acknowledged by the store, or safe in the spool
  std::uint64_t batches = 0;  ///< of these points
  std::uint64_t bytes = 0;    ///< as they went over the wire
};

/// One run on its way. Each file of a log, or the whole of a pipe or a run file, is a stream of it.
class ShippedRun : public FollowListener {
 public:
  /// Something that cannot be read again, such as a pipe: what the sink gets follows what the run has so far. `over`
  /// says that what was told of it before does not count.
  virtual EventSink& stream(const std::string& path, const std::string& format, bool over) = 0;
  /// A run file or another database, told from its beginning: its points are known by their time and step.
  virtual EventSink& database(const std::string& path, const std::string& format) = 0;
};

/// Ships any number of runs to one store, one thread at a time. All that a run tells is kept in order; when the store
/// is away and there is no room left, telling waits. A run is known by its project, machine and path, and resumes from
/// what the store has of it.
class Shipper {
 public:
  Shipper(const StoreAddress& address, const StoreAccess& access, ShipOptions options);
  ~Shipper();
  Shipper(const Shipper&) = delete;
  Shipper& operator=(const Shipper&) = delete;

  /// Whether the store is there and can take runs. An error with the code `io` may pass by itself.
  [[nodiscard]] Result<void> check();
  /// The run at `path`, under a name that people see. Lives as long as the shipper.
  [[nodiscard]] ShippedRun& run(const std::string& path, const std::string& name, const std::string& format);
  /// Sends what has waited long enough; to be called a few times a second.
  void tick();
  /// Sends everything and waits until the store has it. False when it was told to stop before.
  [[nodiscard]] bool flush();

  [[nodiscard]] const ShipTally& tally() const;

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace osler
