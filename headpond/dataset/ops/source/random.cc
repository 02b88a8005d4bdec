// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "headpond/dataset/ops/source/numbers_internal.h"
#include "headpond/dataset/ops/sources.h"

namespace headpond {
namespace {

Node::Facts facts_of(const RandomSourceOptions& options) {
  std::string args = fmt::format("rerandomize_each_iteration={}", options.rerandomize_each_iteration);
  if (options.seed) args = fmt::format("seed={}, {}", *options.seed, args);
  return {.op = "random",
          .args = std::move(args),
          .spec = {{"", DType::i64, {}}},
          .slots = kEndless,
          .random_streams = {options.name.empty() ? "random" : options.name}};
}

class RandomSource final : public Node {
 public:
  explicit RandomSource(const RandomSourceOptions& options)
      : Node(facts_of(options)), options_(options), source_(register_source("random")) {}
  std::shared_ptr<const View> bind(const Binding& binding) const override {
    const Binding own = {.seed = options_.seed.value_or(binding.seed),
                         .epoch = options_.rerandomize_each_iteration ? binding.epoch : 0};
    const auto number = [key = random_key(own)](int64_t i) {
      return int64_t{Random(key, static_cast<uint64_t>(i)).u32()};
    };
    return internal::numbers_view(number, source_);
  }

 private:
  const RandomSourceOptions options_;
  const uint64_t source_;
};

}  // namespace

Dataset random(const RandomSourceOptions& options) { return Dataset(std::make_shared<RandomSource>(options)); }

}  // namespace headpond
