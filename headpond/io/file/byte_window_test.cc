// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "headpond/io/file/byte_window_internal.h"
#include "headpond/io/memory_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

// Gives at most `step` bytes a read, and fails each second one if asked to; how much is left, it does not know.
class Dripping final : public ByteReader {
 public:
  Dripping(std::string text, size_t step, bool fails = false) : text_(std::move(text)), step_(step), fails_(fails) {}
  Result<size_t> read(std::span<std::byte> to) override {
    if (fails_ && reads_++ % 2 == 0) return fail(ErrorKind::DataLoss, "drop");
    const size_t count = std::min({step_, to.size(), text_.size() - at_});
    std::copy_n(std::as_bytes(std::span(text_)).begin() + static_cast<std::ptrdiff_t>(at_), count, to.begin());
    at_ += count;
    return count;
  }
  uint64_t left_at_most() const override { return UINT64_MAX; }
  const std::string& name() const override { return name_; }

 private:
  const std::string name_ = "drip";
  const std::string text_;
  const size_t step_;
  const bool fails_;
  size_t at_ = 0;
  int reads_ = 0;
};

std::string text(const ByteWindow& window) {
  return {reinterpret_cast<const char*>(window.bytes().data()), window.bytes().size()};
}

TEST(ByteWindow, GathersUntilThereIsEnough) {
  ByteWindow window(std::make_unique<Dripping>("abcdef", 1), 100);
  EXPECT_EQ(window.until(4), true);
  EXPECT_EQ(text(window), "abcd");
  window.drop(3);
  EXPECT_EQ(window.offset(), 103U);
  EXPECT_EQ(window.until(4), false);
  EXPECT_EQ(text(window), "def");
  EXPECT_EQ(window.until(0), true);
  EXPECT_EQ(window.name(), "drip");
}

TEST(ByteWindow, AnErrorLeavesWhatIsThereAndTheNextCallGoesOn) {
  ByteWindow window(std::make_unique<Dripping>("ab", 1, true));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(window.until(2).error().message(), "drop");
    EXPECT_EQ(text(window).size(), static_cast<size_t>(i));
    EXPECT_EQ(window.more(), true);
  }
  EXPECT_EQ(text(window), "ab");
}

TEST(ByteWindow, SkipsFarMoreThanItsRoom) {
  const std::string long_text = std::string(300'000, 'x') + "end";
  ByteWindow window(std::make_unique<Dripping>(long_text, 7777));
  EXPECT_EQ(window.skip(300'000), 300'000U);
  EXPECT_EQ(window.until(3), true);
  EXPECT_EQ(text(window), "end");
  EXPECT_EQ(window.offset(), 300'000U);
  EXPECT_EQ(window.skip(UINT64_MAX), 3U);
  EXPECT_EQ(window.more(), false);
}

TEST(ByteWindow, BytesStayInOrderWhileTheRoomIsUsedAgain) {
  std::string long_text;
  for (int i = 0; i < 100'000; ++i) long_text += std::to_string(i);
  ByteWindow window(std::make_unique<Dripping>(long_text, 50'000));
  size_t at = 0;
  for (size_t step = 1; window.until(step) == true; step = step * 3 % 99'991) {
    ASSERT_EQ(text(window), long_text.substr(at, window.bytes().size()));
    window.drop(step);
    at += step;
  }
  EXPECT_EQ(text(window), long_text.substr(at));
}

class Endless final : public ByteReader {
 public:
  Result<size_t> read(std::span<std::byte> to) override { return to.size(); }
  uint64_t left_at_most() const override { return UINT64_MAX; }
  const std::string& name() const override { return name_; }

 private:
  const std::string name_ = "endless";
};

TEST(ByteWindow, SaysWhenMemoryRunsOut) {
  EXPECT_OUT_OF_MEMORY([] { return ByteWindow(std::make_unique<Endless>()).until(UINT64_MAX); });
}

// Notes how much it was asked for.
class Asked final : public ByteReader {
 public:
  explicit Asked(size_t& most) : most_(most) {}
  Result<size_t> read(std::span<std::byte> to) override {
    most_ = std::max(most_, to.size());
    std::fill(to.begin(), to.end(), std::byte{'x'});
    return to.size();
  }
  uint64_t left_at_most() const override { return UINT64_MAX; }
  const std::string& name() const override { return name_; }

 private:
  const std::string name_ = "asked";
  size_t& most_;
};

TEST(ByteWindow, ReadsLittleMoreThanItNeeds) {
  size_t most = 0;
  ByteWindow window(std::make_unique<Asked>(most));
  EXPECT_EQ(window.until(3'000'000), true);
  EXPECT_LE(most, 1U << 20);
  EXPECT_EQ(window.until(40'000'000), true);
  EXPECT_LE(most, 2'600'000U) << "a sixteenth";
  EXPECT_EQ(window.bytes().back(), std::byte{'x'});
  const std::byte* const front = window.bytes().data();
  window.drop(window.bytes().size());
  EXPECT_EQ(window.more(), true);
  EXPECT_EQ(window.bytes().data(), front) << "memory that was touched is used again";
}

TEST(ByteWindow, RoomFollowsTheBytesAndNotWhatIsAskedFor) {
  const auto bytes = test::to_bytes("abc");
  ByteWindow window(make_memory_reader("m", bytes));
  EXPECT_EQ(window.until(uint64_t{1} << 62), false);
  EXPECT_EQ(window.bytes().size(), 3U);
}

}  // namespace
}  // namespace headpond::internal
