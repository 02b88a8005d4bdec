// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/columns_internal.h"
#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

class AsStream final : public Node {
 public:
  explicit AsStream(const Node::Ref& input)
      : Node({.op = "as_stream",
              .spec = input->spec(),
              .kind = Kind::stream,
              .slots = input->slots(),
              .inputs = {input}}) {}
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override {
    return feed.open(input(), binding);
  }
};

std::string with_key(const Element& element) { return fmt::format("{} #{:x}", text_of(element), element.key); }

// The rest from here on, and the state at its end.
std::pair<std::vector<std::string>, std::string> rest(Sequence& sequence) {
  std::vector<std::string> all;
  while (true) {
    const auto next = sequence.next();
    if (at_end(next)) break;
    if (!next.has_value()) {
      ADD_FAILURE() << next.error();
      break;
    }
    all.push_back(fmt::format("{}/{} {}", sequence.epoch(), sequence.index(), with_key(*next)));
  }
  EXPECT_TRUE(at_end(sequence.next())) << "the end did not stay";
  return {all, sequence.state()};
}

bool is_fixed(const FieldSpec& field) { return field.dtype != DType::bytes && field.shape.is_full(); }
bool is_text(const FieldSpec& field) { return field.dtype == DType::bytes && field.shape == Shape(); }

// Columns of `count` elements with a byte after each that nobody may touch.
class DirtyColumns {
 public:
  DirtyColumns(const Spec& spec, size_t count) : spec_(spec), keys(count, 0xA5) {
    for (const FieldSpec& field : spec) {
      sizes_.push_back(row_bytes(field));
      columns_.emplace_back(count * sizes_.back() + 1, std::byte{0xA5});
      outputs_.push_back({columns_.back().data(), &field});
    }
  }
  OutputSlots outputs() const { return outputs_; }

  // What differs in row `r` from `element`.
  std::string difference(size_t r, const Element& element) const {
    for (size_t f = 0; f < spec_.size(); ++f) {
      if (columns_[f].back() != std::byte{0xA5}) return fmt::format("field {}: written after its end", f);
      if (is_text(spec_[f])) {
        std::string_view text;
        std::memcpy(&text, &columns_[f][r * sizes_[f]], sizeof(std::string_view));
        if (text != element[f].bytes_at(0)) return fmt::format("field {} is '{}'", f, text);
      } else if (std::memcmp(&columns_[f][r * sizes_[f]], element[f].data(), sizes_[f]) != 0) {
        return fmt::format("field {} is {}", f,
                           text_of(Tensor::view(&columns_[f][r * sizes_[f]], spec_[f].dtype, spec_[f].shape)));
      }
    }
    return "";
  }

 private:
  const Spec& spec_;
  std::vector<size_t> sizes_;
  std::vector<std::vector<std::byte>> columns_;
  std::vector<OutputSlot> outputs_;

 public:
  std::vector<uint64_t> keys;
};

std::string columns_difference(const Spec& spec, const View& view, std::span<const int64_t> positions) {
  Context context;
  DirtyColumns columns(spec, positions.size()), without_keys(spec, positions.size());
  if (!view.fill(positions, context, columns.outputs(), columns.keys.data())) return "not filled";
  if (!view.fill(positions, context, without_keys.outputs(), nullptr)) return "not filled without keys";
  for (size_t r = 0; r < positions.size(); ++r) {
    Element element;
    if (view.at(positions[r], context, {}, element) != Got::value) return "filled where at() gives no value";
    std::string found = columns.difference(r, element);
    if (found.empty() && columns.keys[r] != element.key) found = fmt::format("the key is #{:x}", columns.keys[r]);
    if (found.empty()) found = without_keys.difference(r, element);
    if (!found.empty())
      return fmt::format("row {}, position {}: {}, at() gives {}", r, positions[r], found, with_key(element));
  }
  return "";
}

// The element at a position, its fields written to output slots whose memory was dirty.
Got at_with_outputs(const View& view, const Spec& spec, int64_t i, Context& context, Element& out,
                    std::vector<std::vector<std::byte>>& memory) {
  std::vector<OutputSlot> outputs;
  for (const FieldSpec& field : spec) {
    const bool fixed = is_fixed(field);
    const size_t size = fixed ? item_size(field.dtype) * static_cast<size_t>(*field.shape.size()) : 0;
    memory.emplace_back(size + 1, std::byte{0xA5});
    outputs.push_back({fixed ? memory.back().data() : nullptr, &field});
  }
  return view.at(i, context, outputs, out);
}

