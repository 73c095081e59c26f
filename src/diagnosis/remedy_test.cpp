// Remedies: numbers that fit the run and what works elsewhere.
#include "diagnosis/remedy.h"

#include <gtest/gtest.h>

#include <string>

namespace osler {
namespace {

/// The rate that the remedy of a rate that is too low leads to.
std::string raised(const char* rate, double factor,
                   std::initializer_list<std::pair<const char*, const char*>> more = {}) {
  Run run;
  run.config("optimizer", "AdamW");
  run.config("learning_rate", rate);
  for (const auto& [key, value] : more) run.config(key, value);
  const RoleMap roles = *RoleMap::infer(run);
  const Patient patient(run, roles);
  return multiply_learning_rate(patient, factor).change->to;
}

TEST(Remedy, RaisesARateByTheFactorWhereThatIsUsual) {
  EXPECT_EQ(raised("1e-5", 10), "0.0001");
}

TEST(Remedy, RaisesARateNoFurtherThanWhatIsUsual) {
  EXPECT_EQ(raised("1e-3", 10), "0.005");
  EXPECT_EQ(raised("2e-5", 10, {{"pretrained", "true"}}), "0.0001") << "weights that were trained before bear less";
}

TEST(Remedy, KeepsTheFactorForARateBeyondWhatIsUsualAlready) {
  EXPECT_EQ(raised("0.01", 3), "0.03");
}

}  // namespace
}  // namespace osler
