// Runs the built osler as a user would, and writes the logs it reads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace osler::tests {

/// What came of a run of the program.
struct Outcome {
  int exit_code = -1;  ///< 128 + the signal that killed it
  std::string out;
  std::string err;
  long peak_kilobytes = 0;
};

/// How to run it.
struct Call {
  std::vector<std::string> arguments;
  std::optional<std::string> input;                ///< standard input; /dev/null without
  std::map<std::string, std::string> environment;  ///< on top of an otherwise empty one
  bool terminal = false;                           ///< standard output and error are a terminal of 100 columns
  std::filesystem::path folder;                    ///< where it runs
  bool close_output_early = false;                 ///< read a few bytes of its output and go away
  bool interrupt_when_read = false;                ///< keep the input open, and send SIGINT when it has been read
  std::uint64_t file_size_limit = 0;               ///< most bytes of a file it may write, as on a full disk; 0: any
  bool as_nobody = false;                          ///< without root's right to read everything
};

[[nodiscard]] Outcome run(const Call& call);

/// A folder that goes away with the test.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Writes a file below the folder and returns its name.
  std::string write(const std::string& name, const std::string& bytes) const;

 private:
  std::filesystem::path path_;
};

/// A CSV of `steps` rows: step and what `columns` give at that step. Values may be NaN.
struct Column {
  std::string name;
  std::function<double(int)> value;
};
[[nodiscard]] std::string csv(int steps, const std::vector<Column>& columns);

/// A number between -1 and 1 that depends on nothing but its arguments.
[[nodiscard]] double noise(int step, int seed);

/// Curves for whole logs: a healthy descent, one that ends in NaN, one that overfits.
[[nodiscard]] std::string healthy_csv();
[[nodiscard]] std::string nan_csv();
[[nodiscard]] std::string overfitting_csv();

}  // namespace osler::tests
