// Finds the driver's functions.
#include "stats/gpu/driver.h"

namespace osler::stats::gpu {

Result<std::shared_ptr<const Driver>> Driver::load(const std::string& library) {
  auto opened = SharedLibrary::open({&library, 1}, "the CUDA driver");
  if (!opened) return opened.error();
  std::shared_ptr<Driver> driver(new Driver(std::move(*opened)));
  if (const auto found = driver->find_all(); !found) return found.error();
  if (const auto started = driver->check(driver->init(0), "the CUDA driver did not start"); !started) {
    return started.error();
  }
  return std::shared_ptr<const Driver>(std::move(driver));
}

Result<void> Driver::check(Status status, const std::string& what) const {
  if (status == kSuccess) return {};
  const char* text = nullptr;
  if (error_text(status, &text) != kSuccess || text == nullptr) text = "unknown error";
  return Error{ErrorCode::internal, what + ": " + text + " (CUDA error " + std::to_string(status) + ")",
               "GPU statistics"};
}

Result<void> Driver::find_all() {
  Result<void> found;
  const auto find = [&](const char* symbol, auto*& function) {
    if (found) found = library_.find(symbol, function);
  };
  find("cuInit", init);
  find("cuDeviceGetCount", device_count);
  find("cuDeviceGet", device);
  find("cuDeviceGetAttribute", attribute);
  find("cuDevicePrimaryCtxRetain", retain_context);
  find("cuDevicePrimaryCtxRelease_v2", release_context);
  find("cuCtxPushCurrent_v2", push_context);
  find("cuCtxPopCurrent_v2", pop_context);
  find("cuThreadExchangeStreamCaptureMode", exchange_capture_mode);
  find("cuModuleLoadData", load_module);
  find("cuModuleUnload", unload_module);
  find("cuModuleGetFunction", function);
  find("cuLaunchKernel", launch);
  find("cuMemAlloc_v2", allocate);
  find("cuMemFree_v2", free);
  find("cuMemHostAlloc", allocate_pinned);
  find("cuMemFreeHost", free_pinned);
  find("cuMemcpyHtoDAsync_v2", copy_to_device);
  find("cuMemcpyDtoHAsync_v2", copy_to_host);
  find("cuMemsetD8Async", fill);
  find("cuStreamCreate", create_stream);
  find("cuStreamDestroy_v2", destroy_stream);
  find("cuStreamSynchronize", synchronize_stream);
  find("cuStreamWaitEvent", wait_event);
  find("cuStreamIsCapturing", capturing);
  find("cuEventCreate", create_event);
  find("cuEventDestroy_v2", destroy_event);
  find("cuEventRecord", record_event);
  find("cuEventQuery", query_event);
  find("cuEventSynchronize", synchronize_event);
  find("cuEventElapsedTime", elapsed);
  find("cuGetErrorString", error_text);
  return found;
}

}  // namespace osler::stats::gpu
