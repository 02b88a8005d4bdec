// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <span>

#include "headpond/base/system/prefetch.h"
#include "headpond/codec/image/kernels/image_pass_internal.h"

namespace headpond::image_internal {
namespace {

using resize_internal::ResizeRows;
using resize_internal::TapsPart;

// An axis of the result: padding, pixels, padding. `pixels` count from the begin of the base.
struct Axis {
  int64_t before = 0, after = 0;
  TapsPart pixels;
};

struct Line {
  int64_t begin, size;

  int64_t end() const { return begin + size; }
};
Line line_of(const ImageWindow& window, bool is_rows) {
  return is_rows ? Line{window.y, window.height} : Line{window.x, window.width};
}

// The result of one image.
class ImageMaking {
 public:
  // `asked`: null, or make() ends where it would decode, and says what.
  ImageMaking(KernelCall& call, ImageScratch& scratch, const Geometry& geometry, const DecodeStage* decode, DType dtype,
              int channels, std::optional<FilePart>* asked)
      : call_(call),
        scratch_(scratch),
        geometry_(geometry),
        decode_(decode),
        dtype_(dtype),
        channels_(channels),
        pixel_(static_cast<size_t>(channels) * item_size(dtype)),
        asked_(asked),
        window_(geometry.window),
        valid_(geometry.valid) {}

  Result<void> make(const NormalizePass* normalize) {
    HEADPOND_TRY(choose_fill());
    if (decode_ != nullptr) fit_scale();
    const ImageWindow inside = intersection(valid_, window_);
    pads_first_ = inside != window_ && (geometry_.resize != nullptr || geometry_.mode() != PadMode::constant);
    base_ = pads_first_ ? window_ : inside;
    if (is_copy()) return copy(normalize);
    if (pads_first_ && geometry_.resize == nullptr && !geometry_.flips_columns) return pad(normalize);
    const Axis down = plan_axis(true), across = plan_axis(false);
    ImageView view;
    HEADPOND_TRY(fetch(down.pixels, across.pixels, view));
    write(down, across, view, normalize);
    return {};
  }

 private:
  // Chooses the padding's values.
  Result<void> choose_fill() {
    if (geometry_.padding == nullptr) return {};
    const std::vector<double>& values = geometry_.padding->fill;
    if (values.size() != 1 && values.size() != static_cast<size_t>(channels_)) {
      return fail(ErrorKind::InvalidArgument,
                  fmt::format("{} values fill an image of {} channels", values.size(), channels_));
    }
    for (size_t c = 0; c < static_cast<size_t>(channels_); ++c) {
      const double value = values[values.size() == 1 ? 0 : c];
      if (dtype_ == DType::u8) {
        fill_[c] = static_cast<std::byte>(std::clamp(std::floor(value + 0.5), 0.0, 255.0));
      } else {
        const auto single = static_cast<float>(value);
        std::memcpy(fill_.data() + c * sizeof(float), &single, sizeof(float));
      }
    }
    return {};
  }

  // The largest ratio that leaves the resize at least as many pixels as it makes.
  void fit_scale() {
    options_ = decode_->options;
    if (options_.scale != JpegScale::fit || geometry_.resize == nullptr || !contains(valid_, window_)) return;
    int64_t by = 1;
    while (options_.ratio < 8 && window_.height >= 2 * by * geometry_.resized_height &&
           window_.width >= 2 * by * geometry_.resized_width) {
      options_.ratio *= 2;
      by *= 2;
    }
    const auto scaled = [by](int64_t begin, int64_t size) {
      return Line{begin / by, (begin + size + by - 1) / by - begin / by};
    };
    const Line rows = scaled(window_.y, window_.height), columns = scaled(window_.x, window_.width);
    window_ = {rows.begin, columns.begin, rows.size, columns.size};
    valid_ = {0, 0, (geometry_.height + by - 1) / by, (geometry_.width + by - 1) / by};
  }

  bool is_copy() const {
    return geometry_.resize == nullptr && !pads_first_ && base_ == window_ && !geometry_.flips_columns;
  }

  std::byte* make_result(int64_t height, int64_t width, const NormalizePass* normalize) {
    if (normalize == nullptr) return call_.make(0, dtype_, {height, width, channels_});
    return call_.make(0, normalize->options().dtype, normalize->shape(height, width, channels_));
  }

