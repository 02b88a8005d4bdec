// SPDX-License-Identifier: Apache-2.0
// The input of an iterator that goes on elsewhere after an error of it. For authors of operators.
#pragma once

#include <memory>

#include "headpond/dataset/node.h"

namespace headpond {

/// Opens `input` so that its state may be taken after an error too. Most iterators are like that as they are. Where
/// rows are gathered on the way (batch, rebatch), an error may come from the midst of a batch, whose first rows no
/// state has: then the state is that from before the batch, with the number of errors since, which a restored run
/// leaves out. The state of an input that is read by position is the next position, also after an error.
std::unique_ptr<Iterator> open_resumable(Feed& feed, const Node& input, const Binding& binding);

namespace internal {
/// Whether elements of `node` are made of several elements of a source: whether rows are gathered in it, or below it.
bool gathers_rows(const Node& node);
/// Whether open_resumable() puts the number of errors before the state of `input`.
bool counts_errors(const Node& input);
}  // namespace internal

}  // namespace headpond
