// Tests of exercise 25; the answer is included by the compiler's command line.
#include <cmath>
#include <cstdio>

static int failures = 0;

static void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("does not hold: %s\n", what);
  ++failures;
}

static bool near(float a, float b) {
  return std::abs(a - b) <= 1e-5F + 1e-5F * std::abs(b);
}

int main() {
  expect(near(cross_entropy({0, 0, 0, 0}, 2), std::log(4.0F)), "equal logits of four classes cost ln 4");
  const std::vector<float> logs = log_softmax({1, 2, 3});
  expect(logs.size() == 3, "one logarithm for each logit");
  float total = 0;
  for (const float log : logs) total += std::exp(log);
  expect(near(total, 1), "the probabilities add up to one");
  expect(near(cross_entropy({1000, 0}, 0), 0), "a logit of 1000 does not overflow");
  expect(near(cross_entropy({1000, 0}, 1), 1000), "a certain wrong answer costs the difference, not infinity");
  expect(near(cross_entropy({-1000, -1000}, 0), std::log(2.0F)), "logits far below zero do not underflow");
  expect(near(cross_entropy({5, 3}, 0), cross_entropy({105, 103}, 0)), "only differences of logits count");
  expect(std::isnan(cross_entropy({std::nanf(""), 0}, 1)), "a NaN is not hidden");
  return failures == 0 ? 0 : 1;
}
