// SPDX-License-Identifier: Apache-2.0
// 20: where the bytes of batches are and where those of their tensors are, and what is said of a field that is not
// there. Prints one JSON object.
//
//   headpond_scenarios_tensors FOLDER    with train/<class>/*.jpg
#include <headpond/headpond.h>
#include <headpond/torch.h>

#include <cstdio>
#include <string>

namespace hp = headpond;

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const hp::Dataset pictures = hp::folder(std::string(argv[1]) + "/train", {.extensions = {"jpg"}}) | hp::shuffle() |
                               hp::map("file", hp::decode_jpeg(), hp::random_resized_crop({64, 64}), hp::normalize()) |
                               hp::batch(32);
  hp::Loader loader(pictures);
  int batches = 0, shared = 0, copies_shared = 0;
  std::string error;
  for (const hp::TorchBatch& batch : hp::torch_batches(loader)) {
    ++batches;
    shared += batch["file"].data_ptr() == static_cast<const void*>(batch.batch()["file"].data()) ? 1 : 0;
    copies_shared += batch["file"].clone().data_ptr() == static_cast<const void*>(batch.batch()["file"].data()) ? 1 : 0;
    try {
      (void)batch["picture"];
    } catch (const hp::Exception& exception) {
      error = exception.what();
    }
  }
  hp::JsonWriter figures;
  figures.begin_object();
  figures.member("batches", batches).member("shared", shared).member("copies_shared", copies_shared);
  figures.member("error", error);
  figures.end_object();
  std::puts(std::string(figures.text()).c_str());
}
