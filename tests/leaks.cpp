// Part of every program that is built with sanitizers: what LeakSanitizer must not count as a leak.
// Fontconfig keeps fonts and their configuration until the process ends. Cairo is not named here: what it allocates is
// ours to give back.

extern "C" {

const char* __lsan_default_suppressions();
const char* __lsan_default_options();

const char* __lsan_default_suppressions() {
  return "leak:libfontconfig.so\n";
}

/// Tests read what a program says on standard error, so it is silent about what it forgives.
const char* __lsan_default_options() {
  return "print_suppressions=0";
}
}
