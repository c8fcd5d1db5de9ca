#include <png.h>

#include <cstdio>
#include <stdexcept>

#include "server/tools/draw_terrain.h"
#include "world/math/assert.h"

namespace ashlar::server {
namespace {

std::string base64(const std::vector<std::uint8_t>& bytes) {
  constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve(bytes.size() / 3 * 4 + 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t have = std::min<std::size_t>(3, bytes.size() - at);
    unsigned word = 0;
    for (std::size_t n = 0; n < 3; ++n) word = word << 8 | (n < have ? bytes[at + n] : 0u);
    for (unsigned n = 0; n < 4; ++n) out += n <= have ? digits[word >> (18 - 6 * n) & 63] : '=';
  }
  return out;
}

/// A length that is easy to read, about a fifth of the picture.
std::int32_t scale_length(std::int32_t across) {
  std::int32_t length = 10;
  while (length * 10 <= across / 2) length *= 10;
  return length * 5 <= across / 2 ? length * 5 : length * 2 <= across / 2 ? length * 2 : length;
}

}  // namespace

std::vector<std::uint8_t> png_of(const Picture& picture) {
  ASHLAR_ASSERT(picture.pixels.size() == static_cast<std::size_t>(picture.width * picture.height));
  static_assert(sizeof(Colour) == 3);
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(picture.width);
  image.height = static_cast<png_uint_32>(picture.height);
  image.format = PNG_FORMAT_RGB;
  png_alloc_size_t bytes = 0;
  const auto write = [&](std::uint8_t* to) {
    return png_image_write_to_memory(&image, to, &bytes, 0, picture.pixels.data(), 0, nullptr) != 0;
  };
  std::vector<std::uint8_t> out;
  bool written = write(nullptr);
  out.resize(bytes);
  written = written && write(out.data());
  if (!written) throw std::runtime_error(std::string("cannot make a PNG: ") + image.message);
  out.resize(bytes);
  return out;
}

std::string svg_of(const Picture& picture, const Terrain& terrain, const TerrainView& view) {
  const ColumnSpan span = column_span(terrain.kind);
  const std::int32_t cut_top = picture.height - static_cast<std::int32_t>(span.count()) * chunk_size;
  const double metre_px = static_cast<double>(picture.width) / (2 * view.radius);
  const std::int32_t length = scale_length(2 * view.radius);
  std::string out;
  const auto print = [&](const char* format, auto... values) {
    char line[512];
    std::snprintf(line, sizeof line, format, values...);
    out += line;
  };
  print(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
      "font-size=\"13\">\n",
      picture.width + 60, picture.height + 30);
  print(
      "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n<image width=\"%d\" height=\"%d\" "
      "href=\"data:image/png;base64,",
      picture.width, picture.height);
  out += base64(png_of(picture)) + "\"/>\n";
  for (std::int32_t z = (span.low + 1) * chunk_size; z < span.high * chunk_size; z += chunk_size)
    print("<text x=\"%d\" y=\"%d\">%d m</text>\n", picture.width + 6,
          cut_top + span.high * chunk_size - z + 4, z);
  print("<path d=\"M10 %d h%.1f m0 -5 v10 M10 %d v10\" stroke=\"black\" stroke-width=\"2\"/>\n",
        picture.height + 14, length * metre_px, picture.height + 9);
  print("<text x=\"%.1f\" y=\"%d\">%d m; %s of seed %llu around %d,%d</text>\n", 18 + length * metre_px,
        picture.height + 18, length, std::string(name(terrain.kind)).c_str(),
        static_cast<unsigned long long>(terrain.seed), view.x, view.y);
  return out + "</svg>\n";
}

}  // namespace ashlar::server
