// The osler-gallery program: the gallery with LibTorch behind it.
#include "cli/gallery/gallery.h"
#include "osler/trainer/train.h"

int main(int count, char** arguments) {
  return osler::cli::run_gallery(count, arguments, osler::trainer::train);
}
