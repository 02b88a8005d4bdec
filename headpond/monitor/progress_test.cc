// SPDX-License-Identifier: Apache-2.0
#include "headpond/monitor/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace headpond {
namespace {

struct FormatCase {
  ProgressLine line;
  int columns;
  const char* text;
};

TEST(FormatProgress, WritesTheseLines) {
  const std::vector<FormatCase> cases = {
      {{"desc", 789, 1875, 43.9, 18.13, {{"loss", 0.312}}},
       0,
       "desc:  42%|████▏     | 789/1875 [00:43<00:59, 18.13it/s, loss=0.312]"},
      {{.done = 789, .elapsed_s = 43, .rate = 18.13}, 0, "789it [00:43, 18.13it/s]"},
      {{.description = "read", .done = 5}, 0, "read: 5it [00:00, ?it/s]"},
      {{.total = 10}, 0, "  0%|          | 0/10 [00:00<?, ?it/s]"},
      {{.done = 10, .total = 10, .elapsed_s = 2, .rate = 5}, 0, "100%|██████████| 10/10 [00:02<00:00,  5.00it/s]"},
      {{.done = 1, .total = 4, .elapsed_s = 2, .rate = 0.5}, 0, " 25%|██▌       | 1/4 [00:02<00:06,  2.00s/it]"},
      {{.done = 1, .total = 2, .elapsed_s = 1, .rate = 1}, 0, " 50%|█████     | 1/2 [00:01<00:01,  1.00it/s]"},
      {{.done = 1, .total = 8000, .elapsed_s = 3661, .rate = 0.9},
       0,
       "  0%|          | 1/8000 [1:01:01<2:28:07,  1.11s/it]"},
      {{.done = 11, .total = 10, .elapsed_s = 1, .rate = 11}, 0, "11it [00:01, 11.00it/s]"},
      {{.done = 0, .total = 0}, 0, "0it [00:00, ?it/s]"},
      {{.done = 1, .total = 2, .elapsed_s = 60, .rate = 123456.789},
       0,
       " 50%|█████     | 1/2 [01:00<00:00, 123456.79it/s]"},
  };
  for (const FormatCase& one : cases) EXPECT_EQ(format_progress(one.line, one.columns), one.text);
}

TEST(FormatProgress, FillsTheColumnsOfATerminal) {
  const ProgressLine line = {.done = 1, .total = 2, .elapsed_s = 1, .rate = 1};
  EXPECT_EQ(format_progress(line, 45), " 50%|█████     | 1/2 [00:01<00:01,  1.00it/s]");
  EXPECT_EQ(format_progress(line, 40), " 50%|██▌  | 1/2 [00:01<00:01,  1.00it/s]");
}

TEST(FormatProgress, CutsALineThatDoesNotFitButNoCharacter) {
  const ProgressLine line = {.description = "épo", .done = 1, .total = 2, .elapsed_s = 1, .rate = 1};
  EXPECT_EQ(format_progress(line, 3), "épo");
  EXPECT_EQ(format_progress(line, 11), "épo:  50%|▌");
  EXPECT_EQ(format_progress({.done = 5}, 3), "5it");
}

TEST(FormatProgress, WritesEveryEighth) {
  const std::vector<std::string> cells = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
  for (int64_t eighth = 0; eighth <= 8; ++eighth) {
    const std::string line = format_progress({.done = 72 + eighth, .total = 80}, 0);
    EXPECT_THAT(line, testing::HasSubstr("|█████████" + cells[static_cast<size_t>(eighth)] + "| ")) << eighth;
  }
}

TEST(FormatProgress, WritesValuesShortly) {
  const auto text = [](double value) { return format_progress({.values = {{"v", value}}}); };
  EXPECT_EQ(text(31.8123), "0it [00:00, ?it/s, v=31.8]");
  EXPECT_EQ(text(1875), "0it [00:00, ?it/s, v=1875]");
  EXPECT_EQ(text(-2), "0it [00:00, ?it/s, v=-2]");
  EXPECT_EQ(text(0.00001234), "0it [00:00, ?it/s, v=1.23e-05]");
  EXPECT_EQ(text(std::nan("")), "0it [00:00, ?it/s, v=nan]");
  EXPECT_EQ(text(HUGE_VAL), "0it [00:00, ?it/s, v=inf]");
}

TEST(FormatProgress, SurvivesTimesThatMakeNoSense) {
  EXPECT_EQ(format_progress({.done = 1, .total = 2, .elapsed_s = -1, .rate = 1e-12}),
            " 50%|█████     | 1/2 [00:00<?, 1000000000000.00s/it]");
  EXPECT_EQ(format_progress({.elapsed_s = std::nan(""), .rate = std::nan("")}), "0it [?, ?it/s]");
}

/// A bar with a clock that the test moves and a sink that it reads.
class ProgressTest : public testing::Test {
 protected:
  ProgressOptions options(bool terminal) {
    return {.description = "train",
            .total = 100,
            .terminal = terminal,
            .columns = terminal ? 80 : 0,
            .sink = [this](std::string_view text) { written_.emplace_back(text); },
            .clock = [this] { return time_ms_ * 1'000'000; }};
  }

