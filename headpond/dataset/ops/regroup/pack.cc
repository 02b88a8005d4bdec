// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "headpond/dataset/bases/batching.h"
#include "headpond/dataset/bases/field.h"
#include "headpond/dataset/bases/named_error_internal.h"
#include "headpond/dataset/check_internal.h"
#include "headpond/dataset/ops/batch/padded_batch_internal.h"
#include "headpond/dataset/ops/regroup.h"
#include "headpond/dataset/ops/regroup/held_input_internal.h"
#include "headpond/dataset/ops/regroup/pack_bins_internal.h"

namespace headpond {
namespace {

using internal::PackBins;
using Lengths = std::vector<int64_t>;

constexpr const char* kOp = "pack";
constexpr int64_t kMostBins = 4096;

class Pack final : public Node {
 public:
  Pack(Facts facts, Lengths lengths, std::vector<internal::PaddedField> padding, const PackOptions& options)
      : Node(std::move(facts)), lengths_(std::move(lengths)), padding_(std::move(padding)), options_(options) {}
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override;

  PackBins bins() const { return {lengths_, options_.fit, options_.num_packing_bins, options_.max_sequences_per_bin}; }
  /// The length of each field.
  Result<Lengths> measure(const Element& sequence) const {
    if (Error error = internal::check_element(input().spec(), sequence)) return fail(std::move(error));
    Lengths found;
    for (size_t i = 0; i < lengths_.size(); ++i) {
      found.push_back(sequence[i].dim(0));
      if (found[i] <= lengths_[i]) continue;
      return fail(ErrorKind::DataLoss,
                  fmt::format("field {} has the length {}, longer than a packed row of {}", i, found[i], lengths_[i]));
    }
    if (std::any_of(found.begin(), found.end(), [](int64_t length) { return length > 0; })) return found;
    return fail(ErrorKind::InvalidArgument, "an empty sequence would be lost in a packed row; filter it out before");
  }
  void append_row(const PackBins::Bin& bin, Context& context, Element& out) const {
    for (size_t i = 0; i < lengths_.size(); ++i) {
      append_values(bin, i, context, out);
      append_counts(bin, i, context, out, [](int64_t segment, int64_t) { return segment; });
      append_counts(bin, i, context, out, [](int64_t, int64_t position) { return position; });
    }
  }

 private:
  void append_values(const PackBins::Bin& bin, size_t field, Context& context, Element& out) const {
    const FieldSpec& spec = this->spec()[3 * field];
    std::byte* to = context.allocate_output(out, {}, spec.dtype, spec.shape);
    const size_t item = item_size(spec.dtype), all = static_cast<size_t>(*spec.shape.size()) * item;
    size_t used = 0;
    for (const Element& sequence : bin.sequences) {
      const size_t bytes = sequence[field].byte_size();
      if (bytes > 0) std::memcpy(to + used, sequence[field].data(), bytes);
      used += bytes;
    }
    for (; used < all; used += item) std::memcpy(to + used, padding_[field].value.data(), item);
  }
  // An int32 for each position: `of(segment, position)`, 0 in the padding.
  template <class Of>
  void append_counts(const PackBins::Bin& bin, size_t field, Context& context, Element& out, Of of) const {
    const int64_t length = lengths_[field];
    auto* const to = reinterpret_cast<int32_t*>(context.allocate_output(out, {}, DType::i32, {length}));
    int64_t at = 0;
    for (size_t s = 0; s < bin.sequences.size(); ++s) {
      for (int64_t i = 0; i < bin.sequences[s][field].dim(0); ++i) {
        to[at++] = static_cast<int32_t>(of(static_cast<int64_t>(s) + 1, i));
      }
    }
    std::fill(to + at, to + length, 0);
  }

  const Lengths lengths_;
  const std::vector<internal::PaddedField> padding_;
  const PackOptions options_;
};

class PackIterator final : public Iterator {
 public:
  PackIterator(const Pack& node, const Binding& binding, Feed& feed)
      : node_(node), input_(node.input(), binding, feed), bins_(node.bins()) {}

  Got next(Context& context, Element& out) override {
    while (!bins_.has_full()) {
      Element sequence;
      int64_t ticket = 0;
      const Got got = input_.next(context, sequence, ticket);
      if (got == Got::end) return bins_.empty() ? got : give(bins_.take_oldest(), context, out);
      if (got != Got::value) return got;
      const auto lengths = internal::call_named(node_, sequence, [&] { return node_.measure(sequence); });
      if (!lengths) {
        input_.release(ticket);
        return context.fail(lengths.error());
      }
      if (bins_.sequences() < internal::kMostHeld && bins_.has_room(*lengths)) {
        bins_.put(std::move(sequence), ticket, *lengths);
        continue;
      }
      const PackBins::Bin taken = bins_.take();
      bins_.put(std::move(sequence), ticket, *lengths);
      return give(taken, context, out);
    }
    return give(bins_.take(), context, out);
  }
  void visit_state(StateVisitor& visitor) override {
    visitor.number_within(given_, 0, kEndless);
    input_.visit_state(visitor);
  }

