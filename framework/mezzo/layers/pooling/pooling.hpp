#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/layers/first_arguments.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

/// Options of MaxPooling1D, MaxPooling3D, AveragePooling1D and AveragePooling3D. Numbers are one for all spatial axes
/// or one for each.
struct PoolingOptions {
  detail::Named named{};                  ///< leave it out
  detail::Ints pool_size = 2;             ///< sizes of a window, at least 1
  detail::Ints strides = detail::Ints();  ///< step between windows, at least 1; {}: pool_size
  std::string padding = "valid";          ///< "valid" (none) or "same"
  std::string name{};                     ///< name of the layer; "": automatic ("max_pooling1d", "max_pooling1d_1")
  Policy dtype{};                         ///< precision policy; default: the policy of the enclosing layer or model
};

/// Options of the layers that pool all positions.
struct GlobalPoolingOptions {
  bool keepdims = false;  ///< true: keeps the spatial axes with size 1
  std::string name{};     ///< name of the layer; "": automatic ("global_max_pooling2d", "global_max_pooling2d_1")
  Policy dtype{};         ///< precision policy; default: the policy of the enclosing layer or model
};

/// Options of the layers that pool to a given size.
struct AdaptivePoolingOptions {
  detail::Named named{};  ///< leave it out
  detail::Ints output_size =
      detail::Ints();  ///< required; sizes of the output, one for all spatial axes or one for each; at least 1
  std::string name{};  ///< name of the layer; "": automatic ("adaptive_max_pooling2d", "adaptive_max_pooling2d_1")
  Policy dtype{};      ///< precision policy; default: the policy of the enclosing layer or model
};

struct AveragePooling2DOptions;
struct MaxPooling2DOptions;

namespace detail {

enum class Pooled { average, max };

/// Class name of a pooling layer: `names` for averages, then for maxima, each of 1, 2 and 3 axes.
constexpr const char* pooling_kind(const char* const (&names)[6], Pooled by, std::size_t axes) {
  return names[(by == Pooled::max ? 3 : 0) + axes - 1];
}
inline constexpr const char* pooling_kinds[] = {"AveragePooling1D", "AveragePooling2D", "AveragePooling3D",
                                                "MaxPooling1D",     "MaxPooling2D",     "MaxPooling3D"};
inline constexpr const char* global_pooling_kinds[] = {"GlobalAveragePooling1D", "GlobalAveragePooling2D",
                                                       "GlobalAveragePooling3D", "GlobalMaxPooling1D",
                                                       "GlobalMaxPooling2D",     "GlobalMaxPooling3D"};
inline constexpr const char* adaptive_pooling_kinds[] = {"AdaptiveAveragePooling1D", "AdaptiveAveragePooling2D",
                                                         "AdaptiveAveragePooling3D", "AdaptiveMaxPooling1D",
                                                         "AdaptiveMaxPooling2D",     "AdaptiveMaxPooling3D"};

/// Common part of the layers that pool windows.
template <Pooled By, std::size_t Axes>
class MEZZO_API PoolingLayer : public Layer {
 public:
  using Options2D = std::conditional_t<By == Pooled::max, MaxPooling2DOptions, AveragePooling2DOptions>;
  using Options = std::conditional_t<Axes == 2, Options2D, PoolingOptions>;
  static constexpr const char* kind = pooling_kind(pooling_kinds, By, Axes);
  static constexpr Ints Options::*first = &Options::pool_size;
  static constexpr const char* first_name = "pool_size";

  /// A ValueError for a pool_size or strides below 1, a NameError for an unknown padding.
  explicit PoolingLayer(Options options);

 protected:
  Value call(const Value& x) override;

 private:
  Options options_;
};

/// Common part of the layers that pool all positions.
template <Pooled By, std::size_t Axes>
class MEZZO_API GlobalPoolingLayer : public Layer {
 public:
  static constexpr const char* kind = pooling_kind(global_pooling_kinds, By, Axes);
  explicit GlobalPoolingLayer(GlobalPoolingOptions options = {}) : Layer(kind, options), options_(std::move(options)) {}

 protected:
  Value call(const Value& x) override;

 private:
  GlobalPoolingOptions options_;
};

/// Common part of the layers that pool to a given size.
template <Pooled By, std::size_t Axes>
class MEZZO_API AdaptivePoolingLayer : public Layer {
 public:
  using Options = AdaptivePoolingOptions;
  static constexpr const char* kind = pooling_kind(adaptive_pooling_kinds, By, Axes);
  static constexpr Ints Options::*first = &Options::output_size;
  static constexpr const char* first_name = "output_size";

  /// A ValueError for an output_size below 1.
  explicit AdaptivePoolingLayer(Options options);

 protected:
  Value call(const Value& x) override;

 private:
  Options options_;
};

extern template class PoolingLayer<Pooled::average, 1>;
extern template class PoolingLayer<Pooled::average, 3>;
extern template class PoolingLayer<Pooled::max, 1>;
extern template class PoolingLayer<Pooled::max, 3>;
extern template class GlobalPoolingLayer<Pooled::average, 2>;
extern template class GlobalPoolingLayer<Pooled::average, 3>;
extern template class GlobalPoolingLayer<Pooled::max, 1>;
extern template class GlobalPoolingLayer<Pooled::max, 2>;
extern template class GlobalPoolingLayer<Pooled::max, 3>;
extern template class AdaptivePoolingLayer<Pooled::average, 1>;
extern template class AdaptivePoolingLayer<Pooled::average, 2>;
extern template class AdaptivePoolingLayer<Pooled::average, 3>;
extern template class AdaptivePoolingLayer<Pooled::max, 1>;
extern template class AdaptivePoolingLayer<Pooled::max, 2>;
extern template class AdaptivePoolingLayer<Pooled::max, 3>;

}  // namespace detail
}  // namespace mezzo
