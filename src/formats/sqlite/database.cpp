// SQLite over our own file access: a file system of one file that can only be read.
#include "formats/sqlite/database.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

namespace osler::sqlite {
namespace {

constexpr std::size_t kHeaderBytes = 100;
constexpr std::string_view kMagic("SQLite format 3\0", 16);
/// The bytes of the header that say whether a write-ahead log belongs to the file. Without shared memory SQLite refuses
/// such a file, so it is told that there is none.
constexpr std::uint64_t kJournalModeOffset = 18;
constexpr std::uint64_t kJournalModeBytes = 2;
constexpr int kLongestText = 1 << 20;
constexpr int kInstructionsBetweenLooks = 10'000;

class Memory final : public RandomBytes {
 public:
  explicit Memory(std::string bytes) : bytes_(std::move(bytes)) {}
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> buffer) override {
    if (offset >= bytes_.size()) return std::size_t{0};
    const std::size_t length = std::min<std::size_t>(buffer.size(), bytes_.size() - offset);
    std::memcpy(buffer.data(), bytes_.data() + offset, length);
    return length;
  }
  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }

 private:
  std::string bytes_;
};

class OpenFile final : public RandomBytes {
 public:
  OpenFile(std::unique_ptr<ReadableFile> file, std::uint64_t size) : file_(std::move(file)), size_(size) {}
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> buffer) override {
    if (const auto moved = file_->seek(offset); !moved) return moved.error();
    std::size_t filled = 0;
    while (filled < buffer.size()) {
      const auto length = file_->read(buffer.subspan(filled));
      if (!length) return length.error();
      if (*length == 0) break;
      filled += *length;
    }
    return filled;
  }
  [[nodiscard]] std::uint64_t size() const override { return size_; }

 private:
  std::unique_ptr<ReadableFile> file_;
  std::uint64_t size_ = 0;
};

/// What SQLite keeps for the open file.
struct OpenedFile {
  sqlite3_file base;
  RandomBytes* bytes;
};

