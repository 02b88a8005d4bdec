// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/testing/contract.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "headpond/dataset/bases/combining.h"
#include "headpond/dataset/check_internal.h"
#include "headpond/dataset/run_state.h"
#include "headpond/dataset/testing/columns_check_internal.h"
#include "headpond/dataset/testing/course.h"
#include "headpond/dataset/testing/watched_run_internal.h"

namespace headpond {
namespace {

using internal::Course, internal::Outcome;

constexpr size_t kMostPlaces = 500;
constexpr int64_t kMostHoles = int64_t{1} << 22;

class AsStream final : public Node {
 public:
  explicit AsStream(const Node::Ref& input)
      : Node({.op = "as_stream",
              .spec = input->spec(),
              .kind = Kind::stream,
              .slots = input->facts().slots,
              .inputs = {input}}) {}
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override {
    return feed.open(input(), binding);
  }
};

// What a violation is found with: options that fit the dataset.
class Contract {
 public:
  Contract(const Dataset& dataset, const ContractOptions& options)
      : dataset_(dataset),
        options_(options),
        node_(*dataset.node()),
        most_(static_cast<size_t>(std::max<int64_t>(options.most_elements, 1))),
        run_{.seed = options.seed, .epochs = node_.slots() == kEndless ? 1 : options.epochs} {}

  std::string violation() {
    std::string outside = of_numbers();  // First of all: elsewhere out-of-bounds memory would be read.
    if (!outside.empty()) return outside;
    Sequence first(dataset_, run_);
    const std::string state = first.state();
    const Course course = internal::course_of(first, most_);
    std::string found = of_the_end(first, course);
    if (found.empty()) found = of_a_second_run(course);
    if (found.empty()) found = iterated({run_.seed, 0}).misfit;
    if (found.empty()) found = of_restored_runs(course, state);
    const int64_t epochs = std::clamp<int64_t>(run_.epochs, 1, 2);
    for (int64_t epoch = 0; epoch < epochs && found.empty(); ++epoch) {
      found = of_positions({run_.seed, static_cast<uint64_t>(epoch)});
    }
    if (found.empty()) found = of_planted_answers({run_.seed, 0});
    for (const Dataset& other : options_.other_plans) {
      if (found.empty()) found = of_other_plan(other, state);
    }
    return found;
  }

 private:
  struct Answers {
    std::vector<std::string> bytes;
    std::vector<std::string> text;
    std::string misfit;  // The first element that is none of this dataset's.
    bool has_errors = false;
    bool is_whole = false;
    void add(Got got, const Element& element, const Context& context) {
      has_errors = has_errors || got == Got::error;
      if (got == Got::error) bytes.push_back("!" + context.error.to_string());
      if (got == Got::value) bytes.push_back(internal::bytes_of(element, 0, 0));
      if (got == Got::hole) bytes.emplace_back("a hole");
      text.push_back(got == Got::value ? internal::text_with_key(element) : bytes.back());
    }
  };

  std::string of_numbers() const {
    const internal::WatchedRun run = internal::watched_run(node_, {run_.seed, 0}, internal::Planted::pending, most_);
    if (!run.asked_outside.empty()) return run.asked_outside + ": are `slots` of what reads it too many?";
    const auto elements = std::ranges::count_if(run.answers, [](const std::string& one) { return one[0] != '!'; });
    return elements > node_.slots() ? fmt::format("it gives more elements than its {} slots", node_.slots()) : "";
  }
  static std::string of_the_end(Sequence& sequence, const Course& course) {
    if (!course.ends()) return "";
    const Outcome again = internal::outcome_of(sequence);
    if (again.kind == Outcome::end && again.state == course.outcomes.back().state) return "";
    return fmt::format("the end does not stay: after it comes '{}'", again.text);
  }
  std::string of_a_second_run(const Course& course) const {
    Sequence second(dataset_, run_);
    return rest_violation(second, course, 0, "a second run");
  }
  static std::string rest_violation(Sequence& sequence, const Course& course, size_t from, const std::string& who) {
    for (size_t i = from; i < course.outcomes.size(); ++i) {
      const std::string found = internal::difference(internal::outcome_of(sequence), course.outcomes[i]);
      if (!found.empty()) return fmt::format("{}, call {}: {}", who, i, found);
    }
    return "";
  }

  std::string of_restored_runs(const Course& course, const std::string& first_state) const {
    const size_t count = course.outcomes.size();
    std::string found = of_restored_run(course, first_state, 0, "restored at the beginning");
    const size_t step = std::max<size_t>(count / kMostPlaces, 1);
    for (size_t i = 0; i < count && found.empty(); i += step) {
      const size_t next = std::min(course.after(i), course.ends() ? count - 1 : count);
      const Outcome& last = course.outcomes[i];
      found = of_restored_run(course, last.state, next, fmt::format("restored after call {} ('{}')", i, last.text));
    }
    return found;
  }
  std::string of_restored_run(const Course& course, const std::string& state, size_t next,
                              const std::string& who) const {
    auto restored = Sequence::restored(dataset_, run_, state);
    if (!restored) return fmt::format("{}: its own state is refused: {}", who, restored.error().to_string());
    if (restored->state() != state) return fmt::format("{}: the state saved at once differs", who);
    return rest_violation(*restored, course, next, who);
  }

