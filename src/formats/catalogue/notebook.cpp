// Jupyter notebooks: what a training printed into its cells.
#include "formats/decoder.h"
#include "formats/json/walk.h"
#include "formats/notebook/html_table.h"
#include "formats/text/text_reader.h"
#include "osler/formats/format.h"

namespace osler::catalogue {
namespace {

/// Longer notebooks are full of pictures; nobody opens them.
constexpr std::size_t kLargestNotebook = std::size_t{256} << 20;

/// Collects the outputs of all cells, in their order, as text.
class OutputVisitor final : public JsonVisitor {
 public:
  [[nodiscard]] const std::string& text() const { return text_; }

  void begin_object() override { enter(); }
  void begin_array() override { enter(); }
  void key(std::string_view name) override { key_ = name; }
  void end_object() override {
    leave();
    if (path_.size() == kOutputDepth && path_[3] == "outputs") close_output();
  }
  void end_array() override { leave(); }
  void number(double) override { key_.clear(); }
  void nothing() override { key_.clear(); }
  void truth(bool) override { key_.clear(); }
  void text(std::string_view value) override {
    const std::string name = std::exchange(key_, {});
    // cells [ { outputs [ { text: "..." | [ "...", ... ], data { "text/html": ... } } ] } ]
    if (path_.size() <= kOutputDepth || path_[0] != "" || path_[1] != "cells" || path_[3] != "outputs") return;
    const std::string& where = !name.empty() ? name : path_.back();
    if (where == "text") stream_ += value;
    if (where == "text/html") html_ += value;
    if (where == "text/plain") plain_ += value;
  }

 private:
  // The document, "cells", a cell, "outputs": an output's own values lie deeper.
  static constexpr std::size_t kOutputDepth = 4;

  void enter() { path_.push_back(std::exchange(key_, {})); }
  void leave() {
    if (!path_.empty()) path_.pop_back();
  }

  void close_output() {
    if (const std::string tables = tables_of_html(html_); !tables.empty()) {
      text_ += tables;
    } else {
      text_ += stream_.empty() ? plain_ : stream_;
    }
    if (!text_.empty() && text_.back() != '\n') text_ += '\n';
    stream_.clear();
    html_.clear();
    plain_.clear();
  }

  std::vector<std::string> path_;
  std::string key_;
  std::string stream_;
  std::string html_;
  std::string plain_;
  std::string text_;
};

/// Holds the notebook, since its parts may come in any order, and reads the outputs at the end.
class NotebookReader final : public Reader {
 public:
  Result<void> feed(std::span<const std::byte> bytes, EventSink&, DamageReport&) override {
    if (document_.size() + bytes.size() > kLargestNotebook) {
      return Error{ErrorCode::unsupported, "is a notebook of more than 256 MiB", {}};
    }
    document_ += decoder_.decode(bytes);
    return {};
  }

  Result<void> finish(EventSink& sink, DamageReport& damage) override {
    document_ += decoder_.finish();
    const JsonExtent extent = find_json(document_, 0);
    if (!extent.found) return Error{ErrorCode::truncated, "the notebook ends too early", {}};
    const std::string whole = document_.substr(extent.begin, extent.end - extent.begin) + extent.closers;
    document_ = {};
    OutputVisitor outputs;
    JsonWalker walker;
    auto walked = walker.walk(whole, outputs);
    osler::text::TextReader reader;
    if (auto fed = reader.feed(std::as_bytes(std::span(outputs.text())), sink, damage); !fed) return fed;
    if (auto finished = reader.finish(sink, damage); !finished) return finished;
    if (!extent.closers.empty()) return Error{ErrorCode::truncated, "the notebook ends too early", {}};
    return walked;
  }

 private:
  TextDecoder decoder_;
  std::string document_;
};

Sniff sniff(const Peek& peek) {
  const std::size_t first = peek.head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || peek.head[first] != '{') return Sniff::no;
  const bool cells = peek.head.find("\"cells\"") != std::string_view::npos &&
                     peek.head.find("\"cell_type\"") != std::string_view::npos;
  if (peek.path.extension() == ".ipynb") return cells ? Sniff::certain : Sniff::possible;
  return cells && peek.head.find("\"nbformat\"") != std::string_view::npos ? Sniff::certain : Sniff::no;
}

std::unique_ptr<Reader> open(const std::filesystem::path&) {
  return std::make_unique<NotebookReader>();
}

std::filesystem::path run_of(const std::filesystem::path& path) {
  return path;
}

constexpr std::string_view kDoc = R"(
A Jupyter notebook (`.ipynb`) in which a training was run: what its cells printed.

**Written by** Jupyter, JupyterLab, Colab, Kaggle.

**What is read.** The output of all cells, in their order, as the general text reader reads it: printed epochs, Keras' and
tqdm's bars, dictionaries. Tables in HTML, as Hugging Face's Trainer and fastai show them, are read by their header: `Step`,
`Training Loss`, `Validation Loss`.

**Limits.** The notebook is held in memory and may have 256 MiB. Nothing in it is run. Outputs that were cleared are gone.
)";

}  // namespace

Format notebook() {
  return {"notebook", "Jupyter notebook", kDoc, "json", sniff, open, run_of};
}

}  // namespace osler::catalogue
