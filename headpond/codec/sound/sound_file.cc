// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/sound/sound_file.h"

#include <fmt/format.h>
#include <sndfile.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "headpond/codec/sound/sample_rate_internal.h"
#include "headpond/codec/sound/sound_file_internal.h"

namespace headpond {
namespace sound_internal {
namespace {

tl::unexpected<Error> lost(std::string_view name, std::string_view what) {
  return fail(ErrorKind::DataLoss, fmt::format("{}: {}", name, what));
}

// What libsndfile reads. A damaged FLAC file makes it seek for ever, so reading has a limit, after which the file ends.
class MemoryFile {
 public:
  // `prefix`: bytes before the file's.
  MemoryFile(Bytes file, std::vector<std::byte> prefix) : file_(file), prefix_(std::move(prefix)) {}

  static SF_VIRTUAL_IO functions() {
    return {[](void* file) { return self(file).size(); },
            [](sf_count_t offset, int from, void* file) { return self(file).seek(offset, from); },
            [](void* to, sf_count_t count, void* file) { return self(file).read(to, count); }, nullptr,
            [](void* file) { return self(file).at_; }};
  }
  bool is_exhausted() const { return left_ < 0; }

 private:
  static constexpr int64_t kMostReads = 64;
  static constexpr int64_t kAtLeast = 1 << 20;

  static MemoryFile& self(void* file) { return *static_cast<MemoryFile*>(file); }
  sf_count_t size() const { return static_cast<sf_count_t>(prefix_.size() + file_.size()); }
  sf_count_t seek(sf_count_t offset, int from) {
    const sf_count_t base = from == SEEK_SET ? 0 : from == SEEK_CUR ? at_ : size();
    if (offset < -base || offset > INT64_MAX - base) return -1;
    return at_ = base + offset;
  }
  sf_count_t read(void* to, sf_count_t count) {
    const sf_count_t given = std::max<sf_count_t>(0, std::min(count, size() - at_));
    left_ -= given + 1;
    if (is_exhausted()) return 0;
    auto* const bytes = static_cast<std::byte*>(to);
    const auto from = static_cast<size_t>(at_), wanted = static_cast<size_t>(given);
    const size_t before = from < prefix_.size() ? std::min(wanted, prefix_.size() - from) : 0;
    if (before > 0) std::memcpy(bytes, &prefix_[from], before);
    if (wanted > before) std::memcpy(bytes + before, &file_[from + before - prefix_.size()], wanted - before);
    at_ += given;
    return given;
  }

