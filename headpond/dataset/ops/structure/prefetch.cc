// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/ops/structure.h"
#include "headpond/dataset/ops/structure/hints.h"

namespace headpond {
namespace {

class Prefetch final : public internal::Hint {
 public:
  Prefetch(const Node::Ref& input, int64_t buffer_size)
      : Hint(input, "prefetch", buffer_size > 0 ? fmt::format("buffer_size={}", buffer_size) : ""),
        buffer_size_(buffer_size) {}
  int64_t buffer_size() const { return buffer_size_; }
  std::string note(bool is_last) const override {
    if (!is_last || buffer_size_ < 1) return "not needed: each stage runs ahead as far as it must";
    return fmt::format("a ceiling: at most {} of its elements are made ahead, unless LoaderOptions::run_ahead is set",
                       buffer_size_);
  }

 private:
  const int64_t buffer_size_;
};

}  // namespace

namespace internal {

Hint::Hint(const Node::Ref& input, const std::string& op, const std::string& said)
    : Node([&] {
        Facts facts = facts_over(input, op, "", input->spec());
        facts.location = said;
        facts.role = Role::hint;
        return facts;
      }()) {}

std::vector<const Hint*> last_hints(const Dataset& dataset) {
  std::vector<const Hint*> hints;
  const Node* node = dataset.node().get();
  while (const auto* const hint = dynamic_cast<const Hint*>(node)) {
    hints.push_back(hint);
    node = &hint->input();
  }
  return hints;
}

int64_t prefetch_ceiling(const Dataset& dataset) {
  for (const Hint* const hint : last_hints(dataset)) {
    const auto* const prefetch = dynamic_cast<const Prefetch*>(hint);
    if (prefetch != nullptr && prefetch->buffer_size() > 0) return prefetch->buffer_size();
  }
  return -1;
}

}  // namespace internal

Step prefetch(int64_t buffer_size) {
  if (buffer_size < -1) refuse("prefetch", fmt::format("a buffer of {} elements", buffer_size));
  return [buffer_size](const Dataset& input) { return Dataset(std::make_shared<Prefetch>(input.node(), buffer_size)); };
}

}  // namespace headpond
