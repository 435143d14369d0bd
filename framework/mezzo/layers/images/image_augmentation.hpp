#pragma once
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/data/image/random.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

namespace detail {
/// Bounds of a random number: `{low, high}`, or one number, as documented at each layer.
class MEZZO_API Factor {
 public:
  Factor() = default;
  template <class N, class = std::enable_if_t<std::is_arithmetic_v<N> && !std::is_same_v<N, bool>>>
  Factor(N number) : numbers_{static_cast<double>(number)} {}
  Factor(std::initializer_list<double> bounds) : numbers_(bounds) {}
  explicit Factor(std::vector<double> numbers) : numbers_(std::move(numbers)) {}

  const std::vector<double>& numbers() const { return numbers_; }
  bool operator==(const Factor& other) const { return numbers_ == other.numbers_; }

  /// {low, high}; of one number f: {max(-f, least), f}. Throws a ValueError that starts with `where` for none, more
  /// than two, or a number outside [least, most] (without `least` if `open`).
  std::pair<double, double> bounds(const std::string& where, const char* name, double least, double most,
                                   bool open = false) const;

 private:
  std::vector<double> numbers_;
};
}  // namespace detail

namespace detail {

/// Least and largest number of images.
struct PixelRange {
  double low = 0, high = 255;
};

/// The two numbers of an option `value_range`. Throws a ValueError that starts with `where` unless they are in order.
PixelRange value_range(const std::string& where, const Factor& range);

/// {-f, f} of one number f, or {low, high}, each in [0, 1].
std::pair<double, double> either_way(const std::string& where, const char* name, const Factor& factor);

template <class Options, class = void>
struct HasSeed : std::false_type {};
template <class Options>
struct HasSeed<Options, std::void_t<decltype(std::declval<const Options&>().seed)>> : std::true_type {};

/// Changes of images that a layer makes.
struct ImageChange {
  using Transform = std::function<Tensor(const Tensor& image, const image::SampleKey& key)>;
  Transform training{};    ///< required
  Transform inference{};   ///< none: images stay as they are
  Shape size{};            ///< height and width of the results; empty: those of the input
  Shape channels{};        ///< valid numbers of channels; empty: all
  bool any_dtype = false;  ///< the changes only move elements
  std::optional<std::uint64_t> seed{};
};

}  // namespace detail

namespace detail {
/// Base of layers that change images (batch, height, width, channels), or one without the batch, at random: in training
/// and, as in Keras, in calls outside of steps without `.training`. In inference they return their input, as floats of
/// the compute dtype, unless documented otherwise. Each image of a batch has random numbers of its own. No gradient
/// passes these layers: they stand in front of a model, or in the loader's threads:
///
///     RandomRotation rotate(0.1, {.seed = 7});
///     auto rotated = train.map("image", rotate.on_samples());
///
/// A change depends only on a key of seed, time and place. In the loader these are seed, epoch and index of the sample;
/// in a model the seed, the step and the position in the batch. Equal keys have equal images. Without `seed` the
/// model's seed is drawn from seed_everything() and the layer's place, the loader's is that of seed_everything().
class MEZZO_API ImageAugmentation : public Layer {
 public:
  using Transform = detail::ImageChange::Transform;

  /// Changes one image (height, width, channels) of any dtype: float64 of float64, else float32. Thread safe. Throws a
  /// ShapeError for another rank, or channels that the layer can't change.
  Tensor augment(const Tensor& image, const image::SampleKey& key) const;

  /// augment() as a function for map() of Dataset.
  std::function<Tensor(const Tensor& image, std::int64_t index, std::int64_t epoch)> on_samples() const;

 protected:
  template <class Options>
  ImageAugmentation(const char* kind, const Options& options) : Layer(kind, options) {
    if constexpr (detail::HasSeed<Options>::value) change_.seed = options.seed;
  }

  /// `transform` receives images of float32 or float64 and keeps the dtype.
  void set_transform(Transform transform) { change_.training = std::move(transform); }

  /// Change of images in inference, with a key of zeros; default: none.
  void set_inference(Transform transform) { change_.inference = std::move(transform); }

