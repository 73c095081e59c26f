// LengthWatch: tells whether "steps: 21, reward: 30" counts all steps or says how long an episode was.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace osler::text {

/// Lines wait from the first one in doubt until enough of them came: lengths go up and down, a count rises. What is
/// kept is bounded, and depends on the lines alone, not on how the input was cut.
class LengthWatch {
 public:
  enum class Verdict { open, counts, lengths };

  [[nodiscard]] Verdict verdict() const { return verdict_; }
  [[nodiscard]] bool waits() const { return !held_.empty(); }
  void hold(std::string_view line) { held_.emplace_back(line); }
  /// The number in doubt of the line that was held last.
  void number(double value) {
    ++rows_;
    if (last_ && value < *last_) ++falls_;
    last_ = value;
  }
  [[nodiscard]] bool enough() const { return rows_ >= kRows || held_.size() >= kMostHeld; }
  /// Decides, and gives back what waits.
  std::vector<std::string> settle() {
    verdict_ = falls_ > 1 && falls_ * 5 >= rows_ ? Verdict::lengths : Verdict::counts;
    return std::exchange(held_, {});
  }

 private:
  static constexpr std::size_t kRows = 16;
  static constexpr std::size_t kMostHeld = 256;  // with what stands between those lines

  Verdict verdict_ = Verdict::open;
  std::vector<std::string> held_;
  std::size_t rows_ = 0;
  std::size_t falls_ = 0;
  std::optional<double> last_;
};

}  // namespace osler::text
