// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/ops/lengths.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>

#include "headpond/base/interrupt/interrupt.h"
#include "headpond/dataset/ops.h"
#include "headpond/dataset/sequence.h"
#include "headpond/io/array/npy.h"
#include "headpond/io/file/file.h"
#include "headpond/tensor/head_kernel.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string file_with_lengths(const std::string& content) {
  std::string path = testing::TempDir() + "/lengths_test.npy";
  EXPECT_TRUE(write_file_atomically(path, {std::as_bytes(std::span(content))}));
  return path;
}

std::string refusal_of(const Lengths& lengths) {
  try {
    (void)lengths.numbers();
    return "";
  } catch (const Exception& exception) {
    return exception.error().message();
  }
}

TEST(Lengths, AreReadWithTheirMark) {
  const uint64_t mark = mark_of_source(*range(3).node());
  const Lengths found = lengths(file_with_lengths(lengths_file({4, 0, 7}, mark)));
  EXPECT_THAT(found.numbers(), ElementsAre(4, 0, 7));
  EXPECT_EQ(found.content().source, mark);
  EXPECT_TRUE(Sequence(range(3) | dynamic_bucket(found, {.max_padded = 9})).next());
}

std::string refusal_of_epoch(const Dataset& dataset) {
  try {
    const auto next = Sequence(dataset).next();
    return next ? "" : next.error().message();
  } catch (const Exception& exception) {
    return exception.error().message();
  }
}

TEST(Lengths, OfAnotherSourceAreRefused) {
  const Lengths found = lengths(file_with_lengths(lengths_file({4, 0, 7}, mark_of_source(*range(3).node()))));
  EXPECT_EQ(refusal_of_epoch(range(3) | dynamic_bucket(found, {.max_padded = 9})), "");
  EXPECT_THAT(refusal_of_epoch(range(1, 4) | dynamic_bucket(found, {.max_padded = 9})), HasSubstr("other files"));
}

TEST(Lengths, OfFilesThatChangedSinceAreRefused) {
  const std::string text = testing::TempDir() + "/lengths_source.txt", path = testing::TempDir() + "/lengths_text.npy";
  const auto write = [&text](std::string_view lines) {
    ASSERT_TRUE(write_file_atomically(text, {std::as_bytes(std::span(lines))}));
  };
  const Step length = map([](std::string_view line) { return static_cast<int64_t>(line.size()); });
  const auto batches = [&] { return text_lines(text) | dynamic_bucket(lengths(path), {.max_padded = 9}); };
  write("abc\nd\n");
  ASSERT_TRUE(write_lengths(text_lines(text), length, path));
  EXPECT_EQ(refusal_of_epoch(batches()), "");
  write("a\nbcde\n");
  EXPECT_THAT(refusal_of_epoch(batches()), HasSubstr("other files"));
}

TEST(Lengths, OfAnotherProgramHaveNoMark) {
  const auto bytes = npy_bytes(Tensor::from(std::vector<int64_t>{4, 5}, {2}));
  const Lengths found = lengths(file_with_lengths(*bytes));
  EXPECT_THAT(found.numbers(), ElementsAre(4, 5));
  EXPECT_EQ(found.content().source, 0U);
}

TEST(Lengths, AreWrittenOfASource) {
  const std::string path = testing::TempDir() + "/lengths_written.npy";
  const Step length = map([](int64_t x) { return x * 2; });
  ASSERT_TRUE(write_lengths(range(3), length, path));
  EXPECT_THAT(lengths(path).numbers(), ElementsAre(0, 2, 4));
  EXPECT_EQ(lengths(path).content().source, mark_of_source(*range(3).node()));
  EXPECT_THROW((void)write_lengths(range(3) | shuffle(), length, path), Exception);
  EXPECT_THROW((void)write_lengths(range(3), map([](int64_t x) { return x * 0.5; }), path), Exception);
  const Dataset filtered = range(3) | filter([](int64_t x) { return x > 0; });
  EXPECT_THAT([&] { (void)write_lengths(filtered, length, path); },
              testing::ThrowsMessage<Exception>(HasSubstr("some positions have no element")));
  const auto negative = write_lengths(range(3), map([](int64_t x) { return 1 - x; }), path);
  EXPECT_EQ(negative.error().message(), "write_lengths: the length of element 2 is -1");
  const Step bad =
      map([](int64_t x) -> Result<int64_t> { return x < 2 ? Result<int64_t>(x) : fail(ErrorKind::DataLoss, "bad"); });
  EXPECT_EQ(write_lengths(range(3), bad, path).error().kind(), ErrorKind::DataLoss);
  EXPECT_EQ(lengths(path).numbers().size(), 3U);
}

TEST(Lengths, AreNotWrittenIfAnInterpreterIsInterrupted) {
  const std::string path = testing::TempDir() + "/lengths_interrupted.npy";
  std::filesystem::remove(path);
  const InterruptLook look([] { return true; });
  const auto written = write_lengths(range(100), map([](int64_t x) { return x; }), path);
  EXPECT_EQ(written.error().kind(), ErrorKind::Cancelled);
  EXPECT_FALSE(std::filesystem::exists(path));
}

