// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/dataset_test_internal.h"

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
    if (!next.has_value()) {
      ADD_FAILURE() << next.error();
      break;
    }
    if (!*next) break;
    all.push_back(fmt::format("{}/{} {}", sequence.epoch(), sequence.index(), with_key(**next)));
  }
  const auto after = sequence.next();
  EXPECT_TRUE(after && !*after) << "the end did not stay";
  return {all, sequence.state()};
}

// The element at a position, its fields written to offered places that were dirty.
Got at_with_offers(const View& view, const Spec& spec, int64_t i, Context& context, Element& out,
                   std::vector<std::vector<std::byte>>& places) {
  std::vector<Offer> offers;
  for (const FieldSpec& field : spec) {
    const bool fixed = field.dtype != DType::bytes && field.shape.is_full();
    const size_t size = fixed ? item_size(field.dtype) * static_cast<size_t>(*field.shape.size()) : 0;
    places.emplace_back(size + 1, std::byte{0xA5});
    offers.push_back({fixed ? places.back().data() : nullptr, &field});
  }
  return view.at(i, context, offers, out);
}

void check_positions(const Dataset& dataset, const Binding& binding, const std::vector<std::string>& iterated) {
  const auto view = dataset.node()->bind(binding);
  Context context;
  std::vector<std::string> plain, offered;
  for (int64_t i = 0; i < dataset.node()->slots(); ++i) {
    Element one, two;
    std::vector<std::vector<std::byte>> places;
    const Got got = view->at(i, context, {}, one);
    ASSERT_EQ(at_with_offers(*view, dataset.spec(), i, context, two, places), got);
    ASSERT_TRUE(got == Got::value || (got == Got::hole && dataset.kind() == Kind::sparse));
    if (got != Got::value) continue;
    plain.push_back(with_key(one));
    offered.push_back(with_key(two));
  }
  EXPECT_EQ(plain, iterated);
  EXPECT_EQ(offered, plain) << "a field differs when it is written to an offered place";
}

}  // namespace

Step as_stream() {
  return [](const Dataset& input) { return Dataset(std::make_shared<AsStream>(input.node())); };
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
