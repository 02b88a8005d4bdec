// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/bases/carried_internal.h"
#include "headpond/dataset/bases/named_error_internal.h"
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/check_internal.h"
#include "headpond/dataset/ops/element/map_result_internal.h"
#include "headpond/dataset/ops/fold.h"

namespace headpond {
namespace {

using Pair = std::pair<Element, Element>;

class Scan final : public Node {
 public:
  Scan(Facts facts, const Element& initial, ScanFunction function)
      : Node(std::move(facts)),
        initial_(initial),
        state_spec_(internal::spec_of(initial)),
        function_(std::move(function)) {}
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override;

  const Element& initial() const { return initial_; }
  const Spec& state_spec() const { return state_spec_; }
  Result<Pair> call(const Element& state, const Element& in) const {
    return internal::call_named(*this, in, [&]() -> Result<Pair> {
      auto made = function_(state, in);
      if (!made) return made;
      if (Error error = internal::check_element(state_spec_, made->first)) return fail(of("state", error));
      if (Error error = internal::check_element(spec(), made->second)) return fail(of("element", error));
      return made;
    });
  }

 private:
  static Error of(const char* what, const Error& error) {
    return {error.kind(), fmt::format("the {} does not fit: {}", what, error.message())};
  }

  const Element initial_;
  const Spec state_spec_;
  const ScanFunction function_;
};

class ScanIterator final : public Iterator {
 public:
  ScanIterator(const Scan& node, std::unique_ptr<Iterator> input)
      : node_(node), input_(std::move(input)), state_(node.initial()) {}
  Got next(Context& context, Element& out) override {
    Element in;
    const Got got = input_->next(context, in);
    out.key = in.key;  // Also of an element that failed.
    out.provenance = in.provenance;
    if (got != Got::value) return got;
    auto made = node_.call(state_, in);
    if (!made) return context.fail(std::move(made).error());
    state_ = std::move(made->first);
    out = std::move(made->second);
    out.key = in.key;
    out.provenance = in.provenance;
    return Got::value;
  }
  void visit_state(StateVisitor& visitor) override {
    internal::visit_values(visitor, node_.state_spec(), state_);
    input_->visit_state(visitor);
  }

 private:
  const Scan& node_;
  const std::unique_ptr<Iterator> input_;
  Element state_;
};

std::unique_ptr<Iterator> Scan::iterate(const Binding& binding, Feed& feed) const {
  return std::make_unique<ScanIterator>(*this, feed.open(input(), binding));
}

}  // namespace

Step scan(const Element& initial, ScanFunction function, const MapOptions& options) {
  if (!function) refuse("scan", "the function is empty");
  if (options.output.empty()) refuse("scan", "set MapOptions::output: the fields of the elements");
  return [initial, function = std::move(function), options](const Dataset& input) {
    const std::string args = fmt::format("state={}, crc32c {:08x}, {}", to_string(internal::spec_of(initial)),
                                         internal::digest_of(initial), internal::function_label(options));
    Node::Facts facts = facts_over(input.node(), "scan", args, options.output);
    facts.is_of_library = true;
    facts.kind = Kind::stream;
    facts.computes = true;
    facts.blocking = options.blocking;
    facts.opaque = options.name.empty();
    return Dataset(std::make_shared<Scan>(std::move(facts), initial, function));
  };
}

}  // namespace headpond
