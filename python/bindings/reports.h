// Reports as the module hands them out.
#pragma once

#include <pybind11/pybind11.h>

#include <map>
#include <string>
#include <vector>

#include "osler/diagnosis/diagnose.h"

namespace osler::python {

/// The options of a diagnosis from Python's words. Throws a Failure for a role that does not exist.
[[nodiscard]] DiagnosisOptions options_of(const std::map<std::string, std::string>& roles,
                                          const std::map<std::string, double>& settings,
                                          const std::vector<std::string>& only);

}  // namespace osler::python
