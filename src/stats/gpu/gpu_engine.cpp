// The engine for tensors on a GPU: queues kernels behind the training's work and picks the results up when they land.
#include "osler/stats/gpu_engine.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <utility>

#include "stats/batch_work.h"
#include "stats/gpu/compiler.h"
#include "stats/gpu/driver.h"
#include "stats/gpu/kernel_cache.h"
#include "stats/gpu/work_tables.h"

namespace osler::stats {
namespace gpu {

/// The device's primary context, which the training uses too, and what is held of its memory. Outlives the engine as
/// long as a batch or a followed tensor keeps memory of it.
class GpuDevice {
 public:
  GpuDevice(std::shared_ptr<const Driver> driver, int device, Context context)
      : driver_(std::move(driver)), device_(device), context_(context) {}
  GpuDevice(const GpuDevice&) = delete;
  GpuDevice& operator=(const GpuDevice&) = delete;
  ~GpuDevice() { driver_->release_context(device_); }

  [[nodiscard]] const Driver& driver() const { return *driver_; }
  [[nodiscard]] Context context() const { return context_; }

  std::atomic<std::uint64_t> device_bytes = 0;
  std::atomic<std::uint64_t> pinned_bytes = 0;

 private:
  std::shared_ptr<const Driver> driver_;
  int device_;
  Context context_;
};

/// Makes the context current for as long as it lives. What we call is no part of a graph that anyone captures
/// meanwhile.
class Current {
 public:
  explicit Current(const GpuDevice& device) : driver_(device.driver()) {
    pushed_ = driver_.push_context(device.context()) == kSuccess;
    exchanged_ = driver_.exchange_capture_mode(&mode_) == kSuccess;
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  ~Current() {
    if (exchanged_) driver_.exchange_capture_mode(&mode_);
    Context popped = nullptr;
    if (pushed_) driver_.pop_context(&popped);
  }

 private:
  const Driver& driver_;
  int mode_ = kRelaxedCapture;
  bool pushed_ = false;
  bool exchanged_ = false;
};

/// Memory that grows and is given back at the end.
class Room {
 public:
  Room(std::shared_ptr<GpuDevice> device, bool pinned) : device_(std::move(device)), pinned_(pinned) {}
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  ~Room() {
    const Current current(*device_);
    release();
  }

  /// Makes room for so many bytes; what it held is lost when it grows. With the context current.
  Result<void> fit(std::size_t bytes) {
    if (bytes <= bytes_) return {};
    const Driver& driver = device_->driver();
    // What grows once may grow again, and does not allocate each time; what never does is not too large.
    const std::size_t more = bytes_ > 0 ? bytes + bytes / 4 : bytes;
    release();
    const Status status = pinned_ ? driver.allocate_pinned(&host_, more, 0) : driver.allocate(&address_, more);
    if (auto done = driver.check(status, "no memory for statistics"); !done) return done;
    bytes_ = more;
    (pinned_ ? device_->pinned_bytes : device_->device_bytes) += bytes_;
    return {};
  }
  [[nodiscard]] DeviceAddress address() const { return address_; }
  [[nodiscard]] std::byte* host() const { return static_cast<std::byte*>(host_); }

 private:
  void release() {
    if (bytes_ == 0) return;
    static_cast<void>(pinned_ ? device_->driver().free_pinned(host_) : device_->driver().free(address_));
    (pinned_ ? device_->pinned_bytes : device_->device_bytes) -= std::exchange(bytes_, 0);
  }

  std::shared_ptr<GpuDevice> device_;
  bool pinned_;
  std::size_t bytes_ = 0;
  DeviceAddress address_ = 0;
  void* host_ = nullptr;
};

/// An event of the device.
class Signal {
 public:
  Signal(std::shared_ptr<GpuDevice> device, unsigned timing) : device_(std::move(device)) {
    const Current current(*device_);
    if (device_->driver().create_event(&event_, timing) != kSuccess) event_ = nullptr;
  }
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;
  ~Signal() {
    const Current current(*device_);
    if (event_ != nullptr) device_->driver().destroy_event(event_);
  }
  [[nodiscard]] Event get() const { return event_; }

