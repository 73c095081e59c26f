// What tools/new creates compiles as it is, and the rules name everything that is still to be filled in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "meta/rules.h"

namespace osler::catalogue {

// Written by tools/new when this program is built.
Finding new_finding();
Format new_format();
namespace cause {
Cause new_cause();
}

}  // namespace osler::catalogue

namespace osler::meta {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST(Template, OfAFindingLacksTitleAndDocumentation) {
  EXPECT_THAT(problems_of({"new_finding", catalogue::new_finding()}),
              UnorderedElementsAre("the title is empty", HasSubstr("'What it is'"), HasSubstr("'Signature'"),
                                   HasSubstr("'Why it matters'"), HasSubstr("'When it is harmless'"),
                                   HasSubstr("'References'"), HasSubstr("gives no reason")));
}

TEST(Template, OfAFindingHasAFolderThatAsksForCases) {
  EXPECT_THAT(missing_cases(OSLER_NEW_DIR "/tests/cases/new-finding"),
              UnorderedElementsAre(HasSubstr("expected.json"), HasSubstr("no sick"), HasSubstr("no healthy"),
                                   HasSubstr("no borderline")));
}

TEST(Template, OfACauseLacksTitleDocumentationPriorAndReasons) {
  EXPECT_THAT(problems_of({"new_cause", catalogue::cause::new_cause()}),
              UnorderedElementsAre("the title is empty", HasSubstr("'What happens'"), HasSubstr("'How it shows'"),
                                   HasSubstr("'What else looks like it'"), HasSubstr("'References'"), "it has no prior",
                                   "nothing speaks for it or against it", HasSubstr("settle")));
}

TEST(Template, OfAFormatLacksTitleAndDocumentation) {
  EXPECT_THAT(problems_of({"new_format", catalogue::new_format()}),
              UnorderedElementsAre("the title is empty", HasSubstr("its documentation")));
}

TEST(Template, OfAFormatClaimsNothing) {
  const Format format = catalogue::new_format();
  EXPECT_EQ(format.sniff({"log.csv", "step,loss\n1,2\n", true}), Sniff::no);
}

TEST(Rules, RejectAnIdThatIsNotTheFile) {
  Finding finding = catalogue::new_finding();
  finding.id = "another-name";
  EXPECT_THAT(problems_of({"new_finding", finding}), testing::Contains(HasSubstr("not the name of its file")));
}

TEST(Rules, RejectAPullByAFindingThatDoesNotExist) {
  Cause cause = catalogue::cause::new_cause();
  cause.pulls = {{.finding = "no-such-finding", .if_found = 1, .if_absent = 0, .why = "it says so"}};
  EXPECT_THAT(problems_of({"new_cause", cause}), testing::Contains(HasSubstr("no-such-finding")));
}

TEST(Rules, FindSectionsWithoutWords) {
  EXPECT_THAT(missing_sections("## One\nHas some words.\n\n## Two\n\n## Three\nAlso some.\n", {"One", "Two", "Three"}),
              ElementsAre("section 'Two' of its documentation is empty"));
  EXPECT_THAT(missing_sections("", {"One"}), ElementsAre("its documentation has no section 'One'"));
}

TEST(Rules, SeeOnlyLinksThatStayHere) {
  EXPECT_THAT(local_links("See [this](loss-diverging) and [that](https://example.org/page)."),
              ElementsAre("loss-diverging"));
  EXPECT_THAT(local_links("No links, only `code` and (brackets)."), IsEmpty());
}

}  // namespace
}  // namespace osler::meta
