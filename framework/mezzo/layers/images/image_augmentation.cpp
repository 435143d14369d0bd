#include <mezzo/layers/images/image_augmentation.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/data/image/augment.hpp>
#include <mezzo/data/image/draws.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/layers/images/image_words.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/host.hpp>

namespace mezzo {
namespace {

using image::SampleKey;
using image::detail::between;
using image::detail::Draws;
using image::detail::Sampling;
using Bounds = std::pair<double, double>;

/// Dtype in which images are changed.
DType working_dtype(DType dtype) { return dtype == DType::float64 ? dtype : DType::float32; }

/// Shape of the results for images of this shape.
Shape changed_shape(const detail::ImageChange& change, Shape shape) {
  std::copy(change.size.begin(), change.size.end(), shape.end() - 3);
  return shape;
}

/// Each image of a batch, changed with a key of its own.
Tensor batch_changed(const Tensor& images, DType dtype, SampleKey key, const detail::ImageChange& change,
                     const detail::ImageAugmentation::Transform& transform) {
  const Tensor given = images.cast(working_dtype(dtype));
  const Shape shape = changed_shape(change, given.shape());
  const Shape one(given.shape().end() - 3, given.shape().end());
  const std::int64_t count = shape.size() == 4 ? shape[0] : 1;
  Tensor out = Tensor::uninitialized(shape, given.dtype());
  if (given.size() == 0) return Tensor(shape, dtype);
  auto* const to = static_cast<std::byte*>(out.mutable_raw());
  const std::size_t bytes_in = given.bytes() / static_cast<std::size_t>(count);
  const std::size_t bytes_out = out.bytes() / static_cast<std::size_t>(count);
  parallel_for(count, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const auto place = static_cast<std::size_t>(i);
      Tensor image = Tensor::uninitialized(one, given.dtype());
      std::memcpy(image.mutable_raw(), static_cast<const std::byte*>(given.raw()) + place * bytes_in, bytes_in);
      std::memcpy(to + place * bytes_out, transform(image, {key.seed, key.epoch, key.index + i}).raw(), bytes_out);
    }
  });
  return out.cast(dtype);
}

Sampling checked_sampling(const std::string& where, const std::string& fill_mode, const std::string& interpolation,
                          double fill_value) {
  const Sampling sampling{fill_mode, interpolation, fill_value};
  image::detail::check_sampling(sampling, where);
  return sampling;
}

double middle_of(std::int64_t size) { return static_cast<double>(size - 1) / 2; }

}  // namespace

bool detail::changes_images() {
  return detail::training_phase() || (Trace::current() == nullptr && !detail::current_training());
}

std::pair<double, double> detail::Factor::bounds(const std::string& where, const char* name, double least, double most,
                                                 bool open) const {
  if (numbers_.empty()) fail<ValueError>(where, "{} is required; got none", name);
  const bool good = numbers_.size() <= 2 && std::all_of(numbers_.begin(), numbers_.end(), [&](double x) {
                      return x <= most && (open ? x > least : x >= least);
                    });
  if (!good) {
    fail<ValueError>(where, "{} must be one or two numbers in {}{}, {}]; got ({})", name, open ? "(" : "[", least, most,
                     fmt::join(numbers_, ", "));
  }
  if (numbers_.size() == 1) return {std::max(-std::abs(numbers_[0]), least), std::abs(numbers_[0])};
  return {std::min(numbers_[0], numbers_[1]), std::max(numbers_[0], numbers_[1])};
}

detail::PixelRange detail::value_range(const std::string& where, const detail::Factor& range) {
  const std::vector<double>& numbers = range.numbers();
  if (numbers.size() != 2 || !(numbers[0] < numbers[1])) {
    fail<ValueError>(where, "value_range must be two numbers in order; got ({})", fmt::join(numbers, ", "));
  }
  return {numbers[0], numbers[1]};
}

