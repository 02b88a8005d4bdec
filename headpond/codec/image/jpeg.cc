// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/jpeg.h"

#include <fmt/format.h>

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>

// After <cstdio>, which it needs.
#include <jpeglib.h>
// After jpeglib.h.
#include <jerror.h>

#include "headpond/codec/caught_internal.h"
#include "headpond/codec/image/baseline/baseline_internal.h"
#include "headpond/codec/image/jpeg_index.h"
#include "headpond/codec/image/jpeg_internal.h"

namespace headpond {
namespace {

using jpeg_internal::Layout;
using jpeg_internal::Mutation;
using Library = jpeg_internal::Decoder::Library;
using Bytes = std::span<const std::byte>;

// A rectangle of the stored image, divided by the ratio, and where its pixels go.
struct Plan {
  ImageWindow stored;
  int64_t stored_height = 0, stored_width = 0;  // Size of the whole image.
  int64_t height = 0, width = 0;                // Size of the result.
  int channels = 0;
  bool is_turned = false;  // Rows become columns.
  bool flips_rows = false, flips_columns = false;

  size_t bytes() const { return static_cast<size_t>(height * width * channels); }
};

}  // namespace

// What decodes, for one file after the other.
struct jpeg_internal::Decoder::Library {
  Library() = default;
  ~Library() { jpeg_destroy_decompress(&info); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  jpeg_decompress_struct info = {};
  jpeg_error_mgr errors = {};
  jpeg_progress_mgr progress = {};
  int files = 0;
  BaselineDecoder baseline;
  ScanIndex index;
  bool has_index = false;  // There is an index of the opened file.
};

namespace {

// Not on the stack, which may be small: its tables have 300 KB. They are written before they are read.
std::unique_ptr<Library> make_library() { return std::make_unique_for_overwrite<Library>(); }

// The decoding of a file. libjpeg reports an error by a jump back into the function that called setjmp, so nothing in
// between may have a destructor: everything that has one lives in this object, or above it.
struct Session {
  Session(Library& library, Bytes from, const Layout& what, const JpegOptions& wanted, const Plan& where,
          std::byte* memory)
      : object(library), info(library.info), file(from), layout(what), options(wanted), plan(where), to(memory) {}
  ~Session() { jpeg_abort_decompress(&info); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Library& object;
  jpeg_decompress_struct& info;
  const Bytes file;
  const Layout& layout;
  const JpegOptions& options;
  const Plan& plan;
  std::byte* const to;
  bool to_end = false;  // Below the rectangle too.
  Mutation mutation;
  std::vector<JSAMPLE> row;
  jmp_buf back;
  ErrorKind kind = ErrorKind::InvalidArgument;
  int64_t warnings = 0;
  std::array<char, JMSG_LENGTH_MAX> error = {}, first_warning = {};
  size_t error_at = 0, first_at = 0;     // Bytes of the file.
  int64_t error_row = 0, first_row = 0;  // Rows of the stored image.
  int64_t lost_row = -1, cut_row = -1;   // The first that may be wrong; the first after the end of the file.
};

Session& session_of(j_common_ptr info) { return *static_cast<Session*>(info->client_data); }

size_t place_of(const Session& session) {
  if (session.info.src == nullptr) return 0;
  const auto* const next = reinterpret_cast<const std::byte*>(session.info.src->next_input_byte);
  const std::byte* const begin = session.file.data();
  const bool is_inside = std::less_equal<>()(begin, next) && std::less_equal<>()(next, begin + session.file.size());
  return is_inside ? static_cast<size_t>(next - begin) : session.file.size();  // libjpeg's own end of a cut file.
}

[[noreturn]] void stop(Session& session, ErrorKind kind) {
  session.kind = kind;
  session.info.err->format_message(reinterpret_cast<j_common_ptr>(&session.info), session.error.data());
  session.error_at = place_of(session);
  session.error_row = session.info.output_scanline;
  std::longjmp(session.back, 1);
}

[[noreturn]] void on_error(j_common_ptr info) {
  switch (info->err->msg_code) {
    case JERR_OUT_OF_MEMORY:
    case JERR_NO_BACKING_STORE:
    case JERR_WIDTH_OVERFLOW:
      stop(session_of(info), ErrorKind::ResourceExhausted);
    case JERR_ARITH_NOTIMPL:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_SOF_UNSUPPORTED:
    case JERR_CCIR601_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_NOTIMPL:
      stop(session_of(info), ErrorKind::Unimplemented);
    default:
      stop(session_of(info), ErrorKind::InvalidArgument);
  }
}

bool loses_pixels(int code) {
  return code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE || code == JWRN_JPEG_EOF || code == JWRN_MUST_RESYNC ||
         code == JWRN_BOGUS_PROGRESSION;
}

void on_message(j_common_ptr info, int level) {
  if (level >= 0) return;  // A trace.
  Session& session = session_of(info);
  const int code = info->err->msg_code;
  const bool is_lost = loses_pixels(code);
  const JpegDamage damage = session.options.damage;
  if (damage == JpegDamage::strict || (damage == JpegDamage::fail && is_lost)) stop(session, ErrorKind::DataLoss);
  const int64_t row = session.info.output_scanline;
  if (session.warnings++ == 0) {
    info->err->format_message(info, session.first_warning.data());
    session.first_at = place_of(session);
    session.first_row = row;
  }
  if (is_lost && session.lost_row < 0) session.lost_row = row;
  if (code == JWRN_JPEG_EOF && session.cut_row < 0) session.cut_row = row;
}

void on_progress(j_common_ptr info) {
  Session& session = session_of(info);
  if (session.info.input_scan_number <= session.options.max_scans) return;
  session.kind = ErrorKind::ResourceExhausted;
  std::strncpy(session.error.data(), "more scans than the limit", session.error.size() - 1);
  std::longjmp(session.back, 1);
}

// Samplings of which a region has the pixels of the whole image.
bool can_decode_region(const Layout& layout) {
  if (layout.keeps_coefficients()) return false;
  if (layout.components == 1) return true;
  if (layout.components != 3) return false;
  for (const int i : {1, 2}) {
    if (layout.sampling[static_cast<size_t>(i)] != std::array<uint8_t, 2>{1, 1}) return false;
  }
  const auto [across, down] = layout.sampling[0];
  return (across <= 2 && down <= 2) || (across == 4 && down == 1);
}

bool is_inked(const jpeg_decompress_struct& info) {
  return info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
}

void set_options(Session& session) {
  jpeg_decompress_struct& info = session.info;
  info.scale_num = 1;
  info.scale_denom = static_cast<unsigned>(session.options.ratio);
  info.dct_method = JDCT_ISLOW;
  info.do_fancy_upsampling = session.options.fancy_upscaling ? TRUE : FALSE;
  info.out_color_space = is_inked(info) ? JCS_CMYK : session.plan.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
}

// TF's formulas; Adobe's files are inverted.
void convert_inks(const Session& session, const JSAMPLE* from, JSAMPLE* to) {
  const unsigned flip = session.layout.has_adobe ? 0 : 255;
  std::array<unsigned, 3> color;
  for (size_t i = 0; i < color.size(); ++i) color[i] = (from[i] ^ flip) * (from[3] ^ flip) / 255;
  if (session.plan.channels == 1) {
    to[0] = static_cast<JSAMPLE>((19595U * color[0] + 38470U * color[1] + 7471U * color[2] + 32768U) >> 16);
    return;
  }
  for (size_t i = 0; i < color.size(); ++i) to[i] = static_cast<JSAMPLE>(color[i]);
}

// Row `y` of the rectangle: where its first pixel goes, and how far apart its pixels are.
struct RowPlace {
  RowPlace(const Plan& plan, std::byte* to, int64_t y) {
    const int64_t pixel = plan.channels, row = plan.width * plan.channels;
    const int64_t line = plan.flips_rows ? plan.stored.height - 1 - y : y;
    step = (plan.is_turned ? row : pixel) * (plan.flips_columns ? -1 : 1);
    first = reinterpret_cast<JSAMPLE*>(to) + line * (plan.is_turned ? pixel : row);
    if (plan.flips_columns) first -= step * (plan.stored.width - 1);
  }
  JSAMPLE* first;
  int64_t step;
};

void place_pixels(const Plan& plan, std::byte* to, int64_t y, const JSAMPLE* from) {
  const auto [first, step] = RowPlace(plan, to, y);
  const int64_t pixel = plan.channels, width = plan.stored.width;
  if (step == pixel) {
    std::memcpy(first, from, static_cast<size_t>(width * pixel));
    return;
  }
  for (int64_t x = 0; x < width; ++x) std::copy_n(from + pixel * x, pixel, first + step * x);
}

// Row `y` of the rectangle, whose first pixel is `from`.
void place_row(const Session& session, int64_t y, const JSAMPLE* from) {
  if (!is_inked(session.info)) return place_pixels(session.plan, session.to, y, from);
  const auto [first, step] = RowPlace(session.plan, session.to, y);
  for (int64_t x = 0; x < session.plan.stored.width; ++x) convert_inks(session, from + 4 * x, first + step * x);
}

// The columns that libjpeg decodes: [returned, + info.output_width).
int64_t crop_columns(Session& session) {
  const ImageWindow& part = session.plan.stored;
  if (!can_decode_region(session.layout) || part.width == session.plan.stored_width) return 0;
  // Upsampling sees the neighbours of a pixel.
  const int64_t margin = session.mutation.without_margin ? 0 : 1;
  int64_t begin = std::max<int64_t>(part.x - margin, 0);
  int64_t end = std::min(part.x + part.width + margin, session.plan.stored_width);
  // With fewer than two columns of chroma libjpeg gives up fancy upsampling.
  constexpr int64_t kLeast = 8;
  end = std::max(end, std::min(begin + kLeast, session.plan.stored_width));
  begin = std::min(begin, std::max<int64_t>(end - kLeast, 0));
  auto first = static_cast<JDIMENSION>(begin), count = static_cast<JDIMENSION>(end - begin);
  jpeg_crop_scanline(&session.info, &first, &count);
  return first;
}

void read_rows(Session& session, int64_t left) {
  jpeg_decompress_struct& info = session.info;
  const ImageWindow& part = session.plan.stored;
  const bool skips = can_decode_region(session.layout) && part.y > 0;
  if (skips && session.mutation.second_skip && part.y > 1) {
    jpeg_skip_scanlines(&info, static_cast<JDIMENSION>(part.y / 2));
    jpeg_skip_scanlines(&info, static_cast<JDIMENSION>(part.y - part.y / 2));
  } else if (skips) {
    jpeg_skip_scanlines(&info, static_cast<JDIMENSION>(part.y));
  }
  JSAMPROW row = session.row.data();
  while (info.output_scanline < static_cast<JDIMENSION>(part.y + part.height)) {
    const int64_t y = static_cast<int64_t>(info.output_scanline) - part.y;
    if (jpeg_read_scanlines(&info, &row, 1) != 1) stop(session, ErrorKind::DataLoss);
    if (y >= 0) place_row(session, y, row + (part.x - left) * info.output_components);
  }
  // To the end of the file, where damage may be.
  const int64_t left_rows = session.plan.stored_height - part.y - part.height;
  if (left_rows > 0 && !session.to_end) return;
  // A skip to the last row would decode nothing.
  if (left_rows > 1) jpeg_skip_scanlines(&info, static_cast<JDIMENSION>(left_rows - 1));
  if (left_rows > 0) jpeg_read_scanlines(&info, &row, 1);
  jpeg_finish_decompress(&info);
}

// An object as if it were new. Making one takes 3 % of the time of decoding an image; so the tables of the file before
// are only forgotten, and their memory is given back now and then.
void begin_file(Session& session) {
  jpeg_decompress_struct& info = session.info;
  constexpr int kFiles = 64;
  if (session.object.files++ % kFiles == 0 || info.mem == nullptr) {
    jpeg_destroy_decompress(&info);
    jpeg_create_decompress(&info);
    return;
  }
  info.output_scanline = 0;  // A progressive file is read before libjpeg sets it, and an error has it.
  for (JQUANT_TBL*& table : info.quant_tbl_ptrs) table = nullptr;
  for (JHUFF_TBL*& table : info.dc_huff_tbl_ptrs) table = nullptr;
  for (JHUFF_TBL*& table : info.ac_huff_tbl_ptrs) table = nullptr;
}

// False, with session.error set, iff libjpeg fails.
bool decode(Session& session) {
  jpeg_decompress_struct& info = session.info;
  info.err = jpeg_std_error(&session.object.errors);
  info.err->error_exit = on_error;
  info.err->emit_message = on_message;
  info.client_data = &session;
  if (setjmp(session.back) != 0) return false;
  begin_file(session);
  info.mem->max_memory_to_use = static_cast<long>(session.options.max_memory);  // NOLINT(google-runtime-int)
  session.object.progress.progress_monitor = on_progress;
  info.progress = &session.object.progress;
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(session.file.data()), session.file.size());
  jpeg_read_header(&info, TRUE);
  set_options(session);
  jpeg_start_decompress(&info);
  if (info.output_width != session.plan.stored_width || info.output_height != session.plan.stored_height) {
    stop(session, ErrorKind::InvalidArgument);
  }
  const int64_t left = crop_columns(session);
  read_rows(session, left);
  return true;
}

// Reads the markers of `file`, and its index, if there is one: true in the result iff that is of another file.
struct Opened {
  Layout layout;
  bool ignores_index = false;
};
Result<Opened> open_file(Library& library, Bytes file, Bytes index, const JpegOptions& options, std::string_view name) {
  library.has_index = false;
  if (!index.empty()) {
    HEADPOND_TRY(jpeg_internal::read_index(index, name, library.index));
    library.has_index = jpeg_internal::is_of_file(library.index, file);
  }
  auto layout = library.has_index ? jpeg_internal::read_indexed_layout(file, options, name)
                                  : jpeg_internal::read_layout(file, options, name);
  if (!layout) return fail(std::move(layout).error());
  return Opened{*layout, !index.empty() && !library.has_index};
}

using BaselineWork = jpeg_internal::BaselineDecoder::Work;

// If it fails, libjpeg is to decode the file. `plan` outlives it.
BaselineWork baseline_work(Library& library, Bytes file, const JpegOptions& options, const Plan& plan,
                           std::byte* memory) {
  jpeg_internal::BaselineOptions wanted = {.part = plan.stored, .channels = plan.channels};
  if (library.has_index) wanted.index = &library.index;
  wanted.fancy = options.fancy_upscaling;
  wanted.to_end = options.check == JpegCheck::whole;
  return {library.baseline, file, wanted,
          [&plan, memory](int64_t y, const uint8_t* row) { place_pixels(plan, memory, y, row); }};
}

// True iff the decoder of baseline files may decode it.
bool may_be_own(const Layout& layout, const JpegOptions& options) { return options.ratio == 1 && layout.is_plain(); }

// 1234567 is "1,234,567".
std::string with_commas(size_t number) {
  std::string text = std::to_string(number);
  for (size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

std::string text_of(const Session& session, const char* what, size_t at, int64_t row) {
  return fmt::format("corrupt data at byte {}, row {} of {}: \"{}\"", with_commas(at), row, session.plan.stored_height,
                     what);
}

tl::unexpected<Error> fail_without_end(const Layout& layout, size_t bytes, std::string_view name) {
  if (layout.bad_marker) {
    return fail(ErrorKind::DataLoss, fmt::format("{}: corrupt data at byte {}: {}", name,
                                                 with_commas(*layout.bad_marker), layout.bad_marker_is));
  }
  return fail(ErrorKind::DataLoss,
              fmt::format("{}: corrupt data at byte {}: the file ends there without an end-of-image marker", name,
                          with_commas(bytes)));
}

Result<JpegWarnings> decode_to(Library& library, Bytes file, const Layout& layout, const JpegOptions& options,
                               const Plan& plan, std::byte* memory, std::string_view name, Mutation mutation) {
  if (!layout.has_end && options.damage != JpegDamage::recover) return fail_without_end(layout, file.size(), name);
  const bool is_own = !mutation.by_library && may_be_own(layout, options);
  if (is_own) {
    const BaselineWork work = baseline_work(library, file, options, plan, memory);
    if (work.decoder.decode(work.file, work.options, work.take)) return JpegWarnings{0, "", plan.stored.height};
  }
  if (is_own && library.has_index) {
    return fail(ErrorKind::DataLoss, fmt::format("{}: the index leads to other values than the file has", name));
  }
  Session session(library, file, layout, options, plan, memory);
  session.to_end = options.check == JpegCheck::whole;
  session.mutation = mutation;
  session.row.resize(static_cast<size_t>(plan.stored_width + 64) * 4);
  if (!decode(session)) {
    return fail(session.kind, fmt::format("{}: {}", name,
                                          text_of(session, session.error.data(), session.error_at, session.error_row)));
  }
  const int64_t end = plan.stored.y + plan.stored.height;
  if (session.cut_row >= 0 && session.cut_row < end &&
      static_cast<double>(session.cut_row) < options.acceptable_fraction * static_cast<double>(end)) {
    return fail(ErrorKind::DataLoss, fmt::format("{}: the file ends at row {} of {}, before the share of {} of them",
                                                 name, session.cut_row, end, options.acceptable_fraction));
  }
  JpegWarnings warnings = {session.warnings, "", plan.stored.height};
  if (session.lost_row >= 0) warnings.rows = std::clamp<int64_t>(session.lost_row - plan.stored.y, 0, warnings.rows);
  if (session.warnings > 0) {
    warnings.first = text_of(session, session.first_warning.data(), session.first_at, session.first_row);
  }
  return warnings;
}

// Null: the whole image.
Result<Plan> plan_of(const Layout& layout, const ImageWindow* window, const JpegOptions& options,
                     std::string_view name) {
  const int turn = options.apply_exif_orientation ? layout.orientation : 1;
  const auto is_one_of = [turn](auto... all) { return ((turn == all) || ...); };
  Plan plan = {.stored = {},
               .stored_height = (layout.height - 1) / options.ratio + 1,
               .stored_width = (layout.width - 1) / options.ratio + 1,
               .channels = options.channels == 0 ? layout.own_channels() : options.channels,
               .is_turned = turn >= 5,
               .flips_rows = is_one_of(3, 4, 6, 7),
               .flips_columns = is_one_of(2, 3, 7, 8)};
  int64_t height = plan.stored_height, width = plan.stored_width;
  if (plan.is_turned) std::swap(height, width);
  const ImageWindow part = window == nullptr ? ImageWindow{0, 0, height, width} : *window;
  if (part.y < 0 || part.x < 0 || part.height <= 0 || part.width <= 0 || part.y > height || part.x > width ||
      part.height > height - part.y || part.width > width - part.x) {
    return fail(ErrorKind::InvalidArgument,
                fmt::format("{}: the window [{}, {}, {}, {}] (y, x, height, width) is not inside {} x {} pixels", name,
                            part.y, part.x, part.height, part.width, width, height));
  }
  plan.height = part.height;
  plan.width = part.width;
  ImageWindow& stored = plan.stored;
  stored = plan.is_turned ? ImageWindow{part.x, part.y, part.width, part.height} : part;
  if (plan.flips_rows) stored.y = plan.stored_height - stored.y - stored.height;
  if (plan.flips_columns) stored.x = plan.stored_width - stored.x - stored.width;
  return plan;
}

Result<JpegImage> decode_window(Bytes file, Bytes index, const ImageWindow* window, const JpegOptions& options,
                                std::string_view name, Mutation mutation) try {
  const auto library = make_library();
  const auto opened = open_file(*library, file, index, options, name);
  if (!opened) return fail(opened.error());
  if (opened->ignores_index) {
    return fail(ErrorKind::FailedPrecondition,
                fmt::format("{}: the index is of another file, of {} bytes; this one has {}", name,
                            with_commas(library->index.file_bytes), with_commas(file.size())));
  }
  const auto plan = plan_of(opened->layout, window, options, name);
  if (!plan) return fail(plan.error());
  Tensor pixels = Tensor::empty(u8, {plan->height, plan->width, plan->channels});
  auto warnings = decode_to(*library, file, opened->layout, options, *plan, pixels.mutable_data(), name, mutation);
  if (!warnings) return fail(std::move(warnings).error());
  return JpegImage{std::move(pixels), *std::move(warnings)};
} catch (const std::exception&) {
  return codec_internal::fail_caught(name);
}

}  // namespace

bool has_jpeg() { return true; }

Result<JpegImage> decode_jpeg(Bytes file, const JpegOptions& options, std::string_view name) {
  return decode_window(file, {}, nullptr, options, name, {});
}

Result<JpegImage> decode_and_crop_jpeg(Bytes file, const ImageWindow& window, const JpegOptions& options,
                                       std::string_view name) {
  return decode_window(file, {}, &window, options, name, {});
}

Result<JpegImage> decode_indexed_jpeg(Bytes file, Bytes index, const ImageWindow& window, const JpegOptions& options,
                                      std::string_view name) {
  return decode_window(file, index, &window, options, name, {});
}

Result<JpegImage> jpeg_internal::decode_part(Bytes file, const ImageWindow& window, const JpegOptions& options,
                                             std::string_view name, Mutation mutation) {
  return decode_window(file, {}, &window, options, name, mutation);
}

Result<JpegWarnings> decode_jpeg_into(Bytes file, std::span<std::byte> target, const JpegOptions& options,
                                      std::string_view name) try {
  const auto layout = jpeg_internal::read_layout(file, options, name);
  if (!layout) return fail(layout.error());
  const auto plan = plan_of(*layout, nullptr, options, name);
  if (!plan) return fail(plan.error());
  if (target.size() != plan->bytes()) {
    return fail(ErrorKind::InvalidArgument,
                fmt::format("{}: {} x {} pixels of {} channels need {} bytes; the target has {}", name, plan->width,
                            plan->height, plan->channels, plan->bytes(), target.size()));
  }
  const auto library = make_library();
  return decode_to(*library, file, *layout, options, *plan, target.data(), name, {});
} catch (const std::exception&) {
  return codec_internal::fail_caught(name);
}

jpeg_internal::Decoder::Decoder() : library_(make_library()) {}
jpeg_internal::Decoder::~Decoder() = default;

Result<void> jpeg_internal::Decoder::open(Bytes file, const JpegOptions& options, std::string_view name, Bytes index) {
  const auto opened = open_file(*library_, file, index, options, name);
  if (!opened) return fail(opened.error());
  layout_ = opened->layout;
  ignores_index_ = opened->ignores_index;
  file_ = file;
  return {};
}

Result<JpegWarnings> jpeg_internal::Decoder::decode(const ImageWindow& window, const JpegOptions& options,
                                                    std::byte* to, std::string_view name) {
  const auto plan = plan_of(layout_, &window, options, name);
  if (!plan) return fail(plan.error());
  return decode_to(*library_, file_, layout_, options, *plan, to, name, {});
}

std::array<bool, 2> jpeg_internal::Decoder::try_two(const Part& first, const Part& second) {
  const auto plan_of_part = [](const Part& part) {
    const Decoder& decoder = part.decoder;
    const bool is_own = may_be_own(decoder.layout_, part.options) && !decoder.library_->has_index;
    return is_own ? plan_of(decoder.layout_, &part.window, part.options, "") : fail(ErrorKind::Unimplemented, "");
  };
  const Result<Plan> one = plan_of_part(first), other = plan_of_part(second);
  if (!one || !other) return {};
  const auto work = [](const Part& part, const Plan& plan) {
    return baseline_work(*part.decoder.library_, part.decoder.file_, part.options, plan, part.to);
  };
  return BaselineDecoder::decode_two(work(first, *one), work(second, *other));
}

}  // namespace headpond
