// Catalogue pages and Markdown for a terminal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "osler/report/render.h"
#include "report/layout.h"

namespace osler {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Finding sample_finding() {
  Finding finding;
  finding.id = "loss-wobbling";
  finding.title = "The loss wobbles";
  finding.needs = {Need::curve, Need::probe};
  finding.doc = "What it is: a **sustained** wobble.\n\n## Signature\nThe loss goes `up` and *down*.";
  finding.settings = {{"swing", 1e-7, "how far it swings"}, {"window", 200, "over how many steps"}};
  return finding;
}

TEST(Markdown, KeepsHeadingsListsAndCodeApart) {
  const std::string text = render_markdown(
      "# Title\nA paragraph that\ngoes on.\n\n- first\n  continued\n- second\n  1. inner\n\n```\nosler diagnose "
      "x\n```\n");
  EXPECT_EQ(
      text,
      "Title\nA paragraph that goes on.\n\n  • first continued\n  • second\n    1. inner\n\n    osler diagnose x\n");
}

TEST(Markdown, ShowsLinksWithTheirAddresses) {
  EXPECT_EQ(render_markdown("See [the paper](https://arxiv.org/abs/1) and [x](#here)."),
            "See the paper <https://arxiv.org/abs/1> and x.\n");
}

TEST(Markdown, DropsTheSignsOfEmphasisAndCode) {
  EXPECT_EQ(render_markdown("**strong**, *light*, `code`, 2 * 3 * 4, a_b_c, a \\* b"),
            "strong, light, code, 2 * 3 * 4, a_b_c, a * b\n");
}

TEST(Markdown, AlignsTables) {
  EXPECT_EQ(render_markdown("| id | means |\n|---|---|\n| `a` | one |\n| bcd | two |"),
            "  id   means\n  a    one\n  bcd  two\n");
}

TEST(Markdown, QuotesAreIndented) {
  EXPECT_EQ(render_markdown("> said\n> so"), "    said so\n");
}

TEST(Markdown, WrapsToTheWidthAndCutsCode) {
  std::string doc = "- " + std::string(300, 'a') + " b\n\n```\n" + std::string(300, 'c') + "\n```\n| " +
                    std::string(200, 'd') + " | " + std::string(200, 'e') + " | f |\n# " + std::string(200, 'h');
  for (const int width : {40, 80, 120}) {
    std::istringstream stream(render_markdown(doc, {.colour = true, .width = width}));
    for (std::string line; std::getline(stream, line);) EXPECT_LE(layout::columns(line), width) << line;
  }
}

TEST(Markdown, TakesUnfinishedInputAsText) {
  EXPECT_EQ(render_markdown("a `b **c [d](e"), "a `b **c [d](e\n");
  EXPECT_EQ(render_markdown("```\ncode without end"), "    code without end\n");
  EXPECT_EQ(render_markdown(""), "");
}

TEST(Markdown, HandlesManyUnclosedSignsInLinearTime) {
  std::string signs;
  for (int i = 0; i < 20'000; ++i) signs += "[a `b* **";
  EXPECT_FALSE(render_markdown(signs).empty());
}

TEST(Page, OfAFindingShowsNeedsDocAndSettings) {
  const std::string text = render_page(sample_finding());
  EXPECT_THAT(text, StartsWith("The loss wobbles\nfinding · loss-wobbling\n"));
  EXPECT_THAT(text, AllOf(HasSubstr("scalars from any log"), HasSubstr("an active experiment")));
  EXPECT_THAT(text, HasSubstr("a sustained wobble"));
  EXPECT_THAT(text, HasSubstr("  swing   1e-07  how far it swings"));
  EXPECT_THAT(text, HasSubstr("--set loss-wobbling.swing=1e-07"));
}

TEST(Page, OfASettingSaysWhatItIsAndHowToChangeIt) {
  const Finding finding = sample_finding();
  const std::string text = render_page(finding, finding.settings[1]);
  EXPECT_THAT(text, StartsWith("loss-wobbling.window = 200\n"));
  EXPECT_THAT(text, AllOf(HasSubstr("over how many steps"), HasSubstr("--set loss-wobbling.window=VALUE")));
}

TEST(Page, OfACauseSortsItsFindingsByWeight) {
  Cause cause;
  cause.id = "shaky-hands";
  cause.title = "The hands shake";
  cause.doc = "Hands shake.";
  cause.prior = -2;
  cause.pulls = {{"loss-spikes", 0.5, -0.3, "spikes are shaky"},
                 {"loss-wobbling", 2.2, 0, "wobbling is what shaking looks like"},
                 {"loss-plateau", -1.2, 0, "a plateau does not shake"}};
  cause.settle = "Hold still.";
  const std::string text = render_page(cause);
  EXPECT_THAT(text, HasSubstr("before anything is seen: 12 %"));
  const std::size_t strong = text.find("loss-wobbling  strongly");
  const std::size_t weak = text.find("loss-spikes    slightly");
  ASSERT_NE(strong, std::string::npos) << text;
  ASSERT_NE(weak, std::string::npos) << text;
  EXPECT_LT(strong, weak);
  EXPECT_THAT(text.substr(text.find("speak against")), HasSubstr("loss-plateau"));
  EXPECT_THAT(text, AllOf(HasSubstr("Absences that speak against it"), HasSubstr("Hold still.")));
}

TEST(Page, OfEveryFindingAndCauseOfTheCatalogueFitsAndIsClean) {
  for (const int width : {40, 100}) {
    std::string pages;
    for (const auto& [stem, finding] : findings()) pages += render_page(finding, {.width = width});
    for (const auto& [stem, cause] : causes()) pages += render_page(cause, {.width = width});
    std::istringstream stream(pages);
    for (std::string line; std::getline(stream, line);) EXPECT_LE(layout::columns(line), width) << line;
    EXPECT_THAT(pages, Not(HasSubstr("\x1b")));
  }
}

}  // namespace
}  // namespace osler
