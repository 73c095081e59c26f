// Unimodal regression by pooling adjacent violators from both ends.
#include "signal/valley.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace osler::signal {
namespace {

/// Residual sum of squares of the best falling fit of every prefix, and the fit of the whole.
struct FallingFit {
  std::vector<double> squares;  // squares[i]: of the first i values
  std::vector<double> fitted;
};

FallingFit falling_fit(std::span<const double> values) {
  struct Block {
    double sum = 0;
    double squares = 0;
    std::size_t count = 0;
    double cost_before = 0;
    [[nodiscard]] double mean() const { return sum / static_cast<double>(count); }
    [[nodiscard]] double cost() const { return std::max(0.0, squares - sum * sum / static_cast<double>(count)); }
  };
  FallingFit fit;
  fit.squares.assign(values.size() + 1, 0);
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < values.size(); ++i) {
    Block block{values[i], values[i] * values[i], 1, 0};
    while (!blocks.empty() && blocks.back().mean() <= block.mean()) {
      block.sum += blocks.back().sum;
      block.squares += blocks.back().squares;
      block.count += blocks.back().count;
      blocks.pop_back();
    }
    block.cost_before = blocks.empty() ? 0 : blocks.back().cost_before + blocks.back().cost();
    blocks.push_back(block);
    fit.squares[i + 1] = block.cost_before + block.cost();
  }
  for (const Block& block : blocks) fit.fitted.insert(fit.fitted.end(), block.count, block.mean());
  return fit;
}

}  // namespace

Valley valley_of(std::span<const double> steps, std::span<const double> values) {
  Valley valley;
  const std::size_t n = values.size();
  if (n < 4) return valley;
  const FallingFit forward = falling_fit(values);
  std::vector<double> reversed(values.rbegin(), values.rend());
  const FallingFit backward = falling_fit(reversed);

  std::size_t split = n;  // the first `split` values fall, the rest rise
  double best = forward.squares[n];
  for (std::size_t i = 1; i < n; ++i) {
    const double squares = forward.squares[i] + backward.squares[n - i];
    if (squares < best) {
      best = squares;
      split = i;
    }
  }
  const FallingFit left = falling_fit(values.first(split));
  valley.begin = left.fitted.front();
  valley.bottom = split - 1;
  valley.floor = valley.end = left.fitted.back();
  if (split < n) {
    const FallingFit right = falling_fit(std::span(reversed).first(n - split));
    valley.end = right.fitted.front();
    if (right.fitted.back() < valley.floor) {
      valley.floor = right.fitted.back();
      valley.bottom = split;
    }
  }
  valley.explained = forward.squares[n] > 0 ? 1 - best / forward.squares[n] : 0;
  valley.after = trend_of(steps.subspan(valley.bottom), values.subspan(valley.bottom));
  return valley;
}

}  // namespace osler::signal
