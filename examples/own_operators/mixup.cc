// SPDX-License-Identifier: Apache-2.0
#include <headpond/headpond.h>
#include <headpond/testing.h>

#include <iostream>
#include <memory>

namespace hp = headpond;

// Each field becomes share * the element's + (1 - share) * another element's. Share and other element are drawn for the
// element's key: the same on any thread and after a restore, others in the next epoch.
class Mixup final : public hp::Combining {
 public:
  explicit Mixup(const hp::Node::Ref& input) : Combining(facts_of(input), 1) {}

  hp::Got combine(int64_t i, hp::InputElements& input, hp::RandomKey random_key, hp::Context& context,
                  hp::OutputSlots outputs, hp::Element& out) const override {
    hp::Element own, other;
    hp::Got got = input.at(i, own);
    if (got != hp::Got::value) return got;
    hp::Random random(random_key, own.key);
    const float share = random.uniform();
    do {  // Until it is none that a filter left out.
      got = input.at(static_cast<int64_t>(random.below(static_cast<uint64_t>(input.slots()))), other);
    } while (got == hp::Got::hole);
    if (got != hp::Got::value) return got;
    for (size_t field = 0; field < own.size(); ++field) {
      const auto a = own[field].as<float>(), b = other[field].as<float>();
      auto* const to = reinterpret_cast<float*>(context.allocate_output(out, outputs, hp::f32, own[field].shape()));
      for (size_t k = 0; k < a.size(); ++k) to[k] = share * a[k] + (1 - share) * b[k];
    }
    return hp::Got::value;
  }

 private:
  static Facts facts_of(const hp::Node::Ref& input) {
    for (const hp::FieldSpec& field : input->spec()) {
      const bool fits = field.dtype == hp::f32 && field.shape.is_full();
      if (!fits) hp::refuse("mixup", "fields must be float32 of known shapes, not " + to_string(input->spec()));
    }
    if (input->kind() == hp::Kind::stream) hp::refuse("mixup", "a stream has no positions to draw from");
    Facts facts = hp::facts_over(input, "mixup", "", input->spec());
    facts.random_streams = {"mixup"};
    return facts;
  }
};

hp::Dataset mixup(const hp::Dataset& input) { return hp::Dataset(std::make_shared<Mixup>(input.node())); }

int main() {
  const auto floats = hp::range(20) | hp::map([](int64_t x) { return static_cast<float>(x); }, {.name = "to_float"});
  const std::string violation = hp::contract_violation(mixup, floats);
  if (!violation.empty()) {
    std::cout << violation << "\n";
    return 1;
  }

  hp::Loader loader(floats | mixup | hp::shuffle() | hp::batch(5), {.seed = 7, .threads = 4});
  while (auto batch = loader.next()) std::cout << (*batch)[0] << "\n";
}
