// SPDX-License-Identifier: Apache-2.0
// Barrier: joins the components of a tuple by key; they come from different producers in any order. Use it to join
// images and labels from different files by name.
#include <headpond/headpond.h>

#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace hp = headpond;

int main() {
  hp::Barrier barrier({.capacity = -1, .dtypes = {hp::f32, hp::i64}, .shapes = {{2}, {}}, .name = "join"});
  const auto name = [](int number) { return std::string(1, static_cast<char>('a' + number)) + ".png"; };

  hp::Coordinator coordinator;
  coordinator.start("images", [&](std::stop_token) -> hp::Result<void> {
    for (int i = 0; i < 6; ++i) {  // One image a call, as it is decoded.
      hp::Tensor image = hp::Tensor::empty(hp::f32, {1, 2});
      for (float& pixel : image.mutable_as<float>()) pixel = static_cast<float>(i) / 2.0F;
      HEADPOND_TRY(barrier.insert_many(0, {name(i)}, image));
    }
    return {};
  });
  coordinator.start("labels", [&](std::stop_token) {
    hp::Tensor labels = hp::Tensor::empty(hp::i64, {6});  // All at once, in reverse order.
    std::vector<std::string> keys;
    for (int i = 5; i >= 0; --i) {
      labels.mutable_as<int64_t>()[keys.size()] = i * 11;
      keys.push_back(name(i));
    }
    return barrier.insert_many(1, keys, labels);
  });

  std::map<std::string, std::pair<float, int64_t>> joined;
  for (int batches = 0; batches < 3; ++batches) {
    // The tuples whose keys came first. Nobody closes this barrier, so if a thread fails, its stop must end the wait.
    const auto batch = barrier.take_many(2, /*allow_small_batch=*/false, {.stop = coordinator.stop_token()});
    if (!batch) break;
    for (size_t i = 0; i < 2; ++i) {
      joined[batch->keys[i]] = {batch->values[0].as<float>()[2 * i], batch->values[1].as<int64_t>()[i]};
    }
  }
  for (const auto& [key, tuple] : joined) {
    std::printf("%s: pixels %.1f, label %d\n", key.c_str(), tuple.first, static_cast<int>(tuple.second));
  }
  const hp::Result<void> ended = coordinator.join();
  if (!ended) std::fprintf(stderr, "%s\n", ended.error().to_string().c_str());
  return ended && joined.size() == 6 && joined["f.png"].second == 55 ? 0 : 1;
}
