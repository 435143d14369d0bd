#pragma once
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <mezzo/core/api.hpp>
#include <mezzo/data/dataset.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

namespace detail {
/// Mean or variance of a Normalization: an array or one number.
class NormalizationNumbers : public std::optional<Tensor> {
 public:
  NormalizationNumbers() = default;
  template <class T, std::enable_if_t<std::is_convertible_v<T, Tensor> && !std::is_arithmetic_v<T>, int> = 0>
  NormalizationNumbers(T array) : std::optional<Tensor>(Tensor(std::move(array))) {}
  template <class N, std::enable_if_t<std::is_arithmetic_v<N> && !std::is_same_v<N, bool>, int> = 0>
  NormalizationNumbers(N number) : std::optional<Tensor>(Tensor::scalar(static_cast<double>(number))) {}
  NormalizationNumbers(std::nullopt_t) {}
  NormalizationNumbers(std::optional<Tensor> numbers) : std::optional<Tensor>(std::move(numbers)) {}
};
}  // namespace detail

struct NormalizationOptions {
  Shape axis{-1};  ///< axes with a mean and a variance for each place; {}: one of all numbers
  detail::NormalizationNumbers
      mean{};  ///< scalar, or of the axes' sizes; with `variance`. Default: that of adapt(), or 0
  detail::NormalizationNumbers variance{};  ///< likewise; default: that of adapt(), or 1
  bool invert = false;                      ///< true: x sqrt(variance) + mean
  std::string name{};                       ///< name of the layer; "": automatic ("normalization", "normalization_1")
  Policy dtype{};                           ///< precision policy; default: the policy of the enclosing layer or model
};

/// (x - mean) / max(sqrt(variance), 1e-7). Weights that are not trained, unless mean and variance are given: mean and
/// variance, each of the axes' sizes, in at least float32.
class MEZZO_API Normalization : public Layer {
 public:
  /// A ValueError if only one of mean and variance is given, if one isn't finite, or if a variance is negative; a
  /// ShapeError if their shapes differ or have more axes than `axis`.
  explicit Normalization(NormalizationOptions options = {});
  void build(const Shape& input) override;

  /// Sets mean and (biased) variance to those of an array (batch, ...), computed in float64. A ShapeError for an array
  /// without numbers, a ValueError if mean and variance were given or the new ones aren't finite.
  void adapt(const Tensor& data);

  /// The same for a field of a data set, its first input by default, read in batches.
  void adapt(const Dataset& data, const std::string& field = "");
  bool supports_masking() const override { return true; }

 protected:
  Value call(const Value& x) override;

 private:
  /// For each axis of the input: true if it has places of its own.
  std::vector<bool> kept(const Shape& input) const;
  Shape broadcast_shape(const Shape& input) const;

  NormalizationOptions options_;
  Variable mean_{"mean"};
  Variable variance_{"variance"};
};

}  // namespace mezzo
