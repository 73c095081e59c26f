// Samples of logs and what is read from them, as JSON.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

namespace osler::testing {

/// One log (a file or a folder) of tests/samples/<format id>/. What is expected of it lies beside it.
struct Sample {
  std::string format;  ///< the id
  std::filesystem::path path;
  [[nodiscard]] std::filesystem::path expectation() const { return path.string() + ".expected.json"; }
};

/// How GoogleTest shows a sample.
void PrintTo(const Sample& sample, std::ostream* out);

/// All samples of the tree, sorted by path.
[[nodiscard]] std::vector<Sample> all_samples();

/// What is read from a sample: format, and for each series its number of points and its first and last point;
/// configuration; number of damages; or the error. Several runs are described each under its name. Throws
/// std::runtime_error when there is none.
[[nodiscard]] nlohmann::json describe_sample(const Sample& sample);

/// The files of a sample.
[[nodiscard]] std::vector<std::filesystem::path> files_of(const Sample& sample);

}  // namespace osler::testing
