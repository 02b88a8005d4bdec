// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/bases/choosing.h"

#include <fmt/format.h>

#include "headpond/dataset/bases/pointwise.h"

namespace headpond {

Got fail_without_position(const Node& node, int64_t i, Context& context) {
  return context.fail({ErrorKind::OutOfRange, fmt::format("{}: its input has no position for {}", node.title(), i)});
}

Node::Facts counting_facts(const Node::Ref& input, std::string op, std::string args) {
  Node::Facts facts = facts_over(input, std::move(op), std::move(args), input->spec());
  if (facts.kind == Kind::sparse) facts.kind = Kind::stream;
  return facts;
}

}  // namespace headpond