// The number of the first byte that is no zero, of a file that has one.
class FirstSet final : public HeadKernel {
 public:
  FirstSet() : HeadKernel("first_set", "first_set") {}
  Result<int64_t> from_head(std::span<const std::byte> head, uint64_t file_bytes) const override {
    ++calls;
    largest = std::max(largest.load(), head.size());
    const auto found = std::ranges::find_if(head, [](std::byte byte) { return byte != std::byte{0}; });
    if (found != head.end()) return found - head.begin();
    const bool is_whole = head.size() == file_bytes;
    return fail(is_whole ? ErrorKind::DataLoss : ErrorKind::FailedPrecondition, "all zeros");
  }
  mutable std::atomic<int> calls = 0;
  mutable std::atomic<size_t> largest = 0;
};

class LengthsOfFiles : public testing::Test {
 protected:
  // A file of `size` zeros but for one byte.
  void put(const std::string& name, size_t size, size_t set) {
    std::filesystem::create_directories(folder_.file("a"));
    std::vector<std::byte> bytes(size);
    if (set < size) bytes[set] = std::byte{1};
    test::put_file(folder_.file("a/" + name), bytes);
  }
  test::TempFolder folder_;
  std::shared_ptr<const FirstSet> kernel_ = std::make_shared<FirstSet>();
};

TEST_F(LengthsOfFiles, AreReadFromHeads) {
  put("1", 1'000'000, 7);
  put("2", 100'000, 5000);
  put("3", 3, 2);
  const Dataset files = folder(folder_.path());
  const std::string path = folder_.file("lengths.npy");
  ASSERT_TRUE(write_lengths(files, kernel_, path));
  EXPECT_THAT(lengths(path).numbers(), ElementsAre(7, 5000, 2));
  EXPECT_EQ(kernel_->calls, 4);  // The second file is asked for more.
  EXPECT_EQ(kernel_->largest, 16384U);
  EXPECT_EQ(refusal_of_epoch(files | dynamic_bucket(lengths(path), {.max_padded = 20'000})), "");
}

TEST_F(LengthsOfFiles, AreThoseOfWholeFilesToo) {
  put("1", 100'000, 70'000);
  put("2", 9, 3);
  const std::string heads = folder_.file("heads.npy"), whole = folder_.file("whole.npy");
  const Dataset files = folder(folder_.path());
  ASSERT_TRUE(write_lengths(files, kernel_, heads));
  const auto of_whole = [known = kernel_](const Tensor& file) -> Result<Tensor> {
    const std::string_view text = file.bytes_at(0);
    const auto number = known->from_head(std::as_bytes(std::span(text)), text.size());
    if (!number) return fail(number.error());
    return Tensor::scalar(*number);
  };
  const KernelRef function = function_kernel(of_whole, {.output = {{"", DType::i64, {}}}});
  ASSERT_TRUE(write_lengths(files, function, whole));
  EXPECT_EQ(test::get_file(heads), test::get_file(whole));
}

TEST_F(LengthsOfFiles, NameTheFileThatHasNone) {
  put("1", 5, 1);
  put("2", 5, 9);
  const auto written = write_lengths(folder(folder_.path()), kernel_, folder_.file("lengths.npy"));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind(), ErrorKind::DataLoss);
  EXPECT_THAT(written.error().message(), HasSubstr("a/2: all zeros"));
  EXPECT_THROW((void)write_lengths(folder(folder_.path()), kernel_, "x.npy", "label"), Exception);
  EXPECT_THROW((void)write_lengths(folder(folder_.path()) | shuffle(), kernel_, "x.npy"), Exception);
}

TEST_F(LengthsOfFiles, OfRecordsAreMadeFromAllTheirBytes) {
  const std::string path = folder_.file("lengths.npy");
  const Dataset texts =
      from_tensor_slices(Tensor::from(std::vector<std::string>{std::string(2, '\0') + "x", "x"}, {2}));
  ASSERT_TRUE(write_lengths(texts, kernel_, path));
  EXPECT_THAT(lengths(path).numbers(), ElementsAre(2, 0));
}

TEST(Lengths, RefuseDamagedFiles) {
  const std::string good = lengths_file({4, 5}, 0xabc);
  const size_t array = npy_bytes(Tensor::from(std::vector<int64_t>{4, 5}, {2}))->size();
  for (const size_t size : {size_t{0}, size_t{9}, array - 1, array + 1, good.size() - 17, good.size() - 1}) {
    EXPECT_NE(refusal_of(lengths(file_with_lengths(good.substr(0, size)))), "") << size;
  }
  EXPECT_NE(refusal_of(lengths(file_with_lengths(good + "\n"))), "");
  std::string letters = good;
  letters[letters.size() - 3] = 'X';
  EXPECT_NE(refusal_of(lengths(file_with_lengths(letters))), "");
  EXPECT_THAT(refusal_of(lengths(file_with_lengths(lengths_file({4, -5}, 1)))), HasSubstr("element 1 is -5"));
  EXPECT_THAT(refusal_of(lengths(file_with_lengths(*npy_bytes(Tensor::scalar(int64_t{1}))))), HasSubstr("int64[elem"));
  EXPECT_THROW(Lengths({-1}), Exception);
}

}  // namespace
}  // namespace headpond
