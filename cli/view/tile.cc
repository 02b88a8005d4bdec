// SPDX-License-Identifier: Apache-2.0
#include "cli/view/tile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>

#include "headpond/base/math/half.h"
#include "headpond/codec/sound/sound_file.h"
#include "headpond/codec/sound/spectrum/spectrum_kernels.h"
#include "headpond/codec/sound/wav.h"

namespace headpond::cli {
namespace {

constexpr int64_t kMostChannels = 16;  // Channels of an image.
constexpr Color kMaskColor = {255, 60, 60}, kBoxColor = {60, 220, 90}, kPointColor = {255, 220, 0};

template <class T>
void append(const Tensor& tensor, std::vector<double>& values) {
  for (const T value : tensor.as<T>()) values.push_back(static_cast<double>(value));
}

// By the type that the tensor has; bytes are none of them.
template <class... T>
void append_if(const Tensor& tensor, std::vector<double>& values) {
  ((tensor.dtype() == dtype_of<T>() ? append<T>(tensor, values) : void()), ...);
}

// Where the channels of an image lie.
struct Layout {
  int64_t height, width, channels;
  bool is_chw;
};

// Where both could be the channels, without normalize: the last dimension if it is a usual number, the first if only
// that is one, else the smaller.
bool layout_of(const Tensor& image, const NormalizeOptions* normalization, Layout& layout) {
  if (image.rank() == 2) {
    layout = {image.dim(0), image.dim(1), 1, false};
    return true;
  }
  if (image.rank() != 3) return false;
  const int64_t first = image.dim(0), last = image.dim(2);
  const auto are_channels = [](int64_t size) { return size >= 1 && size <= kMostChannels; };
  const auto are_usual = [](int64_t size) { return size == 1 || size == 3 || size == 4; };
  if (!are_channels(first) && !are_channels(last)) return false;
  bool is_chw = !are_channels(last);
  if (are_channels(first) && are_channels(last)) {
    is_chw = normalization != nullptr ? normalization->layout == ImageLayout::chw
                                      : !are_usual(last) && (are_usual(first) || first < last);
  }
  layout = is_chw ? Layout{image.dim(1), last, first, true} : Layout{first, image.dim(1), last, false};
  return true;
}

// From a value of the tensor to 0 to 255.
class Scale {
 public:
  Scale(const Tensor& image, const NormalizeOptions* normalization, const std::vector<double>& values,
        std::string& note)
      : normalization_(normalization), is_u8_(image.dtype() == DType::u8) {
    if (is_u8_ || normalization != nullptr) return;
    for (const double value : values) {
      if (!std::isfinite(value)) continue;
      least_ = std::min(least_, value);
      most_ = std::max(most_, value);
    }
    note = fmt::format("shown from its least to its largest value, {:.4g} to {:.4g}", least_ > most_ ? 0 : least_,
                       least_ > most_ ? 0 : most_);
  }
  uint8_t operator()(double value, int64_t channel) const {
    if (is_u8_) return static_cast<uint8_t>(value);
    if (!std::isfinite(value)) return 0;
    double seen = most_ > least_ ? (value - least_) / (most_ - least_) : 0;
    if (normalization_ != nullptr) {
      const size_t k = normalization_->mean.size() == 1 ? 0 : static_cast<size_t>(channel);
      if (k < normalization_->mean.size()) seen = value * normalization_->std[k] + normalization_->mean[k];
    }
    return static_cast<uint8_t>(std::lround(std::clamp(seen, 0.0, 1.0) * 255));
  }

 private:
  const NormalizeOptions* const normalization_;
  const bool is_u8_;
  double least_ = INFINITY, most_ = -INFINITY;
};

// The pixels of an image, whatever its layout and dtype.
struct ImagePixels {
  Layout layout;
  std::vector<double> values;
  Scale scale;

