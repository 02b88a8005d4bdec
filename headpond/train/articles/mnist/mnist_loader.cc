// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/articles/mnist/mnist_loader.h"

#include <fmt/core.h>

#include "headpond/base/trace.h"
#include "headpond/dataset/ops.h"

namespace headpond {
namespace {

const MnistLoaderOptions& checked(const MnistData& data, const MnistLoaderOptions& options) {
  const int64_t images = data.train_images.dim(0);
  if (options.batch < 1 || options.batch > images) {
    throw Exception(Error(ErrorKind::InvalidArgument,
                          fmt::format("a batch must have 1 to {} images, got {}", images, options.batch)));
  }
  if (options.sleep.count() < 0) {
    throw Exception(Error(ErrorKind::InvalidArgument, fmt::format("cannot sleep for {} ms", options.sleep.count())));
  }
  return options;
}

}  // namespace

MnistLoader::MnistLoader(const MnistData& data, const MnistLoaderOptions& options, const std::stop_token& stop)
    : stop_(stop),
      batch_(options.batch),
      forwarded_(stop, [this] { (void)sleepers_->request_stop(); }),
      loader_(described(data, checked(data, options)), {.epochs = -1, .seed = options.seed}) {}

Dataset MnistLoader::described(const MnistData& data, const MnistLoaderOptions& options) {
  const Dataset batches = from_tensor_slices({{"image", data.train_images}, {"label", data.train_labels}}) | shuffle() |
                          map("image", [](uint8_t pixel) { return static_cast<float>(pixel) / 255.0F; }) |
                          map("label", [](uint8_t digit) { return int64_t{digit}; }) |
                          batch(options.batch, {.drop_remainder = true});
  if (options.sleep.count() == 0) return batches;
  const auto sleep = [sleepers = sleepers_, time = options.sleep](const Element& element) -> Result<Element> {
    const trace::Span asleep("sleep", trace::Category::io);
    if (sleepers->wait_for_stop(time)) return fail(ErrorKind::Cancelled, "a stop was requested");
    return element;
  };
  return batches | map(sleep, {.output = batches.spec(), .name = "sleep", .blocking = true});
}

Result<Element> MnistLoader::next() {
  if (stop_.stop_requested()) return fail(ErrorKind::Cancelled, "a stop was requested");
  auto batch = loader_.next();
  if (!batch) return fail(batch.error());  // Never the end: there are endless epochs.
  return batch->element();
}

int64_t MnistLoader::in_store() const {
  const LoaderStats stats = loader_.stats();
  return stats.stages.empty() ? 0 : stats.stages[0].ready * batch_;  // Its work item is a batch, also with a sleep.
}

}  // namespace headpond
