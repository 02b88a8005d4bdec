// SPDX-License-Identifier: Apache-2.0
#include "headpond/engine/testing/contract.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "headpond/base/random.h"
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/ops.h"
#include "headpond/dataset/sequence.h"
#include "headpond/dataset/testing/course.h"
#include "headpond/engine/loader.h"

namespace headpond {
namespace {

using internal::Course, internal::Outcome;

constexpr size_t kMostPlaces = 4;
constexpr uint64_t kLongestUs = 150;

void pause(Random& random) {
  if (random.below(4) == 0) std::this_thread::sleep_for(std::chrono::microseconds(random.below(kLongestUs)));
}

// Its elements are its input's, some of them later: so threads finish in another order than they began.
class Delay final : public Pointwise {
 public:
  explicit Delay(const Node::Ref& input) : Pointwise(facts_over(input, "delay", "", input->spec())) {}
  Got apply(Element& in, RandomKey, Context&, OutputSlots, Element& out) const override {
    Random random(RandomKey{}, in.key);
    pause(random);
    out = std::move(in);
    return Got::value;
  }
};

Outcome outcome_of(Loader& loader) {
  auto next = loader.next();
  if (at_end(next)) return {.kind = Outcome::end, .bytes = "", .text = "end", .state = loader.state()};
  if (!next) return internal::outcome_of_error(next.error(), loader.state());
  return internal::outcome_of_value(next->element(), next->epoch(), next->index(), loader.state());
}

std::string rest_violation(Loader& loader, const Course& course, size_t from, const std::string& who) {
  Random pace(RandomKey{from});
  for (size_t i = from; i < course.outcomes.size(); ++i) {
    pause(pace);
    const std::string found = internal::difference(outcome_of(loader), course.outcomes[i]);
    if (!found.empty()) return fmt::format("{}, call {}: {}", who, i, found);
  }
  return "";
}

std::string violation_of(const Dataset& dataset, const ContractOptions& options, const std::string& name) {
  const int64_t epochs = dataset.node()->slots() == kEndless ? 1 : options.epochs;
  Sequence sequence(dataset, {.seed = options.seed, .epochs = epochs});
  const Course course = internal::course_of(sequence, static_cast<size_t>(std::max<int64_t>(options.most_elements, 1)));
  const size_t count = course.outcomes.size();
  std::string found;
  for (int threads = 0; threads <= options.threads && found.empty(); ++threads) {
    LoaderOptions run{.epochs = epochs, .seed = options.seed, .threads = threads};
    Loader loader(dataset, run);
    found = rest_violation(loader, course, 0, fmt::format("a Loader with {} threads{}", threads, name));
    run.threads = options.threads - threads;
    for (size_t place = 1; place <= kMostPlaces && found.empty() && count > 0; ++place) {
      const size_t i = (count - 1) * place / kMostPlaces;
      const size_t next = std::min(course.after(i), course.ends() ? count - 1 : count);
      const auto who = fmt::format("a Loader with {} threads{}, restored after call {}", run.threads, name, i);
      auto restored = Loader::restored(dataset, run, course.outcomes[i].state);
      if (!restored) return fmt::format("{}: the state is refused: {}", who, restored.error().to_string());
      found = rest_violation(*restored, course, next, who);
    }
  }
  return found;
}

struct Input {
  std::string name;
  Dataset elements;
};
// Each kind of input, with the elements of `input`.
std::vector<Input> inputs_of(const Dataset& input) {
  const auto is_kept = [](const Element& element) { return element.key % 3 != 1; };
  return {{"over the input", input},
          {"over a stream", input | as_stream()},
          {"over holes", input | filter(is_kept, {.name = "two_of_three"})},
          {"over no element", input | take(0)}};
}

}  // namespace

std::string loader_violation(const Dataset& dataset, const ContractOptions& options) {
  try {
    std::string found = violation_of(dataset, options, "");
    if (!found.empty()) return found;
    return violation_of(Dataset(std::make_shared<Delay>(dataset.node())), options, " and delays");
  } catch (...) {
    return "cannot be run: " + current_exception_error().to_string();
  }
}

std::string contract_violation(const Dataset& dataset, const ContractOptions& options) {
  const std::string found = sequence_violation(dataset, options);
  return found.empty() ? loader_violation(dataset, options) : found;
}

std::string contract_violation(const Step& op, const Dataset& input, const ContractOptions& options) {
  for (const Input& one : inputs_of(input)) {
    std::string found;
    try {
      found = contract_violation(one.elements | op, options);
    } catch (...) {
      if (one.name == "over the input") found = "cannot be built: " + current_exception_error().to_string();
    }
    if (!found.empty()) return one.name + ": " + found;
  }
  return "";
}

}  // namespace headpond
