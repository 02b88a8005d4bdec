// SPDX-License-Identifier: Apache-2.0
// No loop of any instruction set touches what lies beside the row that it writes: not the end of its last, masked
// vector either.
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "headpond/base/random.h"
#include "headpond/codec/image/resize/float_passes_internal.h"
#include "headpond/codec/image/resize/passes_internal.h"

namespace headpond::resize_internal {
namespace {

// A row between margins that are wider than a vector, whose values depend on their places.
template <class T>
class RowInMargins {
 public:
  explicit RowInMargins(int64_t size) : all_(static_cast<size_t>(size + 2 * kMargin)) {
    for (size_t i = 0; i < all_.size(); ++i) all_[i] = at(i);
  }
  T* data() { return all_.data() + kMargin; }
  bool has_whole_margins() const {
    const auto differs = [this](size_t i) { return all_[i] != at(i); };
    for (size_t i = 0; i < kMargin; ++i) {
      if (differs(i) || differs(all_.size() - 1 - i)) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kMargin = 80;
  static T at(size_t i) { return static_cast<T>(i * 37 % 251 + 3); }

  std::vector<T> all_;
};

template <class T>
struct Source {
  Taps taps;
  TapsPart part;
  int channels = 0;
  std::vector<T> row;

  int64_t values() const { return part.size * channels; }
  int64_t end() const { return std::ssize(row); }
};

template <class T>
Source<T> source_of(ResizeFilter filter, bool antialias, int64_t width, int channels) {
  Source<T> made;
  TapsKey key;
  key.dtype = sizeof(T) == 1 ? DType::u8 : DType::f32;
  key.out = width;
  key.in = width % 2 == 0 ? width / 2 + 1 : width * 3 + 1;
  if (key.in == key.out) ++key.in;
  key.options.filter = filter;
  key.options.antialias = antialias;
  made.taps = make_taps(key);
  made.channels = channels;
  Random random(static_cast<uint64_t>(width));
  made.row.resize(static_cast<size_t>(key.in * channels));
  for (T& value : made.row) value = static_cast<T>(random.below(256));
  made.part = {&made.taps, 0, width, 0};
  return made;
}

// Calls `write(source, to)` for rows of up to 100 pixels, and for a row that is a pixel shorter than what is written.
template <class T, class Write>
void expect_no_store_beside(ResizeFilter filter, bool antialias, std::string_view target, const Write& write) {
  for (int64_t width = 1; width <= 100; ++width) {
    for (int channels = 1; channels <= 4; ++channels) {
      Source<T> source = source_of<T>(filter, antialias, width, channels);
      source.part.taps = &source.taps;
      RowInMargins<T> row(source.values()), shorter(source.values() - channels);
      write(source, row.data());
      ASSERT_TRUE(row.has_whole_margins()) << target << ", " << width << " x " << channels;
      std::fill_n(source.row.begin(), source.row.size(), T{1});  // Which is the value of no margin.
      write(source, shorter.data());
      ASSERT_FALSE(shorter.has_whole_margins()) << "the control: " << target << ", " << width << " x " << channels;
    }
  }
}

TEST(RowMargins, OfColumnsOfBytes) {
  for (const auto& [name, code] : pass_targets()) {
    const auto by = [&code](auto write, bool is_planned) {
      return [&code, write, is_planned](const Source<uint8_t>& source, uint8_t* to) {
        ColumnPlan plan;
        if (is_planned) code.plan(source.part, source.channels, plan);
        write(source.row.data(), source.end(), to, source.part, source.channels, plan);
      };
    };
    for (const bool is_planned : {false, true}) {
      const auto sums = by(code.sum_columns, is_planned);
      expect_no_store_beside<uint8_t>(ResizeFilter::bilinear, true, name, sums);
      expect_no_store_beside<uint8_t>(ResizeFilter::lanczos, true, name, sums);
      expect_no_store_beside<uint8_t>(ResizeFilter::bilinear, false, name, by(code.lerp_columns, is_planned));
      expect_no_store_beside<uint8_t>(ResizeFilter::nearest, true, name, by(code.take_columns, is_planned));
    }
  }
}

TEST(RowMargins, OfColumnsOfFloats) {
  for (const auto& [name, code] : float_pass_targets()) {
    for (const bool is_planned : {false, true}) {
      const auto write = [&code, is_planned](const Source<float>& source, float* to) {
        FloatPlan plan;
        if (is_planned && code.plan != nullptr) code.plan(source.part, source.channels, plan);
        code.sum_columns(source.row.data(), source.end(), to, source.part, source.channels, plan);
      };
      expect_no_store_beside<float>(ResizeFilter::bilinear, false, name, write);
      expect_no_store_beside<float>(ResizeFilter::bicubic, true, name, write);
    }
  }
}

TEST(RowMargins, OfRowsAndFlipsOfBytes) {
  for (const auto& [name, code] : pass_targets()) {
    expect_no_store_beside<uint8_t>(
        ResizeFilter::nearest, true, name, [&code](const Source<uint8_t>& source, uint8_t* to) {
          std::vector<uint8_t> row(static_cast<size_t>(source.values()), source.row.front());
          code.reverse(row.data(), to, source.part.size, source.channels);
        });
    expect_no_store_beside<uint8_t>(
        ResizeFilter::nearest, true, name, [&code](const Source<uint8_t>& source, uint8_t* to) {
          const std::vector<uint8_t> row(static_cast<size_t>(source.values()), source.row.front());
          const uint8_t* const rows[] = {row.data(), row.data()};
          const int32_t weights[] = {1 << (kWeightBits - 1), 1 << (kWeightBits - 1)};
          code.sum_rows(rows, weights, 2, to, source.values());
        });
    expect_no_store_beside<uint8_t>(
        ResizeFilter::nearest, true, name, [&code](const Source<uint8_t>& source, uint8_t* to) {
          const std::vector<uint8_t> row(static_cast<size_t>(source.values()), source.row.front());
          code.lerp_rows(row.data(), row.data(), 1 << 14, to, source.values());
        });
  }
}

TEST(RowMargins, OfRowsAndFlipsOfFloats) {
  for (const auto& [name, code] : float_pass_targets()) {
    expect_no_store_beside<float>(ResizeFilter::nearest, true, name, [&code](const Source<float>& source, float* to) {
      const std::vector<float> row(static_cast<size_t>(source.values()), source.row.front());
      code.reverse(row.data(), to, source.part.size, source.channels);
    });
    expect_no_store_beside<float>(ResizeFilter::nearest, true, name, [&code](const Source<float>& source, float* to) {
      const std::vector<float> row(static_cast<size_t>(source.values()), source.row.front());
      const float* const rows[] = {row.data(), row.data(), row.data()};
      const double weights[] = {0.25, 0.5, 0.25};
      code.sum_rows(rows, weights, 3, to, source.values());
    });
  }
}

// One value beside the row is seen at each place of a vector.
TEST(RowMargins, AreSeenToChange) {
  for (int64_t at = 0; at < 64; ++at) {
    RowInMargins<uint8_t> after(7), before(7);
    after.data()[7 + at] ^= 1;
    before.data()[-1 - at] ^= 1;
    EXPECT_FALSE(after.has_whole_margins()) << at;
    EXPECT_FALSE(before.has_whole_margins()) << at;
  }
}

}  // namespace
}  // namespace headpond::resize_internal
