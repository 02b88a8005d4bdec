// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/bases/batching.h"
#include "headpond/dataset/ops/batch.h"
#include "headpond/dataset/ops/batch/padded_batch_internal.h"

namespace headpond {
namespace {

using internal::PaddedField;

class PaddedBatch final : public Batching {
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
    internal::stack_padded(rows, fields_, spec(), context, outputs, out);
  }

 private:
  const std::vector<PaddedField> fields_;
};

}  // namespace

Step padded_batch(int64_t batch_size, PaddedBatchOptions options) {
  return [batch_size, options = std::move(options)](const Dataset& input) {
    const auto fields =
        internal::padded_fields("padded_batch", input.spec(), options.padded_shapes, options.padding_values);
    return Dataset(std::make_shared<PaddedBatch>(input.node(), batch_size, options, fields));
  };
}

}  // namespace headpond
