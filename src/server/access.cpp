// Who may ask: loopback names, the token, and how they are recognised in a request.
#include "server/access.h"

#include <algorithm>
#include <random>

namespace osler::server {

bool is_loopback(std::string_view address) {
  return address == "localhost" || address == "::1" || address.starts_with("127.");
}

bool names_this_machine(std::string_view host_header) {
  if (host_header.starts_with("[::1]")) return true;
  const std::string_view host = host_header.substr(0, host_header.find(':'));
  const bool numbers = host.find_first_not_of("0123456789.") == std::string_view::npos;
  return host == "localhost" || (numbers && host.starts_with("127."));
}

bool same_secret(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const char of_a = i < a.size() ? a[i] : '\0';
    difference |= static_cast<unsigned char>(of_a ^ b[i]);
  }
  return difference == 0;
}

std::string shown_token(std::string_view authorization, std::string_view cookie) {
  constexpr std::string_view kBearer = "Bearer ";
  if (authorization.starts_with(kBearer)) return std::string(authorization.substr(kBearer.size()));
  const std::string wanted = std::string(kTokenCookie) + "=";
  while (!cookie.empty()) {
    const std::size_t end = std::min(cookie.find(';'), cookie.size());
    std::string_view part = cookie.substr(0, end);
    part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
    if (part.starts_with(wanted)) return std::string(part.substr(wanted.size()));
    cookie.remove_prefix(std::min(end + 1, cookie.size()));
  }
  return {};
}

bool is_usable_token(std::string_view token) {
  return !token.empty() && std::all_of(token.begin(), token.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-._~").find(c) != std::string_view::npos;
  });
}

bool is_own_origin(std::string_view origin, std::string_view host_header) {
  const std::size_t scheme = origin.find("://");
  return scheme != std::string_view::npos && !host_header.empty() && origin.substr(scheme + 3) == host_header;
}

std::string make_secret() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::random_device random;  // the system's own source
  std::string secret;
  for (int i = 0; i < 32; ++i) secret += kDigits[random() & 15U];
  return secret;
}

}  // namespace osler::server
