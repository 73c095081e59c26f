// TestSeed: random numbers that begin at a seed before the members of a fixture draw any.
#pragma once

#include <torch/utils.h>

#include <cstdint>

namespace osler::torch {

/// A base of fixtures: members are made after it and before the body of the fixture's own constructor.
struct TestSeed {
  explicit TestSeed(std::uint64_t seed) { ::torch::manual_seed(seed); }
};

}  // namespace osler::torch
