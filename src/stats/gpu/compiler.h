// Compiles the kernels at run time, with NVRTC, for the device that is there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "osler/base/result.h"

namespace osler::stats::gpu {

/// The source of all kernels.
[[nodiscard]] std::string_view kernel_source();

/// What the driver loads: machine code, or, where NVRTC does not know the device yet, PTX for the newest that it does.
using Image = std::vector<char>;

/// Compiles `source` for a compute capability (90 is 9.0). `libraries` are tried before the usual names of NVRTC.
[[nodiscard]] Result<Image> compile(std::string_view source, int capability, const std::vector<std::string>& libraries,
                                    const std::vector<std::string>& more_options = {});

}  // namespace osler::stats::gpu
