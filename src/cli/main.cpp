// The osler program.
#include "cli/program.h"

int main(int count, char** arguments) {
  return osler::cli::run_program(count, arguments);
}
