#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/layers/first_arguments.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

/// Options of UpSampling1D and UpSampling3D.
struct UpSamplingOptions {
  detail::Named named{};  ///< leave it out
  detail::Ints size = 2;  ///< how often each element is repeated, one number for all spatial axes or one for each
  std::string name{};     ///< name of the layer; "": automatic ("up_sampling1d", "up_sampling1d_1")
  Policy dtype{};         ///< precision policy; default: the policy of the enclosing layer or model
};

/// Options of UpSampling2D.
struct UpSampling2DOptions {
  detail::Named named{};                  ///< leave it out
  detail::Ints size = 2;                  ///< factors of height and width, one number for both; at least 1
  std::string interpolation = "nearest";  ///< "nearest", "bilinear", "bicubic", "lanczos3" or "lanczos5"
  std::string name{};                     ///< name of the layer; "": automatic ("up_sampling2d", "up_sampling2d_1")
  Policy dtype{};                         ///< precision policy; default: the policy of the enclosing layer or model
};

namespace detail {

/// Common part of UpSampling1D, UpSampling2D and UpSampling3D.
template <std::size_t Axes>
class MEZZO_API UpSamplingLayer : public Layer {
 public:
  using Options = std::conditional_t<Axes == 2, UpSampling2DOptions, UpSamplingOptions>;
  static constexpr const char* kind = Axes == 1 ? "UpSampling1D" : Axes == 2 ? "UpSampling2D" : "UpSampling3D";
  static constexpr Ints Options::*first = &Options::size;
  static constexpr const char* first_name = "size";

  /// A ValueError for a size below 1, a NameError for an unknown interpolation.
  explicit UpSamplingLayer(Options options);

 protected:
  Value call(const Value& x) override;

 private:
  Options options_;
};

extern template class UpSamplingLayer<1>;
extern template class UpSamplingLayer<2>;
extern template class UpSamplingLayer<3>;

}  // namespace detail
}  // namespace mezzo
