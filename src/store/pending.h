// Pending: rows of any number of runs that wait to be sent together.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "osler/base/result.h"
#include "osler/run/event.h"
#include "store/client.h"
#include "store/reading.h"

namespace osler::store {

/// Whose rows these are.
struct Origin {
  std::uint64_t run = 0;
  std::uint64_t stream = 0;
};

/// How far a stream has come.
struct Reached {
  std::uint64_t number = 0;  ///< events before this one are in the store
  std::uint64_t bytes = 0;   ///< of the file that hold these events
  std::uint64_t fingerprint = 0;
};

/// What the list of runs says of one.
struct RunRow {
  std::uint64_t run = 0;
  std::string project;
  std::string name;
  std::string machine;
  std::string format;
  std::uint64_t changed = 0;
  double began = kNoTime;
  double last_time = kNoTime;
  std::uint64_t points = 0;
  std::uint64_t events =
      0;  ///< the sum of what its streams have reached: who sees more in them knows it is out of date
};

class Pending {
 public:
  Pending();

  void stream(std::uint64_t run, const StoredStream& stream);
  void series(Origin origin, std::uint64_t series, std::string_view name, std::uint32_t position);
  void point(Origin origin, std::uint64_t series, std::uint64_t number, const Event& event);
  void mark(Origin origin, std::uint64_t number, const Mark& mark);
  void config(Origin origin, std::uint64_t number, std::string_view key, std::string_view value);
  void histogram(Origin origin, std::uint64_t series, std::uint64_t number, const Histogram& histogram);
  void reached(Origin origin, const Reached& reached);
  void label(std::uint64_t run, std::string_view label, std::string_view value, std::uint64_t changed);
  void run(const RunRow& row);

  /// Rows that carry what a run told, and how many of them are points.
  [[nodiscard]] std::size_t events() const;
  [[nodiscard]] std::size_t points() const;
  [[nodiscard]] bool empty() const;
  /// What to insert, in this order: a run's own row comes last, so that whoever sees it changed sees all of it.
  [[nodiscard]] Result<std::vector<Insert>> batch() const;
  void clear();

 private:
  Block streams_;
  Block series_;
  Block config_;
  Block marks_;
  Block histograms_;
  Block points_;
  Block progress_;
  Block labels_;
  Block runs_;
  std::size_t bulk_ = 0;  // bins of histograms, which weigh as much as points
};

}  // namespace osler::store
