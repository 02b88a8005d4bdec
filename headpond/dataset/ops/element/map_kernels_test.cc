// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <span>

#include "headpond/base/log.h"
#include "headpond/dataset/testing/dataset_test_internal.h"
#include "headpond/tensor/rows_kernel.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Spec unchanged(const Spec& in) { return in; }

// x becomes x * factor + number for each field of integers. Two of them become one, unless the first refuses.
class Scale final : public Kernel {
 public:
  Scale(int64_t factor, int64_t number, bool joins = true)
      : Kernel({.title = fmt::format("scale({},{})", factor, number), .result = unchanged}),
        factor_(factor),
        number_(number),
        joins_(joins) {}
  Result<void> run(KernelCall& call) const override {
    call.scratch<int64_t>() += 1;
    for (size_t f = 0; f < call.size(); ++f) {
      const auto from = call.in(f).as<int64_t>();
      const auto to = call.make<int64_t>(f, call.in(f).shape());
      for (size_t i = 0; i < from.size(); ++i) to[i] = from[i] * factor_ + number_;
    }
    return {};
  }
  KernelRef with(const KernelRef& next) const override {
    const auto* const other = dynamic_cast<const Scale*>(next.get());
    if (other == nullptr || !joins_) return nullptr;
    return std::make_shared<Scale>(factor_ * other->factor_, number_ * other->factor_ + other->number_);
  }
  std::string why_not(const KernelRef&) const override { return joins_ ? "" : "it was told so"; }

 private:
  const int64_t factor_, number_;
  const bool joins_;
};
KernelRef scale(int64_t factor, int64_t number, bool joins = true) {
  return std::make_shared<Scale>(factor, number, joins);
}

// Adds one random number below 1,000 to all fields, times `times`. `times` of two become one.
class Noise final : public Kernel {
 public:
  explicit Noise(std::string name = "noise", size_t kernels = 1)
      : Kernel({.title = "noise", .draws = std::move(name), .result = unchanged}), kernels_(kernels) {}
  Result<void> run(KernelCall& call) const override {
    int64_t sum = 0;
    for (size_t k = 0; k < kernels_; ++k) sum += static_cast<int64_t>(call.random(k).below(1000));
    for (size_t f = 0; f < call.size(); ++f) {
      const auto from = call.in(f).as<int64_t>();
      const auto to = call.make<int64_t>(f, call.in(f).shape());
      for (size_t i = 0; i < from.size(); ++i) to[i] = from[i] + sum;
    }
    return {};
  }
  KernelRef with(const KernelRef& next) const override {
    const auto* const other = dynamic_cast<const Noise*>(next.get());
    return other == nullptr ? nullptr : std::make_shared<Noise>(facts().draws, kernels_ + other->kernels_);
  }

 private:
  const size_t kernels_;
};
KernelRef noise(std::string name = "noise") { return std::make_shared<Noise>(std::move(name)); }

// Fails for multiples of 7. The joined form of two fails too, with another text.
class RefusesSevens final : public Kernel {
 public:
  explicit RefusesSevens(std::string title = "no_sevens") : Kernel({.title = std::move(title), .result = unchanged}) {}
  Result<void> run(KernelCall& call) const override {
    if (call.in().as<int64_t>()[0] % 7 == 0) return fail(ErrorKind::DataLoss, "no_sevens: a seven");
    return {};
  }
  KernelRef with(const KernelRef&) const override { return std::make_shared<RefusesSevens>("two in one"); }
};

class TakesFloats final : public Kernel {
 public:
  TakesFloats()
      : Kernel({.title = "takes_floats", .result = [](const Spec& in) {
                  if (in[0].dtype != DType::f32) refuse("it", "takes float32");
                  return in;
                }}) {}
  Result<void> run(KernelCall&) const override { return {}; }
};

