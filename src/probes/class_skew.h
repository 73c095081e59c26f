// ClassSkew: whether batches of class labels look as if they were drawn at random from all classes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace osler::probes {

/// Counts the labels of batches as they are drawn.
class ClassSkew {
 public:
  explicit ClassSkew(std::optional<std::int64_t> classes) : classes_(classes) {}
  void add(const std::vector<std::int64_t>& labels);
  /// What is wrong with the batches together, as a sentence; nothing when they are fine or too few to tell.
  [[nodiscard]] std::optional<std::string> problem() const;

 private:
  std::optional<std::int64_t> classes_;
  std::map<std::int64_t, std::uint64_t> pooled_;
  std::uint64_t labels_ = 0;
  std::uint64_t batches_ = 0;
  std::vector<std::map<std::int64_t, std::uint64_t>> seen_;  // of the first batches
};

}  // namespace osler::probes
