// Asks Linux for the resident set of this process.
#include "monitor/resident_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>

namespace osler::monitor {

ResidentMemory::ResidentMemory() : file_(::open("/proc/self/statm", O_RDONLY | O_CLOEXEC)) {}

ResidentMemory::~ResidentMemory() {
  if (file_ >= 0) ::close(file_);
}

double ResidentMemory::bytes() const {
  // "total resident shared ...", in pages. After a fork the file still tells of the parent; a monitor is not forked.
  std::array<char, 128> text{};
  if (file_ < 0 || ::pread(file_, text.data(), text.size() - 1, 0) <= 0) return 0;
  const char* const space = std::strchr(text.data(), ' ');
  if (space == nullptr) return 0;
  return std::strtod(space, nullptr) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

}  // namespace osler::monitor
