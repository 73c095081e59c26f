// SeededTest: a fixture's random numbers begin at a seed before its members draw any.
#pragma once

#include <gtest/gtest.h>
#include <torch/utils.h>

#include <cstdint>

namespace osler::torch {

/// A base of fixtures: members are made after it and before the body of the fixture's own constructor.
class SeededTest : public testing::Test {
 protected:
  explicit SeededTest(std::uint64_t seed) { ::torch::manual_seed(seed); }
};

}  // namespace osler::torch
