// The lines that are too long to be lines.
#include "formats/lines.h"

namespace osler {

void LineSplitter::keep(std::string_view tail) {
  if (skipped_ != 0 || pending_.size() + tail.size() > kLongestLine) {
    skipped_ += pending_.size() + tail.size();
    pending_.clear();
    pending_.shrink_to_fit();
    return;
  }
  pending_ += tail;
}

void LineSplitter::report_long_line(DamageReport& damage) const {
  damage.add({{}, 0, number_, "a line of " + std::to_string(skipped_) + " bytes is too long to be read", skipped_});
}

}  // namespace osler
