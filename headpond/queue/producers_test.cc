// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <thread>

#include "headpond/queue/producers_internal.h"

namespace headpond::internal {
namespace {

const Error kEndOfData(ErrorKind::OutOfRange, "end");

TEST(Activity, SaysWhetherAProducerWorksWaitsOrHasEnded) {
  const std::string raw = "raw";
  ProducerActivity activity("reader");
  EXPECT_EQ(activity.to_string(), "reader: about to begin");
  {
    ProducerActivity::Scope scope(activity);
    scope.begins_call();
    scope.begins_call();
    EXPECT_EQ(activity.to_string(), "reader: in call 2 of its function");
    ProducerActivity::waits(Verb::dequeue, raw);
    EXPECT_EQ(activity.to_string(), "reader: waits in dequeue of 'raw'");
    ProducerActivity::goes_on();
    EXPECT_EQ(activity.to_string(), "reader: in call 2 of its function");
    EXPECT_FALSE(activity.has_ended());
    scope.ends_by(kEndOfData);
  }
  EXPECT_TRUE(activity.has_ended());
  EXPECT_EQ(activity.to_string(), "reader: ended, OutOfRange: end");
}

TEST(Activity, WithoutAnErrorItEndedByAStop) {
  ProducerActivity activity("reader");
  { const ProducerActivity::Scope scope(activity); }
  EXPECT_EQ(activity.to_string(), "reader: ended, a stop was requested");
}

TEST(Activity, AThreadThatIsNoProducerChangesNobodys) {
  const std::string raw = "raw";
  ProducerActivity activity("reader");
  const ProducerActivity::Scope scope(activity);
  std::thread other([&] {
    ProducerActivity::waits(Verb::enqueue, raw);
    ProducerActivity::goes_on();
  });
  other.join();
  EXPECT_EQ(activity.to_string(), "reader: about to begin");
}

TEST(Fillers, HaveAllEndedIffThereWereSomeAndNoneIsLeft) {
  const auto first = std::make_shared<ProducerActivity>("first");
  const auto second = std::make_shared<ProducerActivity>("second");
  Producers producers;
  EXPECT_FALSE(producers.all_ended());
  producers.add({first, second});
  first->end(kEndOfData);
  EXPECT_FALSE(producers.all_ended());
  second->end({});
  EXPECT_TRUE(producers.all_ended());
  EXPECT_EQ(producers.to_string(), "first: ended, OutOfRange: end; second: ended, a stop was requested");
}

TEST(Fillers, ThoseThatEndedAreForgottenWhenOthersBegin) {
  Producers producers;
  for (int i = 0; i < 5; ++i) {
    const auto next = std::make_shared<ProducerActivity>("next");
    producers.add({next});
    EXPECT_FALSE(producers.all_ended());
    EXPECT_EQ(producers.to_string(), "next: about to begin");
    next->end(kEndOfData);
  }
}

}  // namespace
}  // namespace headpond::internal
