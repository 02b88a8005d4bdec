// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/crc32c.h"
#include "headpond/tf1/reader_snapshot_internal.h"

namespace headpond::tf1::internal {
namespace {

constexpr std::string_view kMagic = "HPRS1";
constexpr size_t kCrcBytes = 4;

void put(std::string& to, uint64_t value, size_t width = 8) {
  for (size_t i = 0; i < width; ++i) to.push_back(static_cast<char>(value >> 8 * i & 0xff));
}
void put(std::string& to, std::string_view text) {
  put(to, uint64_t{text.size()});
  to += text;
}

// What does not fit leaves zeros and a mark.
class Cursor {
 public:
  explicit Cursor(std::string_view state) : bytes_(state) {}

  uint64_t number(size_t width = 8) {
    const std::string_view digits = take(width);
    uint64_t value = 0;
    for (size_t i = 0; i < digits.size(); ++i) value |= uint64_t{static_cast<unsigned char>(digits[i])} << 8 * i;
    return value;
  }
  int64_t count() {
    const auto value = static_cast<int64_t>(number());
    fits_ = fits_ && value >= 0;
    return value;
  }
  std::string text() { return std::string(take(number())); }
  bool fits() const { return fits_; }
  bool is_at_end() const { return bytes_.empty(); }

 private:
  std::string_view take(uint64_t count) {
    if (!fits_ || count > bytes_.size()) {
      fits_ = false;
      return {};
    }
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }

  std::string_view bytes_;
  bool fits_ = true;
};

}  // namespace

std::string to_bytes(const ReaderSnapshot& snapshot) {
  std::string state(kMagic);
  put(state, std::string_view(snapshot.description));
  put(state, static_cast<uint64_t>(snapshot.records));
  put(state, static_cast<uint64_t>(snapshot.completed));
  put(state, uint64_t{snapshot.units.size()});
  for (const UnitSnapshot& unit : snapshot.units) {
    put(state, std::string_view(unit.name));
    put(state, unit.position.offset);
    put(state, static_cast<uint64_t>(unit.position.number));
  }
  put(state, masked_crc32c(state), kCrcBytes);
  return state;
}

Result<ReaderSnapshot> to_snapshot(std::string_view state) {
  const auto damaged = [] {
    return fail(ErrorKind::DataLoss, "what was given is not the state of a reader, or damaged");
  };
  if (state.size() < kMagic.size() + kCrcBytes || !state.starts_with(kMagic)) return damaged();
  const std::string_view body = state.substr(0, state.size() - kCrcBytes);
  if (Cursor(state.substr(body.size())).number(kCrcBytes) != masked_crc32c(body)) return damaged();
  Cursor cursor(body.substr(kMagic.size()));
  ReaderSnapshot snapshot;
  snapshot.description = cursor.text();
  snapshot.records = cursor.count();
  snapshot.completed = cursor.count();
  for (int64_t left = cursor.count(); left > 0 && cursor.fits(); --left) {
    UnitSnapshot& unit = snapshot.units.emplace_back();
    unit.name = cursor.text();
    unit.position.offset = cursor.number();
    unit.position.number = cursor.count();
  }
  if (!cursor.fits() || !cursor.is_at_end()) return damaged();
  return snapshot;
}

}  // namespace headpond::tf1::internal
