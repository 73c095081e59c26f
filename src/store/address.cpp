// Taking an address apart; what cannot be an address is told with the reason.
#include "osler/store/address.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace osler {
namespace {

constexpr std::string_view kPlain = "clickhouse://";
constexpr std::string_view kSecure = "clickhouses://";
constexpr int kPlainPort = 8123;
constexpr int kSecurePort = 8443;

/// A name that needs no quotes in SQL.
bool is_plain_name(std::string_view name) {
  const auto fits = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
         std::all_of(name.begin(), name.end(), fits);
}

/// The text with %41 and the like as the bytes they stand for.
std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16).ptr == text.data() + i + 3) {
      out += static_cast<char>(value);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' || c == '/';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  return out;
}

/// "host", "host:port" or "[v6]:port".
bool take_host(std::string_view text, StoreAddress& address) {
  const std::size_t bracket = text.rfind(']');
  const std::size_t colon = text.rfind(':');
  const bool with_port = colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  if (with_port) {
    const std::string_view port = text.substr(colon + 1);
    const auto read = std::from_chars(port.data(), port.data() + port.size(), address.port);
    if (read.ec != std::errc() || read.ptr != port.data() + port.size()) return false;
    if (address.port < 1 || address.port > 65535) return false;
    text = text.substr(0, colon);
  }
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  address.host = text;
  return !text.empty() && text.find_first_of(" \t\r\n/\\") == std::string_view::npos;
}

}  // namespace

bool is_store_address(std::string_view text) {
  return text.starts_with(kPlain) || text.starts_with(kSecure);
}

Result<StoreAddress> parse_store_address(std::string_view text) {
  // What may hold a password is never shown again.
  const auto wrong = [](std::string why) { return Error{ErrorCode::invalid_argument, std::move(why), "store"}; };
  if (!is_store_address(text)) {
    return wrong("an address of a store reads clickhouse://[user@]host[:port]/database?project=NAME");
  }
  StoreAddress address;
  address.secure = text.starts_with(kSecure);
  address.port = address.secure ? kSecurePort : kPlainPort;
  text.remove_prefix(address.secure ? kSecure.size() : kPlain.size());
  const std::size_t question = text.find('?');
  std::string_view options = question == std::string_view::npos ? "" : text.substr(question + 1);
  text = text.substr(0, question);
  const std::size_t slash = text.find('/');
  std::string_view authority = text.substr(0, slash);
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    address.user = unescaped(authority.substr(0, at));
    authority.remove_prefix(at + 1);
    if (address.user.find(':') != std::string::npos) {
      return wrong("a password has no place in the address: OSLER_STORE_PASSWORD or --password-file holds it");
    }
    if (address.user.empty()) return wrong("there is no user before the @");
  }
  if (!take_host(authority, address)) return wrong(fmt::format("'{}' names no host and port", authority));
  address.database = slash == std::string_view::npos ? "" : std::string(text.substr(slash + 1));
  if (!is_plain_name(address.database)) {
    return wrong("behind the host stands /DATABASE: a name of letters, digits and underscores");
  }
  while (!options.empty()) {
    const std::string_view option = options.substr(0, options.find('&'));
    options.remove_prefix(std::min(option.size() + 1, options.size()));
    if (!option.starts_with("project=")) return wrong(fmt::format("'{}' is no option: there is project=NAME", option));
    address.project = unescaped(option.substr(std::string_view("project=").size()));
    if (address.project.empty()) return wrong("project= has no name behind it");
  }
  return address;
}

std::string to_string(const StoreAddress& address) {
  std::string out(address.secure ? kSecure : kPlain);
  if (address.user != "default") out += escaped(address.user) + "@";
  out += address.host.find(':') == std::string::npos ? address.host : "[" + address.host + "]";
  if (address.port != (address.secure ? kSecurePort : kPlainPort)) out += fmt::format(":{}", address.port);
  out += "/" + address.database;
  if (address.project != "default") out += "?project=" + escaped(address.project);
  return out;
}

}  // namespace osler