// Twice the field, rows of at most `most` values also many at once, where each value is `more` larger.
class Twice final : public RowsKernel {
 public:
  explicit Twice(int64_t most, int64_t more = 0, std::string draws = "")
      : RowsKernel({.title = "twice", .draws = std::move(draws), .result = unchanged}), most_(most), more_(more) {}
  Result<void> run(KernelCall& call) const override {
    for (size_t f = 0; f < call.size(); ++f) twice(call.in(f).as<int64_t>(), call.make<int64_t>(f, call.in(f).shape()));
    return {};
  }
  bool takes_rows(const FieldSpec& image) const override { return *image.shape.size() <= most_; }
  void run_rows(const FieldSpec& image, const std::byte* from, size_t count, std::byte* to) const override {
    const size_t values = count * static_cast<size_t>(*image.shape.size());
    const std::span made(reinterpret_cast<int64_t*>(to), values);
    twice({reinterpret_cast<const int64_t*>(from), values}, made);
    for (int64_t& value : made) value += more_;
  }

 private:
  static void twice(std::span<const int64_t> from, std::span<int64_t> to) {
    for (size_t i = 0; i < from.size(); ++i) to[i] = from[i] * 2;
  }
  const int64_t most_, more_;
};
KernelRef twice(int64_t most, int64_t more = 0, std::string draws = "") {
  return std::make_shared<Twice>(most, more, std::move(draws));
}

Dataset rows(int64_t count = 9, int64_t width = 40) {
  std::vector<int64_t> values(static_cast<size_t>(count * width));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(i / static_cast<size_t>(width) + 1);
  const Tensor image = Tensor::from(values, {count, width});
  return from_tensor_slices({{"id", Tensor::from(values, {count, width})}, {"photo", image}, {"clicks", image}});
}

std::string refusal(const Step& step) {
  try {
    (void)(rows() | step);
  } catch (const Exception& e) {
    return e.what();
  }
  return "";
}

TEST(MapKernels, OneMapHasTheBytesOfSeveral) {
  const Dataset one = rows() | map("photo", noise(), scale(3, 1), scale(2, 5), noise(), noise("other"));
  const Dataset several = rows() | map("photo", noise()) | map("photo", scale(3, 1)) | map("photo", scale(2, 5)) |
                          map("photo", noise()) | map("photo", noise("other"));
  EXPECT_EQ(elements(one, {.seed = 5}, true), elements(several, {.seed = 5}, true));
  EXPECT_NE(elements(one, {.seed = 5}), elements(one, {.seed = 6}));
  EXPECT_NE(elements(one), elements(rows() | map("photo", noise(), scale(3, 1), scale(2, 5), noise(), noise())))
      << "control: another name draws other numbers";
}

TEST(MapKernels, MapsOfOtherNamesDrawOtherNumbers) {
  const auto named = [](const std::string& name) {
    return rows() | map({.image = "photo", .name = name}, noise(), scale(2, 1), noise());
  };
  EXPECT_EQ(elements(named("")), elements(rows() | map("photo", noise(), scale(2, 1), noise())));
  EXPECT_EQ(elements(named("first")), elements(named("first")));
  EXPECT_NE(elements(named("first")), elements(named("second")));
  EXPECT_NE(elements(named("first")), elements(named("")));
  EXPECT_NE(identity_of(named("first")), identity_of(named("second")));
  EXPECT_THAT(named("first").plan(), HasSubstr("map(photo: noise > scale(2,1) > noise, name=first)"));
}

TEST(MapKernels, EachEpochHasItsOwnNumbers) {
  const Dataset once = rows() | map("photo", noise());
  const auto both = elements(once, {.seed = 5, .epochs = 2});
  ASSERT_EQ(both.size(), 18U);
  EXPECT_NE(std::vector(both.begin(), both.begin() + 9), std::vector(both.begin() + 9, both.end()));
  const auto fixed = elements(rows() | map("photo", scale(3, 1)), {.seed = 5, .epochs = 2});
  EXPECT_EQ(std::vector(fixed.begin(), fixed.begin() + 9), std::vector(fixed.begin() + 9, fixed.end()))
      << "control: without draws epochs are the same";
}

