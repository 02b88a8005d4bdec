// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/bases/columns.h"
#include "headpond/dataset/ops/element/values_internal.h"

namespace headpond::internal {
namespace {

constexpr size_t kBlockBytes = 16384;  // Fits into the first-level cache with what is read and written.
// Of one map over another. In a longer chain elements are made one by one, which takes less of the thread's stack.
constexpr int kMostBlocks = 32;

thread_local int g_blocks = 0;  // That this thread has on its stack.

struct BlockCount {
  BlockCount() { ++g_blocks; }
  ~BlockCount() { --g_blocks; }
  BlockCount(const BlockCount&) = delete;
  BlockCount& operator=(const BlockCount&) = delete;
};

}  // namespace

Function over_input(Function function, const Spec& input) {
  if (function.each) function.result[0].shape = input[0].shape;
  return function;
}

void map_values(const Function& function, const Tensor& in, Context& context, OutputSlots outputs, Element& out) {
  std::byte* const to = context.allocate_output(out, outputs, function.result[0].dtype, in.shape());
  function.each(in.data(), to, static_cast<size_t>(in.size()));
}

bool fill_rows(const View& input, size_t index, const FieldSpec& field, std::span<const int64_t> positions,
               Context& context, OutputSlots columns, uint64_t* keys, const MakeRows& make) {
  const size_t row = row_bytes(field);
  if (!field.shape.is_full() || row > kBlockBytes || g_blocks == kMostBlocks) return false;
  const BlockCount counted;
  if (positions.empty()) return input.fill({}, context, columns, keys);
  alignas(64) std::byte block[kBlockBytes];
  const size_t most = row == 0 ? positions.size() : kBlockBytes / row;
  std::vector<OutputSlot> below;
  ColumnsLeft left(columns, keys);
  while (true) {
    const size_t count = std::min(most, positions.size());
    below.assign(left.columns().begin(), left.columns().end());
    std::byte* const to = std::exchange(below[index], {block, &field}).data;
    if (!input.fill(positions.first(count), context, below, left.keys())) return false;
    make(block, count, to);
    positions = positions.subspan(count);
    if (positions.empty()) return true;
    left.pass(count);
  }
}

bool fill_values(const View& input, const Function& function, size_t index, const FieldSpec& field,
                 std::span<const int64_t> positions, Context& context, OutputSlots columns, uint64_t* keys) {
  if (!function.each) return false;
  const size_t values = static_cast<size_t>(field.shape.size().value_or(0));
  return fill_rows(input, index, field, positions, context, columns, keys,
                   [&](const std::byte* from, size_t rows, std::byte* to) { function.each(from, to, rows * values); });
}

}  // namespace headpond::internal
