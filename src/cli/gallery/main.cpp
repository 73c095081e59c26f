// The osler-gallery program: the gallery with LibTorch behind it.
#include <ATen/Parallel.h>

#include "cli/gallery/gallery.h"
#include "osler/torch/course.h"

int main(int count, char** arguments) {
  // The networks are small: threads would spend their time waiting for each other.
  at::set_num_threads(1);
  return osler::cli::run_gallery(count, arguments, osler::torch::follow);
}
