// Renderers: a report as text for a terminal, as JSON, as SARIF.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "osler/diagnosis/catalogue.h"
#include "osler/diagnosis/report.h"

namespace osler {

/// How text is laid out.
struct TextOptions {
  bool colour = false;
  bool verbose = false;  ///< everything, not just what fits a screen
  bool unicode = true;   ///< draw with block and Braille characters; plain ASCII otherwise
  int width = 100;       ///< columns; at least 40 are used, and at most 120
  int lines = 40;        ///< lines of a screen, which a report fits if it is not verbose; at least 24 are used
};

/// A report people enjoy reading: verdict first, then the evidence with a small plot, causes, remedies, what was not
/// checked.
[[nodiscard]] std::string render_text(const Report& report, const TextOptions& options = {});
/// One experiment in full: its verdict, its figures, its checks in their order.
[[nodiscard]] std::string render_text(const Experiment& experiment, const TextOptions& options = {});
/// One line per run for a report of many, without a line end. The headline starts behind `name_width` columns for the
/// run's name; 0 leaves it a share of the width.
[[nodiscard]] std::string render_line(const Report& report, const TextOptions& options = {}, int name_width = 0);

/// What a live view shows: verdict, curve, the worst findings, the first cause and remedy, in at most `lines` lines.
[[nodiscard]] std::string render_live(const Report& report, const TextOptions& options, int lines);

/// The report contract "osler-report/1" (docs/report.schema.json), one object.
[[nodiscard]] std::string render_json(const Report& report);
/// The same in one line, for a stream of reports.
[[nodiscard]] std::string render_json_line(const Report& report);
/// Several reports: {"schema": ..., "reports": [...]}.
[[nodiscard]] std::string render_json(std::span<const Report> reports);

/// SARIF 2.1.0, one result per finding.
[[nodiscard]] std::string render_sarif(std::span<const Report> reports);

/// A catalogue page for a terminal.
[[nodiscard]] std::string render_page(const Finding& finding, const TextOptions& options = {});
[[nodiscard]] std::string render_page(const Cause& cause, const TextOptions& options = {});
/// One setting of a finding.
[[nodiscard]] std::string render_page(const Finding& finding, const Setting& setting, const TextOptions& options = {});

/// Any Markdown for a terminal: headings, lists, tables, quotes, code, emphasis, links.
[[nodiscard]] std::string render_markdown(std::string_view markdown, const TextOptions& options = {});

}  // namespace osler