 private:
  std::shared_ptr<GpuDevice> device_;
  Event event_ = nullptr;
};

/// Where the parts of the two uploads and of the results lie.
struct Places {
  std::size_t tensors = 0, pairs = 0, units = 0, axes = 0, chunks = 0, table_bytes = 0;
  std::size_t summary_parts = 0, pair_parts = 0, part_bytes = 0;
  std::size_t summaries = 0, pair_results = 0, histograms = 0, active = 0, result_bytes = 0;

  explicit Places(const WorkTables& tables) {
    const auto take = [](std::size_t& end, std::size_t bytes) {
      constexpr std::size_t kAlign = 64;
      return std::exchange(end, (end + bytes + kAlign - 1) / kAlign * kAlign);
    };
    tensors = take(table_bytes, tables.tensors.size() * sizeof(TableTensor));
    pairs = take(table_bytes, tables.pairs.size() * sizeof(TablePair));
    units = take(table_bytes, tables.units.size() * sizeof(TableUnits));
    axes = take(table_bytes, tables.axes.size() * sizeof(TableAxis));
    chunks = take(table_bytes, tables.chunks.size() * sizeof(TableChunk));
    summary_parts = take(part_bytes, tables.summary_parts * sizeof(SummaryPart));
    pair_parts = take(part_bytes, tables.pair_parts * sizeof(PairPart));
    summaries = take(result_bytes, tables.tensors.size() * sizeof(SummaryPart));
    pair_results = take(result_bytes, tables.pairs.size() * sizeof(PairPart));
    histograms = take(result_bytes, tables.histograms * kBins * sizeof(Word));
    active = take(result_bytes, tables.active * sizeof(std::uint32_t));
  }
};

/// What the engine keeps for one batch: its tables and the memory they and the results lie in.
class Plan {
 public:
  explicit Plan(const std::shared_ptr<GpuDevice>& device)
      : device(device),
        tables(device, false),
        parts(device, false),
        results(device, false),
        staging(device, true),
        landing(device, true),
        begun(device, kTiming),
        ready(device, kTiming),
        landed(device, kNoTiming) {}
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan() {
    const Current current(*device);
    if (under_way) device->driver().synchronize_event(landed.get());
  }

  std::shared_ptr<GpuDevice> device;
  WorkTables work;
  Room tables, parts, results, staging, landing;
  std::size_t uploaded = 0;  // bytes of the tables on the device that are as in `staging`
  Signal begun, ready, landed;
  bool under_way = false;
  double seconds = 0;  // that the device took for the newest answers
};

namespace {

constexpr std::array<const char*, kKernels> kNames = {"summarize_f32",  "summarize_f64", "summarize_f16",
                                                      "summarize_bf16", "compare_f32",   "compare_f64",
                                                      "compare_f16",    "compare_bf16",  "count_units"};
constexpr std::size_t kTypes = 4;

Error refused(ErrorCode code, std::string message) {
  return {code, std::move(message), "GPU statistics"};
}

/// Copies a table to where it is uploaded from; whether it is another than before.
template <typename Row>
bool stage(const std::vector<Row>& rows, std::byte* to) {
  const std::size_t bytes = rows.size() * sizeof(Row);
  if (bytes == 0 || std::memcmp(to, rows.data(), bytes) == 0) return false;
  std::memcpy(to, rows.data(), bytes);
  return true;
}

/// The functions of the loaded kernels.
struct Functions {
  std::array<Function, kKernels> plain{};
  std::array<Function, kTypes> followed{};
  std::array<Function, kTypes> counted{};
  Function finish_summaries = nullptr;
  Function finish_pairs = nullptr;
};

class GpuEngineImpl final : public GpuEngine {
 public:
  static Result<std::unique_ptr<GpuEngine>> make(const GpuOptions& options);

  GpuEngineImpl(std::shared_ptr<GpuDevice> device, int number, std::size_t multiprocessors)
      : device_(std::move(device)), number_(number), blocks_(multiprocessors * kBlocksAtOnce) {}
  GpuEngineImpl(const GpuEngineImpl&) = delete;
  GpuEngineImpl& operator=(const GpuEngineImpl&) = delete;
  ~GpuEngineImpl() override {
    const Current current(*device_);
    if (side_ != nullptr) {
      driver().synchronize_stream(side_);
      driver().destroy_stream(side_);
    }
    if (module_ != nullptr) driver().unload_module(module_);
  }

