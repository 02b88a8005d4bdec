// SPDX-License-Identifier: Apache-2.0
#include "cli/view/page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "headpond/base/html/html.h"
#include "headpond/plan/element_json.h"

namespace headpond::cli {
namespace {

constexpr int64_t kTileSide = 224, kGap = 8, kPageSide = 448;
constexpr Color kPaper = {118, 118, 122};

std::string text_of(const std::vector<std::byte>& bytes) {
  return plan::base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

Picture empty_strip(bool has_failed) {
  Picture empty(kTileSide, kTileSide / 2, {90, 90, 94});
  const auto width = static_cast<double>(empty.width), height = static_cast<double>(empty.height);
  if (has_failed) {
    empty.line(0, 0, width, height, {200, 70, 70});
    empty.line(0, height, width, 0, {200, 70, 70});
  } else {
    empty.fill(empty.width * 3 / 8, empty.height / 2, empty.width / 4, 2, {140, 140, 146});
  }
  return empty;
}

// The pictures of a tile beside each other; more than 4 are smaller.
Picture strip_of(const Tile& tile) {
  if (tile.pictures.empty() || !tile.error.empty()) return empty_strip(!tile.error.empty());
  const int64_t side = kTileSide * 4 / std::max<int64_t>(4, static_cast<int64_t>(tile.pictures.size()));
  std::vector<Picture> parts;
  int64_t width = 0, height = 0;
  for (const auto& [label, picture] : tile.pictures) {
    parts.push_back(picture.fitted(side, side));
    width += parts.back().width + (width > 0 ? kGap / 2 : 0);
    height = std::max(height, parts.back().height);
  }
  Picture strip(width, height, kPaper);
  int64_t x = 0;
  for (const Picture& part : parts) {
    strip.paste(part, x, 0);
    x += part.width + kGap / 2;
  }
  return strip;
}

constexpr const char* kStyle =
    R"(:root{color-scheme:light dark;--paper:#fff;--ink:#1c1c20;--soft:#6a6a72;--line:#dcdce2;--bad:#b3261e}
@media(prefers-color-scheme:dark){:root{--paper:#17171b;--ink:#ececf1;--soft:#a0a0aa;--line:#34343c;--bad:#ff8a80}}
body{margin:1.5rem;background:var(--paper);color:var(--ink);font:14px/1.45 system-ui,sans-serif}
h1{font-size:1.1rem;font-weight:600}main{display:flex;flex-wrap:wrap;gap:1.25rem}
figure{margin:0;border:1px solid var(--line);border-radius:6px;padding:.6rem;max-width:30rem}
.pictures{display:flex;flex-wrap:wrap;gap:.5rem}.pictures div{font-size:12px;color:var(--soft)}
img{display:block;max-width:100%;image-rendering:pixelated}audio{width:100%;margin-top:.4rem}
figcaption{margin-top:.5rem;overflow-wrap:anywhere}.soft{color:var(--soft)}.bad{color:var(--bad)}
table{border-collapse:collapse;margin-top:.3rem}td{padding:0 .6rem 0 0;vertical-align:top})";

Result<std::string> pictures_html(const Tile& tile) {
  std::string html = "<div class=\"pictures\">";
  for (const auto& [label, picture] : tile.pictures) {
    const auto png = encoded(picture.fitted(kPageSide, kPageSide));
    if (!png) return fail(png.error());
    html += fmt::format("<div><img alt=\"{}\" src=\"data:image/png;base64,{}\">{}</div>", html_escaped(label),
                        text_of(*png), html_escaped(label));
  }
  return html + "</div>";
}

std::string caption_of(const Tile& tile, size_t number) {
  std::string html = fmt::format("<figcaption><b>{}</b> ", number);
  if (!tile.source.empty()) html += html_escaped(tile.source) + ", ";
  if (!tile.source.empty() && !tile.is_whole) html += fmt::format("record {}, ", tile.record);
  html += tile.key ? fmt::format("key {}", *tile.key) : std::string("key not known");
  if (tile.epoch > 0) html += fmt::format(", epoch {}", tile.epoch);
  if (!tile.error.empty()) html += fmt::format("<div class=\"bad\">{}</div>", html_escaped(tile.error));
  if (!tile.shape.empty()) {
    html += fmt::format("<div class=\"soft\">{}, {:.4g} to {:.4g}, mean {:.4g}</div>", html_escaped(tile.shape),
                        tile.min, tile.max, tile.mean);
  }
  if (!tile.draws.empty())
    html += fmt::format("<div class=\"soft\">draws: {}</div>",
                        html_escaped(fmt::format("{}", fmt::join(tile.draws, ", "))));
  if (!tile.note.empty()) html += fmt::format("<div class=\"soft\">{}</div>", html_escaped(tile.note));
  if (!tile.others.empty()) html += "<table>";
  for (const auto& [name, value] : tile.others)
    html += fmt::format("<tr><td class=\"soft\">{}</td><td>{}</td></tr>", html_escaped(name), html_escaped(value));
  if (!tile.others.empty()) html += "</table>";
  return html + "</figcaption>";
}

}  // namespace

Picture sheet_of(const std::vector<Tile>& tiles) {
  std::vector<Picture> strips;
  int64_t width = 1, height = 1;
  for (const Tile& tile : tiles) {
    strips.push_back(strip_of(tile));
    width = std::max(width, strips.back().width);
    height = std::max(height, strips.back().height);
  }
  const auto count = static_cast<int64_t>(tiles.size());
  const int64_t most = std::max<int64_t>(1, std::min(count, 2048 / (width + kGap)));
  const auto wide = std::llround(std::ceil(std::sqrt(static_cast<double>(count) * 1.6)));
  const int64_t columns = std::clamp<int64_t>(wide, 1, most);
  const int64_t rows = std::max<int64_t>(1, (count + columns - 1) / columns);
  Picture sheet(columns * (width + kGap) + kGap, rows * (height + kGap) + kGap, kPaper);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t x = kGap + i % columns * (width + kGap), y = kGap + i / columns * (height + kGap);
    sheet.paste(strips[static_cast<size_t>(i)], x, y);
    const auto digits = static_cast<int64_t>(std::to_string(i).size());
    sheet.fill(x, y, digits * 8 + 2, 14, {0, 0, 0});
    sheet.number(i, x + 2, y + 2, 2, {255, 255, 255});
  }
  return sheet;
}

Result<std::string> page_of(const std::vector<Tile>& tiles, const std::string& title) {
  std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta "
      "charset=\"utf-8\"><title>{0}</title><style>{1}</style></head><body><h1>{0}</h1>\n",
      html_escaped(title), kStyle);
  if (tiles.empty()) html += "<p>The pipeline gives no elements.</p>";
  html += "<main>\n";
  for (size_t i = 0; i < tiles.size(); ++i) {
    const auto pictures = pictures_html(tiles[i]);
    if (!pictures) return fail(pictures.error());
    html += "<figure>" + *pictures;
    if (!tiles[i].wav.empty())
      html += fmt::format("<audio controls src=\"data:audio/wav;base64,{}\"></audio>", text_of(tiles[i].wav));
    html += caption_of(tiles[i], i) + "</figure>\n";
  }
  return html + "</main></body></html>\n";
}

}  // namespace headpond::cli
