// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/ops/batch.h"
#include "headpond/dataset/ops/batch/share_rows_internal.h"

namespace headpond {
namespace {

constexpr const char* kOp = "distribute";
constexpr size_t kNone = SIZE_MAX;

struct Share {
  int64_t world_size, rank;
  UnevenBatch uneven;
  size_t cost_field;  // kNone: rows are shared in their order.
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

// World size and rank are no arguments that a state belongs to: it can go on with others.
Node::Facts facts_of(const Node::Ref& input, const Share& options) {
  Spec spec = input->spec();
  for (FieldSpec& field : spec) {
    if (field.shape.rank() == 0) {
      refuse(kOp, fmt::format("the input's {} has no rows: put it after batch", to_string(spec)));
    }
    const int64_t rows = field.shape.dims()[0], world = options.world_size;
    field.shape = field.shape.row().stacked(rows != kUnknown && rows % world == 0 ? rows / world : kUnknown);
  }
  std::string args = fmt::format("uneven={}", name_of(options.uneven));
  if (options.cost_field != kNone) args += fmt::format(", cost_field={}", options.cost_field);
  Node::Facts facts = facts_over(input, kOp, std::move(args), std::move(spec));
  facts.location = fmt::format("world_size={}, rank={}", options.world_size, options.rank);
  if (options.uneven == UnevenBatch::drop && facts.kind == Kind::indexed) facts.kind = Kind::sparse;
  return facts;
}

// The row of a batch of `rows` rows that is at place `i` of all ranks.
int64_t source_row(int64_t i, int64_t rows, UnevenBatch policy) {
  return policy == UnevenBatch::wrap ? i % rows : std::min(i, rows - 1);
}

template <class T>
void append_costs(const Tensor& field, std::vector<double>& costs) {
  for (const T value : field.as<T>()) costs.push_back(static_cast<double>(value));
}

bool is_cost(DType dtype) {
  return dtype != DType::bytes && dtype != DType::boolean && dtype != DType::f16 && dtype != DType::bf16;
}

// REQUIRES: is_cost(field.dtype()).
std::vector<double> costs_of(const Tensor& field) {
  std::vector<double> costs;
  switch (field.dtype()) {
    case DType::u8:
      append_costs<uint8_t>(field, costs);
      break;
    case DType::i8:
      append_costs<int8_t>(field, costs);
      break;
    case DType::u16:
      append_costs<uint16_t>(field, costs);
      break;
    case DType::i16:
      append_costs<int16_t>(field, costs);
      break;
    case DType::u32:
      append_costs<uint32_t>(field, costs);
      break;
    case DType::i32:
      append_costs<int32_t>(field, costs);
      break;
    case DType::u64:
      append_costs<uint64_t>(field, costs);
      break;
    case DType::i64:
      append_costs<int64_t>(field, costs);
      break;
    case DType::f32:
      append_costs<float>(field, costs);
      break;
    default:
      append_costs<double>(field, costs);
  }
  return costs;
}

class Distribute final : public Pointwise {
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
    const auto own = own_rows(in, rows, count);
    if (!own) return context.fail(own.error());
    for (size_t f = 0; f < in.size(); ++f) take(in[f], *own, context, outputs, out);
    return Got::value;
  }

 private:
  // The rows of this rank, `count` of them.
  Result<std::vector<int64_t>> own_rows(const Element& in, int64_t rows, int64_t count) const {
    std::vector<int64_t> own(static_cast<size_t>(count));
    std::iota(own.begin(), own.end(), options_.rank * count);
    if (options_.cost_field != kNone) {
      const std::vector<double> by_row = costs_of(in[options_.cost_field]);
      const auto is_bad = [](double cost) { return !(cost >= 0 && std::isfinite(cost)); };
      if (const auto bad = std::find_if(by_row.begin(), by_row.end(), is_bad); bad != by_row.end()) {
        return fail(ErrorKind::InvalidArgument, fmt::format("row {} costs {}", bad - by_row.begin(), *bad));
      }
      std::vector<double> costs;
      for (int64_t i = 0; i < count * options_.world_size; ++i) {
        costs.push_back(by_row[static_cast<size_t>(source_row(i, rows, options_.uneven))]);
      }
      own = internal::share_by_cost(costs, options_.world_size, options_.rank);
    }
    for (int64_t& row : own) row = source_row(row, rows, options_.uneven);
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

size_t cost_field(const Spec& spec, const std::string& name) {
  if (name.empty()) return kNone;
  size_t index = 0;
  while (index < spec.size() && name != (spec[index].name.empty() ? fmt::format("{}", index) : spec[index].name))
    ++index;
  if (index == spec.size()) refuse(kOp, fmt::format("no field '{}' in {}", name, to_string(spec)));
  if (spec[index].shape.rank() == 1 && is_cost(spec[index].dtype)) return index;
  refuse(kOp, fmt::format("the field '{}' of {} is no number for each row", name, to_string(spec)));
}

}  // namespace

Step distribute(int64_t world_size, int64_t rank, const DistributeOptions& options) {
  if (world_size < 1 || rank < 0 || rank >= world_size) {
    refuse(kOp, fmt::format("world_size={}, rank={}: rank must be in [0, world_size)", world_size, rank));
  }
  return [=](const Dataset& input) {
    const Share share{world_size, rank, options.uneven, cost_field(input.spec(), options.cost_field)};
    return Dataset(std::make_shared<Distribute>(input.node(), share));
  };
}

Step distribute(int64_t world_size, int64_t rank, UnevenBatch uneven) {
  return distribute(world_size, rank, DistributeOptions{.uneven = uneven});
}

}  // namespace headpond
