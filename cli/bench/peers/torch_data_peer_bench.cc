// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <torch/torch.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <system_error>
#include <utility>

#include "cli/bench/consume.h"
#include "cli/bench/peers/loader_peers.h"

namespace headpond::cli {
namespace {

using Example = torch::data::Example<>;

struct Data {
  torch::Tensor images, labels;  // u8 [n,28,28], i64 [n].
};

class OneByOne : public torch::data::datasets::Dataset<OneByOne> {
 public:
  explicit OneByOne(Data data) : data_(std::move(data)) {}
  Example get(size_t i) override {
    const auto at = static_cast<int64_t>(i);
    return {data_.images[at].to(torch::kFloat32).div_(255), data_.labels[at]};
  }
  torch::optional<size_t> size() const override { return static_cast<size_t>(data_.images.size(0)); }

 private:
  Data data_;
};

class ByBatch : public torch::data::datasets::BatchDataset<ByBatch, Example> {
 public:
  explicit ByBatch(Data data) : data_(std::move(data)) {}
  Example get_batch(c10::ArrayRef<size_t> indices) override {
    std::vector<int64_t> wanted(indices.begin(), indices.end());
    const auto order = torch::tensor(wanted);
    return {data_.images.index_select(0, order).to(torch::kFloat32).div_(255), data_.labels.index_select(0, order)};
  }
  torch::optional<size_t> size() const override { return static_cast<size_t>(data_.images.size(0)); }

 private:
  Data data_;
};

uint64_t xor_of(const Example& batch) {
  uint64_t all = 0;
  for (const torch::Tensor& tensor : {batch.data, batch.target}) {
    all ^= cli::xor_of({static_cast<const std::byte*>(tensor.data_ptr()), tensor.nbytes()});
  }
  return all;
}

template <class Dataset>
uint64_t run(Dataset dataset, int64_t batch_size, size_t workers) {
  const auto options = torch::data::DataLoaderOptions().batch_size(static_cast<size_t>(batch_size)).workers(workers);
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(std::move(dataset), options);
  uint64_t all = 0;
  for (const Example& batch : *loader) all ^= xor_of(batch);
  return all;
}

// The files that torch's class reads, in a folder that goes with the last owner.
class MnistFiles {
 public:
  explicit MnistFiles(const Data& data) {
    std::string path = (std::filesystem::temp_directory_path() / "headpond-mnist-XXXXXX").string();
    if (mkdtemp(path.data()) == nullptr) throw std::system_error(errno, std::generic_category(), path);
    folder_ = path;
    const auto n = static_cast<uint32_t>(data.images.size(0));
    write("train-images-idx3-ubyte", {2051, n, 28, 28}, data.images);
    write("train-labels-idx1-ubyte", {2049, n}, data.labels.to(torch::kUInt8));
  }
  ~MnistFiles() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  MnistFiles(const MnistFiles&) = delete;
  MnistFiles& operator=(const MnistFiles&) = delete;
  std::string folder() const { return folder_.string(); }

 private:
  void write(const char* name, const std::vector<uint32_t>& header, const torch::Tensor& values) const {
    std::ofstream file(folder_ / name, std::ios::binary);
    for (const uint32_t word : header) {
      const std::array<char, 4> bytes = {static_cast<char>(word >> 24), static_cast<char>(word >> 16),
                                         static_cast<char>(word >> 8), static_cast<char>(word)};
      file.write(bytes.data(), bytes.size());
    }
    file.write(static_cast<const char*>(values.data_ptr()), static_cast<std::streamsize>(values.nbytes()));
  }
  std::filesystem::path folder_;
};

}  // namespace

std::vector<LoaderPeer> torch_data_peers(const Tensor& images, const Tensor& labels, int64_t batch_size) {
  const auto bytes = [](const Tensor& tensor) { return const_cast<std::byte*>(tensor.data()); };
  const Data data{torch::from_blob(bytes(images), {images.dim(0), 28, 28}, torch::kUInt8).clone(),
                  torch::from_blob(bytes(labels), {labels.dim(0)}, torch::kInt64).clone()};
  const auto files = std::make_shared<MnistFiles>(data);
  const auto mnist = std::make_shared<torch::data::datasets::MNIST>(files->folder());
  const auto stack = [] { return torch::data::transforms::Stack<>(); };
  std::vector<LoaderPeer> peers;
  const auto add = [&](const char* name, size_t workers, auto epoch) {
    peers.push_back(
        {fmt::format("{} workers={}", name, workers), TORCH_VERSION, [=] { return Result<uint64_t>(epoch(workers)); }});
  };
  for (const size_t workers : {0, 1, 2}) {
    add("torch::data get,", workers, [=](size_t n) { return run(OneByOne(data).map(stack()), batch_size, n); });
    add("torch::data MNIST,", workers,
        [=](size_t n) { return run(torch::data::datasets::MNIST(*mnist).map(stack()), batch_size, n); });
    add("torch::data get_batch,", workers, [=](size_t n) { return run(ByBatch(data), batch_size, n); });
  }
  return peers;
}

}  // namespace headpond::cli
