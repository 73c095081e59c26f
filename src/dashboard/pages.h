// The files of the web pages that were built into the program.
#pragma once

#include <span>
#include <string_view>

namespace osler::dashboard {

/// One file of the dashboard.
struct Page {
  std::string_view path;  ///< as a browser asks for it: "/", "/assets/index.js"
  std::string_view type;  ///< its media type
  std::string_view body;
  std::string_view gzipped;  ///< the same as gzip makes it
};

/// All of them; empty when the program was built without Node.
[[nodiscard]] std::span<const Page> pages();

/// The page that shows what is written into it, before and behind the place for its data.
struct ReportPage {
  std::string_view head;
  std::string_view tail;
};
/// Both empty when the program was built without Node.
[[nodiscard]] ReportPage report_page();

}  // namespace osler::dashboard
