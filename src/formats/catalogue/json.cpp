// JSON documents: arrays of records, or a history of arrays.
#include "formats/json/document.h"
#include "formats/json/lines.h"
#include "formats/json/python_literal.h"

namespace osler::catalogue {
namespace {

Sniff sniff(const Peek& peek) {
  if (begins_python_history(peek.head)) return Sniff::certain;
  return json_shape(peek) == JsonShape::document ? Sniff::possible : Sniff::no;
}

std::unique_ptr<Reader> open(const std::filesystem::path& path) {
  return make_json_document_reader(path.stem().string());
}

std::filesystem::path run_of(const std::filesystem::path& path) {
  return path;
}

constexpr std::string_view kDoc = R"(
A JSON document that holds a history.

**Written by** Chainer's LogReport (an array of records), Keras (`json.dump(history.history, f)`: an object of arrays), pandas
(`to_json`), XGBoost's `evals_result`, TensorBoard's JSON download, and many scripts; also in Python's own notation, as
`f.write(str(history.history))` leaves it.

**What is read.** Objects in an array are rows, read like JSON lines. Arrays of numbers are series, point by point; where
one array divides a longer one evenly it was taken once per epoch, and its points stand at the epochs' ends. Arrays of
`[wall time, step, value]` are points of a series named after the file; `[step, a, b]` in a file called after a loss are the losses of
training and validation. Nested keys are joined with `/`, without words such
as `history` or `logs`. Single numbers and texts become configuration; a document that has nothing else is one row.

**Limits.** The document is held in memory and may have 1 GiB. One that is cut off is read up to its last complete value.
)";

}  // namespace

Format json() {
  return {"json", "JSON document", kDoc, "text", sniff, open, run_of};
}

}  // namespace osler::catalogue