TEST(MapKernels, MapsBelowCountAsKernelsBefore) {
  const Dataset twice = rows() | map("photo", noise()) | map("clicks", noise(), noise());
  const Dataset apart = rows() | map("photo", noise()) | map("clicks", noise()) | map("clicks", noise());
  EXPECT_EQ(elements(twice), elements(apart));
  const Node& node = *twice.node();
  EXPECT_EQ(node.random_key({3, 4}, 0), random_key(3, "noise", 1, 4));
  EXPECT_EQ(node.random_key({3, 4}, 1), random_key(3, "noise", 2, 4));
  EXPECT_EQ(node.random_key({3, 4}, 2), RandomKey());
}

TEST(MapKernels, JoinedAndUnjoinedHaveTheSameBytes) {
  const auto chain = [](bool join) {
    return rows() |
           map({.image = "photo", .points = "clicks", .join = join}, noise(), noise(), scale(2, 1), scale(3, 4));
  };
  EXPECT_EQ(elements(chain(true)), elements(chain(false)));
  EXPECT_EQ(identity_of(chain(true)), identity_of(chain(false)));
}

TEST(MapKernels, OneDrawMovesAllRoles) {
  const Dataset moved = rows(1, 3) | map({.image = "photo", .points = "clicks"}, noise());
  Sequence sequence(moved, {});
  const auto element = sequence.next();
  ASSERT_TRUE(element);
  EXPECT_EQ(to_string((*element)["photo"]), to_string((*element)["clicks"]));
  EXPECT_THAT((*element)["id"].as<int64_t>(), ElementsAre(1, 1, 1));
}

TEST(MapKernels, ThePlanHasTheChain) {
  const auto plan = [](const Step& step) {
    const std::string text = (rows() | step).plan();
    return text.substr(text.find('\n') + 1);
  };
  EXPECT_EQ(plan(map("photo", scale(2, 1), noise())), "map(photo: scale(2,1) > noise)\n");
  EXPECT_EQ(plan(map({.image = "photo", .points = "clicks"}, noise("eval"))),
            "map(image=photo, points=clicks: noise [name=eval])\n");
}

TEST(MapKernels, TheLastKernelWritesIntoTheRow) {
  const Dataset dataset = rows() | map("photo", scale(2, 1, false), noise(), scale(3, 1));
  const auto view = dataset.node()->bind({});
  Context context;
  std::vector<int64_t> row(40);
  std::vector<OutputSlot> outputs(3);
  outputs[1] = {reinterpret_cast<std::byte*>(row.data()), &dataset.spec()[1]};
  Element out;
  ASSERT_EQ(view->at(2, context, outputs, out), Got::value);
  EXPECT_EQ(out[1].data(), outputs[1].data);
  Element staged;
  ASSERT_EQ(view->at(2, context, {}, staged), Got::value);
  EXPECT_NE(staged[1].data(), outputs[1].data) << "control";
  EXPECT_EQ(to_string(staged[1]), to_string(out[1]));
}

TEST(MapKernels, AContextKeepsItsScratch) {
  const Dataset dataset = rows() | map("photo", scale(2, 1));
  const auto view = dataset.node()->bind({});
  Context context, other;
  other.use_scratch_of(context);
  for (int i = 1; i <= 4; ++i) {
    Element out;
    ASSERT_EQ(view->at(i, i % 2 == 0 ? other : context, {}, out), Got::value);
    EXPECT_EQ(context.scratch().get<int64_t>(), i);
  }
}

