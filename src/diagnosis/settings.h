// SettingValues: the numbers a finding decides by, with the user's overrides applied.
#pragma once

#include <cassert>
#include <map>
#include <string>
#include <string_view>

#include "osler/diagnosis/catalogue.h"

namespace osler {

/// The settings of one finding. Asking for a setting that the finding does not declare is a bug and asserts.
class SettingValues {
 public:
  SettingValues(const Finding& finding, const std::map<std::string, double, std::less<>>& overrides) {
    for (const Setting& setting : finding.settings) {
      const auto told = overrides.find(std::string(finding.id) + "." + std::string(setting.name));
      values_.emplace(setting.name, told == overrides.end() ? setting.value : told->second);
    }
  }

  double operator[](std::string_view name) const {
    const auto value = values_.find(name);
    assert(value != values_.end());
    return value->second;
  }

 private:
  std::map<std::string, double, std::less<>> values_;
};

}  // namespace osler
