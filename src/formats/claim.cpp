// How formats compete for an input, and what is said when none wants it.
#include "formats/claim.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "formats/file_kind.h"
#include "formats/numbers.h"

namespace osler {
namespace {

/// Whether `format` refines `general`, directly or through others.
bool refines(const Format& format, const Format& general) {
  const Format* parent = &format;
  // As many steps as there are formats, so that a circle of refinements ends.
  for (std::size_t left = formats().size(); left > 0 && parent != nullptr && !parent->refines.empty(); --left) {
    if (parent->refines == general.id) return true;
    parent = find_format(parent->refines);
  }
  return false;
}

std::string all_ids() {
  std::string ids;
  for (const auto& entry : formats()) {
    if (!ids.empty()) ids += ", ";
    ids += entry.descriptor.id;
  }
  return ids;
}

bool looks_binary(std::string_view head) {
  if (head.starts_with("\xFF\xFE") || head.starts_with("\xFE\xFF")) return false;
  const auto odd = std::count_if(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\x1b' && c != '\b';
  });
  return static_cast<std::size_t>(odd) * 50 > head.size();
}

/// The first lines that say something, for a message.
std::string first_lines(std::string_view head) {
  constexpr int kLines = 3;
  std::string shown;
  int lines = 0;
  while (!head.empty() && lines < kLines) {
    const std::size_t end = std::min(head.find_first_of("\r\n"), head.size());
    const std::string_view line = trim(head.substr(0, end));
    head.remove_prefix(std::min(end + 1, head.size()));
    if (line.empty()) continue;
    shown += fmt::format("{}\"{}\"", lines++ == 0 ? "" : " | ", quotable(line, 60));
  }
  return shown;
}

constexpr std::size_t kFewestNulls = 4;  // UTF-16 may begin with one
constexpr std::size_t kHole = 16;        // NUL bytes within a text, where a disk lost a piece of it

/// The format that is surest of the file, or none.
Claim surest(const Peek& peek) {
  std::vector<const Format*> best;
  Sniff strength = Sniff::possible;
  for (const auto& entry : formats()) {
    const Sniff sniffed = entry.descriptor.sniff(peek);
    if (sniffed == Sniff::no || sniffed < strength) continue;
    if (sniffed > strength) best.clear();
    strength = sniffed;
    best.push_back(&entry.descriptor);
  }
  for (const Format* format : best) {
    const bool gives_way =
        std::any_of(best.begin(), best.end(), [&](const Format* other) { return refines(*other, *format); });
    if (!gives_way) return {format, strength};
  }
  return {};
}

}  // namespace

Claim claim(const Peek& whole_peek) {
  // Leading NUL bytes are a hole in a file that was truncated while it was written to.
  Peek peek = whole_peek;
  peek.head.remove_prefix(std::min(peek.head.find_first_not_of('\0'), peek.head.size()));
  if (whole_peek.head.size() - peek.head.size() < kFewestNulls) peek.head = whole_peek.head;
  const Claim claimed = surest(peek);
  if (claimed.format != nullptr || peek.head.find(std::string(kHole, '\0')) == std::string_view::npos) return claimed;
  std::string mended(peek.head);
  mended.erase(std::remove(mended.begin(), mended.end(), '\0'), mended.end());
  if (mended.empty() || known_binary(peek.head) || looks_binary(mended)) return claimed;
  peek.head = mended;
  return surest(peek);
}

Result<const Format*> format_by_name(std::string_view id) {
  if (const Format* format = find_format(id)) return format;
  return Error{ErrorCode::invalid_argument, "there is no format of that name; the formats are " + all_ids(),
               std::string(id)};
}

Error unclaimed(const Peek& peek) {
  const std::string context = peek.path.string();
  if (peek.head.empty()) return {ErrorCode::unsupported, "is empty", context};
  if (peek.head.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return {ErrorCode::unsupported, "holds nothing but blanks", context};
  }
  if (const auto kind = known_binary(peek.head)) {
    return {ErrorCode::unsupported, fmt::format("is {}: {}", kind->name, kind->hint), context};
  }
  if (looks_binary(peek.head)) {
    return {ErrorCode::unsupported, fmt::format("is a binary file in none of the formats Osler knows ({})", all_ids()),
            context};
  }
  return {
      ErrorCode::unsupported,
      fmt::format("is in none of the formats Osler knows (tried {}); it begins with {}; if you know better, name its "
                  "format (text reads numbers from any lines) and say what its series mean",
                  all_ids(), first_lines(peek.head)),
      context};
}

}  // namespace osler
