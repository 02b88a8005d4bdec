// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/device/device_feed.h"

#include <fmt/format.h>

#include <list>
#include <utility>

#include "headpond/train/device/cuda.h"
#include "headpond/train/device/device_memory_internal.h"

namespace headpond {
namespace {

constexpr size_t kFieldAlignment = 256;

const DeviceFeedOptions& checked(const DeviceFeedOptions& options) {
  if (options.depth < 1) refuse("DeviceFeed", fmt::format("depth={}: must be at least 1", options.depth));
  return options;
}

// A batch, or the error instead of it, between Loader and program.
struct Taken {
  std::optional<Batch> host;  // Not moved while it is copied: small tensors hold their values.
  Error error;
  Loader::Position position;  // The Loader's after it.
  std::unique_ptr<DeviceCopy> copy = nullptr;
  std::vector<DeviceTensor> tensors = {};
};

// Where the fields lie in a block of the device: one after the other.
struct Layout {
  std::vector<size_t> offsets;
  size_t bytes = 0;
};
Layout layout_of(const Batch& batch) {
  Layout layout;
  for (size_t i = 0; i < batch.size(); ++i) {
    layout.offsets.push_back(layout.bytes);
    if (batch[i].dtype() == DType::bytes) continue;
    layout.bytes += (batch[i].byte_size() + kFieldAlignment - 1) / kFieldAlignment * kFieldAlignment;
  }
  return layout;
}

}  // namespace

const DeviceTensor& DeviceBatch::operator[](std::string_view name) const {
  for (size_t i = 0; names_ && i < names_->size(); ++i) {
    if ((*names_)[i] == name) return (*this)[i];
  }
  const std::string there = names_ ? fmt::format("{}", fmt::join(*names_, ", ")) : "fields without names";
  refuse("DeviceBatch", fmt::format("no field \"{}\"; there are {}", name, there));
}

const DeviceTensor& DeviceBatch::operator[](size_t i) const {
  if (i >= tensors_.size()) refuse("DeviceBatch", fmt::format("no field {}; there are {}", i, tensors_.size()));
  if (tensors_[i].dtype == DType::bytes) {
    throw Exception(Error(ErrorKind::Unimplemented, fmt::format("field {}: dtype bytes has no form on a device",
                                                                names_ ? (*names_)[i] : std::to_string(i))));
  }
  return tensors_[i];
}

std::vector<std::string> DeviceBatch::names() const { return names_ ? *names_ : std::vector<std::string>(); }

struct DeviceFeed::Parts {
  Parts(Loader& from, DeviceFeedOptions options)
      : loader(from),
        depth(static_cast<size_t>(checked(options).depth)),
        stream(options.stream ? std::move(options.stream) : value_or_throw(cuda_stream())),
        memory(std::make_shared<internal::DeviceMemory>(stream, depth + 1)) {}

  void take(Result<Batch> next) {
    Taken& taken = ahead.emplace_back();
    if (next) {
      taken.host = std::move(*next);
    } else {
      taken.error = next.error();
    }
    taken.position = loader.position();
  }

  Result<void> begin_copy(Taken& taken) {
    const Batch& batch = *taken.host;
    const Layout layout = layout_of(batch);
    auto block = memory->allocate(layout.bytes);
    if (!block) return fail(block.error());
    std::vector<DeviceStream::Part> parts;
    std::vector<DeviceTensor> tensors(batch.size());
    for (size_t i = 0; i < batch.size(); ++i) {
      const Tensor& from = batch[i];
      void* const to = static_cast<std::byte*>(block->get()) + layout.offsets[i];
      tensors[i] = {
          .data = to, .dtype = from.dtype(), .shape = from.shape(), .device = stream->device(), .owner = *block};
      if (from.dtype() != DType::bytes && from.byte_size() > 0) parts.push_back({to, from.data(), from.byte_size()});
    }
    auto copy = stream->copy(parts);
    if (!copy) return fail(copy.error());
    taken.copy = std::move(*copy);
    taken.tensors = std::move(tensors);
    return {};
  }

  // What is ready, without waiting, and not beyond an error. A copy that cannot begin is tried again by next().
  void top_up() {
    while (ahead.size() < depth && !ahead.back().error) {
      auto next = loader.try_next();
      const bool is_ready =
          next || next.error().kind() != ErrorKind::DeadlineExceeded || next.error().cause() != nullptr;
      if (!is_ready) return;
      take(std::move(next));
      if (ahead.back().host) (void)begin_copy(ahead.back());
    }
  }

  void end_leases() {
    while (!leases.empty() && leases.front().copy->is_done()) leases.pop_front();
  }

  void close() {
    if (std::exchange(is_closed, true)) return;
    for (std::list<Taken>* const all : {&leases, &ahead}) {
      for (Taken& taken : *all) {
        if (taken.copy) (void)taken.copy->wait();  // A device that fails has no copies under way.
      }
      all->clear();
    }
    memory->close();
  }

  Loader& loader;
  const size_t depth;
  const std::shared_ptr<DeviceStream> stream;
  const std::shared_ptr<internal::DeviceMemory> memory;
  std::list<Taken> ahead;                         // In order; the first one is the program's next.
  std::list<Taken> leases;                        // The program has their batches, and their copies may be under way.
  Loader::Position position = loader.position();  // After the last batch that the program got.
  bool is_closed = false;
  std::string last_state;  // When it was closed: the Loader may be gone.
};

DeviceFeed::DeviceFeed(Loader& loader, DeviceFeedOptions options)
    : parts_(std::make_unique<Parts>(loader, std::move(options))) {}

DeviceFeed::~DeviceFeed() { parts_->close(); }

void DeviceFeed::close() {
  if (parts_->is_closed) return;
  parts_->close();
  parts_->last_state = parts_->loader.state(parts_->position);
}

std::string DeviceFeed::state() const {
  return parts_->is_closed ? parts_->last_state : parts_->loader.state(parts_->position);
}

Result<DeviceBatch> DeviceFeed::next() {
  Parts& all = *parts_;
  if (all.is_closed) return fail(ErrorKind::Cancelled, "DeviceFeed: it was closed");
  all.end_leases();
  if (all.ahead.empty()) all.take(all.loader.next());
  Taken& first = all.ahead.front();
  if (first.error) {
    const Error error = first.error;
    all.position = std::move(first.position);
    all.ahead.pop_front();
    return fail(error);
  }
  if (!first.copy) HEADPOND_TRY(all.begin_copy(first));
  all.top_up();
  HEADPOND_TRY(all.stream->before_program(*first.copy));
  DeviceBatch batch;
  batch.tensors_ = std::move(first.tensors);
  batch.names_ = first.host->element().names();
  batch.epoch_ = first.host->epoch();
  batch.index_ = first.host->index();
  all.position = std::move(first.position);
  all.leases.splice(all.leases.end(), all.ahead, all.ahead.begin());
  all.end_leases();
  return batch;
}

DeviceFeed::Iterator DeviceFeed::begin() { return Iterator(this); }

DeviceFeed::Iterator& DeviceFeed::Iterator::operator++() {
  batch_.reset();  // Its memory is for the next one.
  auto next = feed_->next();
  if (!next && !next.error().is_end()) throw Exception(next.error());
  if (next) batch_ = std::move(*next);
  return *this;
}

}  // namespace headpond
