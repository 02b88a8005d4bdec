// SPDX-License-Identifier: Apache-2.0
// A stream that does as it is told, and all that an iterator answers: for tests of what waits, fails and ends.
#pragma once

#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {

class ScriptIterator final : public Iterator {
 public:
  explicit ScriptIterator(const std::vector<std::string>& lines) : lines_(lines) {}
  Got next(Context& context, Element& out) override {
    if (next_ == lines_.size()) return Got::end;
    const std::string& line = lines_[next_++];
    if (line == "pending") return Got::pending;
    int64_t value = 0;
    const char* const end = line.data() + line.size();
    if (std::from_chars(line.data(), end, value).ptr != end) return context.fail(Error(ErrorKind::DataLoss, line));
    out.append(Tensor::scalar(value));
    out.key = static_cast<uint64_t>(value);
    return Got::value;
  }
  void visit_state(StateVisitor& visitor) override { visitor.number(next_); }

 private:
  const std::vector<std::string>& lines_;
  size_t next_ = 0;
};

/// A stream of i64: a number is an element, its key too; "pending" is that; anything else is an error.
class Script final : public Node {
 public:
  explicit Script(std::vector<std::string> lines)
      : Node({.op = "script", .spec = {{"", DType::i64, {}}}, .kind = Kind::stream, .slots = kEndless}),
        lines_(std::move(lines)) {}
  std::unique_ptr<Iterator> iterate(const Binding&, Feed&) const override {
    return std::make_unique<ScriptIterator>(lines_);
  }

 private:
  const std::vector<std::string> lines_;
};

inline Dataset script(std::vector<std::string> lines) { return Dataset(std::make_shared<Script>(std::move(lines))); }

class PlainFeed : public Feed {
 public:
  std::unique_ptr<Iterator> open(const Node& input, const Binding& binding) override {
    return headpond::open(input, binding, *this);
  }
};

/// All that an epoch's iterator answers: an element as text, "pending", "!" and an error's text, and at last "end",
/// which stays.
inline std::vector<std::string> answers(const Dataset& dataset, const Binding& binding = {}) {
  PlainFeed feed;
  Context context;
  const auto iterator = open(*dataset.node(), binding, feed);
  std::vector<std::string> all;
  while (all.size() < 100) {
    Element out;
    const Got got = iterator->next(context, out);
    if (got == Got::value) all.push_back(text_of(out));
    if (got == Got::pending) all.emplace_back("pending");
    if (got == Got::error) all.push_back("!" + context.error.message());
    if (got == Got::end) break;
  }
  Element out;
  EXPECT_EQ(iterator->next(context, out), Got::end) << "the end did not stay";
  all.emplace_back("end");
  return all;
}

/// A filter of even numbers.
inline Step evens() {
  return filter([](int64_t x) { return x % 2 == 0; });
}

/// The epoch that the input of this has, in place of each element.
class EpochNode final : public Node {
 public:
  explicit EpochNode(const Node::Ref& input)
      : Node({.op = "epoch", .spec = {{"", DType::i64, {}}}, .slots = input->facts().slots, .inputs = {input}}) {}
  std::shared_ptr<const View> bind(const Binding& binding) const override {
    class EpochView final : public View {
     public:
      explicit EpochView(uint64_t epoch) : epoch_(epoch) {}
      Got at(int64_t i, Context&, OutputSlots, Element& out) const override {
        out.append(Tensor::scalar(static_cast<int64_t>(epoch_)));
        out.key = static_cast<uint64_t>(i);
        return Got::value;
      }

     private:
      const uint64_t epoch_;
    };
    return std::make_shared<EpochView>(binding.epoch);
  }
};
inline Dataset epoch_of(int64_t slots) { return Dataset(std::make_shared<EpochNode>(range(slots).node())); }

/// "5 #5": an element of one number, and its key after round or child n > 0.
inline std::string keyed(int64_t value, uint64_t key, uint64_t n = 0) {
  return fmt::format("{} #{:x}", value, n == 0 ? key : mix(key, n));
}

inline constexpr int64_t kHuge = int64_t{1} << 62;

}  // namespace headpond::internal
