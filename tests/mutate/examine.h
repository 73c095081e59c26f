// What Osler is asked of a damaged log: every verb, called within this process.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace osler::mutate {

/// The folder in which the calls of one process take place; it has a sound log to compare with.
class Bench {
 public:
  explicit Bench(std::filesystem::path folder);

  /// Puts the damaged log there under its name, in place of the one before.
  void lay(const std::string& name, const std::string& bytes);
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] const std::string& log() const { return log_; }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  [[nodiscard]] std::string sound() const { return (folder_ / "sound.csv").string(); }
  [[nodiscard]] std::string output(std::string_view name) const { return (folder_ / "out" / name).string(); }
  /// Empties the folder of the outputs.
  void clear_output() const;

 private:
  std::filesystem::path folder_;
  std::string log_;
  std::string bytes_;
};

/// The bytes of a run file that holds what the sound log tells.
[[nodiscard]] std::string run_file(const Bench& bench);

/// What came of a question.
struct Finding {
  std::string
      problem;        ///< what is wrong with the answer: a strange exit code, JSON that is none, a changed log, a rest
  bool read = false;  ///< the log could be read and the work be done
};

/// One thing to ask.
struct Question {
  std::string_view name;
  Finding (*ask)(const Bench& bench);
};

[[nodiscard]] std::span<const Question> questions();

}  // namespace osler::mutate
