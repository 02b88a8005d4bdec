// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/ops/order/shuffle_stream_internal.h"
#include "headpond/dataset/testing/dataset_test_internal.h"
#include "headpond/tensor/memory_account.h"

namespace headpond::internal {
namespace {

// Numbers from 0 on; says "pending" before each third one, and fails once at the fifth.
class Halting final : public Iterator {
 public:
  /// Counts what it gave in `read`.
  explicit Halting(int64_t count, int64_t* read = nullptr) : count_(count), read_(read) {}
  Got next(Context& context, Element& out) override {
    if (next_ == count_) return Got::end;
    if (next_ % 3 == 2 && !std::exchange(halted_, true)) return Got::pending;
    halted_ = false;
    if (next_ == 5 && !std::exchange(failed_, true)) return context.fail({ErrorKind::DataLoss, "bad"});
    out.append(Tensor::scalar(next_++));
    if (read_ != nullptr) ++*read_;
    return Got::value;
  }
  void visit_state(StateVisitor& visitor) override { visitor.number(next_); }

 private:
  const int64_t count_;
  int64_t* const read_;
  int64_t next_ = 0;
  bool halted_ = false, failed_ = false;
};

struct Drained {
  std::vector<int64_t> values;
  int pending = 0, errors = 0;
};

Drained drain(Iterator& iterator) {
  Drained all;
  Context context;
  while (true) {
    Element out;
    const Got got = iterator.next(context, out);
    if (got == Got::end) return all;
    if (got == Got::value) all.values.push_back(out[size_t{0}].as<int64_t>()[0]);
    all.pending += got == Got::pending ? 1 : 0;
    all.errors += got == Got::error ? 1 : 0;
  }
}

TEST(ShuffleStream, LosesNothingWhenItsInputHasNothingYetOrFails) {
  const auto iterator = shuffle_stream(std::make_unique<Halting>(20), {1}, 4);
  Drained all = drain(*iterator);
  EXPECT_EQ(all.pending, 7) << "one more, because the one at the error asks twice";
  EXPECT_EQ(all.errors, 1);
  std::sort(all.values.begin(), all.values.end());
  ASSERT_EQ(all.values.size(), 20U);
  for (int64_t i = 0; i < 20; ++i) EXPECT_EQ(all.values[static_cast<size_t>(i)], i);
}

TEST(ShuffleStream, HoldsNoMoreThanTwoWindowsAndSavesNoneOfThem) {
  int64_t read = 0, most_held = 0;
  const auto iterator = shuffle_stream(std::make_unique<Halting>(1 << 20, &read), {1}, 8);
  Context context;
  for (int64_t taken = 0; taken < 1000;) {
    Element out;
    const Got got = iterator->next(context, out);
    if (got != Got::value) continue;
    most_held = std::max(most_held, read - taken);
    ++taken;
    StateVisitor visitor;
    iterator->visit_state(visitor);
    EXPECT_LT(visitor.saved().size(), 24U);
  }
  EXPECT_LE(most_held, 2 * 8);
  EXPECT_GT(most_held, 8 / 2) << "control: it held next to nothing";
}

// A function of another language returns memory that nobody else has, and that no account counts.
class Foreign final : public Iterator {
 public:
  explicit Foreign(bool is_only_user) : is_only_user_(is_only_user) {}
  Got next(Context&, Element& out) override {
    static const std::vector<uint8_t> values(1000);
    Tensor tensor = Tensor::from_memory(values.data(), DType::u8, {1000}, [] {});
    if (is_only_user_) MemoryAccount::set_only_user(*tensor.owner());
    out.append(std::move(tensor));
    return Got::value;
  }
  void visit_state(StateVisitor&) override {}

 private:
  const bool is_only_user_;
};

TEST(ShuffleStream, WhatItHoldsIsCounted) {
  const auto held = [](bool is_only_user) {
    MemoryAccount account;
    const MemoryAccount::Scope scope(&account);
    const auto iterator = shuffle_stream(std::make_unique<Foreign>(is_only_user), {1}, 8);
    Context context;
    for (int i = 0; i < 20; ++i) {
      Element out;
      EXPECT_EQ(iterator->next(context, out), Got::value);
    }
    return account.bytes();
  };
  EXPECT_GE(held(true), 4 * 1000);
  EXPECT_EQ(held(false), 0) << "control: the program counts it";
}

TEST(ShuffleStream, RefusesAnImpossibleState) {
  const auto iterator = shuffle_stream(std::make_unique<Halting>(9), {1}, 4);
  StateVisitor saving;
  int64_t at = 0, read = 1 << 20, errors = 0, key = 0, ordinal = 0;
  std::string input(1, '\0');
  saving.number(at);
  saving.text(input);
  for (int64_t* number : {&read, &errors, &key, &ordinal}) saving.number(*number);
  StateVisitor restoring = StateVisitor::restoring(saving.saved());
  iterator->visit_state(restoring);
  EXPECT_FALSE(restoring.complete());
}

}  // namespace
}  // namespace headpond::internal
