// The run file as a sink.
#include "osler/recorder/sink.h"
#include "osler/runfile/writer.h"

namespace osler {
namespace {

class RunFileSink final : public Sink {
 public:
  RunFileSink(RunFileWriter writer, std::filesystem::path path) : writer_(std::move(writer)), path_(std::move(path)) {}

  std::string name() const override { return "run file " + path_.string(); }

  Result<void> write(const RecordBatch& batch) override {
    while (ids_.size() < batch.names.size()) ids_.push_back(writer_.series(batch.names[ids_.size()]));
    for (const auto& [key, value] : batch.config) writer_.config(key, value);
    if (!batch.layers.empty()) writer_.layers(batch.layers);
    for (const Mark& mark : batch.marks) writer_.add(mark);
    for (Histogram histogram : batch.histograms) {
      histogram.series = ids_[histogram.series];
      writer_.distribution(histogram);
    }
    for (Event event : batch.events) {
      event.series = ids_[event.series];
      writer_.add(event);
    }
    return writer_.commit();
  }

  Result<void> report(std::int64_t step, double wall_time, std::string_view json) override {
    writer_.report(step, wall_time, json);
    return writer_.commit();
  }

  Result<void> close() override { return writer_.close(); }

 private:
  RunFileWriter writer_;
  std::filesystem::path path_;
  std::vector<SeriesId> ids_;  // of the file, by the recorder's
};

}  // namespace

Result<SinkPointer> run_file_sink(const std::filesystem::path& path, const std::string& run_name) {
  RunFileOptions options;
  options.name = run_name;
  auto writer = RunFileWriter::open(path, options);
  if (!writer) return writer.error();
  return SinkPointer(std::make_unique<RunFileSink>(std::move(*writer), path));
}

}  // namespace osler