  int64_t time_ms_ = 1'000'000;
  std::vector<std::string> written_;
};

TEST_F(ProgressTest, RedrawsATerminalAtMostTenTimesASecond) {
  {
    Progress bar(options(true));
    for (int i = 0; i < 100; ++i) {
      time_ms_ += 10;
      bar.update();
    }
  }
  EXPECT_GE(written_.size(), 10U);
  EXPECT_LE(written_.size(), 12U);
  for (const std::string& text : written_) EXPECT_EQ(text[0], '\r');
  EXPECT_THAT(written_.front(), testing::Not(testing::EndsWith("\n")));
  EXPECT_THAT(written_.back(), testing::EndsWith(" 100/100 [00:01<00:00, 100.00it/s]\n"));
}

TEST_F(ProgressTest, WritesALineEveryTenSecondsElsewhereAndALastOne) {
  {
    Progress bar(options(false));
    for (int i = 0; i < 50; ++i) {
      time_ms_ += 500;
      bar.update();
    }
  }
  EXPECT_THAT(written_, testing::ElementsAre("train:  20%|██        | 20/100 [00:10<00:40,  2.00it/s]\n",
                                             "train:  40%|████      | 40/100 [00:20<00:30,  2.00it/s]\n",
                                             "train:  50%|█████     | 50/100 [00:25<00:25,  2.00it/s]\n"));
}

TEST_F(ProgressTest, SmoothsTheRateAndEndsWithTheAverage) {
  Progress bar(options(false));
  time_ms_ += 10'000;
  bar.update(10);
  time_ms_ += 10'000;
  bar.update(40);
  bar.close();
  // (0.3 * 40 + 0.7 * 0.3 * 10) / (0.3 * 10 + 0.7 * 0.3 * 10) = 14.1 / 5.1
  EXPECT_THAT(written_, testing::ElementsAre(testing::HasSubstr(" 1.00it/s"), testing::HasSubstr(" 2.76it/s"),
                                             testing::HasSubstr(" 2.50it/s")));
}

TEST_F(ProgressTest, OverwritesALongerLine) {
  ProgressOptions unknown = options(true);
  unknown.total = -1;
  Progress bar(unknown);
  bar.set_values({{"accuracy", 0.125}});
  time_ms_ += 1'000;
  bar.update();
  bar.set_values({});
  time_ms_ += 1'000;
  bar.update();
  EXPECT_THAT(written_[1], testing::EndsWith(", accuracy=0.125]"));
  EXPECT_THAT(written_[2], testing::EndsWith("it/s]" + std::string(16, ' ')));
}

TEST_F(ProgressTest, AsksForItsNoteAtMostOnceASecondAndAtTheEnd) {
  ProgressOptions noted = options(true);
  int asked = 0;
  noted.note = [&asked] { return "wait=" + std::to_string(++asked) + "%"; };
  Progress bar(noted);
  for (int i = 0; i < 20; ++i) {
    time_ms_ += 150;
    bar.update();
  }
  EXPECT_EQ(asked, 2);
  EXPECT_THAT(written_.back(), testing::HasSubstr("it/s, wait=2%]"));
  bar.close();
  EXPECT_THAT(written_.back(), testing::HasSubstr("it/s, wait=3%]"));
}

TEST(ProgressNote, SaysTheWaitItsReasonAndTheOperator) {
  EXPECT_EQ(progress_note({.code = ReasonCode::cpu_bound, .op = "decode", .wait_share = 0.034}),
            "wait=3%, cpu_bound:decode");
  EXPECT_EQ(progress_note({.code = ReasonCode::device_bound}), "wait=0%, device_bound");
  EXPECT_EQ(progress_note({.wait_share = 0.5}), "wait=50%");
}

TEST_F(ProgressTest, WritesNothingWhenOff) {
  ProgressOptions off = options(true);
  off.enabled = false;
  Progress bar(off);
  time_ms_ += 60'000;
  bar.update();
  bar.close();
  EXPECT_THAT(written_, testing::IsEmpty());
}

TEST_F(ProgressTest, WritesNothingAfterClose) {
  Progress bar(options(false));
  bar.close();
  bar.close();
  time_ms_ += 60'000;
  bar.update();
  EXPECT_EQ(written_.size(), 1U);
}

TEST_F(ProgressTest, HasNoEscapeSequences) {
  {
    Progress bar(options(true));
    time_ms_ += 1'000;
    bar.update();
  }
  for (const std::string& text : written_) EXPECT_THAT(text, testing::Not(testing::HasSubstr("\x1b")));
}

}  // namespace
}  // namespace headpond