TEST(MapKernels, AnErrorNamesTheKernelAlsoOfAJoinedOne) {
  const auto failing = std::make_shared<RefusesSevens>();
  for (const bool join : {true, false}) {
    const auto all = elements(rows() | map({.image = "photo", .join = join}, scale(1, 6, false), failing,
                                           std::make_shared<RefusesSevens>("b")));
    ASSERT_EQ(all.size(), 9U);
    EXPECT_THAT(all[0], HasSubstr("map(photo: scale(1,6) > no_sevens > b), "));
    EXPECT_THAT(all[0], testing::AllOf(HasSubstr(": no_sevens: a seven"), Not(HasSubstr("no_sevens: no_sevens"))));
  }
}

TEST(MapKernels, AnErrorOfAKernelWithArgumentsIsSaidOnce) {
  Sequence sequence(rows() | map("photo", scale(1, 6, false), std::make_shared<RefusesSevens>("no_sevens(0.5)")));
  const auto seven = sequence.next();
  ASSERT_FALSE(seven);
  EXPECT_THAT(seven.error().to_string(), testing::EndsWith(": no_sevens(0.5): a seven"));
  EXPECT_THAT(seven.error().to_string(), Not(HasSubstr("caused by")));
}

// Passes over as many defects as the number has ones at its end in binary; fails for 7.
class Tolerant final : public Kernel {
 public:
  Tolerant() : Kernel({.title = "tolerant", .result = unchanged}) {}
  Result<void> run(KernelCall& call) const override {
    const int64_t x = call.in().as<int64_t>()[0];
    call.note({std::countr_one(static_cast<uint64_t>(x)), fmt::format("a defect of {}", x)});
    if (x == 7) return fail(ErrorKind::DataLoss, "a seven");
    return {};
  }
};

TEST(MapKernels, DefectsAreCountedAndTheFirstOneIsInTheLog) {
  const Dataset dataset = rows() | map("photo", std::make_shared<Tolerant>(), noise());  // Of 1 to 9.
  std::vector<std::string> lines;
  const LogSink before = set_log_sink([&](LogLevel level, std::string_view line) {
    if (level == LogLevel::info) lines.emplace_back(line);
  });
  Context context;
  const auto view = dataset.node()->bind({});
  for (int64_t i = 0; i < 9; ++i) {
    Element out;
    EXPECT_EQ(view->at(i, context, {}, out), i == 6 ? Got::error : Got::value);
  }
  set_log_sink(before);
  EXPECT_EQ(context.scratch().defects.count, 1 + 2 + 1 + 1) << "of 1, 3, 5 and 9: 7 is an error";
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0],
            "from_tensor_slices, record 0: map(photo: tolerant > noise): passed over: a defect of 1 "
            "(this map's first; all are counted)");
}

// Adds the length of the text beside the field.
class Measures final : public Kernel {
 public:
  Measures() : Kernel({.title = "measures", .result = unchanged, .companion = "text"}) {}
  Result<void> run(KernelCall& call) const override {
    const auto from = call.in().as<int64_t>();
    const auto to = call.make<int64_t>(0, call.in().shape());
    const int64_t more = call.companion() == nullptr ? -1 : static_cast<int64_t>(call.companion()->bytes_at(0).size());
    for (size_t i = 0; i < from.size(); ++i) to[i] = from[i] + more;
    return {};
  }
};

TEST(MapKernels, TheFirstOneGetsItsCompanion) {
  const KernelRef measures = std::make_shared<Measures>();
  const auto first_of = [](const Dataset& dataset) {
    Sequence sequence(dataset, {});
    return sequence.next().value()[size_t{0}].item<int64_t>();
  };
  const std::vector<std::string_view> texts = {"abcd"};
  const auto named = [&](const std::string& name) {
    return from_tensor_slices({{"n", Tensor::from(std::vector<int64_t>{100}, {1})},
                               {name, Tensor::from(std::span<const std::string_view>(texts), {1})}});
  };
  const Dataset dataset = named("n/text") | map("n", measures, scale(2, 0));
  EXPECT_EQ(first_of(dataset), 208);
  EXPECT_THAT(dataset.plan(), HasSubstr("map(n with n/text: measures > scale(2,0))"));
  EXPECT_EQ(first_of(named("n/text") | map("n", scale(2, 0, false), measures)), 199) << "not the first";
  EXPECT_EQ(first_of(named("text") | map("n", measures)), 99) << "another name";
  const Dataset number = from_tensor_slices(
      {{"n", Tensor::from(std::vector<int64_t>{100}, {1})}, {"n/text", Tensor::from(std::vector<int64_t>{7}, {1})}});
  EXPECT_EQ(first_of(number | map("n", measures)), 99) << "no bytes";
}

