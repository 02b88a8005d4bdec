// SPDX-License-Identifier: Apache-2.0
#include <headpond/headpond.h>
#include <headpond/testing.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace hp = headpond;

// Element i is made of the elements i ... i + size - 1 of the input, each field stacked: [size, ...].
class SlidingWindow final : public hp::Combining {
 public:
  SlidingWindow(const hp::Node::Ref& input, int64_t size) : Combining(facts_of(input, size), size), size_(size) {}

  hp::Got combine(int64_t i, hp::InputElements& input, hp::RandomKey, hp::Context& context, hp::OutputSlots outputs,
                  hp::Element& out) const override {
    std::vector<hp::Element> rows(static_cast<size_t>(size_));
    for (hp::Element& row : rows) {
      if (const hp::Got got = input.at(i++, row); got != hp::Got::value) return got;
    }
    return hp::stack_rows(rows, context, outputs, out);
  }

 private:
  static Facts facts_of(const hp::Node::Ref& input, int64_t size) {
    if (size < 1) hp::refuse("sliding_window", "size must be at least 1");
    Facts facts = hp::counting_facts(input, "sliding_window", "size=" + std::to_string(size));
    for (hp::FieldSpec& field : facts.spec) field.shape = field.shape.stacked(size);
    facts.slots = facts.slots.then(
        [size](int64_t slots) { return slots == hp::kEndless ? slots : std::max(slots - size + 1, int64_t{0}); });
    return facts;
  }

  const int64_t size_;
};

hp::Step sliding_window(int64_t size) {
  return [size](const hp::Dataset& input) { return hp::Dataset(std::make_shared<SlidingWindow>(input.node(), size)); };
}

int main() {
  const hp::ContractOptions options{.other_plans = {hp::range(20) | sliding_window(4)}};
  const std::string violation = hp::contract_violation(sliding_window(3), hp::range(20), options);
  if (!violation.empty()) {
    std::cout << violation << "\n";
    return 1;
  }

  hp::Loader loader(hp::range(5) | sliding_window(3) | hp::batch(2), {.threads = 4});
  while (auto batch = loader.next()) std::cout << (*batch)[0] << "\n";
}