  // The result has the rows as they lie in the base.
  Result<void> copy(const NormalizePass* normalize) {
    const bool flips = geometry_.flips_rows;
    if (decode_ != nullptr && normalize == nullptr && !flips) {
      const Shape shape = {base_.height, base_.width, channels_};
      // Without a target each make() builds a new tensor, which may lie where the last one did, without its pixels.
      return decode(base_, call_.make(0, dtype_, shape), call_.has_target(0, dtype_, shape));
    }
    ImageView view;
    HEADPOND_TRY(borrow(base_, view));
    std::byte* const out = make_result(view.height, view.width, normalize);
    const int64_t row_bytes = view.width * static_cast<int64_t>(pixel_);
    if (normalize != nullptr && !flips && view.row_bytes == row_bytes) {
      normalize->images(view.data, dtype_, 1, {view.height, view.width, channels_}, out);
      return {};
    }
    for (int64_t y = 0; y < view.height; ++y) {
      const std::byte* const from = view.data + y * view.row_bytes;
      const int64_t line = flips ? view.height - 1 - y : y;
      if (normalize != nullptr) {
        normalize_row(*normalize, from, line, out);
      } else {
        std::memcpy(out + line * row_bytes, from, static_cast<size_t>(row_bytes));
      }
    }
    return {};
  }

  Axis plan_axis(bool is_rows) {
    const Line base = line_of(base_, is_rows);
    Line made = base, all = line_of(window_, is_rows);
    resize_internal::TapsKey key = {.in = base.size, .out = base.size, .options = {}, .dtype = dtype_};
    key.reversed = !is_rows && geometry_.flips_columns;
    Line visible = {0, base.size};
    if (geometry_.resize != nullptr) {
      key.options = geometry_.resize->options;
      key.out = is_rows ? geometry_.resized_height : geometry_.resized_width;
      made = line_of(intersection(geometry_.part, geometry_.part_valid), is_rows);
      all = line_of(geometry_.part, is_rows);
      visible = made;
    }
    if (visible.size <= 0) return {all.size, 0, {}};
    Axis axis = {made.begin - all.begin, all.end() - made.end(), {}};
    axis.pixels = {&scratch_.taps.get(key), key.reversed ? key.out - visible.end() : visible.begin, visible.size, 0};
    return axis;
  }

  // Sets `view` to the pixels that the parts read, and their shifts.
  Result<void> fetch(TapsPart rows, TapsPart columns, ImageView& view) {
    if (rows.size == 0 || columns.size == 0) {
      // Nothing is seen of the image; but a broken file is an error all the same.
      std::array<std::byte, 4> pixel;
      return decode_ == nullptr ? Result<void>() : decode({0, 0, 1, 1}, pixel.data(), false);
    }
    if (pads_first_) return fetch_padded(view);
    const int64_t top = rows.from(), left = columns.from();
    return borrow({base_.y + top, base_.x + left, rows.to() - top, columns.to() - left}, view);
  }

  // Sets `view` to this part of the image.
  Result<void> borrow(const ImageWindow& part, ImageView& view) {
    if (decode_ != nullptr) {
      std::byte* const pixels = memory_for(part, scratch_.pixels, pixels_);
      HEADPOND_TRY(decode(part, pixels, pixels == scratch_.pixels.data()));
      view = {pixels, dtype_, part.height, part.width, channels_, part.width * static_cast<int64_t>(pixel_)};
      return {};
    }
    const int64_t row_bytes = geometry_.width * static_cast<int64_t>(pixel_);
    const std::byte* const first = call_.in().data() + part.y * row_bytes + part.x * static_cast<int64_t>(pixel_);
    view = {first, dtype_, part.height, part.width, channels_, row_bytes};
    return {};
  }

  // For the pixels of `part`: `kept` from image to image, as new memory costs its pages, or `own` of a large one.
  std::byte* memory_for(const ImageWindow& part, std::vector<std::byte>& kept, Tensor& own) const {
    constexpr size_t kMostKept = size_t{4} << 20;
    const size_t bytes = static_cast<size_t>(part.height) * static_cast<size_t>(part.width) * pixel_;
    if (bytes > kMostKept) {
      own = Tensor::empty(dtype_, {part.height, part.width, channels_});
      return own.mutable_data();
    }
    if (kept.size() < bytes) kept.resize(bytes);
    return kept.data();
  }

