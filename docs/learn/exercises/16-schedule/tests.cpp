// Tests of exercise 16; the answer is included by the compiler's command line.
#include <cmath>
#include <cstdio>

static int failures = 0;

static void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("does not hold: %s\n", what);
  ++failures;
}

static bool near(double a, double b) {
  return std::abs(a - b) <= 1e-12 + 1e-6 * std::abs(b);
}

int main() {
  const Schedule schedule{1e-3, 0.1, 1000, 100};
  expect(rate_at(schedule, 0) > 0, "the first step has a rate above zero");
  expect(near(rate_at(schedule, 0), 1e-5), "the first of 100 warm-up steps has a hundredth of the peak");
  expect(near(rate_at(schedule, 49), 5e-4), "half of the warm-up gives half of the peak");
  expect(near(rate_at(schedule, 99), 1e-3), "the last warm-up step has the peak");
  bool falls = true;
  for (long step = 100; step < 1000; ++step) falls = falls && rate_at(schedule, step) <= rate_at(schedule, step - 1);
  expect(falls, "behind the warm-up the rate never rises");
  expect(near(rate_at(schedule, 999), 1e-4), "the last step has a tenth of the peak");
  expect(near(rate_at(schedule, 5000), 1e-4), "beyond the end the rate stays");
  expect(std::abs(rate_at(schedule, 549) - 5.5e-4) < 2e-6, "half-way down it is half-way between peak and floor");
  const Schedule none{0.5, 0.0, 10, 0};
  expect(near(rate_at(none, 0), 0.5), "without a warm-up the first step has the peak");
  expect(near(rate_at(none, 9), 0.0), "a floor of nothing is reached");
  const Schedule one{0.5, 0.1, 1, 0};
  expect(std::isfinite(rate_at(one, 0)), "a training of one step divides nothing by zero");
  return failures == 0 ? 0 : 1;
}
