// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "headpond/dataset/bases/batching.h"
#include "headpond/dataset/bases/field.h"
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/ops/batch.h"
#include "headpond/dataset/ops/batch/row_costs_internal.h"
#include "headpond/dataset/ops/batch/share_rows_internal.h"
#include "headpond/dataset/ops/element/map_result_internal.h"
#include "headpond/dataset/ops/structure/sharing.h"

namespace headpond {
namespace {

constexpr const char* kOp = "distribute";

struct Share {
  int64_t world_size, rank;
  UnevenBatch uneven;
  std::string mask_key;      // "": no mask.
  internal::RowCosts costs;  // Not known: rows are shared in their order.
  std::string function;      // Its label in the plan.
};

const char* name_of(UnevenBatch policy) {
  switch (policy) {
    case UnevenBatch::drop:
      return "drop";
    case UnevenBatch::pad:
      return "pad";
    case UnevenBatch::wrap:
      break;
  }
  return "wrap";
}

void check_rows_of(const Spec& spec) {
  for (const FieldSpec& field : spec) {
    if (field.shape.rank() == 0) {
      refuse(kOp, fmt::format("the input's {} has no rows: put it after batch", to_string(spec)));
    }
  }
}

// World size and rank are no arguments that a state belongs to: it can go on with others.
Node::Facts facts_of(const Node::Ref& input, const Share& options) {
  Spec spec = input->spec();
  for (FieldSpec& field : spec) {
    const int64_t rows = field.shape.dims()[0], world = options.world_size;
    field.shape = field.shape.row().stacked(rows != kUnknown && rows % world == 0 ? rows / world : kUnknown);
  }
  if (!options.mask_key.empty()) {
    const int64_t rows = spec.empty() ? kUnknown : spec[0].shape.dims()[0];
    spec.push_back({options.mask_key, DType::boolean, {rows}});
    check_names(kOp, spec);
  }
  std::string args = fmt::format("uneven={}", name_of(options.uneven));
  if (options.costs.field() != nullptr) args += fmt::format(", cost_field={}", *options.costs.field());
  if (!options.function.empty()) args += fmt::format(", cost={}", options.function);
  if (!options.mask_key.empty()) args += fmt::format(", mask_key={}", options.mask_key);
  Node::Facts facts = facts_over(input, kOp, std::move(args), std::move(spec));
  facts.location = fmt::format("world_size={}, rank={}", options.world_size, options.rank);
  facts.location_chooses = true;
  facts.opaque = options.function == "opaque";
  if (options.uneven == UnevenBatch::drop && facts.kind == Kind::indexed) facts.kind = Kind::sparse;
  return facts;
}

// The row of a batch of `rows` rows that is row `i` of all ranks together.
int64_t source_row(int64_t i, int64_t rows, UnevenBatch policy) {
  return policy == UnevenBatch::wrap ? i % rows : std::min(i, rows - 1);
}

// The most rows that a batch of `batches` has; kEndless: not known.
int64_t most_rows(const Node& batches) {
  if (const int64_t rows = batches.spec()[0].shape.dims()[0]; rows != kUnknown) return rows;
  const Node* at = &batches;
  const auto gives_same_batches = [](Role role) {
    return role == Role::order || role == Role::choice || role == Role::store || role == Role::repeat ||
           role == Role::hint;
  };
  while (at->facts().inputs.size() == 1 && gives_same_batches(at->facts().role)) at = &at->input();
  const auto* const batching = dynamic_cast<const Batching*>(at);
  return batching != nullptr ? std::min(batching->batch_size(), at->input().slots()) : kEndless;
}

class Distribute final : public Pointwise, public internal::Sharing {
 public:
  Distribute(const Node::Ref& input, const Share& options) : Pointwise(facts_of(input, options)), options_(options) {}

