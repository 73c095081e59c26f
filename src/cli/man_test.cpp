// Manual pages say what --help says.
#include "cli/man.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/program.h"

namespace osler::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string page_of(const std::string& name) {
  const Command program = program_tree();
  for (const Command& verb : program.verbs) {
    if (verb.name == name) return man_page(program, verb);
  }
  return {};
}

TEST(ManPage, OfTheProgramNamesEveryVerbWithItsPage) {
  const Command program = program_tree();
  const std::string page = man_page(program);
  EXPECT_THAT(page, HasSubstr(".TH OSLER 1"));
  for (const Command& verb : program.verbs) {
    EXPECT_THAT(page, HasSubstr("\\fBosler\\-" + verb.name + "\\fR(1)"));
  }
  EXPECT_THAT(page, HasSubstr("Exit codes: 0 nothing serious found"));
}

TEST(ManPage, OfAVerbHasSynopsisOptionsAndExamples) {
  const std::string page = page_of("diagnose");
  EXPECT_THAT(page, HasSubstr("\\fBosler diagnose\\fR [\\fIOPTIONS\\fR] \\fIPATH\\fR..."));
  EXPECT_THAT(page, HasSubstr(".TP\n\\fB\\-\\-fail\\-on\\fR \\fILEVEL\\fR\nExit with 1 from this severity on"));
  EXPECT_THAT(page, HasSubstr(".SH EXAMPLES\n.nf\n  osler diagnose metrics.csv"));
}

TEST(ManPage, OfAVerbWithVerbsDescribesThem) {
  EXPECT_THAT(page_of("baseline"), HasSubstr(".SH BASELINE LEARN\n"));
}

TEST(ManPage, OfTheGalleryDescribesTheProgramItStarts) {
  EXPECT_THAT(page_of("gallery"), HasSubstr("\\fB\\-\\-seeds\\fR \\fIN\\fR"));
}

TEST(ManPage, TakesNoTextForACommandOfTroff) {
  Command program{"osler", "Says things.\n.so /etc/passwd\n'quoted", "", {}, {}, {}};
  const std::string page = man_page(program);
  EXPECT_THAT(page, HasSubstr("\n\\&.so /etc/passwd\n\\&'quoted\n"));
  EXPECT_THAT(page, Not(HasSubstr("\n.so")));
}

}  // namespace
}  // namespace osler::cli
