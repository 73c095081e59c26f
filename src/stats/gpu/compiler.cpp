// Talks to NVRTC.
#include "stats/gpu/compiler.h"

#include <algorithm>
#include <memory>

#include "stats/gpu/shared_library.h"

namespace osler::stats::gpu {
namespace {

using Program = struct ProgramHandle*;

/// The functions of NVRTC that are needed.
class Compiler {
 public:
  static Result<Compiler> load(const std::vector<std::string>& libraries) {
    std::vector<std::string> names = libraries;
    for (const char* usual : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"}) {
      names.emplace_back(usual);
    }
    auto opened = SharedLibrary::open(names, "NVRTC, the run-time compiler that comes with PyTorch and CUDA,");
    if (!opened) return opened.error();
    Compiler compiler(std::move(*opened));
    if (const auto found = compiler.find_all(); !found) return found.error();
    return compiler;
  }

  Result<Image> compile(std::string_view source, int capability, const std::vector<std::string>& more_options) {
    const int known = newest_known(capability);
    if (known == 0) {
      return wrong("compute capability " + std::to_string(capability) + " is not among those it compiles for");
    }
    const bool exact = known == capability;
    std::vector<std::string> options = {
        "--gpu-architecture=" + std::string(exact ? "sm_" : "compute_") + std::to_string(known), "--std=c++17",
        "--disable-warnings"};
    options.insert(options.end(), more_options.begin(), more_options.end());
    Program made = nullptr;
    const std::string text(source);
    if (create_(&made, text.c_str(), "osler_statistics.cu", 0, nullptr, nullptr) != 0) {
      return wrong("it could not take the source");
    }
    const std::shared_ptr<ProgramHandle> program(made, [this](Program each) { destroy_(&each); });
    std::vector<const char*> words;
    for (const std::string& option : options) words.push_back(option.c_str());
    if (const int status = compile_(made, static_cast<int>(words.size()), words.data()); status != 0) {
      return wrong(std::string(error_text_(status)) + ": " + first_lines(log_of(made)));
    }
    return exact ? taken(made, cubin_size_, cubin_) : taken(made, ptx_size_, ptx_);
  }

 private:
  using Size = int (*)(Program, std::size_t*);
  using Take = int (*)(Program, char*);

  explicit Compiler(SharedLibrary library) : library_(std::move(library)) {}

  Result<void> find_all() {
    Result<void> found;
    const auto find = [&](const char* symbol, auto*& function) {
      if (found) found = library_.find(symbol, function);
    };
    find("nvrtcCreateProgram", create_);
    find("nvrtcDestroyProgram", destroy_);
    find("nvrtcCompileProgram", compile_);
    find("nvrtcGetErrorString", error_text_);
    find("nvrtcGetProgramLogSize", log_size_);
    find("nvrtcGetProgramLog", log_);
    find("nvrtcGetCUBINSize", cubin_size_);
    find("nvrtcGetCUBIN", cubin_);
    find("nvrtcGetPTXSize", ptx_size_);
    find("nvrtcGetPTX", ptx_);
    find("nvrtcGetNumSupportedArchs", archs_);
    find("nvrtcGetSupportedArchs", arch_list_);
    return found;
  }

  [[nodiscard]] Error wrong(const std::string& what) const {
    return {ErrorCode::unsupported, "NVRTC did not compile the kernels: " + what, library_.name()};
  }

  /// The newest compute capability up to this one that it compiles for; 0 for none.
  [[nodiscard]] int newest_known(int capability) const {
    int count = 0;
    if (archs_(&count) != 0 || count <= 0) return 0;
    std::vector<int> known(static_cast<std::size_t>(count));
    if (arch_list_(known.data()) != 0) return 0;
    int newest = 0;
    for (const int each : known) {
      if (each <= capability) newest = std::max(newest, each);
    }
    return newest;
  }

  [[nodiscard]] std::string log_of(Program program) const {
    std::size_t size = 0;
    if (log_size_(program, &size) != 0 || size == 0) return {};
    std::string text(size, '\0');
    return log_(program, text.data()) == 0 ? text : std::string();
  }

  static std::string first_lines(const std::string& log) {
    constexpr std::size_t kLongest = 400;
    std::string text = log.substr(0, std::min(log.find('\0'), kLongest));
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
  }

  [[nodiscard]] Result<Image> taken(Program program, Size size_of, Take take) const {
    std::size_t size = 0;
    if (size_of(program, &size) != 0 || size == 0) return wrong("it gave no code");
    Image image(size);
    if (take(program, image.data()) != 0) return wrong("it gave no code");
    return image;
  }

  SharedLibrary library_;
  int (*create_)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*destroy_)(Program*) = nullptr;
  int (*compile_)(Program, int, const char* const*) = nullptr;
  const char* (*error_text_)(int) = nullptr;
  int (*log_size_)(Program, std::size_t*) = nullptr;
  int (*log_)(Program, char*) = nullptr;
  int (*cubin_size_)(Program, std::size_t*) = nullptr;
  int (*cubin_)(Program, char*) = nullptr;
  int (*ptx_size_)(Program, std::size_t*) = nullptr;
  int (*ptx_)(Program, char*) = nullptr;
  int (*archs_)(int*) = nullptr;
  int (*arch_list_)(int*) = nullptr;
};

}  // namespace

Result<Image> compile(std::string_view source, int capability, const std::vector<std::string>& libraries,
                      const std::vector<std::string>& more_options) {
  auto compiler = Compiler::load(libraries);
  if (!compiler) return compiler.error();
  return compiler->compile(source, capability, more_options);
}

}  // namespace osler::stats::gpu