std::pair<double, double> detail::either_way(const std::string& where, const char* name, const detail::Factor& factor) {
  const Bounds found = factor.bounds(where, name, 0, 1);
  return factor.numbers().size() == 1 ? Bounds{-found.second, found.second} : found;
}

void detail::ImageAugmentation::check_channels(const Shape& shape) const {
  const Shape& valid = change_.channels;
  if (valid.empty() || shape.back() < 0 || std::find(valid.begin(), valid.end(), shape.back()) != valid.end()) return;
  fail<ShapeError>(label(), "images must have {} channels; got shape {}", fmt::join(valid, " or "), shape);
}

Tensor detail::ImageAugmentation::augment(const Tensor& image, const SampleKey& key) const {
  if (image.shape().size() != 3) {
    fail<ShapeError>(label(), "an image must have shape (height, width, channels); got shape {}", image.shape());
  }
  check_channels(image.shape());
  const DType dtype = working_dtype(image.dtype());
  if (image.size() == 0) return Tensor(changed_shape(change_, image.shape()), dtype);
  if (change_.any_dtype) return change_.training(image, key).cast(dtype);
  return change_.training(image.cast(dtype), key);
}

std::function<Tensor(const Tensor&, std::int64_t, std::int64_t)> detail::ImageAugmentation::on_samples() const {
  return [layer = *this](const Tensor& image, std::int64_t index, std::int64_t epoch) {
    return layer.augment(image, {layer.change_.seed.value_or(seed()), epoch, index});
  };
}

Value detail::ImageAugmentation::call(const Value& x) {
  const std::size_t rank = x.shape().size();
  if (rank != 3 && rank != 4) {
    fail<ShapeError>(label(), "input must have 3 axes, or 4 with a batch; got shape {}", x.shape());
  }
  check_channels(x.shape());
  const DType dtype = compute_dtype();
  return detail::defer(
             [change = change_, dtype](const Values& xs) -> Values {
               const bool changes = detail::changes_images();
               if (!changes && !change.inference) return {detail::as(xs[0], dtype)};
               HostOptions options;
               options.shape = changed_shape(change, xs[0].shape());
               options.dtype = dtype;
               if (!changes) {
                 return {host([change, dtype](
                                  const Tensor& x0) { return batch_changed(x0, dtype, {}, change, change.inference); },
                              xs[0], options)};
               }
               const detail::Draw draw = detail::next_draw();
               const auto key = static_cast<std::uint64_t>(draw.key);
               Values operands{xs[0], draw.seed, draw.step};
               const Value first_image = draw.first_element({xs[0].shape()[0].or_unknown()});
               if (first_image.defined() && xs[0].shape().size() == 4) operands.push_back(first_image);
               return {host(
                   [change, dtype, key](const std::vector<Tensor>& images) {
                     const std::uint64_t drawn = detail::mix(key, static_cast<std::uint64_t>(images[1].item()));
                     const auto step = static_cast<std::int64_t>(images[2].item());
                     const auto first = images.size() > 3 ? static_cast<std::int64_t>(images[3].item()) : 0;
                     return batch_changed(images[0], dtype, {change.seed.value_or(drawn), step, first}, change,
                                          change.training);
                   },
                   operands, options)};
             },
             {x}, {{changed_shape(change_, x.shape()), dtype}})
      .front();
}

RandomFlip::RandomFlip(const RandomFlipOptions& options) : detail::ImageAugmentation("RandomFlip", options) {
  const std::string& mode = options.mode;
  if (mode != "horizontal" && mode != "vertical" && mode != "horizontal_and_vertical") {
    fail_unknown(label(), "mode", mode, {"horizontal", "horizontal_and_vertical", "vertical"});
  }
  set_transform([across = mode != "vertical", down = mode != "horizontal"](const Tensor& x, const SampleKey& key) {
    return Draws("RandomFlip", key).next().first < 0.5 ? image::detail::flipped(x, across, down) : x;
  });
}

