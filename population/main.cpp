// The program osler_population: trains a population of healthy and sick networks, and packs it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "pack.h"
#include "specimen.h"
#include "workers.h"

namespace {

constexpr std::string_view kUsage = R"(Usage:
  osler_population [--runs N] [--seed S] [--first I] [--jobs N] [--seconds T] [--out DIR]
      Trains the runs that are missing in DIR/runs and writes DIR/meta.jsonl.
  osler_population one --seed S --first I
      Trains one run and prints its meta data and its log.
  osler_population pack [--out DIR] [--to DIR] [--megabytes M]
      Packs all runs as compressed JSON lines.
  osler_population sample [--out DIR] [--to DIR] [--runs N]
      Packs a sample with short logs as one file.
)";

struct Options {
  std::string verb = "make";
  osler::population::Request request;
  std::string to;
  double megabytes = 14;
};

bool parse(const std::vector<std::string>& words, Options& options) {
  std::size_t i = 0;
  if (!words.empty() && words[0].rfind("--", 0) != 0) options.verb = words[i++];
  for (; i < words.size(); i += 2) {
    if (i + 1 >= words.size()) return false;
    const std::string& name = words[i];
    const std::string& value = words[i + 1];
    if (name == "--runs") {
      options.request.runs = std::stol(value);
    } else if (name == "--seed") {
      options.request.seed = std::stoull(value);
    } else if (name == "--first") {
      options.request.first = std::stol(value);
    } else if (name == "--jobs") {
      options.request.jobs = std::stol(value);
    } else if (name == "--seconds") {
      options.request.seconds = std::stod(value);
    } else if (name == "--out") {
      options.request.out = value;
    } else if (name == "--to") {
      options.to = value;
    } else if (name == "--megabytes") {
      options.megabytes = std::stod(value);
    } else {
      return false;
    }
  }
  return true;
}

int run(const Options& options) {
  namespace population = osler::population;
  const std::filesystem::path to = options.to.empty() ? options.request.out : std::filesystem::path(options.to);
  if (options.verb == "make") return population::make_population(options.request) ? 0 : 1;
  if (options.verb == "pack") return population::pack_population(options.request.out, to, options.megabytes) ? 0 : 1;
  if (options.verb == "sample") return population::pack_sample(options.request.out, to, options.request.runs) ? 0 : 1;
  if (options.verb == "one") {
    const population::Specimen one = population::make_specimen(options.request.seed, options.request.first);
    std::printf("%s\n%s", one.meta.c_str(), one.log.c_str());
    return 0;
  }
  std::fputs(kUsage.data(), stderr);
  return 2;
}

}  // namespace

int main(int count, char** words) {
  Options options;
  options.request.jobs = std::max(1L, static_cast<long>(std::thread::hardware_concurrency()));
  try {
    if (!parse({words + 1, words + count}, options)) {
      std::fputs(kUsage.data(), stderr);
      return 2;
    }
    const int status = run(options);
    // LibTorch as a Python package aborts when its parts are unloaded one by one; all files are closed by now.
    std::fflush(nullptr);
    std::_Exit(status);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "osler_population: %s\n", failure.what());
    return 1;
  }
}