  Answers iterated(const Binding& binding) const {
    internal::SequentialFeed feed;
    Context context;
    const auto iterator = open(node_, binding, feed);
    Answers answers;
    while (answers.bytes.size() < most_) {
      Element out;
      Got got = Got::error;
      try {
        got = iterator->next(context, out);
      } catch (...) {
        context.error = current_exception_error();
      }
      answers.is_whole = got == Got::end;
      if (got == Got::end) break;
      if (got == Got::pending) continue;
      if (answers.misfit.empty() && got == Got::value) answers.misfit = misfit_of(out, answers.bytes.size());
      if (answers.misfit.empty() && got == Got::error) answers.misfit = mistake_in(context.error);
      answers.add(got, out, context);
    }
    return answers;
  }
  std::string misfit_of(const Element& element, size_t number) const {
    const Error error = internal::check_element(node_.spec(), element);
    return error ? fmt::format("answer {} does not fit the spec: {}", number, error.message()) : "";
  }

  static std::string mistake_in(const Error& error) {
    const std::string text = error.to_string();
    if (text.find(internal::kAskedBeyond) == std::string::npos) return "";
    return text + ": are `slots` too many, or is `reach` too small?";
  }

  std::string of_positions(const Binding& binding) const {
    if (node_.kind() == Kind::stream) return "";
    const Answers expected = iterated(binding);
    const auto view = node_.bind(binding);
    Context context;
    Answers given;
    std::vector<std::pair<int64_t, size_t>> asked;  // A position, and where its answer is.
    int64_t holes = 0;
    for (int64_t i = 0; i < node_.slots() && given.bytes.size() < expected.bytes.size() + 1; ++i) {
      Element element;
      const Got got = internal::ask(*view, i, context, {}, element);
      if (got == Got::hole && node_.kind() == Kind::sparse && ++holes < kMostHoles) continue;
      if (got != Got::value && got != Got::error) return fmt::format("at({}) answers neither value nor error", i);
      if (got == Got::value) {
        const std::string found = internal::output_difference(*view, node_.spec(), i, context, element);
        if (!found.empty()) return fmt::format("position {}: {}", i, found);
      }
      given.add(got, element, context);
      asked.emplace_back(i, given.bytes.size() - 1);
      if (!expected.is_whole && given.bytes.size() == expected.bytes.size()) break;
    }
    std::string found = of_order(*view, asked, given);
    if (found.empty() && !given.has_errors && internal::fills(node_, binding)) {
      found = internal::fill_difference(node_, *view, binding.epoch + 1);
    }
    if (!found.empty() || (node_.iterates() && (expected.has_errors || given.has_errors))) return found;
    return first_difference(given, expected);
  }
  // Asks again from the last to the first, as another thread would.
  std::string of_order(const View& view, const std::vector<std::pair<int64_t, size_t>>& asked,
                       const Answers& given) const {
    Context context;
    Answers again;
    for (auto next = asked.rbegin(); next != asked.rend(); ++next) {
      Element element;
      again.add(internal::ask(view, next->first, context, {}, element), element, context);
      if (again.bytes.back() != given.bytes[next->second]) {
        return fmt::format("at({}) gives '{}', and '{}' when it is asked again", next->first, given.text[next->second],
                           again.text.back());
      }
    }
    return "";
  }
  static std::string first_difference(const Answers& given, const Answers& expected) {
    for (size_t i = 0; i < std::max(given.bytes.size(), expected.bytes.size()); ++i) {
      const std::string position = i < given.text.size() ? "'" + given.text[i] + "'" : "nothing";
      const std::string iteration = i < expected.text.size() ? "'" + expected.text[i] + "'" : "the end";
      if (i < given.bytes.size() && i < expected.bytes.size() && given.bytes[i] == expected.bytes[i]) continue;
      return fmt::format("element {}: positions give {}, iteration gives {}", i, position, iteration);
    }
    return "";
  }

  std::string of_planted_answers(const Binding& binding) const {
    const internal::WatchedRun late = internal::watched_run(node_, binding, internal::Planted::pending, most_);
    if (late.stands_still) return "it waits for ever for an input that answers pending now and then";
    const Answers expected = iterated(binding);
    if (late.answers != expected.bytes) {
      return fmt::format("when an input answers pending now and then, other elements come ({} instead of {})",
                         late.answers.size(), expected.bytes.size());
    }
    if (options_.may_ignore_errors) return "";
    return internal::watched_run(node_, binding, internal::Planted::errors, most_).lost_error;
  }

  std::string of_other_plan(const Dataset& other, const std::string& state) const {
    const std::string others = Sequence(other, run_).state();
    const auto refuses = [&](const Dataset& dataset, const std::string& of) {
      const auto restored = Sequence::restored(dataset, run_, of);
      return !restored && restored.error().kind() == ErrorKind::FailedPrecondition;
    };
    if (refuses(dataset_, others) && refuses(other, state)) return "";
    return fmt::format("the state of another plan is accepted; does `args` name every argument? {} and {}",
                       node_.identity(), other.node()->identity());
  }

  const Dataset& dataset_;
  const ContractOptions& options_;
  const Node& node_;
  const size_t most_;
  const SequenceOptions run_;
};

}  // namespace

std::string sequence_violation(const Dataset& dataset, const ContractOptions& options) {
  try {
    return Contract(dataset, options).violation();
  } catch (...) {
    return "cannot be run: " + current_exception_error().to_string();
  }
}

Step as_stream() {
  return [](const Dataset& input) { return Dataset(std::make_shared<AsStream>(input.node())); };
}

}  // namespace headpond
