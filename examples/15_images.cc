// SPDX-License-Identifier: Apache-2.0
// A folder of JPEG files becomes batches of floats: cropped, resized, mirrored and normalized in one pass.
#include <headpond/headpond.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

namespace hp = headpond;
namespace fs = std::filesystem;

namespace {

// 40 pictures of two classes, larger or smaller.
void write_pictures(const fs::path& folder) {
  for (int64_t i = 0; i < 40; ++i) {
    const int64_t height = 60 + i, width = 100 - i;
    std::vector<uint8_t> pixels;
    for (int64_t k = 0; k < height * width * 3; ++k) pixels.push_back(static_cast<uint8_t>(k % (width * 3) + i));
    const auto file = hp::encode_jpeg(hp::Tensor::from(pixels, {height, width, 3}));
    if (!file) throw hp::Exception(file.error());
    const fs::path path = folder / (i % 2 == 0 ? "cat" : "dog") / (std::to_string(i) + ".jpg");
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(file->data()), static_cast<std::streamsize>(file->size()));
  }
}

}  // namespace

int main() {
  if (!hp::has_jpeg()) {
    std::cout << "skipped: built without the component jpeg\n";
    return 0;
  }
  const fs::path folder = fs::temp_directory_path() / "headpond_15_images";
  fs::remove_all(folder);
  write_pictures(folder);

  const hp::Dataset train = hp::folder(folder.string(), {.extensions = {"jpg"}}) | hp::shuffle() |
                            hp::map("file", hp::decode_jpeg(), hp::random_resized_crop({32, 32}),
                                    hp::random_horizontal_flip(), hp::normalize()) |
                            hp::batch(16);
  hp::Loader loader(train, {.seed = 7});
  while (auto batch = loader.next()) {
    const hp::Tensor& images = (*batch)[1];  // Fields: path, file, label.
    std::cout << images.shape().to_string() << '\n';
  }
  fs::remove_all(folder);
}