  const Bytes file_;
  const std::vector<std::byte> prefix_;
  sf_count_t at_ = 0;
  int64_t left_ = kMostReads * size() + kAtLeast;
};

struct Close {
  void operator()(SNDFILE* handle) const { sf_close(handle); }
};

// An open file. It reads from the file's bytes, which outlive it.
struct Opened {
  std::unique_ptr<MemoryFile> memory;
  std::unique_ptr<SNDFILE, Close> handle;
  SoundInfo info;
  int64_t lead = 0;         // Frames before the first one.
  std::string defect = "";  // What is wrong with it, as far as that is known.
};

bool is_supported(SoundFormat format, int found) {
  const int type = found & SF_FORMAT_TYPEMASK, form = found & SF_FORMAT_SUBMASK;
  switch (format) {
    case SoundFormat::flac:
      return type == SF_FORMAT_FLAC;
    case SoundFormat::mp3:
      return type == SF_FORMAT_MPEG && form == SF_FORMAT_MPEG_LAYER_III;
    case SoundFormat::vorbis:
      return type == SF_FORMAT_OGG && form == SF_FORMAT_VORBIS;
    case SoundFormat::opus:
      return type == SF_FORMAT_OGG && form == SF_FORMAT_OPUS;
    default:
      break;
  }
  constexpr std::array kForms = {SF_FORMAT_PCM_S8, SF_FORMAT_PCM_U8, SF_FORMAT_PCM_16,
                                 SF_FORMAT_PCM_24, SF_FORMAT_PCM_32, SF_FORMAT_FLOAT,
                                 SF_FORMAT_DOUBLE, SF_FORMAT_ULAW,   SF_FORMAT_ALAW};
  return type == SF_FORMAT_AIFF && std::ranges::find(kForms, form) != kForms.end();
}

// What libsndfile is given of an MP3 file: it trusts the number of frames in the first one, and guesses it from the bit
// rate of the first one where that is missing.
Result<Mp3Frames> prepare_mp3(Bytes file, std::string_view name, std::string& defect) {
  auto found = mp3_frames(file, name);
  if (!found) return fail(found.error());
  if (found->damage != 0) {
    defect = fmt::format("no frame at byte {}", found->damage);
  } else if (found->stated > found->frames) {
    defect = fmt::format("it states {} MP3 frames and has {}", found->stated, found->frames);
  } else if (found->ends_inside) {
    defect = fmt::format("it ends inside MP3 frame {}", found->frames);
  }
  return found;
}

Result<void> open_library(Opened& opened, Bytes part, std::vector<std::byte> prefix, SoundFormat format,
                          std::string_view name) {
  opened.memory = std::make_unique<MemoryFile>(part, std::move(prefix));
  SF_INFO found = {};
  SF_VIRTUAL_IO io = MemoryFile::functions();
  opened.handle.reset(sf_open_virtual(&io, SFM_READ, &found, opened.memory.get()));
  if (opened.handle == nullptr) {
    return lost(name, fmt::format("the head of this {} file is damaged, or of a form that libsndfile does not read",
                                  headpond::name(format)));
  }
  opened.info = {format, found.samplerate, found.channels, found.frames == SF_COUNT_MAX ? -1 : int64_t{found.frames}};
  if (is_supported(format, found.format)) return {};
  return fail(ErrorKind::Unimplemented, fmt::format("{}: {} of the form 0x{:x} (libsndfile's number) is not supported",
                                                    name, headpond::name(format), found.format));
}

Result<void> open_mp3(Opened& opened, Bytes file, const SoundOptions& options, std::string_view name) {
  auto frames = prepare_mp3(file, name, opened.defect);
  if (!frames) return fail(frames.error());
  if (!opened.defect.empty() && !options.lenient) return lost(name, opened.defect);
  const bool is_counted = !frames->count.empty();
  HEADPOND_TRY(open_library(opened, file.subspan(frames->first), std::move(frames->count), SoundFormat::mp3, name));
  if (!is_counted) return {};
  const int64_t all = frames->frames * frames->samples;
  opened.lead = std::max<int64_t>(0, opened.info.frames - all);
  opened.info.frames = std::min(opened.info.frames, all);
  return {};
}

Result<void> open_ogg(Opened& opened, Bytes file, SoundFormat format, const SoundOptions& options,
                      std::string_view name) {
  HEADPOND_TRY(open_library(opened, file, {}, format, name));
  if (opened.info.frames >= 0) return {};
  opened.defect = "it ends before its last Ogg page";
  if (!options.lenient) return lost(name, opened.defect);
  return {};
}

// The number of frames is what the head states: libsndfile lowers it to what an AIFF file has.
Result<void> open_stated(Opened& opened, Bytes file, SoundFormat format, std::string_view name) {
  const bool is_flac = format == SoundFormat::flac;
  const auto head = is_flac ? flac_info(file, file.size(), name) : aiff_info(file, file.size(), name);
  if (!head) return fail(head.error());
  HEADPOND_TRY(open_library(opened, is_flac ? file.subspan(id3_bytes(file)) : file, {}, format, name));
  opened.info.frames = head->frames;
  return {};
}

Result<Opened> open_sound(Bytes file, SoundFormat format, const SoundOptions& options, std::string_view name) {
  Opened opened;
  if (format == SoundFormat::mp3) {
    HEADPOND_TRY(open_mp3(opened, file, options, name));
  } else if (format == SoundFormat::vorbis || format == SoundFormat::opus) {
    HEADPOND_TRY(open_ogg(opened, file, format, options, name));
  } else {
    HEADPOND_TRY(open_stated(opened, file, format, name));
  }
  HEADPOND_TRY(check_limits(opened.info, options, name));
  return opened;
}

// The frames that are asked for, in the channels that are asked for.
class Reader {
 public:
  Reader(Opened& opened, const SoundOptions& options, std::string_view name)
      : opened_(opened), options_(options), name_(name), channels_(static_cast<size_t>(opened.info.channels)) {}

  size_t channels() const { return static_cast<size_t>(result_channels(options_, opened_.info.channels)); }

  // Goes to the first frame. False iff the file ends before it.
  Result<bool> start() {
    if (options_.first_sample > INT64_MAX - opened_.lead) return false;
    int64_t left = options_.first_sample + opened_.lead;
    if (left == 0) return true;
    const SoundFormat format = opened_.info.format;
    if ((format == SoundFormat::flac || format == SoundFormat::aiff) && opened_.info.frames >= 0) {
      const sf_count_t at = sf_seek(opened_.handle.get(), left, SEEK_SET);
      if (at == left) return true;
      return lost(name_, fmt::format("frame {} was not found by seeking", left));
    }
    while (left > 0) {
      const auto got = read_block(static_cast<size_t>(left));
      if (got == 0) return false;
      left -= static_cast<int64_t>(got);
    }
    return true;
  }

