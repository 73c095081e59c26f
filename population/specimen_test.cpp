// A run of the population can be made again from its seed and index.
#include "specimen.h"

#include <gtest/gtest.h>

namespace osler::population {
namespace {

TEST(PopulationSpecimen, IsTheSameForTheSameSeedAndIndex) {
  const Specimen once = make_specimen(1, 3);
  const Specimen again = make_specimen(1, 3);
  EXPECT_EQ(once.meta, again.meta);
  EXPECT_EQ(once.log, again.log);
  EXPECT_EQ(once.id, "s1-000003");
  EXPECT_NE(once.meta, make_specimen(1, 4).meta);
}

}  // namespace
}  // namespace osler::population
