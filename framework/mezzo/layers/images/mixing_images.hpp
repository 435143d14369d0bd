#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/data/batch.hpp>
#include <mezzo/layers/images/image_augmentation.hpp>

namespace mezzo {

namespace detail {

/// Partners and shares of the images of a batch.
struct ImageMixture {
  std::vector<std::int64_t> partners{};  ///< image that each image is mixed with
  std::vector<double> weights{};         ///< share of the image itself; the rest is its partner's
  std::vector<Shape> boxes{};            ///< {top, bottom, left, right} of the partner's part; empty: all pixels mix
};

}  // namespace detail

namespace detail {
/// Base of layers that mix the images of a batch (batch, height, width, channels) with each other in training, and
/// their labels (batch, classes) in the same way: `auto mixed = mix({images, labels})`. Labels are numbers for each
/// class, as returned by to_categorical(). Mixed labels are float32, or float64 if the labels are. In inference both
/// stay as they are, as floats. No gradient passes these layers. In the loader's threads they change whole batches:
///
///     MixUp mix(0.2);
///     DataLoader loader = DataLoader(train, {.batch_size = 32}).map(mix.on_batches("image", "label"));
///
/// A change depends only on a key of seed, time and place: in the loader seed, epoch and number of the batch, in a
/// model seed and step. Equal keys have equal results.
class MEZZO_API ImageMixing : public Layer {
 public:
  /// Mixes {images} or {images, labels}. Images are float64 of float64, else float32. Thread safe. A ShapeError for
  /// other shapes.
  std::vector<Tensor> augment(const std::vector<Tensor>& images_and_labels, const image::SampleKey& key) const;

  /// augment() of two fields as a function for map() of DataLoader. Without a name of labels: of images only.
  std::function<HostBatch(HostBatch batch, std::int64_t index, std::int64_t epoch)> on_batches(
      const std::string& images, const std::string& labels = {}) const;

  using Layer::operator();

 protected:
  using Draw = std::function<detail::ImageMixture(const Shape& images, const image::SampleKey& key)>;

  template <class Options>
  ImageMixing(const char* kind, const Options& options) : Layer(kind, options), seed_(options.seed) {}
  void set_draw(Draw draw) { draw_ = std::move(draw); }
  Values call_many(const Values& xs) override;

 private:
  std::optional<std::uint64_t> seed_;
  Draw draw_;
};
}  // namespace detail

struct MixUpOptions {
  double alpha = 0.2;                   ///< above 0; weights are beta numbers with both parameters alpha
  std::optional<std::uint64_t> seed{};  ///< seed of the changes; default: see ImageMixing
  std::string name{};                   ///< name of the layer; "": automatic ("mix_up", "mix_up_1")
  Policy dtype{};                       ///< precision policy; default: the policy of the enclosing layer or model
};

/// w x + (1 - w) x of another image of the batch (Zhang et al., "mixup: beyond empirical risk minimization", 2018).
class MEZZO_API MixUp : public detail::ImageMixing {
 public:
  /// A ValueError for alpha of 0 or less.
  explicit MixUp(const MixUpOptions& options = {});

  /// Positional: `MixUp(0.4)`.
  template <class N, detail::IfNumber<N> = 0>
  explicit MixUp(N alpha, const MixUpOptions& options = {})
      : MixUp(detail::positional("MixUp", options.name, "alpha", &MixUpOptions::alpha, static_cast<double>(alpha),
                                 options)) {}
};

struct CutMixOptions {
  detail::Factor factor{1.0};           ///< parameter of the beta distribution of weights; one number f is {0, f}
  std::optional<std::uint64_t> seed{};  ///< seed of the changes; default: see ImageMixing
  std::string name{};                   ///< name of the layer; "": automatic ("cut_mix", "cut_mix_1")
  Policy dtype{};                       ///< precision policy; default: the policy of the enclosing layer or model
};

/// Puts a rectangle of another image of the batch into each image (Yun et al., "CutMix", 2019). Labels are mixed by the
/// areas, which count parts of pixels, as in Keras.
class MEZZO_API CutMix : public detail::ImageMixing {
 public:
  /// A ValueError for factors out of [0, 1].
  explicit CutMix(const CutMixOptions& options = {});

  /// Positional: `CutMix(0.5)`.
  template <class N, detail::IfNumber<N> = 0>
  explicit CutMix(N factor, const CutMixOptions& options = {})
      : CutMix(detail::positional("CutMix", options.name, "factor", &CutMixOptions::factor, detail::Factor(factor),
                                  options)) {}
};

}  // namespace mezzo
