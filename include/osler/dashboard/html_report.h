// HtmlReport: the diagnosis of one or several runs as one HTML file with the dashboard's own charts.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "osler/base/result.h"
#include "osler/diagnosis/report.h"
#include "osler/run/run.h"

namespace osler {

/// Whether the web pages are part of this program. They are not where Node was missing when it was built.
[[nodiscard]] bool has_dashboard();

/// Gathers runs and writes them into one file that needs nothing else: no network, no server. However long a run is and
/// however many series it has, it takes its share of `most_bytes` at most. One thread at a time.
class HtmlReport {
 public:
  /// `runs` is how many are expected; their shares are made from it.
  explicit HtmlReport(std::size_t runs, std::size_t most_bytes = 4U << 20U);

  /// Takes what the page shows of a run; neither is needed afterwards. When the runs outgrow the file, the mildest keep
  /// only their line in the list.
  void add(const Run& run, const Report& report);

  /// The file. Fails when the program was built without the pages.
  [[nodiscard]] Result<std::string> text() const;

 private:
  struct Kept {
    std::string id;
    std::string card;
    std::string detail;  // empty when there was no room
    Status status = Status::healthy;
  };
  void make_room();

  std::size_t most_bytes_;
  std::size_t share_;
  std::size_t bytes_ = 0;
  std::vector<Kept> runs_;
  std::set<std::string, std::less<>> pages_;  // ids of the catalogue that the runs speak of
};

}  // namespace osler