TEST(MapKernels, RefusesWhatKernelsCannotTake) {
  EXPECT_THAT(refusal(map("photo", noise(), std::make_shared<TakesFloats>())),
              HasSubstr("takes_floats: it: takes float32"));
  EXPECT_THAT(refusal(map("none", noise())), HasSubstr("no field 'none'"));
  EXPECT_THROW(map({.mask = "photo"}, noise()), Exception);
  EXPECT_THAT(refusal(map({.image = "photo", .mask = "photo"}, noise())), HasSubstr("'photo' is image and mask"));
  EXPECT_THROW(map("photo", KernelRef()), Exception);
}

TEST(MapKernels, MakeManyRowsAtOnceWhereTheKernelCan) {
  const auto filled = [](const Dataset& dataset) {
    return fill_difference(*dataset.node(), *dataset.node()->bind({.seed = 7}));
  };
  const Dataset many = rows(700) | shuffle() | map("photo", twice(40));
  EXPECT_TRUE(fills(*many.node()));
  EXPECT_EQ(filled(many), "");
  EXPECT_NE(filled(rows(700) | map("photo", twice(40, 1))), "") << "control: other values than those of one by one";
  EXPECT_FALSE(fills(*(rows() | map("photo", twice(39))).node())) << "it takes no such rows";
  EXPECT_FALSE(fills(*(rows() | map("photo", twice(40, 1, "twice"))).node())) << "its numbers are those of a sample";
  EXPECT_FALSE(fills(*(rows() | map("photo", twice(40), twice(40))).node()));
  EXPECT_FALSE(fills(*(rows() | map({.image = "photo", .points = "clicks"}, twice(40))).node()));
  EXPECT_FALSE(fills(*(rows() | map("photo", scale(2, 1))).node()));
}

class Throws final : public RowsKernel {
 public:
  Throws() : RowsKernel({.title = "throws", .result = unchanged}) {}
  Result<void> run(KernelCall&) const override { return {}; }
  bool takes_rows(const FieldSpec&) const override { return true; }
  void run_rows(const FieldSpec&, const std::byte*, size_t, std::byte*) const override {
    throw std::runtime_error("rows of a kind");
  }
};

TEST(MapKernels, WhatRunRowsThrowsIsInTheLogOnce) {
  const Dataset dataset = rows() | map("photo", std::make_shared<Throws>());
  std::vector<std::string> lines;
  const LogSink before = set_log_sink([&](LogLevel, std::string_view line) { lines.emplace_back(line); });
  for (int i = 0; i < 2; ++i)
    EXPECT_NE(fill_difference(*dataset.node(), *dataset.node()->bind({})), "") << "columns are not filled";
  set_log_sink(before);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], HasSubstr("map(photo: throws): run_rows() threw "));
  EXPECT_THAT(lines[0], HasSubstr("rows of a kind"));
}

TEST(MapKernels, KeepsTheContract) {
  check_contract(rows() | map("photo", twice(40)));
  check_contract(rows() | map("photo", noise(), scale(2, 1), scale(3, 1), noise()) | shuffle());
  check_contract(rows() | as_stream() | map({.image = "photo", .points = "clicks"}, noise(), noise()));
}

}  // namespace
}  // namespace headpond::internal
