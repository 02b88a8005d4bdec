// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/bases/pointwise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "headpond/dataset/bases/field.h"
#include "headpond/dataset/bases/own_memory_internal.h"
#include "headpond/dataset/dataset.h"
#include "headpond/dataset/progress/at_element.h"
#include "headpond/dataset/run_state.h"
#include "headpond/dataset/views/lending.h"
#include "headpond/dataset/views/prefetching.h"

namespace headpond {
namespace {

class PointView final : public View, public internal::PrefetchingView {
 public:
  PointView(const Pointwise& node, const Binding& binding)
      : node_(node),
        input_(view_of(node.input(), binding)),
        may_lend_(*input_),
        may_prefetch_(*input_),
        takes_lent_(takes_lent(node)),
        random_keys_(node.keys_of(binding)) {}

  Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
    if (takes_lent_) {
      if (const auto got = at_of_lent(i, context, outputs, out)) return *got;
    }
    Element in;
    return answer(input_->at(i, context, {}, in), in, context, outputs, out);
  }
  bool fill(std::span<const int64_t> positions, Context& context, OutputSlots columns, uint64_t* keys) const override {
    const internal::AtElement here(node_, positions);
    try {
      return node_.fill_keys(*input_, positions, random_keys_, context, columns, keys);
    } catch (...) {
      return false;  // at() finds which element it was.
    }
  }
  void prefetch(std::span<const int64_t> positions) const noexcept override { may_prefetch_.prefetch(positions); }

 private:
  Got answer(Got got, Element& in, Context& context, OutputSlots outputs, Element& out) const {
    if (got == Got::value) return node_.run(in, random_keys_, context, outputs, out);
    out.key = in.key;  // Key of the element that failed below.
    out.provenance = in.provenance;
    return got;
  }

  // Nothing if what was lent was not whole: whatever came of it, an error too, is not the answer. Nothing also
  // without memory for copies.
  std::optional<Got> at_of_lent(int64_t i, Context& context, OutputSlots outputs, Element& out) const {
    const int64_t defects = context.scratch().defects.count;
    const int64_t left_out = context.left_out;
    try {
      Element in;
      internal::Loan loan;
      const Got got = answer(may_lend_.lend(i, context, in, loan), in, context, outputs, out);
      if (got == Got::value) own(loan, context, outputs, out);
      if (loan.is_whole()) return got;
    } catch (...) {  // The element is asked again, and at() tells why.
    }
    out.clear();
    context.scratch().defects.count = defects;
    context.left_out = left_out;
    return std::nullopt;
  }

  // Copies fields that are still in lent memory.
  static void own(const internal::Loan& loan, Context& context, OutputSlots outputs, Element& out) {
    for (size_t i = 0; i < out.size(); ++i) {
      const Tensor& field = out[i];
      if (!loan.has(field)) continue;
      Element copied;
      if (field.dtype() == DType::bytes) {
        copied.append(internal::copy_of(field));
      } else {
        std::byte* const to = context.allocate_output(copied, slot_of(outputs, i), field.dtype(), field.shape());
        std::memcpy(to, field.data(), field.byte_size());
      }
      out[i] = std::move(copied[size_t{0}]);
    }
  }

  static bool takes_lent(const Pointwise& node) {
    const auto* const taking = dynamic_cast<const internal::TakesLent*>(&node);
    return taking != nullptr && taking->takes_lent();
  }

  const Pointwise& node_;
  const std::shared_ptr<const View> input_;
  const internal::MayLend may_lend_;
  const internal::MayPrefetch may_prefetch_;
  const bool takes_lent_;
  const std::vector<RandomKey> random_keys_;
};

class PointIterator final : public Iterator {
 public:
  PointIterator(const Pointwise& node, const Binding& binding, Feed& feed)
      : node_(node), input_(feed.open(node.input(), binding)), random_keys_(node.keys_of(binding)), holes_(node) {}

  Got next(Context& context, Element& out) override {
    while (true) {
      Element in;
      Got got = input_->next(context, in);
      out.key = in.key;
      out.provenance = in.provenance;
      if (got == Got::value) got = node_.run(in, random_keys_, context, {}, out);
      if (got = holes_.count(got, context); got != Got::hole) return got;
      out.clear();
    }
  }
  void visit_state(StateVisitor& visitor) override { input_->visit_state(visitor); }

 private:
  const Pointwise& node_;
  const std::unique_ptr<Iterator> input_;
  const std::vector<RandomKey> random_keys_;
  internal::Holes holes_;
};

}  // namespace

std::shared_ptr<const View> Pointwise::bind(const Binding& binding) const {
  return std::make_shared<PointView>(*this, binding);
}

std::unique_ptr<Iterator> Pointwise::iterate(const Binding& binding, Feed& feed) const {
  return std::make_unique<PointIterator>(*this, binding, feed);
}

bool Pointwise::fill(const View&, std::span<const int64_t>, RandomKey, Context&, OutputSlots, uint64_t*) const {
  return false;
}

bool Pointwise::fill_keys(const View& input, std::span<const int64_t> positions, std::span<const RandomKey> random_keys,
                          Context& context, OutputSlots columns, uint64_t* keys) const {
  return fill(input, positions, random_keys[0], context, columns, keys);
}

Got Pointwise::apply_keys(Element& in, std::span<const RandomKey> random_keys, Context& context, OutputSlots outputs,
                          Element& out) const {
  return apply(in, random_keys[0], context, outputs, out);
}

std::vector<RandomKey> Pointwise::keys_of(const Binding& binding) const {
  return draws() ? random_keys(binding) : std::vector<RandomKey>(1);
}

Got Pointwise::run(Element& in, std::span<const RandomKey> random_keys, Context& context, OutputSlots outputs,
                   Element& out) const {
  const uint64_t key = in.key;
  const Provenance provenance = in.provenance;
  const internal::AtElement here(*this, key, provenance);
  Got got = Got::error;
  try {
    got = apply_keys(in, random_keys, context, outputs, out);
  } catch (...) {
    context.error = current_exception_error();
  }
  out.key = key;
  out.provenance = provenance;
  if (got != Got::error) return got;
  out.clear();
  return context.fail(Error(context.error.kind(),
                            fmt::format("{}, {}: {}", title(), element_name(key, provenance), context.error.message()),
                            context.error)
                          .at(element_place(title(), key, provenance)));
}

Node::Facts facts_over(const Node::Ref& input, std::string op, std::string args, Spec spec) {
  return {.op = std::move(op),
          .args = std::move(args),
          .spec = std::move(spec),
          .kind = input->kind(),
          .slots = input->facts().slots,
          .inputs = {input}};
}

Lazy<int64_t> slots_of_all(const std::vector<Node::Ref>& inputs, int64_t first,
                           std::function<int64_t(int64_t, int64_t)> fold) {
  const auto all_of = [inputs, first, fold = std::move(fold)] {
    int64_t all = first;
    for (const Node::Ref& input : inputs) all = fold(all, input->slots());
    return all;
  };
  const auto is_known = [](const Node::Ref& input) { return input->facts().slots.is_known(); };
  if (std::all_of(inputs.begin(), inputs.end(), is_known)) return Lazy<int64_t>(all_of());
  return Lazy<int64_t>(all_of);
}

}  // namespace headpond