  /// For transforms that only move elements: augment() calls them before it converts the image.
  void set_any_dtype() { change_.any_dtype = true; }

  /// Size of the results, in training and in inference; default: that of the input.
  void set_size(std::int64_t height, std::int64_t width) { change_.size = {height, width}; }

  /// Valid numbers of channels; default: all.
  void set_channels(Shape channels) { change_.channels = std::move(channels); }
  Value call(const Value& x) override;

 private:
  void check_channels(const Shape& shape) const;

  detail::ImageChange change_;
};
}  // namespace detail

struct RandomFlipOptions {
  std::string mode = "horizontal_and_vertical";  ///< "horizontal", "vertical" or "horizontal_and_vertical"
  std::optional<std::uint64_t> seed{};           ///< seed of the changes; default: see ImageAugmentation
  std::string name{};                            ///< name of the layer; "": automatic ("random_flip", "random_flip_1")
  Policy dtype{};  ///< precision policy; default: the policy of the enclosing layer or model
};

/// Mirrors half of the images; "horizontal_and_vertical" mirrors these both ways, as Keras does.
class MEZZO_API RandomFlip : public detail::ImageAugmentation {
 public:
  /// A NameError for an unknown mode.
  explicit RandomFlip(const RandomFlipOptions& options = {});

  /// Positional: `RandomFlip("horizontal")`.
  explicit RandomFlip(const char* mode, const RandomFlipOptions& options = {})
      : RandomFlip(detail::positional("RandomFlip", options.name, "mode", &RandomFlipOptions::mode, std::string(mode),
                                      options)) {}
};

struct RandomRotationOptions {
  detail::Factor factor{};                 ///< required; in turns, in [-1, 1]; one number f is {-f, f}
  std::string fill_mode = "reflect";       ///< beyond the border: "reflect", "wrap", "constant" or "nearest"
  std::string interpolation = "bilinear";  ///< "bilinear" or "nearest"
  std::optional<std::uint64_t> seed{};     ///< seed of the changes; default: see ImageAugmentation
  double fill_value = 0;                   ///< value for fill_mode "constant"
  std::string name{};                      ///< name of the layer; "": automatic ("random_rotation")
  Policy dtype{};                          ///< precision policy; default: the policy of the enclosing layer or model
};

/// Rotates images around their middle by factor * 360 degrees; positive angles turn counterclockwise.
class MEZZO_API RandomRotation : public detail::ImageAugmentation {
 public:
  /// A ValueError for factors out of range, a NameError for unknown names.
  explicit RandomRotation(const RandomRotationOptions& options);

  /// Positional: `RandomRotation(0.1)`.
  template <class N, detail::IfNumber<N> = 0>
  explicit RandomRotation(N factor, const RandomRotationOptions& options = {})
      : RandomRotation(detail::positional("RandomRotation", options.name, "factor", &RandomRotationOptions::factor,
                                          detail::Factor(factor), options)) {}
};

struct RandomZoomOptions {
  detail::Factor height_factor{};                ///< required; in (-1, 1]; one number f is {-f, f}; negative: zooms in
  std::optional<detail::Factor> width_factor{};  ///< default: keeps the proportions
  std::string fill_mode = "reflect";             ///< beyond the border: "reflect", "wrap", "constant" or "nearest"
  std::string interpolation = "bilinear";        ///< "bilinear" or "nearest"
  std::optional<std::uint64_t> seed{};           ///< seed of the changes; default: see ImageAugmentation
  double fill_value = 0;                         ///< value for fill_mode "constant"
  std::string name{};                            ///< name of the layer; "": automatic ("random_zoom", "random_zoom_1")
  Policy dtype{};  ///< precision policy; default: the policy of the enclosing layer or model
};

/// Zooms images: a pixel comes from 1 + factor times its distance from the middle.
class MEZZO_API RandomZoom : public detail::ImageAugmentation {
 public:
  /// A ValueError for factors out of range, a NameError for unknown names.
  explicit RandomZoom(const RandomZoomOptions& options);