void check_positions(const Dataset& dataset, const Binding& binding, const std::vector<std::string>& iterated) {
  const auto view = dataset.node()->bind(binding);
  Context context;
  std::vector<std::string> plain, written;
  for (int64_t i = 0; i < dataset.node()->slots(); ++i) {
    Element one, two;
    std::vector<std::vector<std::byte>> memory;
    const Got got = view->at(i, context, {}, one);
    ASSERT_EQ(at_with_outputs(*view, dataset.spec(), i, context, two, memory), got);
    ASSERT_TRUE(got == Got::value || (got == Got::hole && dataset.kind() == Kind::sparse));
    if (got != Got::value) continue;
    plain.push_back(with_key(one));
    written.push_back(with_key(two));
  }
  EXPECT_EQ(plain, iterated);
  EXPECT_EQ(written, plain) << "a field differs when it is written to an output slot";
  if (fills(*dataset.node(), binding)) {
    EXPECT_EQ(fill_difference(*dataset.node(), *view, binding.epoch), "");
  }
}

}  // namespace

Step as_stream() {
  return [](const Dataset& input) { return Dataset(std::make_shared<AsStream>(input.node())); };
}

bool fills(const Node& node, const Binding& binding) {
  const bool fixed = std::all_of(node.spec().begin(), node.spec().end(),
                                 [](const FieldSpec& field) { return is_fixed(field) || is_text(field); });
  if (node.kind() != Kind::indexed || !fixed) return false;
  Context context;
  return node.bind(binding)->fill({}, context, DirtyColumns(node.spec(), 0).outputs(), nullptr);
}

std::string fill_difference(const Node& node, const View& view, uint64_t seed) {
  Random random(RandomKey{seed});
  const auto slots = static_cast<uint64_t>(std::min<int64_t>(node.slots(), 2000));
  for (const size_t count : {1, 2, 7, 255, 256, 257, 700}) {
    std::vector<int64_t> positions;
    const uint64_t first = slots == 0 ? 0 : random.below(slots);
    for (uint64_t r = 0; slots > 0 && r < count; ++r) {
      positions.push_back(static_cast<int64_t>(count == 7 ? (first + r) % slots : random.below(slots)));
    }
    const std::string found = columns_difference(node.spec(), view, positions);
    if (!found.empty()) return fmt::format("{} positions: {}", count, found);
  }
  return "";
}

void check_contract(const Dataset& dataset, SequenceOptions options) {
  Sequence whole(dataset, options), again(dataset, options);
  const auto [all, last_state] = rest(whole);
  EXPECT_EQ(rest(again), std::pair(all, last_state));
  Sequence stepping(dataset, options);
  for (size_t taken = 0; taken <= all.size(); ++taken) {
    const std::string state = stepping.state();
    auto restored = Sequence::restored(dataset, options, state);
    ASSERT_TRUE(restored) << restored.error();
    EXPECT_EQ(restored->state(), state) << "saved at once after the restore at " << taken;
    const auto [more, end_state] = rest(*restored);
    ASSERT_EQ(more, std::vector(all.begin() + static_cast<std::ptrdiff_t>(taken), all.end())) << "from " << taken;
    EXPECT_EQ(end_state, last_state) << "from " << taken;
    (void)stepping.next();
  }
  if (dataset.kind() == Kind::stream || dataset.node()->slots() == kEndless) return;
  if (dataset.kind() == Kind::indexed) {
    EXPECT_EQ(dataset.cardinality(), elements(dataset).size());
  }
  for (uint64_t epoch = 0; epoch < 2; ++epoch) {
    std::vector<std::string> iterated;
    for (const std::string& line : all) {
      if (line.starts_with(fmt::format("{}/", epoch))) iterated.push_back(line.substr(line.find(' ') + 1));
    }
    check_positions(dataset, {options.seed, epoch}, iterated);
  }
}

}  // namespace headpond::internal
