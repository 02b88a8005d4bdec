// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/device/cuda.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <deque>
#include <utility>
#include <vector>

#include "headpond/base/mutex.h"
#include "headpond/train/device/cuda_driver_internal.h"

namespace headpond {
namespace internal {
namespace {

constexpr int kOutOfMemory = 2, kNotReady = 600;                    // CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_NOT_READY
constexpr unsigned kPortable = 1, kNonBlocking = 1, kNoTiming = 2;  // CU_MEMHOSTALLOC_, CU_STREAM_, CU_EVENT_
constexpr size_t kLeastPinned = 64 << 10, kAlignment = 64, kMostKept = 64 << 20;

Result<void> check(const CudaDriver& driver, int status, const char* call, ErrorKind kind = ErrorKind::Unknown) {
  if (status == 0) return {};
  const char* name = nullptr;
  if (driver.error_name(status, &name) != 0 || name == nullptr) name = "an unknown error";
  return fail(status == kOutOfMemory ? ErrorKind::ResourceExhausted : kind,
              fmt::format("CUDA: {} returned {} ({})", call, name, status));
}

// A device's primary context, which lives as long as this.
class CudaContext {
 public:
  static Result<std::shared_ptr<CudaContext>> of(const CudaDriver& driver, int ordinal) {
    CudaDriver::Device device = 0;
    CudaDriver::Context context = nullptr;
    HEADPOND_TRY(check(driver, driver.device_get(&device, ordinal), "cuDeviceGet", ErrorKind::FailedPrecondition));
    HEADPOND_TRY(check(driver, driver.primary_context_retain(&context, device), "cuDevicePrimaryCtxRetain",
                       ErrorKind::FailedPrecondition));
    return std::make_shared<CudaContext>(driver, device, context);
  }
  CudaContext(const CudaDriver& driver, CudaDriver::Device device, CudaDriver::Context context)
      : driver_(driver), device_(device), context_(context) {}
  ~CudaContext() { driver_.primary_context_release(device_); }
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;

  // The calling thread's while this lives.
  class Current {
   public:
    explicit Current(const CudaContext& context) : driver_(context.driver_) {
      is_pushed_ = driver_.context_push(context.context_) == 0;
    }
    ~Current() {
      CudaDriver::Context popped = nullptr;
      if (is_pushed_) driver_.context_pop(&popped);
    }
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

   private:
    const CudaDriver& driver_;
    bool is_pushed_ = false;
  };

  Result<void> checked(int status, const char* call) const { return check(driver_, status, call); }
  const CudaDriver& driver() const { return driver_; }

 private:
  const CudaDriver& driver_;
  const CudaDriver::Device device_;
  const CudaDriver::Context context_;
};

// Page-locked blocks. Some that were given back wait here for the next of their size, as the driver needs milliseconds
// to lock pages, and waits for all work of the device before it unlocks them.
class PinnedBlocks {
 public:
  explicit PinnedBlocks(std::shared_ptr<CudaContext> context) : context_(std::move(context)) {}
  ~PinnedBlocks() {
    for (const Block& block : kept_) unlock(block);
  }
  PinnedBlocks(const PinnedBlocks&) = delete;
  PinnedBlocks& operator=(const PinnedBlocks&) = delete;

  void* take(size_t size) {
    {
      MutexLock lock(mu_);
      const auto found = std::find_if(kept_.rbegin(), kept_.rend(), [size](const Block& b) { return b.size == size; });
      if (found != kept_.rend()) {
        void* const data = found->data;
        kept_.erase(std::next(found).base());
        kept_bytes_ -= size;
        return data;
      }
    }
    const CudaContext::Current current(*context_);
    void* block = nullptr;
    return context_->driver().host_allocate(&block, size, kPortable) == 0 ? block : nullptr;
  }
  void give_back(void* data, size_t size) {
    std::vector<Block> too_many;
    {
      MutexLock lock(mu_);
      kept_.push_back({data, size});
      for (kept_bytes_ += size; kept_bytes_ > kMostKept; kept_.pop_front()) {
        too_many.push_back(kept_.front());
        kept_bytes_ -= kept_.front().size;
      }
    }
    for (const Block& block : too_many) unlock(block);
  }

 private:
  struct Block {
    void* data;
    size_t size;
  };
  void unlock(const Block& block) const {
    const CudaContext::Current current(*context_);
    context_->driver().host_free(block.data);
  }

  const std::shared_ptr<CudaContext> context_;
  Mutex mu_;
  std::deque<Block> kept_ HEADPOND_GUARDED_BY(mu_);  // Blocks that came back last are last.
  size_t kept_bytes_ HEADPOND_GUARDED_BY(mu_) = 0;
};

// An event, made and recorded after what `stream` was asked for so far. In the current context.
class CudaEvent : public DeviceCopy {
 public:
  static Result<std::unique_ptr<CudaEvent>> after(std::shared_ptr<const CudaContext> context,
                                                  CudaDriver::Stream stream) {
    const CudaDriver& driver = context->driver();
    auto event = std::make_unique<CudaEvent>(std::move(context));
    HEADPOND_TRY(event->context_->checked(driver.event_create(&event->event_, kNoTiming), "cuEventCreate"));
    HEADPOND_TRY(event->context_->checked(driver.event_record(event->event_, stream), "cuEventRecord"));
    return event;
  }
  explicit CudaEvent(std::shared_ptr<const CudaContext> context) : context_(std::move(context)) {}
  ~CudaEvent() override {
    const CudaContext::Current current(*context_);
    if (event_ != nullptr) context_->driver().event_destroy(event_);
  }
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;

