// Each call asks the plan first and then the C library.
#include "faults/system_calls.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>

namespace osler::faults {
namespace {

Plan the_plan;
Tally* the_tally = nullptr;
std::atomic<std::int64_t> calls = 0;

/// The C library's own function of that name.
template <typename Function>
Function original(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

/// What the plan has in store for this call.
Fault fate(const char* call) {
  if (the_tally == nullptr) return Fault::none;
  const std::int64_t number = calls++;
  the_tally->calls = calls;
  const bool struck = the_plan.on ? number >= the_plan.at : number == the_plan.at;
  if (!struck || the_plan.fault == Fault::none) return Fault::none;
  ++the_tally->struck;
  the_tally->call = call;
  return the_plan.fault;
}

/// True when the call is to fail, with errno set.
bool fails(const char* call) {
  const Fault fault = fate(call);
  if (fault == Fault::killed) ::kill(::getpid(), SIGKILL);
  if (fault == Fault::none || fault == Fault::short_write) return false;
  errno = fault == Fault::no_space ? ENOSPC : EIO;
  return true;
}

/// A write by `put`, which takes the number of bytes.
template <typename Put>
ssize_t strike_write(const char* call, int descriptor, std::size_t size, const Put& put) {
  const Fault fault = descriptor <= STDERR_FILENO ? Fault::none : fate(call);
  if (fault == Fault::none) return put(size);
  if (fault == Fault::io_error) {
    errno = EIO;
    return -1;
  }
  const ssize_t taken = size > 1 ? put(size / 2) : 0;
  if (fault == Fault::killed) ::kill(::getpid(), SIGKILL);
  if (fault == Fault::short_write && size > 1) return taken;
  if (fault == Fault::short_write) return put(size);
  errno = ENOSPC;
  return -1;
}

bool writes(int flags) {
  return (flags & (O_WRONLY | O_RDWR | O_CREAT)) != 0;
}

}  // namespace

void arm(const Plan& plan, Tally& tally) {
  calls = 0;
  the_plan = plan;
  the_tally = &tally;
}

}  // namespace osler::faults

using osler::faults::fails;
using osler::faults::original;
using osler::faults::strike_write;
using osler::faults::writes;

// The names and signatures are those of the C library.
extern "C" {

ssize_t write(int descriptor, const void* bytes, std::size_t size) {
  static const auto real = original<ssize_t (*)(int, const void*, std::size_t)>("write");
  return strike_write("write", descriptor, size, [&](std::size_t n) { return real(descriptor, bytes, n); });
}

ssize_t pwrite(int descriptor, const void* bytes, std::size_t size, off_t offset) {
  static const auto real = original<ssize_t (*)(int, const void*, std::size_t, off_t)>("pwrite");
  return strike_write("pwrite", descriptor, size, [&](std::size_t n) { return real(descriptor, bytes, n, offset); });
}

ssize_t pwrite64(int descriptor, const void* bytes, std::size_t size, off64_t offset) {
  static const auto real = original<ssize_t (*)(int, const void*, std::size_t, off64_t)>("pwrite64");
  return strike_write("pwrite", descriptor, size, [&](std::size_t n) { return real(descriptor, bytes, n, offset); });
}

int open(const char* path, int flags, ...) {
  static const auto real = original<int (*)(const char*, int, ...)>("open");
  va_list more;
  va_start(more, flags);
  const auto mode = static_cast<mode_t>((flags & O_CREAT) != 0 ? va_arg(more, unsigned) : 0U);
  va_end(more);
  return writes(flags) && fails("open") ? -1 : real(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  static const auto real = original<int (*)(const char*, int, ...)>("open64");
  va_list more;
  va_start(more, flags);
  const auto mode = static_cast<mode_t>((flags & O_CREAT) != 0 ? va_arg(more, unsigned) : 0U);
  va_end(more);
  return writes(flags) && fails("open") ? -1 : real(path, flags, mode);
}

int fsync(int descriptor) {
  static const auto real = original<int (*)(int)>("fsync");
  return fails("fsync") ? -1 : real(descriptor);
}

int fdatasync(int descriptor) {
  static const auto real = original<int (*)(int)>("fdatasync");
  return fails("fdatasync") ? -1 : real(descriptor);
}

int ftruncate(int descriptor, off_t size) noexcept {
  static const auto real = original<int (*)(int, off_t)>("ftruncate");
  return fails("ftruncate") ? -1 : real(descriptor, size);
}

int ftruncate64(int descriptor, off64_t size) noexcept {
  static const auto real = original<int (*)(int, off64_t)>("ftruncate64");
  return fails("ftruncate") ? -1 : real(descriptor, size);
}

int rename(const char* from, const char* to) noexcept {
  static const auto real = original<int (*)(const char*, const char*)>("rename");
  return fails("rename") ? -1 : real(from, to);
}

int mkdir(const char* path, mode_t mode) noexcept {
  static const auto real = original<int (*)(const char*, mode_t)>("mkdir");
  return fails("mkdir") ? -1 : real(path, mode);
}

int unlink(const char* path) noexcept {
  static const auto real = original<int (*)(const char*)>("unlink");
  return fails("unlink") ? -1 : real(path);
}
}
