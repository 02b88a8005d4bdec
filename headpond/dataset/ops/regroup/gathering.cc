// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "headpond/dataset/bases/batching.h"
#include "headpond/dataset/bases/field.h"
#include "headpond/dataset/dataset.h"
#include "headpond/dataset/ops/regroup/gathering_internal.h"

namespace headpond::internal {
namespace {

class GatheringIterator final : public Iterator {
 public:
  GatheringIterator(const Gathering& node, const Binding& binding, Feed& feed)
      : node_(node), groups_(node, node, binding, feed, kMostHeld) {}

  Got next(Context& context, Element& out) override {
    while (true) {
      int64_t key = 0;
      if (const Got got = groups_.next(context, key); got != Got::value) return got;
      if (groups_.at_end() && node_.drop_remainder()) {
        groups_.remove(key);
        continue;
      }
      try {
        node_.stack(key, groups_[key].elements, context, out);
      } catch (...) {
        groups_.remove(key);
        out.clear();
        return context.fail(current_exception_error());
      }
      groups_.remove(key);
      name_batch(out, given_++);
      return Got::value;
    }
  }
  void visit_state(StateVisitor& visitor) override {
    visitor.number_within(given_, 0, kEndless);
    groups_.visit_state(visitor);
  }

 private:
  const Gathering& node_;
  Groups groups_;
  int64_t given_ = 0;
};

Node::Facts as_stream(Node::Facts facts) {
  facts.kind = Kind::stream;
  facts.slots = facts.inputs[0]->facts().slots;
  facts.role = Role::batch;
  facts.computes = true;
  return facts;
}

}  // namespace

Gathering::Gathering(Facts facts, bool drop_remainder)
    : Node(as_stream(std::move(facts))), drop_remainder_(drop_remainder) {}

std::unique_ptr<Iterator> Gathering::iterate(const Binding& binding, Feed& feed) const {
  return std::make_unique<GatheringIterator>(*this, binding, feed);
}

void check_integer(const std::string& op, const char* what, const Function& function) {
  const Spec& result = function.result;
  if (result.size() == 1 && (result[0].dtype == DType::i64 || result[0].dtype == DType::i32)) return;
  refuse(op, fmt::format("the {} function must give one int64 or int32", what));
}

Result<int64_t> call_integer(const Function& function, const Element& element) {
  Element answer;
  if (Error error = function.call(element, answer)) return fail(std::move(error));
  const Tensor& value = answer[size_t{0}];
  return value.dtype() == DType::i64 ? value.item<int64_t>() : value.item<int32_t>();
}

IntegerFunction length_of_field(const std::string& op, const Spec& spec, const std::string& field) {
  const size_t index = field_index(op, spec, field);
  if (spec[index].shape.rank() == 0 && spec[index].dtype != DType::bytes) {
    refuse(op, fmt::format("field {} of {} is a number, which has no length", index, to_string(spec)));
  }
  IntegerFunction made{.label = fmt::format("length of field {}", index)};
  made.function.result = {{"", DType::i64, {}}};
  made.function.check = [](const std::string&, const Spec&) {};
  made.function.call = [index](const Element& in, Element& out) -> Error {
    const Tensor& value = in[index];
    out.append(Tensor::scalar(value.rank() > 0 ? value.dim(0) : static_cast<int64_t>(value.bytes_at(0).size())));
    return {};
  };
  return made;
}

}  // namespace headpond::internal
