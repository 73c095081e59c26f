// What kind of line it is, where its numbers do not tell: source code, a heading, the end of a crash.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "formats/text/vocabulary.h"

namespace osler::text {

/// Whether the line is a line of a program. Careful: what it says of a log line is lost.
[[nodiscard]] bool looks_like_code(std::string_view line);
/// Whether the line is one that only a program starts with ("import torch"); what follows is likely code too.
[[nodiscard]] bool opens_code(std::string_view line);

/// Whether the line tells of data that is made ready: "Tokenizing 100/2000", "INFO - Loading images: 35/100".
[[nodiscard]] bool prepares_data(std::string_view line);

/// The number of the part of the training that the line announces: "Fold 3/5", "Training layer 2 ...", "=== Stage 1
/// ===".
[[nodiscard]] std::optional<int> announced_part(std::string_view line);

/// " Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all | maxDets=100 ] = 0.351", as pycocotools prints it.
struct CocoLine {
  bool is_one = false;
  std::string_view figure;  ///< "AP", "AP50", "AP75"; empty for those of sizes and for recalls
};
[[nodiscard]] CocoLine coco_line(std::string_view line);

/// Whether nothing but a date, a level and punctuation stands there.
[[nodiscard]] bool only_date_and_level(std::string_view text);

/// The split that a line without values announces for the lines below ("***** Evaluating *****", "Validating...").
[[nodiscard]] Split announced_split(std::string_view line);

/// Follows a Python traceback through its lines.
class TracebackWatch {
 public:
  /// The exception that ended the program, once its line has come.
  [[nodiscard]] std::optional<std::string> line(std::string_view line);
  /// Whether a traceback has begun whose exception has not come yet.
  [[nodiscard]] bool inside() const { return inside_; }

 private:
  bool inside_ = false;
  int lines_ = 0;
};

/// Whether the number at `begin` is the "5,000" of "[eval @ 5,000]"; that of "Recall @ 20" and "val@20" is a cut-off.
[[nodiscard]] bool behind_evaluation_at(std::string_view line, std::size_t begin);

}  // namespace osler::text
