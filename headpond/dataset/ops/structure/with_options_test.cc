// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/ops/options.h"
#include "headpond/dataset/ops/structure/hints.h"
#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(WithOptions, ChangesNoElement) {
  const Dataset dataset = range(3) | with_options({.threads = 2});
  EXPECT_THAT(elements(dataset, {}, true), ElementsAre("0 #0", "1 #1", "2 #2"));
  EXPECT_EQ(dataset.kind(), Kind::indexed);
  EXPECT_EQ(to_string(element_spec(dataset)), "{0: int64[]}");
  check_contract(range(5) | evens() | with_options({.memory = 100}) | batch(2) |
                 with_options({.deterministic = false}));
}

TEST(WithOptions, TheLastOneCounts) {
  const Dataset dataset = range(3) | with_options({.deterministic = false, .threads = 2}) | batch(2) |
                          with_options({.threads = 3, .memory = 1000});
  EXPECT_EQ(options_of(dataset), (DatasetOptions{.deterministic = false, .threads = 3, .memory = 1000}));
  EXPECT_EQ(options_of(range(3)), DatasetOptions());
}

TEST(WithOptions, AreThoseOfAllInputs) {
  const Dataset two = range(3) | with_options({.threads = 2});
  EXPECT_EQ(options_of(concatenate({two, range(3) | with_options({.memory = 9})})),
            (DatasetOptions{.threads = 2, .memory = 9}));
  EXPECT_EQ(options_of(concatenate({two, two})).threads, 2);
  const Dataset contradicts = concatenate({two, range(5), range(3) | with_options({.threads = 3})});
  EXPECT_THAT([&] { options_of(contradicts); },
              ThrowsMessage<Exception>(HasSubstr("with_options: the inputs of concatenate(inputs=3) contradict each "
                                                 "other: with_options(threads=2) and with_options(threads=3); say it "
                                                 "after concatenate")));
  EXPECT_EQ(options_of(contradicts | with_options({.threads = 1})).threads, 1) << "control";
}

TEST(WithOptions, AreNoPartOfAState) {
  Sequence sequence(range(5) | with_options({.threads = 1}));
  ASSERT_TRUE(sequence.next());
  EXPECT_TRUE(Sequence::restored(range(5) | with_options({.threads = 7}), {}, sequence.state()));
  EXPECT_THAT((range(5) | with_options({.deterministic = true, .memory = 7})).plan(),
              HasSubstr("with_options(deterministic=true, memory=7)"));
}

TEST(WithOptions, RefusesWhatCannotBe) {
  EXPECT_THROW(with_options({}), Exception);
  EXPECT_THROW(with_options({.threads = -1}), Exception);
  EXPECT_THROW(with_options({.memory = 0}), Exception);
}

TEST(Hints, APrefetchAtTheEndIsACeiling) {
  EXPECT_EQ(prefetch_ceiling(range(3) | batch(2) | prefetch(4)), 4);
  EXPECT_EQ(prefetch_ceiling(range(3) | prefetch(4) | prefetch(2) | with_options({.threads = 1})), 2);
  EXPECT_EQ(prefetch_ceiling(range(3) | prefetch(4) | prefetch()), 4) << "as far as it must";
  for (const Dataset& none :
       {range(3), range(3) | prefetch(0), range(3) | prefetch(), range(3) | prefetch(4) | batch(2)}) {
    EXPECT_EQ(prefetch_ceiling(none), -1);
  }
}

}  // namespace
}  // namespace headpond::internal
