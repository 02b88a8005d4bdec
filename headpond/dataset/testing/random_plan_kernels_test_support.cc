// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/testing/random_plan_parts_test_internal.h"

namespace headpond::internal::random_plans {
namespace {

constexpr int64_t kBelow = 1000003;  // Numbers stay below it.

// What one kernel does to each number: adds a fixed one, and perhaps a random one of its sample.
struct Addend {
  int64_t fixed = 0;
  bool draws = false;
  int64_t refused = 0;  // Numbers that are 1 modulo this are errors; 0: none.
};

std::string title_of(const Addend& addend) {
  return fmt::format("add({}, draws={}, refused={})", addend.fixed, addend.draws, addend.refused);
}

// One addend, or several that were joined. Draws are those of the addend's place in the chain.
class AddKernel final : public Kernel {
 public:
  explicit AddKernel(const Addend& addend)
      : Kernel({.title = title_of(addend), .draws = addend.draws ? "add" : ""}), addends_{addend} {}
  explicit AddKernel(std::vector<Addend> addends)
      : Kernel({.title = fmt::format("{} at once", addends.size()), .draws = "add"}), addends_(std::move(addends)) {}

  Result<void> run(KernelCall& call) const override {
    const std::span<const int64_t> from = call.in().as<int64_t>();
    const std::span<int64_t> to = call.make<int64_t>(0, call.in().shape());
    auto& kept = call.scratch<std::vector<int64_t>>();
    kept.assign(from.begin(), from.end());
    for (size_t k = 0; k < addends_.size(); ++k) {
      const Addend& addend = addends_[k];
      const auto drawn = addend.draws ? static_cast<int64_t>(call.random(k).below(1000)) : 0;
      for (int64_t& number : kept) {
        if (addend.refused != 0 && number % addend.refused == 1) {
          return fail(ErrorKind::DataLoss, fmt::format("{} is refused", number));
        }
        number = (number + addend.fixed + drawn) % kBelow;
      }
    }
    std::copy(kept.begin(), kept.end(), to.begin());
    return {};
  }

  KernelRef with(const KernelRef& next) const override {
    const auto* const other = dynamic_cast<const AddKernel*>(next.get());
    if (other == nullptr || addends_.front().fixed == 4) return nullptr;
    std::vector<Addend> both = addends_;
    both.insert(both.end(), other->addends_.begin(), other->addends_.end());
    return std::make_shared<AddKernel>(std::move(both));
  }

 private:
  const std::vector<Addend> addends_;
};

KernelRef drawn_kernel(Random& random, const PlanChoice& choice) {
  Addend addend = {.fixed = static_cast<int64_t>(random.below(5)), .draws = random.below(2) == 0};
  if (choice.errors && random.below(3) == 0) addend.refused = 3 + static_cast<int64_t>(random.below(6));
  return std::make_shared<AddKernel>(addend);
}

}  // namespace

Dataset kernels_step(Random& random, const Dataset& input, const PlanChoice& choice) {
  const std::string field = input.spec()[0].name;
  const KernelRef first = drawn_kernel(random, choice), second = drawn_kernel(random, choice);
  const uint64_t form = random.below(3);
  if (form == 0) return input | map(field, first, second, drawn_kernel(random, choice));
  if (form == 1 || field.empty()) return input | map(field, first, second);
  return input | map({.image = field, .join = false}, first, second);
}

}  // namespace headpond::internal::random_plans