  /// Positional: `RandomZoom(0.2)`.
  template <class N, detail::IfNumber<N> = 0>
  explicit RandomZoom(N height_factor, const RandomZoomOptions& options = {})
      : RandomZoom(detail::positional("RandomZoom", options.name, "height_factor", &RandomZoomOptions::height_factor,
                                      detail::Factor(height_factor), options)) {}
};

struct RandomTranslationOptions {
  detail::Factor height_factor{};          ///< required; share of the height, in [-1, 1]; one number f is {-f, f}
  detail::Factor width_factor{};           ///< required; share of the width, likewise
  std::string fill_mode = "reflect";       ///< beyond the border: "reflect", "wrap", "constant" or "nearest"
  std::string interpolation = "bilinear";  ///< "bilinear" or "nearest"
  std::optional<std::uint64_t> seed{};     ///< seed of the changes; default: see ImageAugmentation
  double fill_value = 0;                   ///< value for fill_mode "constant"
  std::string name{};                      ///< name of the layer; "": automatic ("random_translation")
  Policy dtype{};                          ///< precision policy; default: the policy of the enclosing layer or model
};

/// Moves images down and to the right by shares of their height and width.
class MEZZO_API RandomTranslation : public detail::ImageAugmentation {
 public:
  /// A ValueError for factors out of range, a NameError for unknown names.
  explicit RandomTranslation(const RandomTranslationOptions& options);

  /// Positional: `RandomTranslation(0.1, 0.2)`.
  template <class N, class M, detail::IfNumber<N> = 0, detail::IfNumber<M> = 0>
  RandomTranslation(N height_factor, M width_factor, const RandomTranslationOptions& options = {})
      : RandomTranslation(detail::positional(
            "RandomTranslation", options.name, "width_factor", &RandomTranslationOptions::width_factor,
            detail::Factor(width_factor),
            detail::positional("RandomTranslation", options.name, "height_factor",
                               &RandomTranslationOptions::height_factor, detail::Factor(height_factor), options))) {}
};

struct RandomContrastOptions {
  detail::Factor factor{};                 ///< required; in [0, 1]; one number f is {0, f}
  detail::Factor value_range{0.0, 255.0};  ///< least and largest number of the images, which results are cut to
  std::optional<std::uint64_t> seed{};     ///< seed of the changes; default: see ImageAugmentation
  std::string name{};  ///< name of the layer; "": automatic ("random_contrast", "random_contrast_1")
  Policy dtype{};      ///< precision policy; default: the policy of the enclosing layer or model
};

/// (x - mean) c + mean with the mean of each channel and c in [1 - factor[0], 1 + factor[1]).
class MEZZO_API RandomContrast : public detail::ImageAugmentation {
 public:
  /// A ValueError for factors out of range.
  explicit RandomContrast(const RandomContrastOptions& options);

  /// Positional: `RandomContrast(0.2)`.
  template <class N, detail::IfNumber<N> = 0>
  explicit RandomContrast(N factor, const RandomContrastOptions& options = {})
      : RandomContrast(detail::positional("RandomContrast", options.name, "factor", &RandomContrastOptions::factor,
                                          detail::Factor(factor), options)) {}
};

struct RandomBrightnessOptions {
  detail::Factor factor{};                 ///< required; share of the range of values, in [-1, 1]; one f is {-f, f}
  detail::Factor value_range{0.0, 255.0};  ///< least and largest number of the images, which results are cut to
  std::optional<std::uint64_t> seed{};     ///< seed of the changes; default: see ImageAugmentation
  std::string name{};                      ///< name of the layer; "": automatic ("random_brightness")
  Policy dtype{};                          ///< precision policy; default: the policy of the enclosing layer or model
};

/// Adds a share of the range of values.
class MEZZO_API RandomBrightness : public detail::ImageAugmentation {
 public:
  /// A ValueError for factors out of range.
  explicit RandomBrightness(const RandomBrightnessOptions& options);

  /// Positional: `RandomBrightness(0.2)`.
  template <class N, detail::IfNumber<N> = 0>
  explicit RandomBrightness(N factor, const RandomBrightnessOptions& options = {})
      : RandomBrightness(detail::positional("RandomBrightness", options.name, "factor",
                                            &RandomBrightnessOptions::factor, detail::Factor(factor), options)) {}
};

}  // namespace mezzo
