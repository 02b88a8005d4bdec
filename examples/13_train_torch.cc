// SPDX-License-Identifier: Apache-2.0
#include <headpond/headpond.h>
#include <headpond/torch.h>

#include <cstdio>
#include <string>

namespace hp = headpond;

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : "digits";
  const auto digits = hp::tfrecord(folder + "/*.tfrecord")  // what is delivered
                      | hp::shuffle()                       // the whole epoch, without a buffer
                      | hp::map(hp::parse_example({{"image", hp::u8, {28, 28}}, {"label", hp::i64}}))  //
                      | hp::batch(32);
  hp::Loader loader(digits, {.epochs = 2, .seed = 7});  // no thread counts, no buffer sizes

  torch::nn::Linear net(28 * 28, 10);
  torch::optim::Adam adam(net->parameters());
  for (auto epoch : loader.epochs()) {
    float loss_of_last = 0;
    for (const hp::TorchBatch& batch : hp::torch_batches(epoch)) {  // tensors, without a copy
      const torch::Tensor pixels = batch["image"].flatten(1).to(torch::kF32) / 255;
      const auto loss = torch::nn::functional::cross_entropy(net(pixels), batch["label"]);
      adam.zero_grad();
      loss.backward();
      adam.step();
      loss_of_last = loss.item<float>();
    }
    std::printf("epoch %d: loss %.3f\n", static_cast<int>(epoch.index()) + 1, loss_of_last);
  }
  const hp::LoaderStats stats = loader.stats();
  std::printf("%d batches; the training waited %.1f ms for them\n", static_cast<int>(stats.batches),
              1e-6 * static_cast<double>(stats.wait_ns));
}
