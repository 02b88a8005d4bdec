// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/tensors_of.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "headpond/base/crc32c.h"
#include "headpond/base/mutex.h"
#include "headpond/dataset/bases/field.h"

namespace headpond {
namespace {

constexpr const char* kTensorsOf = "tensors_of";

bool calls_unnamed(const Node& node) {
  return std::ranges::any_of(nodes_of(node), [](const Node* one) { return one->facts().opaque; });
}

/// Reads elements for any thread, with as many contexts as threads read at once.
class FieldReader {
 public:
  FieldReader(const Dataset& dataset, size_t field)
      : dataset_(dataset), field_(field), view_(view_of(*dataset_.node(), {})) {}

  Result<Tensor> read(int64_t i) {
    std::unique_ptr<Context> context = take();
    Element element;
    const Got got = internal::ask(*view_, i, *context, {}, element);
    if (got != Got::value) {
      const Error& why = context->error;
      return fail(
          Error(why.kind(), fmt::format("{}: {}", element_name(element.key, element.provenance), why.message()), why));
    }
    give_back(std::move(context));
    return std::move(element[field_]);
  }

 private:
  std::unique_ptr<Context> take() {
    const MutexLock lock(mu_);
    if (idle_.empty()) return std::make_unique<Context>();
    std::unique_ptr<Context> context = std::move(idle_.back());
    idle_.pop_back();
    return context;
  }
  void give_back(std::unique_ptr<Context> context) {
    const MutexLock lock(mu_);
    idle_.push_back(std::move(context));
  }

  const Dataset dataset_;
  const size_t field_;
  const std::shared_ptr<const View> view_;
  Mutex mu_;
  std::vector<std::unique_ptr<Context>> idle_ HEADPOND_GUARDED_BY(mu_);
};

}  // namespace

TensorList tensors_of(const Dataset& dataset, const std::string& field) {
  if (dataset.kind() != Kind::indexed) {
    refuse(kTensorsOf, "tensors are read by position, and the dataset has none, or has holes");
  }
  check_reads_positions(kTensorsOf, *dataset.node());
  const size_t index = field_index(kTensorsOf, dataset.spec(), field);
  internal::prepare(dataset, internal::one_by_one);
  const int64_t count = dataset.node()->slots();
  if (count == kEndless) refuse(kTensorsOf, "the dataset has no end");
  const std::string identity = fmt::format("{}\n{}", internal::identity_of(dataset), index);
  const auto reader = std::make_shared<FieldReader>(dataset, index);
  return {.count = count,
          .read = [reader](int64_t i) { return reader->read(i); },
          .name = calls_unnamed(*dataset.node())
                      ? ""
                      : fmt::format("{} {:08x}", dataset.node()->facts().op, crc32c(identity))};
}

}  // namespace headpond