  Got apply(Element& in, RandomKey, Context& context, OutputSlots outputs, Element& out) const override {
    const int64_t rows = in[size_t{0}].dim(0), world = options_.world_size;
    for (size_t f = 1; f < in.size(); ++f) {
      if (in[f].dim(0) != rows) {
        return context.fail({ErrorKind::InvalidArgument,
                             fmt::format("field {} has {} rows, the first field has {}", f, in[f].dim(0), rows)});
      }
    }
    const int64_t count = options_.uneven == UnevenBatch::drop ? rows / world : (rows + world - 1) / world;
    if (count == 0 && options_.uneven == UnevenBatch::drop) return Got::hole;
    auto own = own_rows(in, rows, count);
    if (!own) return context.fail(own.error());
    const auto real = static_cast<size_t>(
        std::count_if(own->begin(), own->end(), [rows](int64_t i) { return i < rows; }));  // The first ones.
    for (int64_t& row : *own) row = source_row(row, rows, options_.uneven);
    for (size_t f = 0; f < in.size(); ++f) take(in[f], *own, context, outputs, out);
    if (options_.mask_key.empty()) return Got::value;
    std::byte* const mask = context.allocate_output(out, outputs, DType::boolean, {count});
    std::fill_n(mask, real, std::byte{1});
    std::fill_n(mask + real, own->size() - real, std::byte{0});
    return Got::value;
  }
  Error shortage() const override {
    if (options_.uneven != UnevenBatch::drop || spec().empty() || input().slots() == 0) return {};
    const int64_t rows = most_rows(input());
    if (rows == 0 || rows >= options_.world_size) return {};
    return {ErrorKind::FailedPrecondition,
            fmt::format("{}: rows of a batch: at most {}, for {} programs, so none gets any: use larger batches, or "
                        "pad or wrap",
                        title(), rows, options_.world_size)};
  }

 private:
  // The rows of this rank, `count` of them in rising order, as rows of all ranks together.
  Result<std::vector<int64_t>> own_rows(const Element& in, int64_t rows, int64_t count) const {
    std::vector<int64_t> own(static_cast<size_t>(count));
    std::iota(own.begin(), own.end(), options_.rank * count);
    if (options_.costs.is_known()) {
      const auto by_row = options_.costs.of(in, rows);
      if (!by_row) return fail(by_row.error());
      std::vector<double> costs;
      for (int64_t i = 0; i < count * options_.world_size; ++i) {
        costs.push_back((*by_row)[static_cast<size_t>(source_row(i, rows, options_.uneven))]);
      }
      own = internal::share_by_cost(costs, options_.world_size, options_.rank);
    }
    return own;
  }
  static void take(const Tensor& all, const std::vector<int64_t>& own, Context& context, OutputSlots outputs,
                   Element& out) {
    const auto count = static_cast<int64_t>(own.size());
    const Shape row = all.shape().row();
    if (all.dtype() == DType::bytes) {
      const int64_t values = *row.size();
      std::vector<std::string_view> texts;
      for (const int64_t i : own) {
        for (int64_t value = 0; value < values; ++value) texts.push_back(all.bytes_at(i * values + value));
      }
      out.append(Tensor::from(std::span<const std::string_view>(texts), row.stacked(count)));
      return;
    }
    std::byte* to = context.allocate_output(out, outputs, all.dtype(), row.stacked(count));
    const size_t bytes = static_cast<size_t>(*row.size()) * item_size(all.dtype());
    for (const int64_t i : own) {
      if (bytes > 0) std::memcpy(to, all.data() + static_cast<size_t>(i) * bytes, bytes);
      to += bytes;
    }
  }

  const Share options_;
};

}  // namespace

namespace internal {

Step distribute_step(int64_t world_size, int64_t rank, const std::optional<Function>& cost,
                     const DistributeOptions& options) {
  if (world_size < 1 || rank < 0 || rank >= world_size) {
    refuse(kOp, fmt::format("world_size={}, rank={}: rank must be in [0, world_size)", world_size, rank));
  }
  if (options.uneven > UnevenBatch::wrap) {
    refuse(kOp, fmt::format("uneven={} is unknown", static_cast<int>(options.uneven)));
  }
  if (cost && !options.cost_field.empty()) refuse(kOp, "a cost function and a cost_field: one of them is needed");
  return [=](const Dataset& input) {
    check_rows_of(input.spec());
    Share share{.world_size = world_size,
                .rank = rank,
                .uneven = options.uneven,
                .mask_key = options.mask_key,
                .costs = {},
                .function = ""};
    if (!options.cost_field.empty()) share.costs = RowCosts::of_field(kOp, input.spec(), options.cost_field);
    if (cost) {
      share.costs = RowCosts::of_function(kOp, input.spec(), *cost);
      share.function = function_label({.name = options.name, .version = options.version});
    }
    return Dataset(std::make_shared<Distribute>(input.node(), share));
  };
}

}  // namespace internal

Step distribute(int64_t world_size, int64_t rank, const DistributeOptions& options) {
  return internal::distribute_step(world_size, rank, std::nullopt, options);
}

Step distribute(int64_t world_size, int64_t rank, UnevenBatch uneven) {
  return distribute(world_size, rank, DistributeOptions{.uneven = uneven});
}

}  // namespace headpond
