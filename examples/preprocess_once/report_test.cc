// SPDX-License-Identifier: Apache-2.0
#include "examples/preprocess_once/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace preprocess_once {
namespace {

using testing::HasSubstr;
using testing::Not;

Measured measured() {
  Measured m;
  m.images = 160;
  m.masks = 3252;
  m.rounds = 3;
  m.record_epochs = 10;
  m.records_gain = 50;
  m.operators_gain = 1.5;
  m.distances_gain = 3;
  m.peak_mib = {{40, 41, 42}, {50, 51, 52}, {60, 61, 62}};
  return m;
}

template <class Print>
std::string printed(const Print& print) {
  char* text = nullptr;
  size_t size = 0;
  std::FILE* file = open_memstream(&text, &size);
  print(file);
  std::fclose(file);
  const std::string all(text, size);
  std::free(text);
  return all;
}

std::string missed(const Measured& m, bool expected) {
  return printed([&](std::FILE* to) { EXPECT_EQ(print_missed(to, m), expected); });
}

TEST(Targets, AreMetAtTheirBounds) { EXPECT_EQ(missed(measured(), true), ""); }

TEST(Targets, ThatAreMissedHaveALineEach) {
  Measured m = measured();
  m.records_gain = 49.9;
  EXPECT_EQ(missed(m, false), "MISSED: tfrecord over straightforward 49.90x, at least 50x was expected\n");
  m.operators_gain = 1.49;
  m.distances_gain = 2.99;
  EXPECT_THAT(missed(m, false), HasSubstr("MISSED: operators over straightforward 1.49x, at least 1.5x"));
  EXPECT_THAT(missed(m, false), HasSubstr("each pixel and click 2.99x, at least 3x"));
  m.records_gain = 50;
  EXPECT_THAT(missed(m, false), Not(HasSubstr("tfrecord")));
}

TEST(Report, SaysHowManyEpochsARunHas) {
  const std::string text = printed([](std::FILE* to) { print(to, measured()); });
  EXPECT_THAT(text, HasSubstr("160 images with 3252 masks, 5 clicks"));
  EXPECT_THAT(text, HasSubstr("10 epochs a run"));
  EXPECT_THAT(text, HasSubstr("1 epoch a run"));
  EXPECT_THAT(text, HasSubstr("medians of 3"));
  EXPECT_THAT(text, HasSubstr("straightforward 40 41 42 | operators 50 51 52 | tfrecord 60 61 62\n"));
  EXPECT_THAT(text, HasSubstr("are equal\n"));
  const std::string json = printed([](std::FILE* to) { print_json(to, measured()); });
  EXPECT_THAT(json, HasSubstr(R"("rounds":3,"epochs_a_round":{"straightforward":1,"operators":1,)"
                              R"("operators_one_thread":1,"tfrecord":10,"in_memory":10})"));
  EXPECT_THAT(json, HasSubstr(R"("peak_mib":{"straightforward":[40,41,42],"operators":[50,51,52],)"));
  EXPECT_THAT(json, HasSubstr(R"({"id":"tfrecord","text":"tfrecord over straightforward","value":50,"op":">=",)"
                              R"("bound":50,"pass":true})"));
}

TEST(Report, SaysThatPicturesAreDrawnOrSamplesDiffer) {
  Measured m = measured();
  m.is_drawn = true;
  m.bytes_equal = false;
  const std::string text = printed([&](std::FILE* to) { print(to, m); });
  EXPECT_THAT(text, HasSubstr("3252 masks (drawn), "));
  EXPECT_THAT(text, HasSubstr("are NOT equal\n"));
  const std::string json = printed([&](std::FILE* to) { print_json(to, m); });
  EXPECT_THAT(json, HasSubstr(R"("drawn":true)"));
  EXPECT_THAT(json, HasSubstr(R"("bytes_equal":false)"));
}

}  // namespace
}  // namespace preprocess_once