  // Up to `frames`; fewer at the end.
  Result<size_t> read(size_t frames, float* to) {
    size_t done = 0;
    while (done < frames) {
      const size_t got = read_block(frames - done);
      if (got == 0) break;
      const std::span<float> values(block_.data(), got * channels_);
      const size_t bad = options_.non_finite == NonFinite::keep
                             ? values.size()
                             : find_non_finite(values, options_.non_finite == NonFinite::zero);
      if (bad < values.size()) {
        return fail(ErrorKind::InvalidArgument,
                    fmt::format("{}: {} in frame {}, channel {}", name_, values[bad],
                                static_cast<size_t>(options_.first_sample) + done + bad / channels_, bad % channels_));
      }
      put(values, to + done * channels());
      done += got;
    }
    return done;
  }

  // What is wrong with what was read so far, or "".
  std::string defect() const {
    if (opened_.memory->is_exhausted()) return "decoding it reads more than 64 times its bytes";
    return sf_error(opened_.handle.get()) == SF_ERR_NO_ERROR ? opened_.defect : "it is damaged";
  }

 private:
  static constexpr size_t kBlockValues = 8192;

  size_t read_block(size_t most) {
    const size_t frames = std::min(most, std::max<size_t>(1, kBlockValues / channels_));
    block_.resize(frames * channels_);
    const sf_count_t got = sf_readf_float(opened_.handle.get(), block_.data(), static_cast<sf_count_t>(frames));
    return static_cast<size_t>(std::max<sf_count_t>(got, 0));
  }

  void put(std::span<const float> values, float* to) const {
    const size_t frames = values.size() / channels_, wanted = channels();
    if (options_.mix == SoundMix::mean) return mean_of_channels(values, channels_, {to, frames});
    const size_t given = std::min(wanted, channels_);
    for (size_t i = 0; i < frames; ++i, to += wanted) {
      std::copy_n(&values[i * channels_], given, to);
      std::fill(to + given, to + wanted, to[given - 1]);
    }
  }

