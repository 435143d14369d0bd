#include <mezzo/report/display/image_grid.hpp>

#include <algorithm>
#include <cmath>

#include <mezzo/core/base64.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/data/image/encode.hpp>
#include <mezzo/data/image/resize.hpp>
#include <mezzo/report/display/encodings.hpp>

namespace mezzo {
namespace {

std::string base64_of(const std::vector<std::uint8_t>& bytes) {
  return detail::encode_base64(bytes.data(), bytes.size());
}

constexpr const char* grid_label = "[ImageGrid]";
constexpr std::int64_t caption_height = 16;  // in pixels
constexpr std::int64_t most_pixels = std::int64_t{1} << 26;

bool is_channels(std::int64_t size) { return size == 1 || size == 3; }

/// Images as (count, height, width, channels).
Tensor with_all_axes(const Tensor& images) {
  const Shape& shape = images.shape();
  if (images.size() > 0) {
    if (shape.size() == 4 && is_channels(shape[3])) return images;
    if (shape.size() == 3 && is_channels(shape[2])) return images.reshape({1, shape[0], shape[1], shape[2]});
    if (shape.size() == 3) return images.reshape({shape[0], shape[1], shape[2], 1});
  }
  fail<ShapeError>(
      grid_label,
      "images must be (count, height, width, 1 or 3) or (count, height, width), none of them 0; got shape {}", shape);
}

/// Images as uint8; floats from 0 to 1 become 0 to 255.
Tensor as_bytes(const Tensor& images) {
  if (images.dtype() == DType::uint8) return images;
  if (!is_floating(images.dtype())) {
    fail<DTypeError>(grid_label, "images must be uint8 or floats; got {}", images);
  }
  const Tensor numbers = images.cast(DType::float32);
  const float* from = numbers.data<float>();
  Tensor out = Tensor::uninitialized(images.shape(), DType::uint8);
  auto* to = out.mutable_data<std::uint8_t>();
  for (std::int64_t i = 0; i < out.size(); ++i) {
    const float light = std::isnan(from[i]) ? 0.0F : std::clamp(from[i], 0.0F, 1.0F);
    to[i] = static_cast<std::uint8_t>(std::lround(light * 255));
  }
  return out;
}

}  // namespace

ImageGrid::ImageGrid(const Tensor& images, ImageGridOptions options)
    : images_(with_all_axes(as_bytes(images)).owned()), options_(std::move(options)) {
  if (options_.columns < 1 || options_.scale < 1 || options_.gap < 0) {
    fail<ValueError>(grid_label, "columns and scale must be at least 1 and gap at least 0; got {}, {}, {}",
                     options_.columns, options_.scale, options_.gap);
  }
  if (!options_.captions.empty() && static_cast<std::int64_t>(options_.captions.size()) != count()) {
    fail<ValueError>(grid_label, "captions must be as many as the images, {}; got {}", count(),
                     options_.captions.size());
  }
  const Shape& shape = images_.shape();
  const auto side = [&](std::int64_t images_across, std::int64_t size) {
    return static_cast<double>(images_across) *
           (static_cast<double>(size) * static_cast<double>(options_.scale) + static_cast<double>(options_.gap));
  };
  if (side(columns(), shape[2]) * side(rows(), shape[1]) > static_cast<double>(most_pixels)) {
    fail<ValueError>(grid_label, "the picture must have at most {} pixels; got {} images of {} x {} at scale {}",
                     most_pixels, count(), shape[1], shape[2], options_.scale);
  }
}

std::int64_t ImageGrid::columns() const { return std::min(options_.columns, count()); }
std::int64_t ImageGrid::rows() const { return (count() + columns() - 1) / columns(); }

Tensor ImageGrid::scaled(std::int64_t index) const {
  const Shape& shape = images_.shape();
  const Tensor one = images_.slice(index, index + 1).reshape({shape[1], shape[2], shape[3]});
  return image::resize(
      one, {.height = shape[1] * options_.scale, .width = shape[2] * options_.scale, .interpolation = "nearest"});
}

Tensor ImageGrid::pixels() const {
  const Shape& shape = images_.shape();
  const std::int64_t height = shape[1] * options_.scale;
  const std::int64_t width = shape[2] * options_.scale;
  const std::int64_t full = columns() * (width + options_.gap) - options_.gap;
  Tensor out = Tensor::uninitialized({rows() * (height + options_.gap) - options_.gap, full, shape[3]}, DType::uint8);
  auto* to = out.mutable_data<std::uint8_t>();
  std::fill_n(to, out.size(), std::uint8_t{255});
  for (std::int64_t i = 0; i < count(); ++i) {
    const Tensor image = scaled(i);
    const auto* from = image.data<std::uint8_t>();
    const std::int64_t y = i / columns() * (height + options_.gap);
    const std::int64_t x = i % columns() * (width + options_.gap);
    for (std::int64_t row = 0; row < height; ++row) {
      std::copy_n(from + row * width * shape[3], width * shape[3], to + ((y + row) * full + x) * shape[3]);
    }
  }
  return out;
}

detail::Bytes ImageGrid::png() const { return image::encode_png(pixels()); }

std::string ImageGrid::svg() const {
  const Shape& shape = images_.shape();
  const std::int64_t height = shape[1] * options_.scale;
  const std::int64_t width = shape[2] * options_.scale;
  const std::int64_t below = options_.captions.empty() ? 0 : caption_height;
  const std::int64_t across = width + options_.gap;
  const std::int64_t down = height + below + options_.gap;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" width=\"{0}\" "
      "height=\"{1}\" viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"11\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
      columns() * across - options_.gap, rows() * down - options_.gap);
  for (std::int64_t i = 0; i < count(); ++i) {
    const std::int64_t x = i % columns() * across;
    const std::int64_t y = i / columns() * down;
    svg +=
        fmt::format("<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" xlink:href=\"data:image/png;base64,{}\"/>\n",
                    x, y, width, height, base64_of(image::encode_png(scaled(i))));
    if (below == 0) continue;
    svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", x + width / 2, y + height + 12,
                       detail::xml_escaped(options_.captions[static_cast<std::size_t>(i)]));
  }
  return svg + "</svg>\n";
}

MimeBundle ImageGrid::mime() const {
  const Shape& shape = images_.shape();
  std::string text =
      fmt::format("{} {} of {} x {} x {}", count(), count() == 1 ? "image" : "images", shape[1], shape[2], shape[3]);
  if (!options_.captions.empty()) text += fmt::format(": {}", fmt::join(options_.captions, ", "));
  MimeBundle bundle{{"image/png", base64_of(png())}, {"text/plain", text}};
  if (!options_.captions.empty()) bundle["image/svg+xml"] = svg();
  return bundle;
}

}  // namespace mezzo
