// The files of the dashboard that were built into the program.
#pragma once

#include <span>
#include <string_view>

namespace osler::server {

/// One file of the dashboard.
struct Page {
  std::string_view path;  ///< as a browser asks for it: "/", "/assets/index.js"
  std::string_view type;  ///< its media type
  std::string_view body;
};

/// All of them; empty when the program was built without Node.
[[nodiscard]] std::span<const Page> pages();

}  // namespace osler::server
