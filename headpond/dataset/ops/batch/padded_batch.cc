// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string_view>

#include "headpond/dataset/ops/batch.h"
#include "headpond/dataset/ops/batch/batching.h"
#include "headpond/dataset/ops/batch/padded_batch_internal.h"
#include "headpond/tensor/padding.h"

namespace headpond {
namespace {

using internal::PaddedField;

class PaddedBatch final : public internal::Batching {
 public:
  PaddedBatch(const Node::Ref& input, int64_t batch_size, const PaddedBatchOptions& options,
              const std::vector<PaddedField>& fields)
      : Batching("padded_batch", internal::to_string(fields), input, internal::padded_spec(input->spec(), fields),
                 batch_size, options.drop_remainder),
        fields_(fields) {}

  Error check(const Element*, int64_t number, const Element& row) const override {
    return internal::check_padded(input().spec(), fields_, number, row);
  }

  void stack(std::span<const Element> rows, Context& context, OutputSlots outputs, Element& out) const override {
    for (size_t i = 0; i < fields_.size(); ++i) {
      const Shape shape = common_shape(fields_[i].limit, rows, i);
      const Shape all = shape.stacked(static_cast<int64_t>(rows.size()));
      const DType dtype = spec()[i].dtype;
      if (!all.size()) {
        throw Exception(
            Error(ErrorKind::InvalidArgument, "a padded batch of shape " + all.to_string() + " is too large"));
      }
      if (dtype == DType::bytes) {
        std::vector<std::string_view> values;
        for (const Element& row : rows) append_padded(row[i], shape, values);
        out.append(Tensor::from(std::span<const std::string_view>(values), all));
        continue;
      }
      std::byte* to = context.allocate_output(out, outputs, dtype, all);
      for (const Element& row : rows) {
        write_padded(row[i], shape, fields_[i].value, to);
        to += static_cast<size_t>(*shape.size()) * item_size(dtype);
      }
    }
  }

 private:
  const std::vector<PaddedField> fields_;
};

}  // namespace

Step padded_batch(int64_t batch_size, PaddedBatchOptions options) {
  return [batch_size, options = std::move(options)](const Dataset& input) {
    const auto fields = internal::padded_fields(input.spec(), options);
    return Dataset(std::make_shared<PaddedBatch>(input.node(), batch_size, options, fields));
  };
}

}  // namespace headpond