RandomRotation::RandomRotation(const RandomRotationOptions& options)
    : detail::ImageAugmentation("RandomRotation", options) {
  const Bounds turns = options.factor.bounds(label(), "factor", -1, 1);
  const Sampling sampling = checked_sampling(label(), options.fill_mode, options.interpolation, options.fill_value);
  set_transform([turns, sampling](const Tensor& x, const SampleKey& key) {
    const double angle = between(turns.first, turns.second, Draws("RandomRotation", key).next().first) * 2 * M_PI;
    const double c = std::cos(angle), s = std::sin(angle);
    const double cx = middle_of(x.shape()[1]), cy = middle_of(x.shape()[0]);
    return image::detail::transformed(x, {c, -s, cx - cx * c + cy * s, s, c, cy - cx * s - cy * c}, sampling);
  });
}

RandomZoom::RandomZoom(const RandomZoomOptions& options) : detail::ImageAugmentation("RandomZoom", options) {
  const Bounds down = options.height_factor.bounds(label(), "height_factor", -1, 1, true);
  const bool both = options.width_factor.has_value();
  const Bounds across = both ? options.width_factor->bounds(label(), "width_factor", -1, 1, true) : down;
  const Sampling sampling = checked_sampling(label(), options.fill_mode, options.interpolation, options.fill_value);
  set_transform([down, across, both, sampling](const Tensor& x, const SampleKey& key) {
    const auto units = Draws("RandomZoom", key).next();
    const double zy = 1 + between(down.first, down.second, units.first);
    const double zx = both ? 1 + between(across.first, across.second, units.second) : zy;
    return image::detail::transformed(
        x, {zx, 0, middle_of(x.shape()[1]) * (1 - zx), 0, zy, middle_of(x.shape()[0]) * (1 - zy)}, sampling);
  });
}

RandomTranslation::RandomTranslation(const RandomTranslationOptions& options)
    : detail::ImageAugmentation("RandomTranslation", options) {
  const Bounds down = options.height_factor.bounds(label(), "height_factor", -1, 1);
  const Bounds across = options.width_factor.bounds(label(), "width_factor", -1, 1);
  const Sampling sampling = checked_sampling(label(), options.fill_mode, options.interpolation, options.fill_value);
  set_transform([down, across, sampling](const Tensor& x, const SampleKey& key) {
    const auto units = Draws("RandomTranslation", key).next();
    const double dy = between(down.first, down.second, units.first) * static_cast<double>(x.shape()[0]);
    const double dx = between(across.first, across.second, units.second) * static_cast<double>(x.shape()[1]);
    return image::detail::transformed(x, {1, 0, -dx, 0, 1, -dy}, sampling);
  });
}

RandomContrast::RandomContrast(const RandomContrastOptions& options)
    : detail::ImageAugmentation("RandomContrast", options) {
  const Bounds factor = options.factor.bounds(label(), "factor", 0, 1);
  const detail::PixelRange range = detail::value_range(label(), options.value_range);
  set_transform([factor, range](const Tensor& x, const SampleKey& key) {
    const double gain = between(1 - factor.first, 1 + factor.second, Draws("RandomContrast", key).next().first);
    return image::detail::adjusted(x, gain, 0, range.low, range.high);
  });
}

RandomBrightness::RandomBrightness(const RandomBrightnessOptions& options)
    : detail::ImageAugmentation("RandomBrightness", options) {
  const Bounds factor = options.factor.bounds(label(), "factor", -1, 1);
  const detail::PixelRange range = detail::value_range(label(), options.value_range);
  set_transform([factor, range](const Tensor& x, const SampleKey& key) {
    const double share = between(factor.first, factor.second, Draws("RandomBrightness", key).next().first);
    return image::detail::adjusted(x, 1, share * (range.high - range.low), range.low, range.high);
  });
}

}  // namespace mezzo
