// The log file of llm.c.
#include <algorithm>

#include "formats/text/text_reader.h"

namespace osler::catalogue {
namespace {

void refine(std::string_view, const text::Scan&, text::LinePlan& plan) {
  for (text::Slot& slot : plan.slots) {
    if (slot.name == "trl") slot.name = "train loss";
    if (slot.name == "tel") slot.name = "val loss";
    if (slot.name == "eval") slot.name = "val HellaSwag accuracy";
    if (slot.name == "norm") slot.name = "grad norm";
  }
}

/// "s:100 trl:3.5", "s:250 tel:3.6"
bool is_log_line(std::string_view line) {
  if (!line.starts_with("s:")) return false;
  line.remove_prefix(2);
  const std::size_t digits = line.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string_view::npos) return false;
  line.remove_prefix(digits);
  return line.starts_with(" trl:") || line.starts_with(" tel:") || line.starts_with(" eval:");
}

Sniff sniff(const Peek& peek) {
  constexpr int kLines = 3;
  std::string_view head = peek.head;
  int lines = 0;
  for (; lines < kLines && !head.empty(); ++lines) {
    const std::size_t end = std::min(head.find('\n'), head.size());
    if (!is_log_line(head.substr(0, end))) return Sniff::no;
    head.remove_prefix(std::min(end + 1, head.size()));
  }
  return lines > 0 ? Sniff::certain : Sniff::no;
}

std::unique_ptr<Reader> open(const std::filesystem::path&) {
  return std::make_unique<text::TextReader>(text::Dialect{refine});
}

std::filesystem::path run_of(const std::filesystem::path& path) {
  return path;
}

constexpr std::string_view kDoc = R"(
`main.log` as llm.c writes it: `s:100 trl:4.25 lr:0.0003 norm:1.25` for training, `s:250 tel:4.31` for evaluations.

**What is read.** Everything, with names that say what it is: `trl` is `train loss`, `tel` is `val loss`, `eval` is
`val HellaSwag accuracy`, `norm` is `grad norm`.
)";

}  // namespace

Format llmc() {
  return {"llmc", "llm.c main.log", kDoc, "text", sniff, open, run_of};
}

}  // namespace osler::catalogue