  Opened& opened_;
  const SoundOptions& options_;
  const std::string_view name_;
  const size_t channels_;
  std::vector<float> block_;
};

// How many frames to decode: at most those that the file states. Where it does not, one more than the limit, which then
// does not end there.
Result<int64_t> frames_to_read(const SoundInfo& info, const SoundOptions& options, size_t channels,
                               std::string_view name) {
  const int64_t all = info.frames < 0 ? INT64_MAX : info.frames;
  if (options.first_sample > all) {
    return fail(ErrorKind::InvalidArgument,
                fmt::format("{}: first_sample {} of {} frames", name, options.first_sample, all));
  }
  const int64_t left = all - options.first_sample;
  const int64_t wanted = options.desired_samples < 0 ? left : std::min(left, options.desired_samples);
  const auto made = static_cast<int64_t>(channels);
  const int64_t most = options.max_values / std::max<int64_t>(info.channels, made);
  if (info.frames < 0) return wanted > most ? most + 1 : wanted;
  HEADPOND_TRY(check_values(wanted, info.channels, made, options.max_values, name));
  return wanted;
}

struct Read {
  size_t frames;
  bool is_truncated;
};

// What reading has come to. `wanted` frames were asked for, of a file that has them, if it is whole.
Result<Read> judged(const Reader& reader, const SoundInfo& info, size_t got, size_t wanted, const SoundOptions& options,
                    std::string_view name) {
  std::string defect = reader.defect();
  const bool is_short = info.frames >= 0 && got < wanted;
  if (is_short && defect.empty()) defect = "it is shorter than it states";
  if (defect.empty()) return Read{got, false};
  if (options.lenient) return Read{got, true};
  return lost(name, fmt::format("{}, after {} of {} frames", defect, static_cast<size_t>(options.first_sample) + got,
                                info.frames < 0 ? "an unknown number of" : std::to_string(info.frames)));
}

bool is_plausible(Bytes file, size_t values) {
  constexpr size_t kValuesOfAByte = 64, kSmall = 1 << 20;
  return values <= file.size() * kValuesOfAByte + kSmall;
}

Result<Decoded> decode_known(Reader& reader, const SoundInfo& info, size_t frames, const SoundOptions& options,
                             std::string_view name, const MakeSamples& make) {
  const size_t channels = reader.channels();
  const auto rows = options.desired_samples < 0 ? frames : static_cast<size_t>(options.desired_samples);
  float* const to = make(static_cast<int64_t>(rows), static_cast<int64_t>(channels));
  const auto got = reader.read(frames, to);
  if (!got) return fail(got.error());
  const auto read = judged(reader, info, *got, frames, options, name);
  if (!read) return fail(read.error());
  std::fill(to + *got * channels, to + rows * channels, 0.0F);
  return Decoded{info.rate, read->is_truncated, static_cast<int64_t>(*got)};
}

// Where the number of frames is not known, or is not to be trusted: memory grows with what is decoded.
Result<Decoded> decode_growing(Reader& reader, const SoundInfo& info, size_t frames, const SoundOptions& options,
                               std::string_view name, const MakeSamples& make) {
  constexpr size_t kFirst = 1 << 14;
  const size_t channels = reader.channels();
  std::vector<float> values;
  size_t done = 0;
  for (size_t step = kFirst; done < frames; step *= 2) {
    const size_t next = std::min(step, frames - done);
    values.resize((done + next) * channels);
    const auto got = reader.read(next, &values[done * channels]);
    if (!got) return fail(got.error());
    done += *got;
    if (*got < next) break;
  }
  const auto widest = std::max<int64_t>(info.channels, static_cast<int64_t>(channels));
  if (static_cast<int64_t>(done) > options.max_values / widest) {
    return fail(ErrorKind::ResourceExhausted,
                fmt::format("{}: there are more than the limit of {} values", name, options.max_values));
  }
  const auto read = judged(reader, info, done, frames, options, name);
  if (!read) return fail(read.error());
  const auto rows = options.desired_samples < 0 ? done : static_cast<size_t>(options.desired_samples);
  float* const to = make(static_cast<int64_t>(rows), static_cast<int64_t>(channels));
  std::copy_n(values.data(), done * channels, to);
  std::fill(to + done * channels, to + rows * channels, 0.0F);
  return Decoded{info.rate, read->is_truncated, static_cast<int64_t>(done)};
}

// At the file's rate. It reads on where the last call ended: call it once. `asked`: the first_sample that errors name.
Result<Decoded> decode_opened(Opened& opened, Bytes file, const SoundOptions& options, int64_t asked,
                              std::string_view name, const MakeSamples& make) {
  Reader reader(opened, options, name);
  const auto frames = frames_to_read(opened.info, options, reader.channels(), name);
  if (!frames) return fail(frames.error());
  if (*frames > 0) {
    const auto started = reader.start();
    if (!started) return fail(started.error());
    if (!*started && opened.info.frames < 0) {
      return fail(ErrorKind::InvalidArgument, fmt::format("{}: first_sample {} is after the last frame", name, asked));
    }
  }
  const auto count = static_cast<size_t>(*frames);
  const bool is_known = !options.lenient && opened.info.frames >= 0 && is_plausible(file, count * reader.channels());
  return (is_known ? decode_known : decode_growing)(reader, opened.info, count, options, name, make);
}

}  // namespace

Result<SoundInfo> library_info(Bytes file, SoundFormat format, const SoundOptions& options, std::string_view name) {
  const auto opened = open_sound(file, format, options, name);
  if (!opened) return fail(opened.error());
  return opened->info;
}

Result<Decoded> library_decode(Bytes file, SoundFormat format, const SoundOptions& options, std::string_view name,
                               Resampler& resampler, const MakeSamples& make) {
  auto opened = open_sound(file, format, options, name);
  if (!opened) return fail(opened.error());
  const SoundInfo& info = opened->info;
  const int64_t asked = options.first_sample;
  if (!is_resampled(info.rate, options.sample_rate)) return decode_opened(*opened, file, options, asked, name, make);
  const auto decode = [&](int64_t first, int64_t frames, const MakeSamples& make_part) {
    SoundOptions part = options;
    part.first_sample = first;
    part.desired_samples = frames;
    return decode_opened(*opened, file, part, asked, name, make_part);
  };
  const int64_t channels = result_channels(options, info.channels);
  return decode_at_rate(info, {asked, options.desired_samples, channels, options.sample_rate, options.max_values},
                        resampler, name, decode, make);
}

}  // namespace sound_internal

bool has_sndfile() { return true; }

}  // namespace headpond
