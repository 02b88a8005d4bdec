// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/bases/named_error_internal.h"
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/ops/element/map_result_internal.h"
#include "headpond/dataset/ops/fold.h"

namespace headpond::internal {
namespace {

class TakeWhile final : public Node {
 public:
  TakeWhile(Facts facts, Function predicate) : Node(std::move(facts)), predicate_(std::move(predicate)) {}
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override;
  /// value, end or error.
  Got judge(const Element& element, Context& context) const {
    const auto answer = call_named(*this, element, [&]() -> Result<bool> {
      Element out;
      if (Error error = predicate_.call(element, out)) return fail(std::move(error));
      return out[size_t{0}].as<bool>()[0];
    });
    if (!answer) return context.fail(answer.error());
    return *answer ? Got::value : Got::end;
  }

 private:
  const Function predicate_;
};

class TakeWhileIterator final : public Iterator {
 public:
  TakeWhileIterator(const TakeWhile& node, std::unique_ptr<Iterator> input) : node_(node), input_(std::move(input)) {}
  Got next(Context& context, Element& out) override {
    if (ended_) return Got::end;
    Got got = input_->next(context, out);
    if (got != Got::value) return got;
    got = node_.judge(out, context);
    ended_ = got == Got::end;
    if (got != Got::value) out.clear();
    return got;
  }
  void visit_state(StateVisitor& visitor) override {
    visitor.number(ended_);
    input_->visit_state(visitor);
  }

 private:
  const TakeWhile& node_;
  const std::unique_ptr<Iterator> input_;
  bool ended_ = false;
};

std::unique_ptr<Iterator> TakeWhile::iterate(const Binding& binding, Feed& feed) const {
  return std::make_unique<TakeWhileIterator>(*this, feed.open(input(), binding));
}

}  // namespace

Step take_while_step(Function predicate, const MapOptions& options) {
  if (predicate.result.size() != 1 || predicate.result[0].dtype != DType::boolean) {
    refuse("take_while", "the predicate must give one bool");
  }
  return [predicate = std::move(predicate), options](const Dataset& input) {
    predicate.check("take_while", input.spec());
    Node::Facts facts = facts_over(input.node(), "take_while", function_label(options), input.spec());
    facts.is_of_library = true;
    facts.kind = Kind::stream;
    facts.computes = true;
    facts.blocking = options.blocking;
    facts.opaque = options.name.empty();
    return Dataset(std::make_shared<TakeWhile>(std::move(facts), predicate));
  };
}

}  // namespace headpond::internal
