// Driver: the few functions of the CUDA driver that are needed, found at run time, and what they fail with as errors.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "osler/base/result.h"
#include "stats/gpu/shared_library.h"

namespace osler::stats::gpu {

/// The driver's handles; a stream is the same thing for the CUDA runtime.
using Status = int;
using DeviceAddress = unsigned long long;
using Context = struct ContextHandle*;
using Module = struct ModuleHandle*;
using Function = struct FunctionHandle*;
using Stream = struct StreamHandle*;
using Event = struct EventHandle*;

inline constexpr Status kSuccess = 0;
inline constexpr Status kNotReady = 600;     // CUDA_ERROR_NOT_READY
inline constexpr unsigned kNonBlocking = 1;  // CU_STREAM_NON_BLOCKING
inline constexpr unsigned kTiming = 0;       // CU_EVENT_DEFAULT
inline constexpr unsigned kNoTiming = 2;     // CU_EVENT_DISABLE_TIMING
inline constexpr int kRelaxedCapture = 2;    // CU_STREAM_CAPTURE_MODE_RELAXED
inline constexpr int kMultiprocessors = 16;  // CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
inline constexpr int kCapabilityMajor = 75;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
inline constexpr int kCapabilityMinor = 76;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR

/// The driver of this machine.
class Driver {
 public:
  /// Opens the library and starts the driver.
  static Result<std::shared_ptr<const Driver>> load(const std::string& library);

  /// An error with the driver's own words unless it is a success. `what`: what was tried, "could not launch".
  [[nodiscard]] Result<void> check(Status status, const std::string& what) const;

  Status (*init)(unsigned flags) = nullptr;
  Status (*device_count)(int* count) = nullptr;
  Status (*device)(int* device, int number) = nullptr;
  Status (*attribute)(int* value, int attribute, int device) = nullptr;
  Status (*retain_context)(Context* context, int device) = nullptr;
  Status (*release_context)(int device) = nullptr;
  Status (*push_context)(Context context) = nullptr;
  Status (*pop_context)(Context* context) = nullptr;
  Status (*exchange_capture_mode)(int* mode) = nullptr;
  Status (*load_module)(Module* module, const void* image) = nullptr;
  Status (*unload_module)(Module module) = nullptr;
  Status (*function)(Function* function, Module module, const char* name) = nullptr;
  Status (*launch)(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared_bytes, Stream stream, void** arguments,
                   void** extra) = nullptr;
  Status (*allocate)(DeviceAddress* address, std::size_t bytes) = nullptr;
  Status (*free)(DeviceAddress address) = nullptr;
  Status (*allocate_pinned)(void** address, std::size_t bytes, unsigned flags) = nullptr;
  Status (*free_pinned)(void* address) = nullptr;
  Status (*copy_to_device)(DeviceAddress to, const void* from, std::size_t bytes, Stream stream) = nullptr;
  Status (*copy_to_host)(void* to, DeviceAddress from, std::size_t bytes, Stream stream) = nullptr;
  Status (*fill)(DeviceAddress at, unsigned char value, std::size_t bytes, Stream stream) = nullptr;
  Status (*create_stream)(Stream* stream, unsigned flags) = nullptr;
  Status (*destroy_stream)(Stream stream) = nullptr;
  Status (*synchronize_stream)(Stream stream) = nullptr;
  Status (*wait_event)(Stream stream, Event event, unsigned flags) = nullptr;
  Status (*capturing)(Stream stream, int* status) = nullptr;
  Status (*create_event)(Event* event, unsigned flags) = nullptr;
  Status (*destroy_event)(Event event) = nullptr;
  Status (*record_event)(Event event, Stream stream) = nullptr;
  Status (*query_event)(Event event) = nullptr;
  Status (*synchronize_event)(Event event) = nullptr;
  Status (*elapsed)(float* milliseconds, Event begin, Event end) = nullptr;
  Status (*error_text)(Status status, const char** text) = nullptr;

 private:
  explicit Driver(SharedLibrary library) : library_(std::move(library)) {}
  Result<void> find_all();

  SharedLibrary library_;
};

}  // namespace osler::stats::gpu
