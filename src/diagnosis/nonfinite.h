// What two findings ask about NaN and Inf in loss series.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diagnosis/patient.h"
#include "osler/diagnosis/catalogue.h"

namespace osler {

/// The non-finite values of one loss series.
struct Nonfinite {
  std::string series;
  std::string spelling;  ///< "NaN or infinite", or "NaN" when the newest value shows it
  bool validation = false;
  bool component = false;
  std::uint64_t points = 0;
  std::uint64_t count = 0;
  std::int64_t series_start = 0;
  std::int64_t first_step = 0;      ///< of the first non-finite value
  std::int64_t last_step = 0;       ///< of the series
  std::uint64_t points_before = 0;  ///< finite values before it, as far as the summary can tell
  double value_before = 0;          ///< the last finite value before it, or the nearest the summary has
  bool recovered = false;           ///< finite values came after it, up to the end

  /// Within the first `first_steps` steps and rows of its series.
  [[nodiscard]] bool early(double first_steps) const;
  [[nodiscard]] Severity severity() const;
  [[nodiscard]] double confidence() const;
  [[nodiscard]] Evidence evidence(double first_steps) const;
};

/// Every loss series, those with non-finite values first: unrecovered before recovered, training before validation.
[[nodiscard]] std::vector<Nonfinite> nonfinite_losses(const Patient& patient);

/// A loss, of training or validation, is not a number any more and has not been one again: what the run answers since
/// then is no answer.
[[nodiscard]] bool lost_to_nonfinite(const Patient& patient);

/// A training loss that ends while what was logged beside it goes on.
struct FallenSilent {
  std::string series;
  std::string companion;  ///< a series that was logged at the same steps and goes on
  std::uint64_t points = 0;
  std::int64_t last_step = 0;        ///< with a value of the loss
  std::int64_t companion_last = 0;   ///< step of the companion's last value
  std::uint64_t points_without = 0;  ///< of the companion, after the loss ended
};

/// Tables made with pandas and JSON made in strict libraries leave a cell empty, or null, where a value is NaN: a loss
/// that broke has no values any more. Found where every loss ends, something that was logged along with it goes on for
/// `fewest` points and `share` of those of the loss, and nothing new began instead.
[[nodiscard]] std::optional<FallenSilent> fallen_silent(const Patient& patient, double fewest, double share);

/// The verdict for a run without any loss, or with too few values of one.
[[nodiscard]] NotChecked no_loss_to_check(const Patient& patient);

}  // namespace osler