  Result<void> submit(Batch& batch) override { return submit(batch, nullptr); }
  Result<void> submit(Batch& batch, void* stream) override;
  Result<bool> poll(Batch& batch) override { return collect(batch, /*wait=*/false); }
  bool done(const Batch& batch) const override;
  void wait(Batch& batch) override { static_cast<void>(collect(batch, /*wait=*/true)); }
  Result<std::shared_ptr<void>> allocate(std::size_t bytes) override;
  double seconds(const Batch& batch) const override {
    const std::lock_guard lock(mutex_);
    return batch.work().plan == nullptr ? 0 : batch.work().plan->seconds;
  }
  GpuMemory memory() const override { return {device_->device_bytes, device_->pinned_bytes}; }
  bool compiled() const override { return compiled_; }

 private:
  [[nodiscard]] const Driver& driver() const { return device_->driver(); }
  Result<void> load(const GpuOptions& options, int capability);
  Result<void> find_functions();
  [[nodiscard]] Result<void> require_here(const Batch::Work& work) const;
  Result<void> upload(Plan& plan, const Places& places, bool cut, Stream stream);
  Result<void> launch(Function function, std::size_t blocks, void** arguments, Stream stream);
  Result<void> launch_all(Plan& plan, const Places& places, Stream stream);
  Result<void> send_back(Plan& plan, const Places& places, Stream stream);
  Result<bool> collect(Batch& batch, bool wait);

