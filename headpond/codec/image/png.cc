// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/png.h"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <type_traits>

#include "headpond/codec/caught_internal.h"
#include "headpond/codec/image/png_internal.h"

namespace headpond {
namespace {

using png_internal::Layout;
using png_internal::Target;

constexpr const char* kExtraChunk = "IDAT: another chunk after the image's end";
constexpr const char* kNoMemory = "Out of memory";  // libpng says the same.
constexpr uint32_t kNoLimit = 0x7fffffff;           // The number of pixels was checked before.

// The decoding of a file. libpng reports an error by a jump back into the function that called setjmp, so nothing in
// between may have a destructor: everything that has one lives in this object, or above it.
struct Session {
  Session(std::span<const std::byte> from, const Layout& what, const Target& wanted, std::byte* memory)
      : file(from), layout(what), target(wanted), to(memory) {}
  ~Session() { png_destroy_read_struct(&png, &info, nullptr); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Rows in colour that become grey.
  bool makes_grey() const { return layout.has_color() && !target.wants_color(); }
  size_t decoded_row_bytes() const { return layout.width * decoded_channels() * target.value_bytes(); }
  // Rows are decoded directly into the target.
  bool is_direct() const {
    const ImageWindow& window = target.window;
    return !makes_grey() && window.width == layout.width && (window.height == layout.height || !layout.is_interlaced);
  }
  size_t decoded_channels() const { return static_cast<size_t>(target.channels) + (makes_grey() ? 2 : 0); }

  std::span<const std::byte> file;
  const Layout& layout;
  const Target& target;
  std::byte* const to;
  std::vector<std::byte> decoded;  // Unless rows are direct: one row, or all of an interlaced image.
  png_structp png = nullptr;
  png_infop info = nullptr;
  size_t at = 0;                // The position in the file.
  size_t piece_end = SIZE_MAX;  // The end of the current IDAT chunk, from the first one on.
  int64_t warnings = 0;
  bool is_damaged = false;
  std::array<char, 128> error = {}, first_warning = {};
};

Session& session_of(png_structp png) { return *static_cast<Session*>(png_get_error_ptr(png)); }

void copy_text(std::array<char, 128>& to, const char* from) { std::strncpy(to.data(), from, to.size() - 1); }

[[noreturn]] void on_error(png_structp png, png_const_charp text) {
  copy_text(session_of(png).error, text);
  png_longjmp(png, 1);
}

// libpng ignores damage of the compressed data after the last row.
void on_warning(png_structp png, png_const_charp text) {
  Session& session = session_of(png);
  if (session.warnings++ == 0) copy_text(session.first_warning, text);
  const auto has = [&](const char* part) { return std::strstr(text, part) != nullptr; };
  if (!has("IDAT: ") || has(kExtraChunk) || has("Extra compressed data") || has("Too much image data")) return;
  session.is_damaged = true;
  copy_text(session.error, text);
}

// After the last row, libpng has read the chunk in which the compressed data end.
void count_extra_chunks(Session& session) {
  if (session.at < session.layout.data_end) png_warning(session.png, kExtraChunk);
}

uint32_t word(const Session& session, size_t offset) {
  return png_get_uint_32(reinterpret_cast<png_const_bytep>(session.file.data() + offset));
}

// Presents all IDAT chunks as one, whose bytes libpng reads at once: after the last row it looks for the end of the
// compressed data in only one more piece. The checksums were verified before.
void read_joined_header(Session& session, png_bytep to) {
  png_save_uint_32(to, session.layout.run_bytes);
  constexpr std::array<png_byte, 4> kType = {'I', 'D', 'A', 'T'};
  std::memcpy(to + 4, kType.data(), kType.size());
  session.piece_end = session.at + 8 + word(session, session.at);
  session.at += 8;
}

void on_read(png_structp png, png_bytep to, size_t count) {
  Session& session = *static_cast<Session*>(png_get_io_ptr(png));
  const Layout& layout = session.layout;
  if (session.at == layout.run_begin && count == 8) return read_joined_header(session, to);
  while (count > 0) {
    while (session.at == session.piece_end && session.at + 4 < layout.run_end) {
      session.at += 12;  // A checksum, and the header of the next chunk.
      session.piece_end = session.at + word(session, session.at - 8);
    }
    const bool is_inside = session.at < session.piece_end;
    const size_t part = is_inside ? std::min(count, session.piece_end - session.at) : count;
    if (part > session.file.size() - session.at) png_error(png, "the file ends");
    std::memcpy(to, session.file.data() + session.at, part);
    session.at += part;
    to += part;
    count -= part;
  }
}

void set_limits(Session& session) {
  png_set_read_fn(session.png, &session, on_read);
  png_set_user_limits(session.png, kNoLimit, kNoLimit);
  png_set_benign_errors(session.png, 1);
  png_set_compression_buffer_size(session.png, std::max(session.layout.run_bytes, 1U));
  // Checksums of critical chunks were verified before.
  png_set_crc_action(session.png, PNG_CRC_QUIET_USE, PNG_CRC_WARN_DISCARD);
  png_set_keep_unknown_chunks(session.png, PNG_HANDLE_CHUNK_NEVER, nullptr,
                              -1);  // All but IHDR, PLTE, tRNS, IDAT, IEND.
}

void set_transforms(Session& session) {
  const png_structp png = session.png;
  const Layout& layout = session.layout;
  const Target& target = session.target;
  const bool has_key = png_get_valid(png, session.info, PNG_INFO_tRNS) != 0;
  if (layout.has_palette()) png_set_palette_to_rgb(png);
  if (!layout.has_color() && layout.bit_depth < 8) png_set_expand_gray_1_2_4_to_8(png);
  if (target.wants_alpha() && has_key) png_set_tRNS_to_alpha(png);
  if (target.wants_alpha() && !has_key && !layout.has_alpha()) png_set_add_alpha(png, 0xffff, PNG_FILLER_AFTER);
  if (!target.wants_alpha() && (has_key || layout.has_alpha())) png_set_strip_alpha(png);
  if (target.wants_color() && !layout.has_color()) png_set_gray_to_rgb(png);
  if (!target.is_wide && layout.bit_depth == 16) png_set_strip_16(png);
  if (target.is_wide && layout.bit_depth < 16) png_set_expand_16(png);
  if (target.is_wide) png_set_swap(png);
}

template <class T>
void make_grey(const std::byte* from, std::byte* to, size_t pixels, size_t channels) {
  std::array<T, 4> pixel;
  for (size_t i = 0; i < pixels; ++i, from += channels * sizeof(T), to += (channels - 2) * sizeof(T)) {
    std::memcpy(pixel.data(), from, channels * sizeof(T));
    const uint32_t sum = 19595U * pixel[0] + 38470U * pixel[1] + 7471U * pixel[2] + 32768U;
    pixel[2] = static_cast<T>(sum >> 16);
    std::memcpy(to, &pixel[2], (channels - 2) * sizeof(T));
  }
}

// Row `y` of the window from a whole decoded row.
void place_row(Session& session, int64_t y, const std::byte* row) {
  const ImageWindow& window = session.target.window;
  const size_t channels = session.decoded_channels(), pixels = static_cast<size_t>(window.width);
  const std::byte* const from = row + static_cast<size_t>(window.x) * channels * session.target.value_bytes();
  std::byte* const to = session.to + static_cast<size_t>(y) * session.target.row_bytes;
  if (!session.makes_grey()) {
    std::memcpy(to, from, session.target.row_bytes);
  } else if (session.target.is_wide) {
    make_grey<uint16_t>(from, to, pixels, channels);
  } else {
    make_grey<uint8_t>(from, to, pixels, channels);
  }
}

// Down to the window's end.
void read_rows(Session& session, int passes) {
  const ImageWindow& window = session.target.window;
  const bool is_interlaced = passes > 1;
  const int64_t end = is_interlaced ? session.layout.height : window.y + window.height;
  const size_t row = session.decoded_row_bytes();
  for (int pass = 0; pass < passes; ++pass) {
    for (int64_t y = 0; y < end; ++y) {
      const int64_t out_y = y - window.y;
      const bool is_inside = out_y >= 0 && out_y < window.height;
      const bool is_direct = is_inside && session.is_direct();
      std::byte* const decoded = is_direct ? session.to + static_cast<size_t>(out_y) * row
                                           : &session.decoded[is_interlaced ? static_cast<size_t>(y) * row : 0];
      png_read_row(session.png, reinterpret_cast<png_bytep>(decoded), nullptr);
      if (is_inside && !is_direct && pass == passes - 1) place_row(session, out_y, decoded);
    }
  }
}

// False, with session.error set, iff libpng fails.
bool decode(Session& session) {
  session.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &session, on_error, on_warning);
  if (session.png == nullptr) return false;
  if (setjmp(png_jmpbuf(session.png)) != 0) return false;
  session.info = png_create_info_struct(session.png);
  if (session.info == nullptr) png_error(session.png, kNoMemory);
  set_limits(session);
  png_read_info(session.png, session.info);
  set_transforms(session);
  const int passes = png_set_interlace_handling(session.png);
  png_read_update_info(session.png, session.info);
  if (png_get_rowbytes(session.png, session.info) != session.decoded_row_bytes()) {
    png_error(session.png, "rows of another size than planned");
  }
  read_rows(session, passes);
  const ImageWindow& window = session.target.window;
  if (passes == 1 && window.y + window.height < session.layout.height) return !session.is_damaged;
  count_extra_chunks(session);
  if (!session.layout.is_animated) png_read_end(session.png, nullptr);
  return !session.is_damaged;
}

ErrorKind kind_of(std::string_view text) {
  const auto has = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
  if (has("memory")) return ErrorKind::ResourceExhausted;
  return ErrorKind::DataLoss;
}

Result<PngWarnings> decode_by_libpng(std::span<const std::byte> file, const Layout& layout, const Target& target,
                                     std::byte* memory, std::string_view name) {
  Session session(file, layout, target, memory);
  if (!session.is_direct() || target.window.y > 0) {
    session.decoded.resize(session.decoded_row_bytes() * (layout.is_interlaced ? layout.height : 1));
  }
  if (decode(session)) return PngWarnings{session.warnings, session.first_warning.data()};
  const std::string_view text = session.error.data();
  const bool no_memory = text.empty() || text == kNoMemory;
  std::string what = fmt::format("{}: {}, at offset {} or before", name, no_memory ? kNoMemory : text, session.at);
  return fail(no_memory ? Error::of_system(ErrorKind::ResourceExhausted, std::move(what), ENOMEM)
                        : Error(kind_of(text), std::move(what)));
}

Result<PngWarnings> decode_to(std::span<const std::byte> file, const Layout& layout, const Target& target,
                              std::byte* memory, std::string_view name) {
  if (layout.is_plain && png_internal::decode_plain(file, layout, target, memory)) return PngWarnings{};
  return decode_by_libpng(file, layout, target, memory, name);
}

ImageWindow whole_of(const Layout& layout) { return {0, 0, layout.height, layout.width}; }

Result<Target> target_of(const Layout& layout, const ImageWindow& window, const PngOptions& options,
                         std::string_view name) {
  Target target = {options.channels == 0 ? layout.channels() : options.channels, options.dtype == u16, window, 0, 0};
  target.row_bytes = static_cast<size_t>(window.width) * target.pixel_bytes();
  uint64_t all_bytes = 0;
  const bool is_beyond =
      __builtin_mul_overflow(uint64_t{layout.width} * layout.height, target.pixel_bytes(), &all_bytes) ||
      all_bytes > static_cast<uint64_t>(std::max<int64_t>(options.max_memory, 0));
  if (is_beyond) {
    return fail(ErrorKind::ResourceExhausted,
                fmt::format("{}: {} x {} pixels of {} bytes take more than the limit of {} bytes", name, layout.width,
                            layout.height, target.pixel_bytes(), options.max_memory));
  }
  target.total_bytes = target.row_bytes * static_cast<size_t>(window.height);
  return target;
}

Result<PngImage> decode_whole(std::span<const std::byte> file, const PngOptions& options, std::string_view name,
                              decltype(decode_to)& decode) {
  const auto layout = png_internal::read_layout(file, options, name);
  if (!layout) return fail(layout.error());
  const auto target = target_of(*layout, whole_of(*layout), options, name);
  if (!target) return fail(target.error());
  Tensor pixels = Tensor::empty(options.dtype, {layout->height, layout->width, target->channels});
  auto warnings = decode(file, *layout, *target, pixels.mutable_data(), name);
  if (!warnings) return fail(std::move(warnings).error());
  return PngImage{std::move(pixels), *std::move(warnings)};
}

}  // namespace

bool has_png() { return true; }

Result<PngImage> decode_png(std::span<const std::byte> file, const PngOptions& options, std::string_view name) try {
  return decode_whole(file, options, name, decode_to);
} catch (const std::exception&) {
  return codec_internal::fail_caught(name);
}

Result<PngImage> internal::decode_png_by_libpng(std::span<const std::byte> file, const PngOptions& options,
                                                std::string_view name) try {
  return decode_whole(file, options, name, decode_by_libpng);
} catch (const std::exception&) {
  return codec_internal::fail_caught(name);
}

Result<PngWarnings> decode_png_into(std::span<const std::byte> file, std::span<std::byte> target,
                                    const PngOptions& options, std::string_view name) try {
  const auto layout = png_internal::read_layout(file, options, name);
  if (!layout) return fail(layout.error());
  const auto wanted = target_of(*layout, whole_of(*layout), options, name);
  if (!wanted) return fail(wanted.error());
  if (target.size() != wanted->total_bytes || reinterpret_cast<uintptr_t>(target.data()) % wanted->value_bytes() != 0) {
    return fail(ErrorKind::InvalidArgument,
                fmt::format("{}: {} x {} pixels of {} channels of {} need {} bytes, aligned; the target has {}", name,
                            layout->width, layout->height, wanted->channels, headpond::name(options.dtype),
                            wanted->total_bytes, target.size()));
  }
  return decode_to(file, *layout, *wanted, target.data(), name);
} catch (const std::exception&) {
  return codec_internal::fail_caught(name);
}

Result<PngWarnings> png_internal::decode_window(std::span<const std::byte> file, const Layout& layout,
                                                const ImageWindow& window, const PngOptions& options, std::byte* to,
                                                std::string_view name) try {
  const auto target = target_of(layout, window, options, name);
  if (!target) return fail(target.error());
  return decode_to(file, layout, *target, to, name);
} catch (const std::exception&) {
  return codec_internal::fail_caught(name);
}

}  // namespace headpond
