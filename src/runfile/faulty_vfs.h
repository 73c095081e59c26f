// A SQLite VFS that runs out of space or fails on command, for tests.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <cstring>
#include <string>

namespace osler::testing {

/// The faults to inject, for all files opened through the VFS. Set back to `kNever` to heal.
struct VfsFaults {
  static constexpr std::int64_t kNever = INT64_MAX;
  std::int64_t writes_left = kNever;  ///< so many writes succeed
  int failure = SQLITE_FULL;          ///< what the next ones return
  bool fail_syncs = false;
  bool short_write = false;  ///< the failing write leaves half of its bytes behind
};

inline VfsFaults& vfs_faults() {
  static VfsFaults faults;
  return faults;
}

namespace faulty {

struct File {
  sqlite3_file base;
  sqlite3_file* inner;  // lies behind this structure
};

inline sqlite3_file* inner_of(sqlite3_file* file) {
  return reinterpret_cast<File*>(file)->inner;
}

inline int write(sqlite3_file* file, const void* data, int size, sqlite3_int64 at) {
  VfsFaults& faults = vfs_faults();
  sqlite3_file* inner = inner_of(file);
  if (faults.writes_left <= 0) {
    if (faults.short_write) inner->pMethods->xWrite(inner, data, size / 2, at);
    return faults.failure;
  }
  if (faults.writes_left != VfsFaults::kNever) --faults.writes_left;
  return inner->pMethods->xWrite(inner, data, size, at);
}

inline int sync(sqlite3_file* file, int flags) {
  if (vfs_faults().fail_syncs) return SQLITE_IOERR_FSYNC;
  return inner_of(file)->pMethods->xSync(inner_of(file), flags);
}

inline int close(sqlite3_file* file) {
  return inner_of(file)->pMethods->xClose(inner_of(file));
}

inline sqlite3_vfs*& original() {
  static sqlite3_vfs* vfs = nullptr;
  return vfs;
}

inline const sqlite3_io_methods* methods() {
  static const sqlite3_io_methods table = [] {
    sqlite3_io_methods m{};
    m.iVersion = 2;
    m.xClose = close;
    m.xRead = [](sqlite3_file* f, void* d, int n, sqlite3_int64 o) {
      return inner_of(f)->pMethods->xRead(inner_of(f), d, n, o);
    };
    m.xWrite = write;
    m.xTruncate = [](sqlite3_file* f, sqlite3_int64 n) { return inner_of(f)->pMethods->xTruncate(inner_of(f), n); };
    m.xSync = sync;
    m.xFileSize = [](sqlite3_file* f, sqlite3_int64* n) { return inner_of(f)->pMethods->xFileSize(inner_of(f), n); };
    m.xLock = [](sqlite3_file* f, int l) { return inner_of(f)->pMethods->xLock(inner_of(f), l); };
    m.xUnlock = [](sqlite3_file* f, int l) { return inner_of(f)->pMethods->xUnlock(inner_of(f), l); };
    m.xCheckReservedLock = [](sqlite3_file* f, int* r) {
      return inner_of(f)->pMethods->xCheckReservedLock(inner_of(f), r);
    };
    m.xFileControl = [](sqlite3_file* f, int op, void* a) {
      return inner_of(f)->pMethods->xFileControl(inner_of(f), op, a);
    };
    m.xSectorSize = [](sqlite3_file* f) { return inner_of(f)->pMethods->xSectorSize(inner_of(f)); };
    m.xDeviceCharacteristics = [](sqlite3_file* f) {
      return inner_of(f)->pMethods->xDeviceCharacteristics(inner_of(f));
    };
    m.xShmMap = [](sqlite3_file* f, int p, int n, int e, void volatile** v) {
      return inner_of(f)->pMethods->xShmMap(inner_of(f), p, n, e, v);
    };
    m.xShmLock = [](sqlite3_file* f, int o, int n, int g) {
      return inner_of(f)->pMethods->xShmLock(inner_of(f), o, n, g);
    };
    m.xShmBarrier = [](sqlite3_file* f) { inner_of(f)->pMethods->xShmBarrier(inner_of(f)); };
    m.xShmUnmap = [](sqlite3_file* f, int d) { return inner_of(f)->pMethods->xShmUnmap(inner_of(f), d); };
    return m;
  }();
  return &table;
}

inline int open(sqlite3_vfs* /*vfs*/, const char* name, sqlite3_file* file, int flags, int* out) {
  auto* own = reinterpret_cast<File*>(file);
  own->base.pMethods = nullptr;
  own->inner = reinterpret_cast<sqlite3_file*>(own + 1);
  const int code = original()->xOpen(original(), name, own->inner, flags, out);
  if (code == SQLITE_OK) own->base.pMethods = methods();
  return code;
}

}  // namespace faulty

/// The name to open databases with; registers the VFS on first use.
inline std::string faulty_vfs() {
  static sqlite3_vfs vfs = [] {
    faulty::original() = sqlite3_vfs_find(nullptr);
    sqlite3_vfs copy = *faulty::original();
    copy.pNext = nullptr;
    copy.zName = "osler-faulty";
    copy.szOsFile += static_cast<int>(sizeof(faulty::File));
    copy.xOpen = faulty::open;
    return copy;
  }();
  sqlite3_vfs_register(&vfs, 0);
  return vfs.zName;
}

}  // namespace osler::testing
