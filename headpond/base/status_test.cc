// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/status.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <new>
#include <sstream>

namespace headpond {
namespace {

Result<int> half(int x) {
  if (x % 2 != 0) return fail(ErrorKind::InvalidArgument, "odd");
  return x / 2;
}

Result<int> quarter(int x) {
  HEADPOND_TRY(half(x));
  return half(x / 2);
}

TEST(Error, DefaultIsNoError) {
  Error none;
  EXPECT_FALSE(none);
  EXPECT_EQ(none.message(), "");
  EXPECT_EQ(none.cause(), nullptr);
  EXPECT_EQ(none.to_string(), "no error");
}

TEST(Error, TellsTheWholeChainOfCauses) {
  const Error error(ErrorKind::OutOfRange, "closed",
                    Error(ErrorKind::DataLoss, "cut", Error(ErrorKind::Unknown, "disk")));
  ASSERT_NE(error.cause(), nullptr);
  EXPECT_EQ(error.cause()->kind(), ErrorKind::DataLoss);
  std::ostringstream text;
  text << error;
  EXPECT_EQ(text.str(), "OutOfRange: closed; caused by DataLoss: cut; caused by Unknown: disk");
}

// An operator puts its name in front of the message of an error that it passes on as the cause.
TEST(Error, SaysAMessageOnce) {
  const Error bad(ErrorKind::DataLoss, "cut", Error(ErrorKind::Unknown, "disk"));
  const Error named(ErrorKind::DataLoss, "map, element 3: cut", bad);
  EXPECT_EQ(named.to_string(), "DataLoss: map, element 3: cut; caused by Unknown: disk");
  EXPECT_EQ(Error(ErrorKind::DataLoss, "zip: map, element 3: cut", named).to_string(),
            "DataLoss: zip: map, element 3: cut; caused by Unknown: disk");
  EXPECT_EQ(named.cause()->message(), "cut") << "the cause stays";
  EXPECT_EQ(Error(ErrorKind::InvalidArgument, "map: cut", bad).to_string(),
            "InvalidArgument: map: cut; caused by DataLoss: cut; caused by Unknown: disk")
      << "control: of another kind it says more";
}

TEST(Error, AnEmptyCauseIsNoCause) { EXPECT_EQ(Error(ErrorKind::OutOfRange, "closed", Error()).cause(), nullptr); }

TEST(Error, TheEndOfTheDataIsOutOfRangeWithoutACause) {
  EXPECT_TRUE(Error(ErrorKind::OutOfRange, "end").is_end());
  EXPECT_FALSE(Error(ErrorKind::OutOfRange, "end", Error(ErrorKind::DataLoss, "cut")).is_end());
  EXPECT_FALSE(Error(ErrorKind::Cancelled, "stop").is_end());
  EXPECT_FALSE(Error().is_end());
}

TEST(Error, EveryKindHasItsName) {
  EXPECT_EQ(to_string(ErrorKind::OutOfRange), "OutOfRange");
  EXPECT_EQ(to_string(ErrorKind::Unknown), "Unknown");
}

TEST(Result, FailConvertsToAnyResult) {
  const Result<void> none = fail(ErrorKind::Cancelled, "stop");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind(), ErrorKind::Cancelled);
  EXPECT_EQ(half(3).error().message(), "odd");
}

static_assert(std::is_same_v<Result<int>, tl::expected<int, Error>>);
static_assert(std::is_same_v<decltype(std::declval<Result<int>&>().error()), Error&>);
static_assert(std::is_same_v<decltype(half(2).error()), Error&&>);

// A bool can be made of a Result: a copy must not be.
TEST(Result, IsCopiedMovedAndAssignedAsAWhole) {
  Result<bool> no = false;
  const Result<bool> of_no = no;
  Result<bool> copy{no}, moved(std::move(copy)), assigned = true;
  assigned = moved;
  EXPECT_TRUE(of_no && !*of_no && moved && !*moved && assigned && !*assigned);
  Result<bool> bad = fail(ErrorKind::DataLoss, "cut");
  Result<bool> also_bad = bad;
  EXPECT_FALSE(also_bad);
  also_bad = true;
  EXPECT_TRUE(also_bad && *also_bad);
  EXPECT_EQ(Result<int64_t>(half(4)).value(), 2);
  EXPECT_EQ(Result<int64_t>(half(3)).error().message(), "odd");
  const Result<int> mapped = half(4).map([](int x) { return 10 * x; });
  EXPECT_EQ(mapped.value(), 20);
}

TEST(Result, ValueOfAnErrorThrowsTheErrorThatItHolds) {
  EXPECT_THROW((void)half(3).value(), tl::bad_expected_access<Error>);
  EXPECT_EQ(value_or_throw(half(4)), 2);
  value_or_throw(Result<void>());
  EXPECT_EQ(*value_or_throw(Result<std::unique_ptr<int>>(std::make_unique<int>(5))), 5);
  try {
    value_or_throw(half(3));
    FAIL();
  } catch (const Exception& thrown) {
    EXPECT_EQ(thrown.error().message(), "odd");
  }
  EXPECT_THROW(value_or_throw(Result<void>(fail(ErrorKind::Cancelled, "stop"))), Exception);
}

TEST(Result, TryReturnsTheFirstError) {
  EXPECT_EQ(quarter(8).value(), 2);
  EXPECT_EQ(quarter(7).error().message(), "odd");
  EXPECT_EQ(quarter(6).error().message(), "odd");
}

TEST(Exception, CarriesItsErrorAndText) {
  const Exception exception(Error(ErrorKind::InvalidArgument, "capacity 0"));
  EXPECT_EQ(exception.error().kind(), ErrorKind::InvalidArgument);
  EXPECT_STREQ(exception.what(), "InvalidArgument: capacity 0");
}

template <class Thrown>
Error caught(Thrown thrown) {
  try {
    throw thrown;
  } catch (...) {
    return current_exception_error();
  }
}

TEST(Exception, BecomesAnErrorInACatchBlock) {
  EXPECT_EQ(caught(Exception(Error(ErrorKind::DataLoss, "cut"))).kind(), ErrorKind::DataLoss);
  EXPECT_EQ(caught(std::bad_alloc()).kind(), ErrorKind::ResourceExhausted);
  EXPECT_EQ(caught(std::runtime_error("mine")).to_string(), "Unknown: mine");
  EXPECT_EQ(caught(7).kind(), ErrorKind::Unknown);
}

TEST(Error, KnowsTheErrnoOfItsFirstCauseThatHasOne) {
  const Error inner = Error::of_system(ErrorKind::FailedPrecondition, "cannot read /a", ESTALE);
  const Error outer(ErrorKind::FailedPrecondition, "record 3", Error(ErrorKind::FailedPrecondition, "/a", inner));
  EXPECT_EQ(inner.os_error(), ESTALE);
  EXPECT_EQ(outer.os_error(), ESTALE);
  EXPECT_EQ(outer.to_string(),
            "FailedPrecondition: record 3; caused by FailedPrecondition: /a; caused by FailedPrecondition: cannot read "
            "/a");
  EXPECT_EQ(Error(ErrorKind::DataLoss, "cut").os_error(), 0);
  EXPECT_EQ(Error().os_error(), 0);
}

TEST(Error, IsTransientIffTheSystemFailedAndMaySucceedLater) {
  const auto is_transient = [](int number) {
    return Error(ErrorKind::Unknown, "outer", Error::of_system(ErrorKind::Unknown, "inner", number)).is_transient();
  };
  for (const int number : {ESTALE, ETIMEDOUT, ENOTCONN, EIO, EINTR, EAGAIN, ECONNRESET, EHOSTDOWN, EMFILE, ENOMEM}) {
    EXPECT_TRUE(is_transient(number)) << number;
  }
  for (const int number : {ENOENT, ENOTDIR, EACCES, EPERM, EISDIR, EROFS, ENOSPC, EINVAL}) {
    EXPECT_FALSE(is_transient(number)) << number;
  }
  EXPECT_FALSE(Error(ErrorKind::DataLoss, "damaged").is_transient());
  EXPECT_FALSE(Error().is_transient());
}

TEST(Error, SaysWhereItHappenedAsFarInAsIsKnown) {
  EXPECT_EQ(Error(ErrorKind::DataLoss, "bad").place().op, "");
  EXPECT_EQ(Error().place().record, std::nullopt);
  const Error inner = Error(ErrorKind::DataLoss, "bad").at({.source = "a.rec", .record = 4, .offset = 76});
  const Error outer =
      Error(ErrorKind::Unknown, "outer", inner).at({.op = "interleave()", .source = "list", .record = 0});
  EXPECT_EQ(outer.place().op, "interleave()");
  EXPECT_EQ(outer.place().source, "a.rec");
  EXPECT_EQ(outer.place().record, 4U);
  EXPECT_EQ(outer.place().offset, 76U);
  EXPECT_EQ(outer.to_string(), "Unknown: outer; caused by DataLoss: bad") << "messages stay";
  EXPECT_EQ(inner.at({.op = "map()", .offset = 5}).place().offset, 76U) << "what was known first is nearer";
  EXPECT_EQ(inner.at({.op = "map()"}).place().op, "map()");
  EXPECT_EQ(inner.place().op, "") << "it is immutable";
  EXPECT_EQ(Error::of_system(ErrorKind::Unknown, "x", 5).at({}).os_error(), 5);
}

TEST(Error, KeepsEverythingElseWithAnotherMessage) {
  const auto object = std::make_shared<const int>(7);
  const Error cause(ErrorKind::Unknown, "why");
  const Error first = Error(ErrorKind::DataLoss, "cut: bad", cause).at({.op = "map()"}).with_host_object(object);
  const Error other = first.with_message("cut(0.5): bad");
  EXPECT_EQ(other.to_string(), "DataLoss: cut(0.5): bad; caused by Unknown: why");
  EXPECT_EQ(other.place().op, "map()");
  EXPECT_EQ(other.host_object(), object);
  EXPECT_EQ(first.message(), "cut: bad") << "it is immutable";
  EXPECT_EQ(Error::of_system(ErrorKind::Unknown, "x", 5).with_message("y").os_error(), 5);
  EXPECT_FALSE(Error().with_message("y"));
}

TEST(Error, KeepsAnObjectOfTheHost) {
  auto object = std::make_shared<const int>(7);
  const std::weak_ptr<const int> watched = object;
  Error outer;
  {
    const Error inner = Error(ErrorKind::Unknown, "raised").with_host_object(std::move(object)).at({.op = "map()"});
    EXPECT_EQ(inner.place().op, "map()");
    EXPECT_EQ(inner.message(), "raised");
    outer = Error(ErrorKind::Unknown, "outer", inner).at({.key = 4});
  }
  EXPECT_EQ(*static_cast<const int*>(outer.host_object().get()), 7) << "as the first cause that has one";
  EXPECT_EQ(outer.place().key, 4U);
  EXPECT_EQ(Error(ErrorKind::Unknown, "other").host_object(), nullptr);
  EXPECT_EQ(Error().with_host_object(std::make_shared<const int>(1)).host_object(), nullptr);
  outer = {};
  EXPECT_TRUE(watched.expired()) << "it goes with the last error";
}

TEST(Result, WhatItsMapReturnsIsAResult) {
  const auto parse = [](int number) -> Result<int> {
    if (number < 0) return fail(ErrorKind::NotFound, "negative");
    return number;
  };
  const auto is_large = [&](int number) -> Result<bool> { return parse(number).map([](int v) { return v > 2; }); };
  const auto next = [&](int number) -> Result<int> {
    return parse(number).and_then([&](int v) { return parse(v + 1); });
  };
  EXPECT_TRUE(is_large(3).value());
  EXPECT_EQ(is_large(-1).error().kind(), ErrorKind::NotFound);
  EXPECT_EQ(next(3).value(), 4);
  EXPECT_EQ(next(-3).error().message(), "negative");
}

}  // namespace
}  // namespace headpond
