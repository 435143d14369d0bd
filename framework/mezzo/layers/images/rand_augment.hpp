#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/layers/images/image_augmentation.hpp>

namespace mezzo {

struct RandAugmentOptions {
  detail::Factor value_range{0.0, 255.0};  ///< least and largest number of the images
  std::int64_t num_ops = 2;                ///< changes of an image
  detail::Factor factor{0.5};              ///< strength, in [0, 1]; one number f is {0, f}
  std::string interpolation = "bilinear";  ///< "bilinear" or "nearest"
  std::optional<std::uint64_t> seed{};     ///< seed of the changes; default: see ImageAugmentation
  std::string name{};                      ///< name of the layer; "": automatic ("rand_augment", "rand_augment_1")
  Policy dtype{};                          ///< precision policy; default: the policy of the enclosing layer or model
};

/// num_ops random ones of eleven changes (Cubuk et al., "RandAugment", 2020): shear, translation, rotation, brightness,
/// color degeneration, contrast, sharpness, posterization, solarization, AutoContrast, Equalization. For images of
/// three channels. Keras draws one list for a batch; here each image has its own.
class MEZZO_API RandAugment : public detail::ImageAugmentation {
 public:
  /// A ValueError for options out of range, a NameError for an unknown interpolation.
  explicit RandAugment(const RandAugmentOptions& options = {});
};

struct AugMixOptions {
  detail::Factor value_range{0.0, 255.0};  ///< least and largest number of the images, which results are cut to
  std::int64_t num_chains = 3;             ///< chains of changes that are mixed
  std::int64_t chain_depth = 3;            ///< changes of a chain at most
  detail::Factor factor{0.3};              ///< strength, in [0, 1]; one number f is {0, f}
  double alpha = 1;                        ///< parameter of the Dirichlet and beta distributions of the weights
  bool all_ops = true;                     ///< false: without brightness, color degeneration, contrast and sharpness
  std::string interpolation = "bilinear";  ///< "bilinear" or "nearest"
  std::optional<std::uint64_t> seed{};     ///< seed of the changes; default: see ImageAugmentation
  std::string name{};                      ///< name of the layer; "": automatic ("aug_mix", "aug_mix_1")
  Policy dtype{};                          ///< precision policy; default: the policy of the enclosing layer or model
};

/// Mixes an image with several chains of random changes of it (Hendrycks et al., "AugMix", 2020). The changes are those
/// of RandAugment. For images of three channels. Keras draws one list for a batch; here each image has its own.
class MEZZO_API AugMix : public detail::ImageAugmentation {
 public:
  /// A ValueError for options out of range, a NameError for an unknown interpolation.
  explicit AugMix(const AugMixOptions& options = {});
};

}  // namespace mezzo