  std::shared_ptr<GpuDevice> device_;
  int number_;
  std::size_t blocks_;  // that run at once
  Module module_ = nullptr;
  Functions functions_;
  Stream side_ = nullptr;  // results are copied here, beside the training
  bool compiled_ = false;
  mutable std::mutex mutex_;
};

Result<std::unique_ptr<GpuEngine>> GpuEngineImpl::make(const GpuOptions& options) {
  auto driver = Driver::load(options.driver);
  if (!driver) return driver.error();
  const Driver& cuda = **driver;
  int count = 0;
  int device = 0;
  if (const auto found = cuda.check(cuda.device_count(&count), "no GPU can be used"); !found) return found.error();
  if (options.device < 0 || options.device >= count) {
    return refused(ErrorCode::invalid_argument,
                   "there is no GPU " + std::to_string(options.device) + " among " + std::to_string(count));
  }
  if (const auto found = cuda.check(cuda.device(&device, options.device), "no GPU can be used"); !found) {
    return found.error();
  }
  int major = 0;
  int minor = 0;
  int multiprocessors = 1;
  cuda.attribute(&major, kCapabilityMajor, device);
  cuda.attribute(&minor, kCapabilityMinor, device);
  cuda.attribute(&multiprocessors, kMultiprocessors, device);
  constexpr int kOldestMajor = 7;  // shuffles and atomics as the kernels use them
  if (major < kOldestMajor) {
    return refused(ErrorCode::unsupported, "the GPU has compute capability " + std::to_string(major) + "." +
                                               std::to_string(minor) + "; 7.0 or newer is needed");
  }
  Context context = nullptr;
  if (const auto made = cuda.check(cuda.retain_context(&context, device), "the GPU has no context"); !made) {
    return made.error();
  }
  auto engine = std::make_unique<GpuEngineImpl>(std::make_shared<GpuDevice>(*driver, device, context), options.device,
                                                static_cast<std::size_t>(multiprocessors));
  if (const auto loaded = engine->load(options, 10 * major + minor); !loaded) return loaded.error();
  return std::unique_ptr<GpuEngine>(std::move(engine));
}

Result<void> GpuEngineImpl::load(const GpuOptions& options, int capability) {
  const Current current(*device_);
  const std::string file =
      options.cache_folder.empty() ? "" : cache_file(options.cache_folder, kernel_source(), capability);
  if (!file.empty()) {
    const auto cached = read_cached(file);
    if (cached && driver().load_module(&module_, cached->data()) != kSuccess) module_ = nullptr;
  }
  if (module_ == nullptr) {
    auto image = compile(kernel_source(), capability, options.compilers);
    if (!image) return image.error();
    if (auto loaded = driver().check(driver().load_module(&module_, image->data()), "the kernels do not load");
        !loaded) {
      return loaded;
    }
    compiled_ = true;
    if (!file.empty()) write_cached(file, *image);
  }
  if (auto found = find_functions(); !found) return found;
  return driver().check(driver().create_stream(&side_, kNonBlocking), "no stream can be made");
}

Result<void> GpuEngineImpl::find_functions() {
  Result<void> found;
  const auto find = [&](Function& function, const std::string& name) {
    if (found) found = driver().check(driver().function(&function, module_, name.c_str()), "no kernel " + name);
  };
  for (std::size_t k = 0; k < kKernels; ++k) find(functions_.plain[k], kNames[k]);
  for (std::size_t k = 0; k < kTypes; ++k) {
    find(functions_.followed[k], std::string(kNames[k]) + "_followed");
    find(functions_.counted[k], std::string(kNames[k]) + "_counted");
  }
  find(functions_.finish_summaries, "finish_summaries");
  find(functions_.finish_pairs, "finish_pairs");
  return found;
}

Result<void> GpuEngineImpl::require_here(const Batch::Work& work) const {
  const auto here = [this](const TensorView& tensor) {
    return tensor.count() == 0 || tensor.device() == Device{Device::Kind::cuda, number_};
  };
  bool all = true;
  for (std::size_t i = 0; i < work.summaries.size(); ++i) all = all && here(work.summaries[i].tensor);
  for (std::size_t i = 0; i < work.pairs.size(); ++i) all = all && here(work.pairs[i].a);
  for (std::size_t i = 0; i < work.units.size(); ++i) all = all && here(work.units[i].tensor);
  if (!all) {
    return refused(ErrorCode::invalid_argument, "a tensor of the batch is not on GPU " + std::to_string(number_));
  }
  if (work.rows.size() > 0) return refused(ErrorCode::unsupported, "rows are not compared on a GPU");
  return {};
}

Result<void> GpuEngineImpl::upload(Plan& plan, const Places& places, bool cut, Stream stream) {
  const WorkTables& work = plan.work;
  std::byte* const to = plan.staging.host();
  bool changed = cut || plan.uploaded != places.table_bytes;
  changed = stage(work.tensors, to + places.tensors) || changed;
  changed = stage(work.pairs, to + places.pairs) || changed;
  changed = stage(work.units, to + places.units) || changed;
  changed = stage(work.axes, to + places.axes) || changed;
  const bool anew = stage(work.chunks, to + places.chunks) || cut || plan.uploaded != places.table_bytes;
  if (!changed && !anew) return {};
  const std::size_t bytes = anew ? places.table_bytes : places.chunks;
  plan.uploaded = 0;
  auto sent = driver().check(driver().copy_to_device(plan.tables.address(), to, bytes, stream), "no upload");
  if (sent) plan.uploaded = places.table_bytes;
  return sent;
}

Result<void> GpuEngineImpl::launch(Function function, std::size_t blocks, void** arguments, Stream stream) {
  return driver().check(driver().launch(function, static_cast<unsigned>(blocks), 1, 1, kWarps * kLanes, 1, 1, 0, stream,
                                        arguments, nullptr),
                        "no launch");
}

Result<void> GpuEngineImpl::launch_all(Plan& plan, const Places& places, Stream stream) {
  const WorkTables& work = plan.work;
  DeviceAddress tensors = plan.tables.address() + places.tensors;
  DeviceAddress pairs = plan.tables.address() + places.pairs;
  DeviceAddress units = plan.tables.address() + places.units;
  DeviceAddress axes = plan.tables.address() + places.axes;
  DeviceAddress summary_parts = plan.parts.address() + places.summary_parts;
  DeviceAddress pair_parts = plan.parts.address() + places.pair_parts;
  DeviceAddress summaries = plan.results.address() + places.summaries;
  DeviceAddress pair_results = plan.results.address() + places.pair_results;
  DeviceAddress histograms = plan.results.address() + places.histograms;
  DeviceAddress active = plan.results.address() + places.active;
  Result<void> done;
  if (places.result_bytes > places.histograms) {
    done = driver().check(driver().fill(histograms, 0, places.result_bytes - places.histograms, stream), "no memset");
  }
  for (std::size_t k = 0; k < kKernels && done; ++k) {
    const Launch& each = work.launches[k];
    if (each.count == 0) continue;
    DeviceAddress chunks = plan.tables.address() + places.chunks + each.first * sizeof(TableChunk);
    if (k < kTypes) {
      void* arguments[] = {&tensors, &axes, &chunks, &summary_parts, &histograms};
      done = launch(each.counted    ? functions_.counted[k]
                    : each.followed ? functions_.followed[k]
                                    : functions_.plain[k],
                    each.count, arguments, stream);
    } else if (k < 2 * kTypes) {
      void* arguments[] = {&pairs, &axes, &chunks, &pair_parts};
      done = launch(functions_.plain[k], each.count, arguments, stream);
    } else {
      void* arguments[] = {&units, &axes, &chunks, &active};
      done = launch(functions_.plain[k], each.count, arguments, stream);
    }
  }
  if (done && !work.tensors.empty()) {
    void* arguments[] = {&tensors, &summary_parts, &summaries};
    done = launch(functions_.finish_summaries, work.tensors.size(), arguments, stream);
  }
  if (done && !work.pairs.empty()) {
    void* arguments[] = {&pairs, &pair_parts, &pair_results};
    done = launch(functions_.finish_pairs, work.pairs.size(), arguments, stream);
  }
  return done;
}

Result<void> GpuEngineImpl::send_back(Plan& plan, const Places& places, Stream stream) {
  const Driver& cuda = driver();
  Result<void> done = cuda.check(cuda.record_event(plan.ready.get(), stream), "no event");
  if (done) done = cuda.check(cuda.wait_event(side_, plan.ready.get(), 0), "no event");
  if (done && places.result_bytes > 0) {
    done = cuda.check(cuda.copy_to_host(plan.landing.host(), plan.results.address(), places.result_bytes, side_),
                      "no copy");
  }
  if (done) done = cuda.check(cuda.record_event(plan.landed.get(), side_), "no event");
  return done;
}

Result<void> GpuEngineImpl::submit(Batch& batch, void* handle) {
  Batch::Work& work = batch.work();
  auto* const stream = static_cast<Stream>(handle);
  const std::lock_guard lock(mutex_);
  if (work.plan != nullptr && work.plan->under_way) {
    return refused(ErrorCode::invalid_argument, "the batch is still being worked on");
  }
  if (auto here = require_here(work); !here) return here;
  const Current current(*device_);
  int capturing = 0;
  if (auto asked = driver().check(driver().capturing(stream, &capturing), "the stream cannot be used"); !asked) {
    return asked;
  }
  if (capturing != 0) return refused(ErrorCode::unsupported, "a CUDA graph is being captured: nothing was measured");
  if (work.plan == nullptr || work.plan->device != device_) work.plan = std::make_shared<Plan>(device_);
  Plan& plan = *work.plan;
  const bool cut = plan.work.fill(work, blocks_);
  const Places places(plan.work);
  Result<void> done = plan.tables.fit(places.table_bytes);
  if (done) done = plan.parts.fit(places.part_bytes);
  if (done) done = plan.results.fit(places.result_bytes);
  if (done) done = plan.staging.fit(places.table_bytes);
  if (done) done = plan.landing.fit(places.result_bytes);
  if (done && (plan.begun.get() == nullptr || plan.ready.get() == nullptr || plan.landed.get() == nullptr)) {
    done = refused(ErrorCode::internal, "no event can be made");
  }
  if (done) done = driver().check(driver().record_event(plan.begun.get(), stream), "no event");
  if (done) done = upload(plan, places, cut, stream);
  if (done) done = launch_all(plan, places, stream);
  if (done) done = send_back(plan, places, stream);
  plan.under_way = static_cast<bool>(done);
  work.state = done ? Batch::Work::State::queued : Batch::Work::State::idle;
  return done;
}

bool GpuEngineImpl::done(const Batch& batch) const {
  const Batch::Work& work = batch.work();
  const std::lock_guard lock(mutex_);
  if (work.plan == nullptr || !work.plan->under_way) return work.state == Batch::Work::State::done;
  const Current current(*device_);
  return driver().query_event(work.plan->landed.get()) != kNotReady;
}

/// Puts the results into the batch.
void answer(Batch::Work& work, const WorkTables& tables, const std::byte* results, const Places& places) {
  const auto* const summaries = reinterpret_cast<const SummaryPart*>(results + places.summaries);
  const auto* const pairs = reinterpret_cast<const PairPart*>(results + places.pair_results);
  const auto* const bins = reinterpret_cast<const Word*>(results + places.histograms);
  const auto* const active = reinterpret_cast<const std::uint32_t*>(results + places.active);
  for (std::size_t i = 0; i < work.summaries.size(); ++i) {
    SummaryJob& job = work.summaries[i];
    job.answer = stats_of(summaries[i], job.tensor.count());
    job.moved = summaries[i].moved;
    if (job.histogram == SummaryJob::kNoHistogram) continue;
    work.histograms[job.histogram] = histogram_of(bins + job.histogram * kBins, job.answer.zeros);
  }
  for (std::size_t i = 0; i < work.pairs.size(); ++i)
    work.pairs[i].answer = stats_of(pairs[i], work.pairs[i].a.count());
  for (std::size_t i = 0; i < work.units.size(); ++i) {
    UnitActivity& answer = work.units[i].answer;
    std::copy_n(active + tables.units[i].first, answer.active.size(), answer.active.begin());
  }
}

/// The device failed: no answer is better than a wrong one.
void forget_answers(Batch::Work& work) {
  for (std::size_t i = 0; i < work.summaries.size(); ++i) work.summaries[i].answer = {}, work.summaries[i].moved = 0;
  for (std::size_t i = 0; i < work.pairs.size(); ++i) work.pairs[i].answer = {};
  for (std::size_t i = 0; i < work.units.size(); ++i) {
    std::fill(work.units[i].answer.active.begin(), work.units[i].answer.active.end(), 0U);
  }
  std::fill(work.histograms.begin(), work.histograms.end(), LogHistogram{});
}

Result<bool> GpuEngineImpl::collect(Batch& batch, bool wait) {
  Batch::Work& work = batch.work();
  const std::lock_guard lock(mutex_);
  if (work.plan == nullptr || !work.plan->under_way) return work.state == Batch::Work::State::done;
  const Current current(*device_);
  Plan& plan = *work.plan;
  const Status status = wait ? driver().synchronize_event(plan.landed.get()) : driver().query_event(plan.landed.get());
  if (status == kNotReady) return false;
  plan.under_way = false;
  if (const auto landed = driver().check(status, "the GPU failed"); !landed) {
    forget_answers(work);
    work.state = Batch::Work::State::idle;
    return landed.error();
  }
  float milliseconds = 0;
  const bool told = driver().elapsed(&milliseconds, plan.begun.get(), plan.ready.get()) == kSuccess;
  plan.seconds = told ? static_cast<double>(milliseconds) / 1e3 : 0;
  if (work.state != Batch::Work::State::queued) return false;  // cleared meanwhile: nobody asks any more
  answer(work, plan.work, plan.landing.host(), Places(plan.work));
  work.state = Batch::Work::State::done;
  return true;
}

Result<std::shared_ptr<void>> GpuEngineImpl::allocate(std::size_t bytes) {
  const Current current(*device_);
  auto room = std::make_shared<Room>(device_, false);
  if (const auto made = room->fit(std::max<std::size_t>(bytes, 1)); !made) return made.error();
  Result<void> filled = driver().check(driver().fill(room->address(), 0, bytes, side_), "no memset");
  if (filled) filled = driver().check(driver().synchronize_stream(side_), "no memset");
  if (!filled) return filled.error();
  void* const address = reinterpret_cast<void*>(static_cast<std::uintptr_t>(room->address()));
  return std::shared_ptr<void>(std::move(room), address);
}

}  // namespace
}  // namespace gpu

Result<std::unique_ptr<GpuEngine>> make_gpu_engine(const GpuOptions& options) {
  return gpu::GpuEngineImpl::make(options);
}

}  // namespace osler::stats