  // `lasts`: `to` is memory that is there after this object is gone.
  Result<void> decode(const ImageWindow& part, std::byte* to, bool lasts) {
    const FilePart wanted = {part, options_.ratio, to};
    if (asked_ != nullptr) {
      if (lasts) *asked_ = wanted;
      return fail(ErrorKind::Cancelled, "only asked what is decoded");
    }
    if (scratch_.decoded == wanted) return {};
    const auto defects = scratch_.file.decode(part, options_.ratio, to);
    if (!defects) return fail(defects.error());
    call_.note(*defects);
    return {};
  }

  // What the padding repeats, and the pixels that it surrounds. `image` is empty if none is seen.
  struct Seen {
    ImageView image;
    Line rows = {}, columns = {};
    Line inside = {};  // The columns of the window that are copied at once.
  };

  Result<void> see(Seen& seen) {
    const bool repeats = geometry_.mode() != PadMode::constant;
    const ImageWindow needed = repeats ? valid_ : intersection(valid_, window_);
    if (needed.height <= 0 || needed.width <= 0) return {};
    HEADPOND_TRY(borrow(needed, seen.image));
    seen.rows = line_of(needed, true);
    seen.columns = line_of(needed, false);
    const int64_t window_end = window_.x + window_.width;
    const int64_t begin = std::clamp(seen.columns.begin, window_.x, window_end);
    seen.inside = {begin, std::clamp(seen.columns.end(), begin, window_end) - begin};
    scratch_.edges.clear();
    const auto note = [&](int64_t x) {
      const int64_t column = padded_index(x, seen.columns.begin, seen.columns.size, geometry_.mode());
      scratch_.edges.push_back(column < 0 ? -1 : column - seen.columns.begin);
    };
    for (int64_t x = window_.x; x < begin; ++x) note(x);
    for (int64_t x = seen.inside.end(); x < window_end; ++x) note(x);
    return {};
  }

  // The whole window with its padding.
  Result<void> fetch_padded(ImageView& view) {
    Seen seen;
    HEADPOND_TRY(see(seen));
    std::byte* const canvas = memory_for(window_, scratch_.canvas, canvas_);
    const int64_t row_bytes = window_.width * static_cast<int64_t>(pixel_);
    for (int64_t y = 0; y < window_.height; ++y) pad_row(seen, y, canvas + y * row_bytes);
    view = {canvas, dtype_, window_.height, window_.width, channels_, row_bytes};
    return {};
  }

  // The same as the result.
  Result<void> pad(const NormalizePass* normalize) {
    Seen seen;
    HEADPOND_TRY(see(seen));
    std::byte* const out = make_result(window_.height, window_.width, normalize);
    const int64_t row_bytes = window_.width * static_cast<int64_t>(pixel_);
    scratch_.row.resize(static_cast<size_t>(row_bytes));
    for (int64_t y = 0; y < window_.height; ++y) {
      const int64_t line = geometry_.flips_rows ? window_.height - 1 - y : y;
      std::byte* const to = normalize == nullptr ? out_row(out, line, row_bytes) : scratch_.row.data();
      pad_row(seen, y, to);
      if (normalize != nullptr) normalize_row(*normalize, to, line, out);
    }
    return {};
  }

  // Row `line` of the result. Asks for the memory of one that is written later, or for that of its begin.
  std::byte* out_row(std::byte* out, int64_t line, int64_t row_bytes) const {
    constexpr int64_t kAhead = 2, kMostBytes = 4096;
    const int64_t later = geometry_.flips_rows ? line - kAhead : line + kAhead;
    if (later >= 0 && later < geometry_.out_height())
      prefetch_to_write(out + later * row_bytes, static_cast<size_t>(std::min(row_bytes, kMostBytes)));
    return out + line * row_bytes;
  }

  // Row `y` of the window.
  void pad_row(const Seen& seen, int64_t y, std::byte* to) const {
    const bool is_seen = seen.rows.size > 0;
    const int64_t row = is_seen ? padded_index(window_.y + y, seen.rows.begin, seen.rows.size, geometry_.mode()) : -1;
    if (row < 0) return fill_pixels(to, window_.width);
    const std::byte* const from = seen.image.data + (row - seen.rows.begin) * seen.image.row_bytes;
    const auto left = static_cast<size_t>(seen.inside.begin - window_.x),
               inside = static_cast<size_t>(seen.inside.size);
    const std::span<const int64_t> edges(scratch_.edges);
    copy_pixels(from, edges.first(left), to);
    if (inside > 0) {
      const int64_t first = seen.inside.begin - seen.columns.begin;
      std::memcpy(to + left * pixel_, from + first * static_cast<int64_t>(pixel_), inside * pixel_);
    }
    copy_pixels(from, edges.subspan(left), to + (left + inside) * pixel_);
  }

