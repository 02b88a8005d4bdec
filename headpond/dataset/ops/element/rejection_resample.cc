// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "headpond/dataset/bases/joined_internal.h"
#include "headpond/dataset/bases/named_error_internal.h"
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/ops/element/map_result_internal.h"
#include "headpond/dataset/ops/random.h"
#include "headpond/dataset/run_state.h"

namespace headpond::internal {
namespace {

constexpr const char* kOp = "rejection_resample";
constexpr int64_t kPrior = 10;  // Elements of each class, before the first one.

// How likely an element of each class is kept, if `found` of each were seen: the most for which the parts come out.
template <class Number>
double kept_part(const std::vector<double>& target, const std::vector<Number>& found, size_t of) {
  double most = 0;
  const auto ratio = [&](size_t i) { return target[i] == 0 ? 0 : target[i] / static_cast<double>(found[i]); };
  for (size_t i = 0; i < target.size(); ++i) most = std::max(most, ratio(i));
  return ratio(of) / most;
}

// The class function, and whether an element is kept.
struct Classes {
  Function function;
  std::vector<double> target;

  Result<size_t> of(const Element& element) const {
    Element answer;
    if (Error error = function.call(element, answer)) return fail(std::move(error));
    const Tensor& value = answer[size_t{0}];
    const int64_t index = value.dtype() == DType::i64 ? value.item<int64_t>() : value.item<int32_t>();
    if (index >= 0 && std::cmp_less(index, target.size())) return static_cast<size_t>(index);
    return fail(ErrorKind::InvalidArgument, fmt::format("class {} of {}", index, target.size()));
  }
  template <class Number>
  bool keeps(const std::vector<Number>& found, size_t index, RandomKey random_key, uint64_t key) const {
    const double word = static_cast<double>(Random(random_key, key).u64() >> 11) * 0x1p-53;
    return word < kept_part(target, found, index);
  }
};

class Resample final : public Pointwise {
 public:
  Resample(Facts facts, Classes classes, std::vector<double> initial)
      : Pointwise(std::move(facts)), classes_(std::move(classes)), initial_(std::move(initial)) {}
  Got apply(Element& in, RandomKey random_key, Context& context, OutputSlots, Element& out) const override {
    const auto index = classes_.of(in);
    if (!index) return context.fail(index.error());
    if (!classes_.keeps(initial_, *index, random_key, in.key)) return Got::hole;
    out = std::move(in);
    return Got::value;
  }

 private:
  const Classes classes_;
  const std::vector<double> initial_;
};

class CountingResample final : public Node {
 public:
  CountingResample(Facts facts, Classes all) : Node(std::move(facts)), classes(std::move(all)) {}
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override;

  const Classes classes;
};

class CountingResampleIterator final : public Iterator {
 public:
  CountingResampleIterator(const CountingResample& node, const Binding& binding, Feed& feed)
      : node_(node),
        random_key_(node.random_key(binding)),
        input_(feed.open(node.input(), binding)),
        counts_(node.classes.target.size(), kPrior),
        holes_(node) {}
  Got next(Context& context, Element& out) override {
    while (true) {
      Got got = input_->next(context, out);
      if (got != Got::value) return holes_.count(got, context);
      const auto index = call_named(node_, out, [&] { return node_.classes.of(out); });
      if (!index) {
        out.clear();
        return context.fail(index.error());
      }
      ++counts_[*index];
      const bool keeps = node_.classes.keeps(counts_, *index, random_key_, out.key);
      if (got = holes_.count(keeps ? got : Got::hole, context); got != Got::hole) return got;
      out.clear();
    }
  }
  void visit_state(StateVisitor& visitor) override {
    for (int64_t& count : counts_) visitor.number_within(count, kPrior, kEndless);
    input_->visit_state(visitor);
  }

 private:
  const CountingResample& node_;
  const RandomKey random_key_;
  const std::unique_ptr<Iterator> input_;
  std::vector<int64_t> counts_;
  Holes holes_;
};

std::unique_ptr<Iterator> CountingResample::iterate(const Binding& binding, Feed& feed) const {
  return std::make_unique<CountingResampleIterator>(*this, binding, feed);
}

Node::Facts facts_of(const Node::Ref& input, const std::vector<double>& target,
                     const RejectionResampleOptions& options) {
  std::string args = fmt::format("target_dist={}, ", fmt::join(target, " "));
  if (!options.initial_dist.empty()) args += fmt::format("initial_dist={}, ", fmt::join(options.initial_dist, " "));
  args += function_label({.name = options.name, .version = options.version});
  Node::Facts facts = facts_over(input, kOp, std::move(args), input->spec());
  facts.is_of_library = true;
  if (options.initial_dist.empty()) {
    facts.kind = Kind::stream;
  } else if (facts.kind == Kind::indexed) {
    facts.kind = Kind::sparse;
  }
  facts.computes = true;
  facts.role = Role::filter;
  facts.random_streams = {options.name.empty() ? kOp : options.name};
  facts.opaque = options.name.empty();
  return facts;
}

}  // namespace

Step rejection_resample_step(Function class_function, const std::vector<double>& target_dist,
                             const RejectionResampleOptions& options) {
  const Spec& result = class_function.result;
  if (result.size() != 1 || (result[0].dtype != DType::i64 && result[0].dtype != DType::i32)) {
    refuse(kOp, "the class function must give one int64 or int32");
  }
  check_weights(kOp, target_dist, target_dist.size());
  if (!options.initial_dist.empty()) check_weights(kOp, options.initial_dist, target_dist.size());
  for (size_t i = 0; i < options.initial_dist.size(); ++i) {
    if (options.initial_dist[i] == 0 && target_dist[i] > 0) {
      refuse(kOp, fmt::format("target_dist has class {}, which never occurs by initial_dist", i));
    }
  }
  return [class_function = std::move(class_function), target_dist, options](const Dataset& input) {
    class_function.check(kOp, input.spec());
    Node::Facts facts = facts_of(input.node(), target_dist, options);
    Classes classes{class_function, target_dist};
    if (options.initial_dist.empty()) {
      return Dataset(std::make_shared<CountingResample>(std::move(facts), std::move(classes)));
    }
    return Dataset(std::make_shared<Resample>(std::move(facts), std::move(classes), options.initial_dist));
  };
}

}  // namespace headpond::internal