  bool is_done() override {
    const CudaContext::Current current(*context_);
    return context_->driver().event_query(event_) != kNotReady;  // After an error nothing is under way any more.
  }
  Result<void> wait() override {
    const CudaContext::Current current(*context_);
    return context_->checked(context_->driver().event_synchronize(event_), "cuEventSynchronize");
  }
  CudaDriver::Event get() const { return event_; }

 private:
  const std::shared_ptr<const CudaContext> context_;
  CudaDriver::Event event_ = nullptr;
};

class CudaStream : public DeviceStream {
 public:
  CudaStream(std::shared_ptr<CudaContext> context, int device, CudaDriver::Stream program, CudaDriver::Stream side)
      : context_(std::move(context)), driver_(context_->driver()), device_(device), program_(program), side_(side) {}
  ~CudaStream() override {
    const CudaContext::Current current(*context_);
    driver_.stream_destroy(side_);
  }
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

  Result<void*> allocate(size_t bytes) override {
    const CudaContext::Current current(*context_);
    CudaDriver::Address address = 0;
    HEADPOND_TRY(context_->checked(driver_.memory_allocate(&address, bytes), "cuMemAlloc"));
    return std::bit_cast<void*>(address);
  }
  void free(void* memory) noexcept override {  // cuMemFree waits for all work of the device.
    const CudaContext::Current current(*context_);
    driver_.memory_free(reinterpret_cast<CudaDriver::Address>(memory));
  }
  Result<std::unique_ptr<DeviceCopy>> copy(std::span<const Part> parts) override {
    const CudaContext::Current current(*context_);
    auto event = begin(parts);
    if (event) return std::unique_ptr<DeviceCopy>(std::move(*event));
    driver_.stream_synchronize(side_);
    return fail(event.error());
  }
  Result<void> before_program(DeviceCopy& copy) override {
    const CudaContext::Current current(*context_);
    const CudaDriver::Event event = static_cast<CudaEvent&>(copy).get();
    return context_->checked(driver_.stream_wait_event(program_, event, 0), "cuStreamWaitEvent");
  }
  Result<void> after_program() override {
    const CudaContext::Current current(*context_);
    auto event = CudaEvent::after(context_, program_);
    if (!event) return fail(event.error());
    return context_->checked(driver_.stream_wait_event(side_, (*event)->get(), 0), "cuStreamWaitEvent");
  }
  int device() const override { return device_; }

 private:
  Result<std::unique_ptr<CudaEvent>> begin(std::span<const Part> parts) {
    for (const Part& part : parts) {
      const auto to = reinterpret_cast<CudaDriver::Address>(part.to);
      HEADPOND_TRY(context_->checked(driver_.copy_to_device(to, part.from, part.bytes, side_), "cuMemcpyHtoDAsync"));
    }
    return CudaEvent::after(context_, side_);
  }

  const std::shared_ptr<CudaContext> context_;
  const CudaDriver& driver_;
  const int device_;
  const CudaDriver::Stream program_, side_;
};

}  // namespace

Result<std::shared_ptr<BufferPool>> pinned_pool_of(const CudaDriver& driver, int device) {
  auto made = CudaContext::of(driver, device);
  if (!made) return fail(made.error());
  const auto blocks = std::make_shared<PinnedBlocks>(std::move(*made));
  const auto allocate = [blocks](size_t size) -> void* {
    if (size < kLeastPinned) return std::aligned_alloc(kAlignment, (size + kAlignment - 1) / kAlignment * kAlignment);
    return blocks->take(size);
  };
  const auto release = [blocks](void* block, size_t size) {
    size < kLeastPinned ? std::free(block) : blocks->give_back(block, size);
  };
  return std::make_shared<BufferPool>(BlockHooks{.allocate = allocate, .release = release});
}

Result<std::shared_ptr<DeviceStream>> cuda_stream_of(const CudaDriver& driver, int device, CudaDriver::Stream program) {
  auto context = CudaContext::of(driver, device);
  if (!context) return fail(context.error());
  const CudaContext::Current current(**context);
  CudaDriver::Stream side = nullptr;
  HEADPOND_TRY((*context)->checked(driver.stream_create(&side, kNonBlocking), "cuStreamCreate"));
  return std::make_shared<CudaStream>(std::move(*context), device, program, side);
}

}  // namespace internal

Result<std::shared_ptr<BufferPool>> pinned_pool(int device) {
  const auto driver = internal::cuda_driver();
  if (!driver) return fail(driver.error());
  return internal::pinned_pool_of(**driver, device);
}

Result<std::shared_ptr<DeviceStream>> cuda_stream(const CudaStreamOptions& options) {
  const auto driver = internal::cuda_driver();
  if (!driver) return fail(driver.error());
  return internal::cuda_stream_of(**driver, options.device, options.program);
}

}  // namespace headpond
