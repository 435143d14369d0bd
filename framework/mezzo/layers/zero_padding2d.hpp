#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

/// Numbers of pixels around images: one for all four sides, `{2, 1}` for {above and below, left and right}, or
/// `{{1, 0}, {2, 3}}` for {{above, below}, {left, right}}.
class MEZZO_API Margins {
 public:
  template <class I, class = std::enable_if_t<std::is_integral_v<I> && !std::is_same_v<I, bool>>>
  Margins(I all) : numbers_(4, static_cast<std::int64_t>(all)) {}
  Margins(std::initializer_list<std::int64_t> both);
  Margins(std::initializer_list<std::initializer_list<std::int64_t>> each);

  /// Returns {above, below, left, right}. A ValueError that starts with `where` for numbers below 0 or another count.
  Shape resolve(const std::string& where) const;

  bool operator==(const Margins& other) const { return numbers_ == other.numbers_; }

 private:
  Shape numbers_;
};

struct ZeroPadding2DOptions {
  detail::Named named{};  ///< leave it out
  Margins padding = 1;    ///< pixels of zeros around the image, at least 0
  std::string name{};     ///< name of the layer; "": automatic ("zero_padding2d", "zero_padding2d_1")
  Policy dtype{};         ///< precision policy; default: the policy of the enclosing layer or model
};

/// Adds zeros around images (batch, height, width, channels). A ShapeError for an input of another rank.
class MEZZO_API ZeroPadding2D : public Layer {
 public:
  /// A ValueError for a padding below 0.
  explicit ZeroPadding2D(const ZeroPadding2DOptions& options = {});

  /// Positional: `ZeroPadding2D(1)`, `ZeroPadding2D({2, 1})`, `ZeroPadding2D({{1, 0}, {2, 3}})`.
  template <class M, detail::IfOther<M, Margins> = 0>
  explicit ZeroPadding2D(const M& padding, const ZeroPadding2DOptions& options = {})
      : ZeroPadding2D(Margins(padding), options) {}
  template <class M = Margins, detail::IfSame<M, Margins> = 0>
  explicit ZeroPadding2D(const M& padding, const ZeroPadding2DOptions& options = {})
      : ZeroPadding2D(detail::positional("ZeroPadding2D", options.name, "padding", &ZeroPadding2DOptions::padding,
                                         padding, options)) {}

 protected:
  Value call(const Value& x) override;

 private:
  Shape padding_;
};

}  // namespace mezzo