  void copy_pixels(const std::byte* from, std::span<const int64_t> columns, std::byte* to) const {
    switch (pixel_) {
      case 1:
        return copy_pixels<1>(from, columns, to);
      case 2:
        return copy_pixels<2>(from, columns, to);
      case 3:
        return copy_pixels<3>(from, columns, to);
      case 4:
        return copy_pixels<4>(from, columns, to);
      case 8:
        return copy_pixels<8>(from, columns, to);
      case 12:
        return copy_pixels<12>(from, columns, to);
      default:
        return copy_pixels<16>(from, columns, to);
    }
  }

  // A negative column is the fill.
  template <size_t kPixel>
  void copy_pixels(const std::byte* from, std::span<const int64_t> columns, std::byte* to) const {
    for (const int64_t column : columns) {
      std::memcpy(to, column < 0 ? fill_.data() : from + column * static_cast<int64_t>(kPixel), kPixel);
      to += kPixel;
    }
  }

  void fill_pixels(std::byte* to, int64_t pixels) const {
    if (pixels == 0) return;
    const auto pixel = std::span(fill_).first(pixel_);
    if (std::ranges::all_of(pixel, [&](std::byte byte) { return byte == fill_[0]; })) {
      std::memset(to, static_cast<int>(fill_[0]), static_cast<size_t>(pixels) * pixel_);
      return;
    }
    const size_t bytes = static_cast<size_t>(pixels) * pixel_;
    std::memcpy(to, fill_.data(), pixel_);
    for (size_t done = pixel_; done < bytes; done *= 2) std::memcpy(to + done, to, std::min(done, bytes - done));
  }

  void write(Axis down, Axis across, const ImageView& view, const NormalizePass* normalize) {
    const int64_t height = geometry_.out_height(), width = geometry_.out_width();
    const int64_t row_bytes = width * static_cast<int64_t>(pixel_);
    std::byte* const out = make_result(height, width, normalize);
    scratch_.row.resize(static_cast<size_t>(row_bytes));
    const bool has_pixels = down.pixels.size > 0 && across.pixels.size > 0;
    std::optional<ResizeRows> rows;
    if (has_pixels) {
      if (!pads_first_) down.pixels.shift = down.pixels.from();
      if (!pads_first_) across.pixels.shift = across.pixels.from();
      rows.emplace(view, down.pixels, across.pixels, scratch_.resize);
    }
    const int64_t left = geometry_.flips_columns ? across.after : across.before;
    const int64_t end = left + across.pixels.size;
    for (int64_t y = 0; y < height; ++y) {
      const int64_t line = geometry_.flips_rows ? height - 1 - y : y;
      std::byte* const to = normalize == nullptr ? out_row(out, line, row_bytes) : scratch_.row.data();
      if (!has_pixels || y < down.before || y >= height - down.after) {
        fill_pixels(to, width);
      } else {
        fill_pixels(to, left);
        rows->next(to + left * static_cast<int64_t>(pixel_));
        fill_pixels(to + end * static_cast<int64_t>(pixel_), width - end);
      }
      if (normalize != nullptr) normalize_row(*normalize, to, line, out);
    }
  }

  void normalize_row(const NormalizePass& normalize, const std::byte* from, int64_t y, std::byte* out) const {
    const NormalizePass::Size size = {geometry_.out_height(), geometry_.out_width(), channels_};
    if (dtype_ == DType::u8) {
      normalize.row(reinterpret_cast<const uint8_t*>(from), y, size, out);
    } else {
      normalize.row(reinterpret_cast<const float*>(from), y, size, out);
    }
  }