  static std::optional<ImagePixels> of(const Tensor& image, const NormalizeOptions* normalization, std::string& note) {
    Layout layout = {};
    if (image.dtype() == DType::bytes || !layout_of(image, normalization, layout)) return std::nullopt;
    std::vector<double> values = values_of(image);
    Scale scale(image, normalization, values, note);
    return ImagePixels{layout, std::move(values), scale};
  }
  // These channels as red, green and blue; one that the image doesn't have is 0.
  Picture picture(const std::array<int64_t, 3>& channels) const {
    Picture made(layout.width, layout.height);
    for (int64_t y = 0; y < layout.height; ++y) {
      for (int64_t x = 0; x < layout.width; ++x) {
        made.set(x, y, {at(y, x, channels[0]), at(y, x, channels[1]), at(y, x, channels[2])});
      }
    }
    return made;
  }

 private:
  uint8_t at(int64_t y, int64_t x, int64_t c) const {
    if (c >= layout.channels) return 0;
    const int64_t i =
        layout.is_chw ? (c * layout.height + y) * layout.width + x : (y * layout.width + x) * layout.channels + c;
    return scale(values[static_cast<size_t>(i)], c);
  }
};

Picture colors_of(const ImagePixels& pixels) {
  return pixels.layout.channels == 1 ? pixels.picture({0, 0, 0}) : pixels.picture({0, 1, 2});
}

// The edges of the regions of equal numbers.
void draw_mask(const Tensor& mask, Picture& picture) {
  const std::vector<double> values = values_of(mask);
  const bool fits = mask.rank() >= 2 && mask.dim(0) == picture.height && mask.dim(1) == picture.width;
  if (!fits || static_cast<int64_t>(values.size()) != picture.width * picture.height) return;
  const auto at = [&](int64_t x, int64_t y) { return values[static_cast<size_t>(y * picture.width + x)]; };
  for (int64_t y = 0; y < picture.height; ++y) {
    for (int64_t x = 0; x < picture.width; ++x) {
      const bool is_edge =
          (x + 1 < picture.width && at(x, y) != at(x + 1, y)) || (y + 1 < picture.height && at(x, y) != at(x, y + 1));
      if (is_edge) picture.set(x, y, kMaskColor);
    }
  }
}

void draw_boxes(const Tensor& boxes, Picture& picture) {
  const std::vector<double> v = values_of(boxes);
  for (size_t i = 0; i + 3 < v.size(); i += 4) {
    picture.outline({{v[i], v[i + 1]}, {v[i + 2] - 1, v[i + 1]}, {v[i + 2] - 1, v[i + 3] - 1}, {v[i], v[i + 3] - 1}},
                    kBoxColor);
  }
}

void draw_points(const Tensor& points, Picture& picture) {
  const std::vector<double> v = values_of(points);
  for (size_t i = 0; i + 1 < v.size(); i += 2) {
    picture.line(v[i] - 2, v[i + 1], v[i] + 3, v[i + 1], kPointColor);
    picture.line(v[i], v[i + 1] - 2, v[i], v[i + 1] + 3, kPointColor);
  }
}

// [frames, bands], or [bands, frames] if it is transposed.
Picture spectrum_picture(const Tensor& spectrum, bool is_transposed) {
  const std::vector<double> values = values_of(spectrum);
  const int64_t frames = spectrum.dim(is_transposed ? 1 : 0), bands = spectrum.dim(is_transposed ? 0 : 1);
  double least = INFINITY, most = -INFINITY;
  for (const double value : values) {
    if (std::isfinite(value)) least = std::min(least, value), most = std::max(most, value);
  }
  constexpr int64_t kAxis = 6;  // Ticks: one for 50 frames, one for 10 bands.
  Picture picture(frames + kAxis, bands + kAxis, {128, 128, 128});
  for (int64_t x = 0; x < frames; ++x) {
    for (int64_t y = 0; y < bands; ++y) {
      const double value = values[static_cast<size_t>(is_transposed ? y * frames + x : x * bands + y)];
      picture.set(x + kAxis, bands - 1 - y, heat(most > least ? (value - least) / (most - least) : 0));
    }
  }
  for (int64_t x = 0; x < frames; x += 50) picture.fill(x + kAxis, bands, 1, kAxis, {255, 255, 255});
  for (int64_t y = 0; y < bands; y += 10) picture.fill(0, bands - 1 - y, kAxis, 1, {255, 255, 255});
  return picture;
}

Picture wave_picture(const std::vector<double>& values, int64_t channels) {
  constexpr int64_t kWidth = 400, kHeight = 120;
  Picture picture(kWidth, kHeight, {16, 20, 32});
  const auto frames = static_cast<int64_t>(values.size()) / channels;
  picture.fill(0, kHeight / 2, kWidth, 1, {90, 90, 110});
  for (int64_t x = 0; x < kWidth && frames > 0; ++x) {
    double least = INFINITY, most = -INFINITY;
    const int64_t begin = x * frames / kWidth, end = std::max(begin + 1, (x + 1) * frames / kWidth);
    for (int64_t i = begin; i < std::min(end, frames); ++i) {
      const double value = values[static_cast<size_t>(i * channels)];
      if (std::isfinite(value)) least = std::min(least, value), most = std::max(most, value);
    }
    if (least > most) continue;
    const auto row = [](double value) { return (1 - std::clamp(value, -1.0, 1.0)) * (kHeight - 1) / 2; };
    const auto column = static_cast<double>(x);
    picture.line(column, row(most), column, row(least), {110, 200, 255});
  }
  return picture;
}

// What a file that is the sample says of itself; 0: nothing.
int64_t rate_of_file(const Tile& tile) {
  constexpr size_t kMostHead = 1 << 16;
  std::ifstream file(tile.is_whole ? tile.source : "", std::ios::binary | std::ios::ate);
  if (!file) return 0;
  const auto bytes = static_cast<uint64_t>(file.tellg());
  std::vector<std::byte> head(std::min<uint64_t>(bytes, kMostHead));
  if (!file.seekg(0).read(reinterpret_cast<char*>(head.data()), std::ssize(head))) return 0;
  const auto info = sound_info(head, bytes);
  return info ? info->rate : 0;
}

// The first channel of a sound, and its rate.
struct Heard {
  std::vector<float> mono;
  int64_t rate;
};

Heard hear(const TileReading& reading, const Tensor& sound, Tile& tile) {
  const int64_t channels = sound.rank() == 2 ? std::max<int64_t>(sound.dim(1), 1) : 1;
  const std::vector<double> values = values_of(sound);
  tile.pictures.emplace_back("waveform", wave_picture(values, channels));
  Heard heard = {.mono = {}, .rate = reading.rate > 0 ? reading.rate : rate_of_file(tile)};
  if (heard.rate == 0) {
    heard.rate = 16000;
    tile.note = "no step says the rate: 16000 Hz are assumed";
  }
  for (size_t i = 0; i < values.size(); i += static_cast<size_t>(channels))
    heard.mono.push_back(std::isfinite(values[i]) ? static_cast<float>(values[i]) : 0);
  const auto frames = static_cast<int64_t>(heard.mono.size());
  auto wav = encode_wav(Tensor::from(heard.mono, {frames, 1}), static_cast<int32_t>(heard.rate));
  if (wav) tile.wav = std::move(*wav);
  return heard;
}

void show_sound(const TileReading& reading, const Tensor& sound, Tile& tile) {
  const auto [mono, rate] = hear(reading, sound, tile);
  const KernelRef kernel = log_mel({.sample_rate = rate});
  const auto mel = run_kernels(std::span(&kernel, 1), Tensor::from(mono, {static_cast<int64_t>(mono.size())}));
  if (mel && mel->rank() == 2) tile.pictures.emplace_back("log-mel", spectrum_picture(*mel, false));
}

std::string brief(const Tensor& tensor) {
  std::string text;
  if (tensor.dtype() == DType::bytes) {
    if (tensor.size() == 0) return "[]";
    for (const char c : tensor.bytes_at(0).substr(0, 60)) text += c >= ' ' && c <= '~' ? c : '.';
    return fmt::format("{}{}", text, tensor.size() > 1 ? fmt::format(" and {} more", tensor.size() - 1) : "");
  }
  const std::vector<double> values = values_of(tensor);
  for (size_t i = 0; i < std::min<size_t>(values.size(), 6); ++i)
    text += fmt::format("{}{:.5g}", i > 0 ? ", " : "", values[i]);
  return values.size() > 6 ? text + ", ..." : text;
}

std::string shape_text(const Tensor& tensor) {
  return fmt::format("{}{}", name(tensor.dtype()), tensor.shape().to_string());
}

void measure(const Tensor& tensor, Tile& tile) {
  tile.shape = shape_text(tensor);
  double sum = 0;
  int64_t count = 0;
  for (const double value : values_of(tensor)) {
    if (std::isnan(value)) continue;
    tile.min = count == 0 ? value : std::min(tile.min, value);
    tile.max = count == 0 ? value : std::max(tile.max, value);
    sum += value;
    ++count;
  }
  tile.mean = count > 0 ? sum / static_cast<double>(count) : 0;
}

// Shows the field if it is a picture or a sound.
bool show_field(const TileReading& reading, const Tensor& field, Tile& tile) {
  if (field.dtype() == DType::bytes) return false;
  if (reading.is_spectrum && field.rank() == 2) {
    tile.pictures.emplace_back("spectrum", spectrum_picture(field, reading.is_transposed));
    return true;
  }
  if (is_sound(reading, field)) {
    show_sound(reading, field, tile);
    return true;
  }
  const auto pixels = reading.is_sound ? std::nullopt : ImagePixels::of(field, reading.normalization, tile.note);
  if (!pixels) return false;
  tile.pictures.emplace_back("image", colors_of(*pixels));
  for (int64_t c = 3; c < pixels->layout.channels; ++c) {
    tile.pictures.emplace_back(fmt::format("channel {}", c), pixels->picture({c, c, c}));
  }
  return true;
}

}  // namespace

std::vector<double> values_of(const Tensor& tensor) {
  std::vector<double> values;
  if (tensor.dtype() == DType::f16 || tensor.dtype() == DType::bf16) {
    for (const uint16_t bits : tensor.as<uint16_t>()) {
      values.push_back(static_cast<double>(tensor.dtype() == DType::f16 ? from_f16(bits) : from_bf16(bits)));
    }
  } else {
    append_if<uint8_t, int8_t, uint16_t, int16_t, uint32_t, int32_t, uint64_t, int64_t, float, double, bool>(tensor,
                                                                                                             values);
  }
  return values;
}

bool to_picture(const Tensor& image, const NormalizeOptions* normalization, Picture& picture, std::string& note) {
  const auto pixels = ImagePixels::of(image, normalization, note);
  if (pixels) picture = colors_of(*pixels);
  return pixels.has_value();
}

void add_sound(const TileReading& reading, const Tensor& sound, Tile& tile) { (void)hear(reading, sound, tile); }

bool is_sound(const TileReading& reading, const Tensor& field) {
  if (field.dtype() == DType::bytes || field.rank() < 1 || field.rank() > 2) return false;
  const bool is_float = field.dtype() == DType::f32 || field.dtype() == DType::f64;
  return reading.is_sound || (is_float && field.dim(0) >= 400 && (field.rank() == 1 || field.dim(1) <= 8));
}

void show(const TileReading& reading, const Element& element, Tile& tile) {
  const auto role_at = [&](size_t i) {
    for (const auto& [index, role] : reading.roles) {
      if (index == i) return role;
    }
    return FieldRole::image;
  };
  size_t shown = element.size();
  if (!reading.roles.empty() && show_field(reading, element[reading.roles[0].first], tile))
    shown = reading.roles[0].first;
  for (size_t i = 0; i < element.size() && shown == element.size(); ++i) {
    if (role_at(i) == FieldRole::image && show_field(reading, element[i], tile)) shown = i;
  }
  if (shown < element.size()) measure(element[shown], tile);
  if (shown == element.size() && element.size() > 0) measure(element[0], tile);
  for (size_t i = 0; i < element.size(); ++i) {
    if (i == shown) continue;
    const std::string name = reading.spec[i].name.empty() ? "x" : reading.spec[i].name;
    tile.others.emplace_back(name, fmt::format("{} {}", shape_text(element[i]), brief(element[i])));
    if (tile.pictures.empty() || tile.pictures[0].first != "image") continue;
    Picture& picture = tile.pictures[0].second;
    if (role_at(i) == FieldRole::mask) draw_mask(element[i], picture);
    if (role_at(i) == FieldRole::boxes) draw_boxes(element[i], picture);
    if (role_at(i) == FieldRole::points) draw_points(element[i], picture);
  }
}

}  // namespace headpond::cli