int read(sqlite3_file* file, void* buffer, int length, sqlite3_int64 offset) {
  const std::span target(static_cast<std::byte*>(buffer), static_cast<std::size_t>(length));
  const auto start = static_cast<std::uint64_t>(offset);
  const auto filled = reinterpret_cast<OpenedFile*>(file)->bytes->read_at(start, target);
  if (!filled) return SQLITE_IOERR_READ;
  std::fill(target.begin() + static_cast<std::ptrdiff_t>(*filled), target.end(), std::byte{0});
  for (std::uint64_t at = kJournalModeOffset; at < kJournalModeOffset + kJournalModeBytes; ++at) {
    if (at >= start && at < start + *filled && target[at - start] == std::byte{2}) target[at - start] = std::byte{1};
  }
  return *filled == target.size() ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

int size_of(sqlite3_file* file, sqlite3_int64* size) {
  *size = static_cast<sqlite3_int64>(reinterpret_cast<OpenedFile*>(file)->bytes->size());
  return SQLITE_OK;
}

const sqlite3_io_methods& methods() {
  static const sqlite3_io_methods table = [] {
    sqlite3_io_methods made{};
    made.iVersion = 1;
    made.xClose = [](sqlite3_file*) { return SQLITE_OK; };
    made.xRead = read;
    made.xWrite = [](sqlite3_file*, const void*, int, sqlite3_int64) { return SQLITE_READONLY; };
    made.xTruncate = [](sqlite3_file*, sqlite3_int64) { return SQLITE_READONLY; };
    made.xSync = [](sqlite3_file*, int) { return SQLITE_OK; };
    made.xFileSize = size_of;
    made.xLock = [](sqlite3_file*, int) { return SQLITE_OK; };
    made.xUnlock = [](sqlite3_file*, int) { return SQLITE_OK; };
    made.xCheckReservedLock = [](sqlite3_file*, int* taken) {
      *taken = 0;
      return SQLITE_OK;
    };
    made.xFileControl = [](sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; };
    made.xSectorSize = [](sqlite3_file*) { return 4096; };
    made.xDeviceCharacteristics = [](sqlite3_file*) { return SQLITE_IOCAP_IMMUTABLE; };
    return made;
  }();
  return table;
}

int open_file(sqlite3_vfs* system, const char*, sqlite3_file* file, int flags, int* flags_out) {
  file->pMethods = nullptr;
  if ((flags & SQLITE_OPEN_MAIN_DB) == 0) return SQLITE_CANTOPEN;  // journals and scratch files
  auto* opened = reinterpret_cast<OpenedFile*>(file);
  opened->bytes = static_cast<RandomBytes*>(system->pAppData);
  opened->base.pMethods = &methods();
  if (flags_out != nullptr) *flags_out = SQLITE_OPEN_READONLY;
  return SQLITE_OK;
}

int full_name(sqlite3_vfs*, const char* name, int room, char* full) {
  const std::string_view text(name);
  if (text.size() + 1 > static_cast<std::size_t>(room)) return SQLITE_CANTOPEN;
  std::memcpy(full, text.data(), text.size() + 1);
  return SQLITE_OK;
}

/// A file system in which one file exists. It is known to SQLite under a name of its own as long as it lives.
class OneFileSystem {
 public:
  explicit OneFileSystem(RandomBytes& bytes) {
    static std::atomic<std::uint64_t> count = 0;
    name_ = "osler-" + std::to_string(count++);
    system_.iVersion = 1;
    system_.szOsFile = sizeof(OpenedFile);
    system_.mxPathname = 64;
    system_.zName = name_.c_str();
    system_.pAppData = &bytes;
    system_.xOpen = open_file;
    system_.xDelete = [](sqlite3_vfs*, const char*, int) { return SQLITE_READONLY; };
    system_.xAccess = [](sqlite3_vfs*, const char*, int, int* found) {
      *found = 0;
      return SQLITE_OK;
    };
    system_.xFullPathname = full_name;
    system_.xRandomness = [](sqlite3_vfs*, int length, char* out) {
      std::fill_n(out, length, '\0');
      return length;
    };
    system_.xSleep = [](sqlite3_vfs*, int) { return 0; };
    system_.xCurrentTime = [](sqlite3_vfs*, double* day) {
      *day = 0;
      return SQLITE_OK;
    };
    sqlite3_vfs_register(&system_, 0);
  }
  ~OneFileSystem() { sqlite3_vfs_unregister(&system_); }
  OneFileSystem(const OneFileSystem&) = delete;
  OneFileSystem& operator=(const OneFileSystem&) = delete;

  [[nodiscard]] const char* name() const { return name_.c_str(); }

 private:
  std::string name_;
  sqlite3_vfs system_{};
};

struct Close {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

Error problem(int code, sqlite3* database) {
  const char* words = database == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(database);
  return {
      code == SQLITE_IOERR ? ErrorCode::io : ErrorCode::corrupt, std::string("the database is damaged: ") + words, {}};
}

}  // namespace

std::unique_ptr<RandomBytes> bytes_of(std::string bytes) {
  return std::make_unique<Memory>(std::move(bytes));
}

Result<std::unique_ptr<RandomBytes>> bytes_of(FileSystem& files, const std::filesystem::path& path) {
  auto file = files.open_read(path);
  if (!file) return file.error();
  const auto info = (*file)->info();
  if (!info) return info.error();
  return std::unique_ptr<RandomBytes>(std::make_unique<OpenFile>(std::move(*file), info->size_bytes));
}

bool is_database(std::string_view head) {
  return head.starts_with(kMagic);
}

std::string_view Row::text(int column) const {
  const unsigned char* start = sqlite3_column_text(statement_, column);
  if (start == nullptr) return {};
  return {reinterpret_cast<const char*>(start), static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

struct Database::Parts {
  Parts(std::unique_ptr<RandomBytes> all, std::stop_token stopping)
      : bytes(std::move(all)), system(*bytes), stop(std::move(stopping)) {
    // A damaged tree may lead into the same page again and again: no honest question takes more than a few
    // instructions per byte of the file.
    looks_left = static_cast<std::int64_t>(1000 + bytes->size() / 1000);
  }

  static int look(void* parts) {
    auto* self = static_cast<Parts*>(parts);
    return --self->looks_left < 0 || self->stop.stop_requested() ? 1 : 0;
  }

  std::unique_ptr<RandomBytes> bytes;
  OneFileSystem system;
  std::stop_token stop;
  std::int64_t looks_left = 0;
  std::unique_ptr<sqlite3, Close> database;
};

Database::Database(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

Result<Database> Database::open(std::unique_ptr<RandomBytes> bytes, std::stop_token stop) {
  auto parts = std::make_unique<Parts>(std::move(bytes), std::move(stop));
  sqlite3* opened = nullptr;
  const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX;
  const int code = sqlite3_open_v2("database", &opened, flags, parts->system.name());
  parts->database.reset(opened);
  if (code != SQLITE_OK) return problem(code, opened);
  // Nobody knows who made the file: no code of its schema runs, and no value is larger than a log's could be.
  sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, kLongestText);
  sqlite3_progress_handler(opened, kInstructionsBetweenLooks, Parts::look, parts.get());
  sqlite3_exec(opened, "PRAGMA temp_store=MEMORY; PRAGMA cell_size_check=ON", nullptr, nullptr, nullptr);
  return Database(std::move(parts));
}

Result<void> Database::query(const char* sql, std::initializer_list<std::string_view> bindings,
                             const std::function<void(const Row&)>& take) {
  sqlite3* database = parts_->database.get();
  sqlite3_stmt* prepared = nullptr;
  int code = sqlite3_prepare_v2(database, sql, -1, &prepared, nullptr);
  const Statement statement(prepared);
  if (code != SQLITE_OK) return problem(code, database);
  int index = 0;
  for (const std::string_view text : bindings) {
    sqlite3_bind_text(prepared, ++index, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
  }
  while ((code = sqlite3_step(prepared)) == SQLITE_ROW) take(Row(prepared));
  if (code == SQLITE_DONE || parts_->stop.stop_requested()) return {};
  return problem(code, database);
}

bool Database::has_table(std::string_view name) {
  bool found = false;
  const auto asked = query("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ? AND sql LIKE 'CREATE TABLE%'",
                           {name}, [&](const Row&) { found = true; });
  return asked && found;
}

bool Database::has_column(std::string_view table, std::string_view column) {
  bool found = false;
  const auto asked =
      query("SELECT 1 FROM pragma_table_info(?) WHERE name = ?", {table, column}, [&](const Row&) { found = true; });
  return asked && found;
}

bool Database::cut_off() const {
  std::array<std::byte, kHeaderBytes> header{};
  const auto filled = parts_->bytes->read_at(0, header);
  if (!filled || *filled < kHeaderBytes) return true;
  const auto byte = [&](std::size_t at) { return std::to_integer<std::uint64_t>(header[at]); };
  const std::uint64_t page = byte(16) << 8 | byte(17);
  const std::uint64_t pages = byte(28) << 24 | byte(29) << 16 | byte(30) << 8 | byte(31);
  return parts_->bytes->size() < (page == 1 ? 65536 : page) * pages;
}

}  // namespace osler::sqlite
