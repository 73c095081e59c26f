// Writes the binary samples of tests/samples, and what is expected of every sample that has no expectation yet.
//
// Run build/<preset>/tests/osler_samples after adding a sample, and read what it wrote before you keep it: it writes
// down what the readers do, not what they should do.
#include <sqlite3.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

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

/// As PyTorch's SummaryWriter with a purge step: what the earlier session wrote from there on is void.
std::string resumed_at(int purge_step, int first_step) {
  EventFileWriter writer;
  writer.session_start(purge_step, EventFileWriter::kStart + 500);
  for (int step = first_step; step < first_step + 4; ++step) writer.scalar("train/loss", step, loss(step));
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
  write(folder / "purged/events.out.tfevents.1700000000.host", scalars(0, 20));
  write(folder / "purged/events.out.tfevents.1700000500.host", resumed_at(10, 13));
}

/// The tables of MLflow's store that matter, with three runs: one of them has no metrics, one failed.
std::string mlflow_statements() {
  std::string sql =
      "PRAGMA page_size = 1024;"
      "CREATE TABLE experiments (experiment_id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(256) NOT NULL UNIQUE);"
      "CREATE TABLE runs (run_uuid VARCHAR(32) NOT NULL PRIMARY KEY, name VARCHAR(250), status VARCHAR(9),"
      " start_time BIGINT, end_time BIGINT, lifecycle_stage VARCHAR(20), experiment_id INTEGER);"
      "CREATE TABLE metrics (key VARCHAR(250) NOT NULL, value DOUBLE PRECISION NOT NULL, timestamp BIGINT NOT NULL,"
      " run_uuid VARCHAR(32) NOT NULL, step BIGINT DEFAULT '0' NOT NULL, is_nan BOOLEAN DEFAULT '0' NOT NULL);"
      "CREATE INDEX index_metrics_run_uuid ON metrics (run_uuid);"
      "CREATE TABLE params (key VARCHAR(250) NOT NULL, value VARCHAR(8000) NOT NULL, run_uuid VARCHAR(32) NOT NULL);"
      "CREATE TABLE tags (key VARCHAR(250) NOT NULL, value VARCHAR(5000), run_uuid VARCHAR(32) NOT NULL);"
      "INSERT INTO experiments VALUES (0, 'Default'), (1, 'digits');"
      "INSERT INTO runs VALUES"
      " ('aaaa', 'first', 'FINISHED', 1700000000000, 1700000090000, 'active', 1),"
      " ('bbbb', '', 'FAILED', 1700000100000, 1700000190000, 'active', 1),"
      " ('cccc', 'nothing', 'RUNNING', 1700000200000, NULL, 'active', 0),"
      " ('dddd', 'gone', 'FINISHED', 1700000300000, 1700000390000, 'deleted', 0);"
      "INSERT INTO params VALUES ('lr', '0.01', 'aaaa'), ('lr', '0.1', 'bbbb'), ('optimizer', 'sgd', 'bbbb');"
      "INSERT INTO tags VALUES ('mlflow.runName', 'second', 'bbbb'), ('mlflow.user', 'anna', 'aaaa');";
  char row[200];
  for (int step = 0; step < 12; ++step) {
    for (const char* run : {"aaaa", "bbbb", "dddd"}) {
      // The second run turns infinite and then NaN, which MLflow writes in its own way.
      const bool sick = run[0] == 'b';
      const double value = sick && step == 10 ? 1.7976931348623157e308 : sick && step == 11 ? 0.0 : loss(step);
      std::snprintf(row, sizeof row, "INSERT INTO metrics VALUES ('loss', %.17g, %lld, '%s', %d, %d);", value,
                    1700000000000LL + step * 1000, run, step, sick && step == 11 ? 1 : 0);
      sql += row;
    }
    std::snprintf(row, sizeof row, "INSERT INTO metrics VALUES ('val/accuracy', %.17g, %lld, 'aaaa', 0, 0);",
                  0.05 * step, 1700000000500LL + step * 1000);
    sql += row;
  }
  return sql;
}

void write_mlflow_database() {
  const fs::path path = fs::path(OSLER_SOURCE_DIR) / "tests/samples/mlflow-db/mlflow.db";
  fs::create_directories(path.parent_path());
  fs::remove(path);
  sqlite3* database = nullptr;
  const int opened = sqlite3_open(path.c_str(), &database);
  const int written =
      opened == SQLITE_OK ? sqlite3_exec(database, mlflow_statements().c_str(), nullptr, nullptr, nullptr) : opened;
  sqlite3_close(database);
  if (written != SQLITE_OK) throw std::runtime_error("cannot write " + path.string());
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
    osler::testing::write_mlflow_database();
    osler::testing::write_expectations();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "osler_samples: %s\n", error.what());
    return 1;
  }
}
