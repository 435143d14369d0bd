#pragma once
#include <initializer_list>
#include <string>
#include <type_traits>

#include <mezzo/core/api.hpp>
#include <mezzo/layers/first_arguments.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

namespace detail {
/// Numbers of elements at both ends of the spatial axes: one for all ends, `{2, 1}` for {both ends of the first axis,
/// both of the second one}, or `{{1, 0}, {2, 3}}` for {{before, after} of the first axis, {before, after} of the second
/// one}. For one axis, `{1, 2}` is {before, after}.
class MEZZO_API Margins {
 public:
  template <class I, class = std::enable_if_t<std::is_integral_v<I> && !std::is_same_v<I, bool>>>
  Margins(I all) : numbers_{static_cast<std::int64_t>(all)} {}
  Margins(std::initializer_list<std::int64_t> numbers) : numbers_(numbers) {}
  Margins(std::initializer_list<std::initializer_list<std::int64_t>> pairs);

  /// Margins of a config: the numbers one after another, one for all ends, one for each axis or two for each axis.
  static Margins of(const Shape& numbers);

  /// Returns {before, after} of each axis, one after another. A ValueError that starts with `where` for numbers below 0
  /// or another count. `name` is the option's name.
  Shape resolve(const std::string& where, const std::string& name, std::size_t axes) const;

  /// The numbers as given, one after another.
  const Shape& numbers() const { return numbers_; }

  bool operator==(const Margins& other) const { return numbers_ == other.numbers_ && form_ == other.form_; }

 private:
  enum class Form { flat, pairs, any };
  Shape numbers_;
  Form form_ = Form::flat;
};
}  // namespace detail

/// Options of ZeroPadding1D, ZeroPadding2D and ZeroPadding3D.
struct ZeroPaddingOptions {
  detail::Named named{};        ///< leave it out
  detail::Margins padding = 1;  ///< zeros before and after each spatial axis, at least 0
  std::string name{};           ///< name of the layer; "": automatic ("zero_padding2d", "zero_padding2d_1")
  Policy dtype{};               ///< precision policy; default: the policy of the enclosing layer or model
};

/// Options of Cropping1D and Cropping3D.
struct CroppingOptions {
  detail::Named named{};         ///< leave it out
  detail::Margins cropping = 1;  ///< elements removed from the start and the end of each spatial axis, at least 0
  std::string name{};            ///< name of the layer; "": automatic ("cropping1d", "cropping1d_1")
  Policy dtype{};                ///< precision policy; default: the policy of the enclosing layer or model
};

/// Options of Cropping2D.
struct Cropping2DOptions {
  detail::Named named{};         ///< leave it out
  detail::Margins cropping = 0;  ///< pixels removed from the start and the end of height and width, at least 0
  std::string name{};            ///< name of the layer; "": automatic ("cropping2d", "cropping2d_1")
  Policy dtype{};                ///< precision policy; default: the policy of the enclosing layer or model
};

namespace detail {

/// Common part of ZeroPadding1D, ZeroPadding2D and ZeroPadding3D.
template <std::size_t Axes>
class MEZZO_API ZeroPaddingLayer : public Layer {
 public:
  using Options = ZeroPaddingOptions;
  static constexpr const char* kind = Axes == 1 ? "ZeroPadding1D" : Axes == 2 ? "ZeroPadding2D" : "ZeroPadding3D";
  static constexpr Margins Options::*first = &Options::padding;
  static constexpr const char* first_name = "padding";

  /// A ValueError for a padding below 0.
  explicit ZeroPaddingLayer(const Options& options);

 protected:
  Value call(const Value& x) override;

 private:
  Shape padding_;
};

/// Common part of Cropping1D, Cropping2D and Cropping3D.
template <std::size_t Axes>
class MEZZO_API CroppingLayer : public Layer {
 public:
  using Options = std::conditional_t<Axes == 2, Cropping2DOptions, CroppingOptions>;
  static constexpr const char* kind = Axes == 1 ? "Cropping1D" : Axes == 2 ? "Cropping2D" : "Cropping3D";
  static constexpr Margins Options::*first = &Options::cropping;
  static constexpr const char* first_name = "cropping";

  /// A ValueError for a cropping below 0.
  explicit CroppingLayer(const Options& options);

 protected:
  Value call(const Value& x) override;

 private:
  Shape cropping_;
};

extern template class ZeroPaddingLayer<1>;
extern template class ZeroPaddingLayer<2>;
extern template class ZeroPaddingLayer<3>;
extern template class CroppingLayer<1>;
extern template class CroppingLayer<2>;
extern template class CroppingLayer<3>;

}  // namespace detail
}  // namespace mezzo
