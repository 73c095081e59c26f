// Part of every program that is built with sanitizers: what LeakSanitizer must not count as a leak.
// Fontconfig keeps fonts and their configuration until the process ends. Cairo is not named here: what it allocates is
// ours to give back.

#include <unistd.h>

extern "C" {

const char* __lsan_default_suppressions();
const char* __lsan_default_options();

const char* __lsan_default_suppressions() {
  return "leak:libfontconfig.so\n";
}

/// Tests read what a program says on standard error, so it is silent about what it forgives, and about a symbolizer
/// that Debian's clang expects and does not bring along: only stacks of real reports need it.
const char* __lsan_default_options() {
  const bool symbolizes = ::access("/usr/bin/llvm-symbolizer-14", X_OK) == 0;
  return symbolizes ? "print_suppressions=0" : "print_suppressions=0:external_symbolizer_path=''";
}
}
