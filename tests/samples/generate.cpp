// Writes the binary samples of tests/samples, and what is expected of every sample that has no expectation yet.
//
// Run build/<preset>/tests/osler_samples after adding a sample, and read what it wrote before you keep it: it writes
// down what the readers do, not what they should do.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "event_file_writer.h"
#include "samples/sample.h"

namespace osler::testing {
namespace {

namespace fs = std::filesystem;

float loss(int step) {
  return 2.5F / std::sqrt(static_cast<float>(step) + 1);
}

template <typename T>
std::string bytes_of(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// As PyTorch's SummaryWriter and TensorFlow 1 write.
std::string scalars(int first_step, int steps) {
  EventFileWriter writer;
  for (int step = first_step; step < first_step + steps; ++step) {
    writer.scalar("train/loss", step, loss(step));
    writer.scalar("lr", step, 0.001F);
    if (step % 5 == 4) writer.scalar("val/loss", step, loss(step) + 0.1F);
  }
  return writer.bytes();
}

/// As Keras under TensorFlow 2 writes: everything is a tensor.
std::string tensors(float offset) {
  EventFileWriter writer;
  for (int step = 0; step < 8; ++step) {
    writer.tensor("epoch_loss", step, "scalars", EventFileWriter::float_tensor(loss(step) + offset));
    writer.tensor("epoch_accuracy", step, "scalars",
                  EventFileWriter::tensor_of(1, bytes_of<float>({1 - loss(step) / 3})));
  }
  return writer.bytes();
}

std::string histograms() {
  EventFileWriter writer;
  writer.hparams("lr", 0.001, "optimizer", "adam");
  writer.tensor("notes", 0, "text", EventFileWriter::text_tensor("a small network"));
  for (int step = 0; step < 6; ++step) {
    writer.histogram("fc1.weight", step,
                     {-0.5, 0.5, 1000, 1.0 * step, 20.0 + step, {-1e-12, 1e-12, 0.5}, {400, 250, 350}});
    writer.tensor("fc2/kernel", step, "histograms",
                  EventFileWriter::tensor_of(2, bytes_of<double>({-1, 0, 10, 0, 0, 5, 0, 1, 10.0 + step}), {3, 3}));
  }
  return writer.bytes();
}

std::string damaged() {
  std::string bytes = scalars(0, 20);
  bytes[200] ^= 0x10;
  bytes[700] ^= 0x01;
  return bytes;
}

std::string cut_off() {
  std::string bytes = scalars(0, 20);
  bytes.resize(bytes.size() - 10);
  return bytes;
}

void write(const fs::path& path, const std::string& bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

void write_event_files() {
  const fs::path folder = fs::path(OSLER_SOURCE_DIR) / "tests/samples/tensorboard";
  write(folder / "scalars.tfevents", scalars(0, 20));
  write(folder / "histograms.tfevents", histograms());
  write(folder / "damaged.tfevents", damaged());
  write(folder / "cut_off.tfevents", cut_off());
  write(folder / "keras/train/events.out.tfevents.1700000000.host.1.0.v2", tensors(0));
  write(folder / "keras/validation/events.out.tfevents.1700000009.host.1.1.v2", tensors(0.1F));
  write(folder / "resumed/events.out.tfevents.1700000000.host", scalars(0, 20));
  write(folder / "resumed/events.out.tfevents.1700000500.host", scalars(12, 20));
}

void write_expectations() {
  for (const Sample& sample : all_samples()) {
    if (fs::exists(sample.expectation())) continue;
    write(sample.expectation(), describe_sample(sample).dump(1) + "\n");
    std::printf("%s\n", sample.expectation().c_str());
  }
}

}  // namespace
}  // namespace osler::testing

int main() {
  try {
    osler::testing::write_event_files();
    osler::testing::write_expectations();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "osler_samples: %s\n", error.what());
    return 1;
  }
}
