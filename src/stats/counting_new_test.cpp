// Replaces the global operator new of the test program by one that counts. In a file of its own, so that the compiler
// never sees a call of it beside its definition.
#include <atomic>
#include <cstdlib>
#include <new>

#include "stats/test_tensors.h"

namespace {

std::atomic<std::size_t> allocations = 0;

}  // namespace

namespace osler::stats {

std::size_t allocations_so_far() {
  return allocations;
}

}  // namespace osler::stats

void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
