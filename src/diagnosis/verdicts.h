// Verdicts: what all checks of one diagnosis came to.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "osler/diagnosis/catalogue.h"

namespace osler {

/// The verdicts of one diagnosis by finding id.
class Verdicts {
 public:
  void set(std::string_view id, Verdict verdict) { verdicts_.insert_or_assign(std::string(id), std::move(verdict)); }

  /// What was observed, or nullptr when the condition is absent or was not checked.
  [[nodiscard]] const Observation* found(std::string_view id) const {
    const auto verdict = verdicts_.find(id);
    return verdict == verdicts_.end() ? nullptr : std::get_if<Observation>(&verdict->second);
  }
  /// The check ran and the condition is not there.
  [[nodiscard]] bool absent(std::string_view id) const {
    const auto verdict = verdicts_.find(id);
    return verdict != verdicts_.end() && std::holds_alternative<NotFound>(verdict->second);
  }
  [[nodiscard]] const std::map<std::string, Verdict, std::less<>>& all() const { return verdicts_; }

 private:
  std::map<std::string, Verdict, std::less<>> verdicts_;
};

}  // namespace osler