 private:
  Got give(const PackBins::Bin& bin, Context& context, Element& out) {
    static const uint64_t source = register_source(kOp);
    for (const int64_t ticket : bin.tickets) input_.release(ticket);
    node_.append_row(bin, context, out);
    out.key = internal::batch_key(given_);
    out.provenance = {.source = source, .record = static_cast<uint64_t>(given_++)};
    return Got::value;
  }

  const Pack& node_;
  internal::HeldInput input_;
  PackBins bins_;
  int64_t given_ = 0;
};

std::unique_ptr<Iterator> Pack::iterate(const Binding& binding, Feed& feed) const {
  return std::make_unique<PackIterator>(*this, binding, feed);
}

// The length of each field in a row, by its name or, without one, its number.
Lengths lengths_of(const Spec& spec, int64_t length, const std::vector<internal::PaddedField>& fields,
                   const std::map<std::string, int64_t>& lengths) {
  Lengths all;
  for (size_t i = 0; i < spec.size(); ++i) {
    const Shape& shape = spec[i].shape;
    if (shape.rank() == 0 || spec[i].dtype == DType::bytes || !shape.row().is_full()) {
      refuse(kOp, fmt::format("field {} of {} is no sequence of numbers of one shape", i, to_string(spec)));
    }
    const auto own = lengths.find(fields[i].label);
    all.push_back(own == lengths.end() ? length : own->second);
    if (all.back() < 1 || all.back() > INT32_MAX) {
      refuse(kOp, fmt::format("a length of {}: it must be 1 to {}", all.back(), INT32_MAX));
    }
  }
  for (const auto& [label, unused] : lengths) {
    const auto is_it = [&label = label](const internal::PaddedField& field) { return field.label == label; };
    if (std::none_of(fields.begin(), fields.end(), is_it)) {
      refuse(kOp, fmt::format("lengths names field '{}', which is not in {}", label, to_string(spec)));
    }
  }
  return all;
}

Spec packed_spec(const Spec& spec, const Lengths& lengths) {
  Spec packed;
  for (size_t i = 0; i < spec.size(); ++i) {
    const std::string label = !spec[i].name.empty() ? spec[i].name : spec.size() > 1 ? fmt::format("{}", i) : "";
    const std::string prefix = label.empty() ? "" : label + "_";
    packed.push_back({spec[i].name, spec[i].dtype, spec[i].shape.row().stacked(lengths[i])});
    packed.push_back({prefix + "segment_ids", DType::i32, {lengths[i]}});
    packed.push_back({prefix + "positions", DType::i32, {lengths[i]}});
  }
  check_names(kOp, packed);
  return packed;
}

Dataset packed(const Dataset& input, int64_t length, const PackOptions& options) {
  const Spec& spec = input.spec();
  auto padding = internal::padded_fields(kOp, spec, {}, options.padding_values);
  Lengths lengths = lengths_of(spec, length, padding, options.lengths);
  Node::Facts facts{
      .op = kOp,
      .args = fmt::format("length={}, fit={}, num_packing_bins={}, max_sequences_per_bin={}{}", fmt::join(lengths, " "),
                          options.fit == PackFit::first_fit ? "first" : "best", options.num_packing_bins,
                          options.max_sequences_per_bin, internal::to_string(padding)),
      .spec = packed_spec(spec, lengths),
      .kind = Kind::stream,
      .slots = input.node()->facts().slots,
      .inputs = {input.node()},
      .holds = internal::kMostHeld,
      .role = Role::unbatch,  // A packed row is a sample, whatever its sequences were.
      .computes = true};
  facts.is_of_library = true;
  return Dataset(std::make_shared<Pack>(std::move(facts), std::move(lengths), std::move(padding), options));
}

}  // namespace

Step pack(int64_t length, const PackOptions& options) {
  if (options.num_packing_bins < 1 || options.num_packing_bins > kMostBins || options.max_sequences_per_bin < 0) {
    refuse(kOp, fmt::format("num_packing_bins={}, max_sequences_per_bin={}: bins must be 1 to {}, sequences "
                            "at least 1 (0: no limit)",
                            options.num_packing_bins, options.max_sequences_per_bin, kMostBins));
  }
  if (options.fit > PackFit::best_fit) refuse(kOp, fmt::format("fit={} is unknown", static_cast<int>(options.fit)));
  return [=](const Dataset& input) { return packed(input, length, options); };
}

}  // namespace headpond