  KernelCall& call_;
  ImageScratch& scratch_;
  const Geometry& geometry_;
  const DecodeStage* const decode_;  // Null: the argument has pixels.
  const DType dtype_;
  const int channels_;
  const size_t pixel_;  // Bytes.
  std::optional<FilePart>* const asked_;
  ImageWindow window_, valid_;  // Those of geometry, in the decoded image.
  ImageWindow base_;            // The window, or what of it has pixels.
  bool pads_first_ = false;     // Before the resize, or with the image's own pixels.
  JpegOptions options_;
  std::array<std::byte, 4 * sizeof(float)> fill_ = {};  // A pixel.
  Tensor pixels_, canvas_;
};

}  // namespace

std::span<const std::byte> ImagePass::index_of(const KernelCall& call) {
  if (call.companion() == nullptr) return {};
  const std::string_view text = call.companion()->bytes_at(0);
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

ImagePass::ImagePass(const Stages& stages) : stages_(stages) {
  for (const Stage& stage : stages) {
    if (const auto* const decode = stage.as<DecodeStage>()) decode_ = decode;
    if (const auto* const normalize = stage.as<NormalizeStage>()) normalize_.emplace(normalize->options);
  }
}

bool ImagePass::takes_rows(const FieldSpec& image) const {
  if (!normalize_ || stages_.size() != 1 || (image.dtype != DType::u8 && image.dtype != DType::f32)) return false;
  const Shape& shape = image.shape;
  const auto is_side = [](int64_t side) { return side >= 1 && side <= kResizeMaxSide; };
  return shape.rank() == 3 && is_side(shape[0]) && is_side(shape[1]) && shape[2] >= 1 && shape[2] <= 4 &&
         normalize_->takes(static_cast<int>(shape[2]));
}

void ImagePass::run_rows(const FieldSpec& image, const std::byte* from, size_t count, std::byte* to) const {
  const NormalizePass::Size size = {image.shape[0], image.shape[1], static_cast<int>(image.shape[2])};
  normalize_->images(from, image.dtype, static_cast<int64_t>(count), size, to);
}

Result<void> ImagePass::begin(KernelCall& call, ImageScratch& scratch) const {
  const Tensor& in = call.in();
  int64_t height = 0, width = 0, channels = 0;
  scratch.decoded.reset();
  if (decode_ != nullptr) {
    const std::string_view text = in.bytes_at(0);
    const std::span<const std::byte> file(reinterpret_cast<const std::byte*>(text.data()), text.size());
    HEADPOND_TRY(scratch.file.open(file, *decode_, index_of(call)));
    height = scratch.file.height();
    width = scratch.file.width();
    channels = scratch.file.channels();
  } else if (in.rank() == 3 && (in.dtype() == DType::u8 || in.dtype() == DType::f32)) {
    height = in.dim(0);
    width = in.dim(1);
    channels = in.dim(2);
  }
  if (channels < 1 || channels > 4) {
    return fail(ErrorKind::InvalidArgument, fmt::format("{}{}: uint8 or float32 [height,width,channels] was expected",
                                                        name(in.dtype()), in.shape().to_string()));
  }
  if (normalize_ && !normalize_->takes(static_cast<int>(channels))) {
    return fail(ErrorKind::InvalidArgument,
                fmt::format("{} means for an image of {} channels", normalize_->options().mean.size(), channels));
  }
  return plan_geometry(stages_, height, width, call, scratch.geometry);
}

Result<void> ImagePass::make(KernelCall& call, ImageScratch& scratch, std::optional<FilePart>* asked) const {
  const bool is_file = decode_ != nullptr;
  ImageMaking making(call, scratch, scratch.geometry, decode_, is_file ? decode_->dtype() : call.in().dtype(),
                     is_file ? scratch.file.channels() : static_cast<int>(call.in().dim(2)), asked);
  return making.make(normalize_ ? &*normalize_ : nullptr);
}

Result<void> ImagePass::make(KernelCall& call, ImageScratch& scratch) const { return make(call, scratch, nullptr); }

void ImagePass::decode_two(KernelCall& first, ImageScratch& first_scratch, KernelCall& second,
                           ImageScratch& second_scratch) const {
  if (decode_ == nullptr) return;
  std::optional<FilePart> one, other;
  (void)make(first, first_scratch, &one);
  (void)make(second, second_scratch, &other);
  if (!one || !other) return;
  const auto decoded = FileDecoder::try_two({first_scratch.file, one->part, one->ratio, one->to},
                                            {second_scratch.file, other->part, other->ratio, other->to});
  if (decoded[0]) first_scratch.decoded = one;
  if (decoded[1]) second_scratch.decoded = other;
}

}  // namespace headpond::image_internal
