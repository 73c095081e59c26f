// The diagnosis tree drawn for a terminal, and the way of a run through it.
#include <fmt/format.h>

#include <algorithm>

#include "osler/report/tree.h"
#include "report/layout.h"
#include "report/text_sections.h"

namespace osler {
namespace {

using layout::Ink;
using layout::Sheet;

struct Lines {
  std::string_view down, fork, last, blank;
};

Lines lines(bool unicode) {
  return unicode ? Lines{"│  ", "├─ ", "└─ ", "   "} : Lines{"|  ", "+- ", "`- ", "   "};
}

std::string causes_of(const TreeNode& node) {
  std::vector<std::string> causes(node.causes.begin(), node.causes.end());
  return layout::join(causes, ", ");
}

/// One node with everything below it. `stem` is drawn before every line but the first, which has `first`.
void draw(Sheet& sheet, const TreeNode& node, const std::string& first, const std::string& stem, bool verbose) {
  const Lines ink = lines(sheet.unicode());
  const int width = sheet.width() - layout::columns(stem) - 1;
  const std::string text = node.leaf() ? sheet.painted(std::string(node.text), Ink::plain)
                                       : sheet.painted(std::string(node.text), Ink::strong);
  bool begun = false;
  const auto write = [&](const std::string& words, Ink colour) {
    for (const std::string& line : layout::wrap(words, std::max(width, 20))) {
      sheet.line((begun ? stem + (node.leaf() ? "" : std::string(ink.down)) : first) + sheet.painted(line, colour));
      begun = true;
    }
  };
  write(std::string(node.text), node.leaf() ? Ink::plain : Ink::strong);
  if (node.leaf()) {
    write("suspect: " + causes_of(node), Ink::faint);
    return;
  }
  if (verbose) write("checks: " + layout::join({node.findings.begin(), node.findings.end()}, ", "), Ink::faint);
  draw(sheet, tree_node(node.yes), stem + std::string(ink.fork) + "yes: ", stem + std::string(ink.down) + "  ",
       verbose);
  // The chain of no's goes straight down, so that the main road of the tree is not indented.
  draw(sheet, tree_node(node.no), stem + std::string(ink.last) + "no: ", stem + std::string(ink.blank), verbose);
}

}  // namespace

std::string render_tree(const TextOptions& options) {
  Sheet sheet(options);
  sheet.paragraph("", sheet.painted("The questions in the order a physician asks them. osler diagnose RUN --tree shows "
                                    "the way a run takes.",
                                    Ink::faint));
  sheet.blank();
  draw(sheet, diagnosis_tree().front(), "", "", options.verbose);
  return sheet.str();
}

std::string render_way(const std::vector<TreeStep>& way, const TextOptions& options) {
  Sheet sheet(options);
  sheet.line(sheet.painted("The way through the tree", Ink::strong));
  for (const TreeStep& step : way) {
    if (step.node->leaf()) {
      sheet.paragraph("  so   ", std::string(step.node->text));
      continue;
    }
    const Ink ink = step.answer == Answer::yes ? Ink::warning : step.answer == Answer::no ? Ink::healthy : Ink::faint;
    const std::string word = step.answer == Answer::unknown ? "?" : std::string(to_string(step.answer));
    sheet.paragraph("  " + sheet.painted(layout::pad(word, 5), ink),
                    std::string(step.node->text) + "  " + sheet.text(step.because, Ink::faint), 2);
  }
  return sheet.str();
}

}  // namespace osler
