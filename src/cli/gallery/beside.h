// What lies beside the program that runs: the gallery's own program and the MNIST files, where the build put them.
#pragma once

#include <filesystem>

namespace osler::cli {

/// The program that trains; empty in a build without LibTorch.
[[nodiscard]] std::filesystem::path gallery_program();
/// The folder of the MNIST files; empty where there is none.
[[nodiscard]] std::filesystem::path digits_folder();

}  // namespace osler::cli
