// SPDX-License-Identifier: Apache-2.0
// PaddingFIFOQueue: elements of different lengths; a batch is as long as its longest element, shorter ones are padded
// with zeros. Use it for sentences and sound, where padding to the longest of all elements would waste most of the
// work.
#include <headpond/headpond.h>

#include <cstdio>
#include <span>
#include <vector>

namespace hp = headpond;

int main() {
  hp::PaddingFIFOQueue queue(
      {.capacity = 4, .dtypes = {hp::i64, hp::i64}, .shapes = {{hp::kUnknown}, {}}, .name = "sentences"});
  const auto read = [queue, sentence = int64_t{0}](std::stop_token stop) mutable -> hp::Result<void> {
    if (++sentence > 8) return hp::fail(hp::ErrorKind::OutOfRange, "no more sentences");
    const int64_t length = sentence * sentence % 7 + 1;
    const std::vector<int64_t> words(static_cast<size_t>(length), sentence);  // As many words as it is long.
    const hp::Tensor tensor = hp::Tensor::from(std::span<const int64_t>(words), {length});
    return queue.enqueue({tensor, hp::Tensor::scalar(length)}, {.stop = stop});
  };
  hp::Coordinator coordinator;
  hp::QueueRunner(queue, {read}).start(coordinator);

  while (const hp::Result<hp::Element> batch = queue.dequeue_up_to(3)) {
    const hp::Tensor& words = (*batch)[0];
    const auto lengths = (*batch)[1].as<int64_t>();
    std::printf("a batch of %d x %d\n", static_cast<int>(words.dim(0)), static_cast<int>(words.dim(1)));
    for (int64_t row = 0; row < words.dim(0); ++row) {
      const hp::Tensor sentence = words.row(row);
      for (const int64_t word : sentence.as<int64_t>()) std::printf(" %d", static_cast<int>(word));
      std::printf("   of which %d\n", static_cast<int>(lengths[static_cast<size_t>(row)]));
    }
  }
  return coordinator.join() ? 0 : 1;
}
