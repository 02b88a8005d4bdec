// SPDX-License-Identifier: Apache-2.0
// Sound files for tests, written and read by libsndfile.
#pragma once

#include <gtest/gtest.h>
#include <sndfile.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace headpond::test {

/// A file that libsndfile writes to and reads from.
class SndfileMemory {
 public:
  explicit SndfileMemory(std::vector<std::byte> file = {}) : file_(std::move(file)) {}
  std::vector<std::byte>& file() { return file_; }

  SF_VIRTUAL_IO functions() {
    return {[](void* self) { return static_cast<sf_count_t>(of(self).file_.size()); },
            [](sf_count_t offset, int from, void* self) {
              SndfileMemory& memory = of(self);
              const auto size = static_cast<sf_count_t>(memory.file_.size());
              return memory.at_ = offset + (from == SEEK_SET ? 0 : from == SEEK_CUR ? memory.at_ : size);
            },
            [](void* to, sf_count_t count, void* self) { return of(self).read(to, count); },
            [](const void* from, sf_count_t count, void* self) { return of(self).write(from, count); },
            [](void* self) { return of(self).at_; }};
  }

 private:
  static SndfileMemory& of(void* self) { return *static_cast<SndfileMemory*>(self); }
  sf_count_t read(void* to, sf_count_t count) {
    const auto size = static_cast<sf_count_t>(file_.size());
    const sf_count_t given = at_ >= size ? 0 : std::min(count, size - at_);
    if (given > 0) std::memcpy(to, &file_[static_cast<size_t>(at_)], static_cast<size_t>(given));
    at_ += given;
    return given;
  }
  sf_count_t write(const void* from, sf_count_t count) {
    file_.resize(std::max(file_.size(), static_cast<size_t>(at_ + count)));
    std::memcpy(&file_[static_cast<size_t>(at_)], from, static_cast<size_t>(count));
    at_ += count;
    return count;
  }

  std::vector<std::byte> file_;
  sf_count_t at_ = 0;
};

/// A tone in each channel, with a little noise, so that frames differ.
inline std::vector<float> tones(size_t frames, size_t channels, double rate) {
  std::vector<float> values(frames * channels);
  uint32_t noise = 1;
  for (size_t i = 0; i < values.size(); ++i) {
    noise = noise * 1664525 + 1013904223;
    const double hertz = 440.0 + 110.0 * static_cast<double>(i % channels);
    const double wave = std::sin(6.283185307179586 * hertz * static_cast<double>(i / channels) / rate);
    values[i] = static_cast<float>(0.5 * wave + 0.02 * (static_cast<double>(noise >> 8) / (1 << 24) - 0.5));
  }
  return values;
}

/// `values`, of float or int16_t, in a file of this format, one of libsndfile's numbers.
template <class T>
std::vector<std::byte> sound_of(int format, const std::vector<T>& values, int channels, int rate = 16000) {
  SndfileMemory memory;
  SF_VIRTUAL_IO io = memory.functions();
  SF_INFO info = {};
  info.format = format;
  info.channels = channels;
  info.samplerate = rate;
  SNDFILE* const handle = sf_open_virtual(&io, SFM_WRITE, &info, &memory);
  EXPECT_NE(handle, nullptr) << sf_strerror(nullptr);
  if (handle == nullptr) return {};
  sf_command(handle, SFC_SET_CLIPPING, nullptr, SF_TRUE);
  const sf_count_t frames = static_cast<sf_count_t>(values.size()) / channels;
  if constexpr (std::is_same_v<T, float>) {
    sf_writef_float(handle, values.data(), frames);
  } else {
    sf_writef_short(handle, values.data(), frames);
  }
  EXPECT_EQ(sf_close(handle), 0);
  return memory.file();
}

/// What libsndfile reads of a file, all channels.
inline std::vector<float> read_by_sndfile(const std::vector<std::byte>& file) {
  SndfileMemory memory(file);
  SF_VIRTUAL_IO io = memory.functions();
  SF_INFO info = {};
  SNDFILE* const handle = sf_open_virtual(&io, SFM_READ, &info, &memory);
  EXPECT_NE(handle, nullptr) << sf_strerror(nullptr);
  if (handle == nullptr) return {};
  std::vector<float> values(static_cast<size_t>(info.frames * info.channels));
  EXPECT_EQ(sf_readf_float(handle, values.data(), info.frames), info.frames);
  sf_close(handle);
  return values;
}

}  // namespace headpond::test
