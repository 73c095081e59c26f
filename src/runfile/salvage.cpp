// Walking the pages of a SQLite file by hand. Pages and cells are laid out as sqlite.org/fileformat2.html says.
#include "runfile/salvage.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <unordered_map>

#include "runfile/rows.h"

namespace osler::runfile {
namespace {

constexpr std::size_t kPageBytes = 4096;  // what the writer uses; the header that says so may be damaged
constexpr std::size_t kHeaderBytes = 100;
constexpr unsigned char kTableLeaf = 0x0D;
constexpr std::size_t kLogHeaderBytes = 32;
constexpr std::size_t kFrameHeaderBytes = 24;
constexpr std::uint64_t kLargestRow = std::uint64_t{1} << 30;

using Page = std::string;

std::uint64_t big_endian(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < size; ++i) number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

/// SQLite's varint: big endian, nine bytes at most, the last of which has eight bits.
bool take(std::string_view& bytes, std::uint64_t& number) {
  number = 0;
  for (std::size_t i = 0; i < 9 && i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if (i == 8) {
      number = number << 8 | byte;
    } else {
      number = number << 7 | (byte & 0x7FU);
    }
    if ((byte & 0x80) == 0 || i == 8) {
      bytes.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

/// The pages of a file as its last good commit left them.
class Pages {
 public:
  explicit Pages(const std::filesystem::path& path) : file_(path, std::ios::binary) {
    std::error_code error;
    const auto size = std::filesystem::file_size(path, error);
    if (!error) {
      count_ = (size + kPageBytes - 1) / kPageBytes;
      cut_ = size % kPageBytes != 0;
    }
    read_log(path.string() + "-wal");
  }

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] bool cut() const { return cut_; }

  /// Page `number`, counted from 1; what the file lacks reads as zeros.
  Page read(std::uint64_t number) {
    Page page(kPageBytes, '\0');
    const auto logged = logged_.find(number);
    std::ifstream& source = logged == logged_.end() ? file_ : log_;
    const std::uint64_t at = logged == logged_.end() ? (number - 1) * kPageBytes : logged->second;
    source.clear();
    source.seekg(static_cast<std::streamoff>(at));
    source.read(page.data(), static_cast<std::streamsize>(page.size()));
    return page;
  }

 private:
  /// Finds the newest frame of each page up to the last commit. Frames are trusted as far as their salts match: every
  /// row is checked later.
  void read_log(const std::string& path) {
    log_.open(path, std::ios::binary);
    std::string header(kLogHeaderBytes, '\0');
    if (!log_.read(header.data(), static_cast<std::streamsize>(header.size()))) return;
    std::unordered_map<std::uint64_t, std::uint64_t> since_commit;
    std::string frame(kFrameHeaderBytes, '\0');
    for (std::uint64_t at = kLogHeaderBytes;; at += kFrameHeaderBytes + kPageBytes) {
      log_.seekg(static_cast<std::streamoff>(at));
      if (!log_.read(frame.data(), static_cast<std::streamsize>(frame.size()))) break;
      if (frame.substr(8, 8) != header.substr(16, 8)) break;
      since_commit[big_endian(frame, 0, 4)] = at + kFrameHeaderBytes;
      const std::uint64_t pages = big_endian(frame, 4, 4);
      if (pages == 0) continue;
      for (const auto& [number, place] : since_commit) logged_[number] = place;
      since_commit.clear();
      count_ = std::max(count_, std::min(pages, count_ + logged_.size()));
    }
  }

  std::ifstream file_;
  std::ifstream log_;
  std::uint64_t count_ = 0;
  bool cut_ = false;
  std::unordered_map<std::uint64_t, std::uint64_t> logged_;  // page to offset in the log
};

/// The payload of a leaf's cell, gathered from its overflow pages; nothing when it does not add up.
std::optional<std::string> payload_of(Pages& pages, std::string_view cell, std::uint64_t size) {
  constexpr std::uint64_t kMostLocal = kPageBytes - 35;
  constexpr std::uint64_t kLeastLocal = (kPageBytes - 12) * 32 / 255 - 23;
  if (size > kLargestRow) return {};
  if (size <= kMostLocal) {
    if (cell.size() < size) return {};
    return std::string(cell.substr(0, static_cast<std::size_t>(size)));
  }
  const std::uint64_t split = kLeastLocal + (size - kLeastLocal) % (kPageBytes - 4);
  const auto local = static_cast<std::size_t>(split <= kMostLocal ? split : kLeastLocal);
  if (cell.size() < local + 4) return {};
  std::string payload(cell.substr(0, local));
  std::uint64_t next = big_endian(cell, local, 4);
  while (payload.size() < size) {
    if (next == 0 || next > pages.count()) return {};
    const Page page = pages.read(next);
    const auto missing = static_cast<std::size_t>(size - payload.size());
    payload.append(page, 4, std::min(missing, kPageBytes - 4));
    next = big_endian(page, 0, 4);
  }
  return payload;
}

/// A record's value of a serial type, as far as our tables use them.
std::optional<Cell> cell_of(std::uint64_t type, std::string_view& body) {
  static constexpr std::size_t kSizes[] = {0, 1, 2, 3, 4, 6, 8};
  if (type == 8 || type == 9) return Cell(static_cast<std::int64_t>(type - 8));
  if (type >= 1 && type <= 6) {
    const std::size_t size = kSizes[type];
    if (body.size() < size) return {};
    const std::uint64_t number = big_endian(body, 0, size);
    const std::size_t unused = 64 - 8 * size;
    body.remove_prefix(size);
    return Cell(static_cast<std::int64_t>(number << unused) >> unused);
  }
  if (type < 12 || (type - 12) / 2 > body.size()) return {};
  const auto size = static_cast<std::size_t>((type - 12) / 2);
  Cell cell(std::string(body.substr(0, size)));
  body.remove_prefix(size);
  return cell;
}

struct FoundRow {
  Table table;
  Row row;
};

/// The row that a record holds: the one of our tables whose checksum matches.
std::optional<FoundRow> row_of(std::int64_t id, std::string_view record) {
  std::string_view types = record;
  std::uint64_t header = 0;
  if (!take(types, header) || header > record.size() || header < record.size() - types.size()) return {};
  std::string_view body = record.substr(static_cast<std::size_t>(header));
  types = types.substr(0, static_cast<std::size_t>(header) - (record.size() - types.size()));
  Row row{id, {}};
  std::int64_t crc = 0;
  for (std::size_t column = 0; !types.empty(); ++column) {
    std::uint64_t type = 0;
    if (!take(types, type)) return {};
    if (column == 0) {  // the id, which SQLite keeps outside the record
      if (type != 0) return {};
      continue;
    }
    auto cell = cell_of(type, body);
    if (!cell) return {};
    if (column > 1) {
      row.cells.push_back(std::move(*cell));
    } else if (std::holds_alternative<std::int64_t>(*cell)) {
      crc = std::get<std::int64_t>(*cell);
    }
  }
  for (const TableLayout& layout : table_layouts()) {
    if (layout.columns.size() != row.cells.size()) continue;
    bool fits = true;
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      fits = fits && layout.columns[i].integer == std::holds_alternative<std::int64_t>(row.cells[i]);
    }
    if (fits && checksum(layout.table, row) == crc) return FoundRow{layout.table, std::move(row)};
  }
  return {};
}

/// Collects rows into the new database; of two states of one chunk the longer stays.
class Collector {
 public:
  explicit Collector(RowWriter rows) : rows_(std::move(rows)) {}

  Result<void> add(const FoundRow& found) {
    if (found.table == Table::chunk) {
      const std::int64_t entries = found.row.integer(4);
      auto& known = entries_[found.row.id];
      if (known >= entries) return {};
      known = entries;
    }
    if (found.table == Table::series) ++series;
    return rows_.put(found.table, found.row);
  }

  std::uint64_t series = 0;

 private:
  RowWriter rows_;
  std::unordered_map<std::int64_t, std::int64_t> entries_;
};

Result<void> collect_page(Pages& pages, std::uint64_t number, Collector& collector, DamageReport& damage,
                          const std::string& source) {
  const Page page = pages.read(number);
  const std::size_t base = number == 1 ? kHeaderBytes : 0;
  if (static_cast<unsigned char>(page[base]) != kTableLeaf) return {};
  const std::uint64_t cells = big_endian(page, base + 3, 2);
  for (std::uint64_t i = 0; i < cells && base + 8 + 2 * i + 2 <= kPageBytes; ++i) {
    const auto at = static_cast<std::size_t>(big_endian(page, base + 8 + 2 * static_cast<std::size_t>(i), 2));
    std::optional<FoundRow> found;
    if (at >= base + 8 && at < kPageBytes) {
      std::string_view cell = std::string_view(page).substr(at);
      std::uint64_t size = 0;
      std::uint64_t id = 0;
      if (take(cell, size) && take(cell, id)) {
        if (const auto record = payload_of(pages, cell, size)) found = row_of(static_cast<std::int64_t>(id), *record);
      }
    }
    if (found) {
      if (const auto added = collector.add(*found); !added) return added.error();
    } else if (number != 1) {  // the first page holds the schema, which is not ours
      damage.add({source, (number - 1) * kPageBytes + at, 0, "a row is damaged", 0});
    }
  }
  return {};
}

}  // namespace

Result<Database> salvage(const std::filesystem::path& path, DamageReport& damage) {
  auto database = Database::open({}, Database::Mode::temporary);
  if (!database) return database.error();
  if (const auto made = migrate(*database); !made) return made.error();
  if (const auto begun = database->execute("BEGIN"); !begun) return begun.error();
  auto rows = RowWriter::open(*database);
  if (!rows) return rows.error();
  std::uint64_t series = 0;
  {
    Collector collector(std::move(*rows));
    Pages pages(path);
    damage.add({path.string(), 0, 0, "the file is damaged; its pages were searched for what is sound", 0});
    if (pages.cut()) {
      damage.add({path.string(), (pages.count() - 1) * kPageBytes, 0, "the file ends in the middle of a page", 0});
    }
    for (std::uint64_t number = 1; number <= pages.count(); ++number) {
      const auto collected = collect_page(pages, number, collector, damage, path.string());
      if (!collected) return collected.error();
    }
    series = collector.series;
  }
  if (series == 0)
    return Error{ErrorCode::corrupt, "the run file is damaged, and nothing of it is left", path.string()};
  if (const auto done = database->execute("COMMIT"); !done) return done.error();
  return database;
}

}  // namespace osler::runfile
