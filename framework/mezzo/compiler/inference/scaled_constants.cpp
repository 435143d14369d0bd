#include <mezzo/compiler/inference/scaled_constants.hpp>

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include <mezzo/ops/op_set.hpp>

namespace mezzo::detail {
namespace {

using Numbers = std::vector<double>;

Tensor per_channel(const Numbers& numbers) { return Tensor({static_cast<std::int64_t>(numbers.size())}, numbers); }

std::string identity_of_any(const std::optional<Tensor>& tensor) { return tensor ? identity_of(*tensor) : "none"; }

/// One number for each channel.
Numbers spread(const Tensor& numbers, std::int64_t channels) {
  Numbers all = numbers.to_doubles();
  all.resize(static_cast<std::size_t>(channels), all.front());
  return all;
}

/// The places along an axis of the elements of a shape.
class PlacesAlong {
 public:
  PlacesAlong(const Shape& shape, std::size_t axis)
      : size_(static_cast<std::size_t>(shape[axis])),
        inner_(static_cast<std::size_t>(
            element_count(Shape(shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, shape.end())))) {}

  std::size_t of(std::size_t element) const { return element / inner_ % size_; }

 private:
  std::size_t size_, inner_;
};

template <class T>
Tensor times_along(const Tensor& kernel, std::size_t axis, const Tensor& scale) {
  Tensor out = Tensor::uninitialized(kernel.shape(), kernel.dtype());
  const PlacesAlong places(kernel.shape(), axis);
  const T* const from = kernel.data<T>();
  T* const to = out.mutable_data<T>();
  const auto count = static_cast<std::size_t>(kernel.size());
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = static_cast<T>(static_cast<double>(from[i]) * scale.data<double>()[places.of(i)]);
  }
  return out;
}

}  // namespace

ChannelScale scale_of_norm(const std::vector<Tensor>& numbers, double epsilon, FrozenConstants& constants) {
  std::string key = fmt::format("scale of norm {}", epsilon);
  for (const Tensor& one : numbers) key += '|' + identity_of(one);
  const std::vector<Tensor> both = constants.find_or_compute(key, [&] {
    const Numbers gamma = numbers[0].to_doubles(), beta = numbers[1].to_doubles(), mean = numbers[2].to_doubles(),
                  variance = numbers[3].to_doubles();
    Numbers scale, shift;
    for (std::size_t i = 0; i < gamma.size(); ++i) {
      scale.push_back(gamma[i] / std::sqrt(variance[i] + epsilon));
      shift.push_back(beta[i] - mean[i] * scale[i]);
    }
    return std::vector<Tensor>{per_channel(scale), per_channel(shift)};
  });
  return {both[0], both[1], true};
}

ChannelScale scale_by(const Tensor& numbers, std::int64_t channels, FrozenConstants& constants) {
  const std::string key = fmt::format("scale by|{}|{}", identity_of(numbers), channels);
  const std::vector<Tensor> both = constants.find_or_compute(key, [&] {
    return std::vector<Tensor>{per_channel(spread(numbers, channels)), Tensor({channels}, DType::float64)};
  });
  return {both[0], both[1], false};
}

ChannelScale shift_by(const Tensor& numbers, std::int64_t channels, double sign, FrozenConstants& constants) {
  const std::string key = fmt::format("shift by {}|{}|{}", sign, identity_of(numbers), channels);
  const std::vector<Tensor> both = constants.find_or_compute(key, [&] {
    Numbers shift = spread(numbers, channels);
    for (double& one : shift) one *= sign;
    return std::vector<Tensor>{per_channel(Numbers(shift.size(), 1)), per_channel(shift)};
  });
  return {both[0], both[1], true};
}

std::optional<Tensor> wide_constant(const Value& value, FrozenConstants& constants) {
  const Node& node = *value.node();
  if (const Tensor* const numbers = frozen_value(node)) return *numbers;
  if (!is(node, ops::cast)) return {};
  const Tensor* const source = frozen_value(*node.inputs[0].node());
  if (source == nullptr) return {};
  const bool narrows = source->dtype() == accumulation_dtype(value.dtype());
  return narrows ? *source : constants.results_of(node, {*source}).front();
}

Tensor scaled_along(const Tensor& kernel, std::size_t axis, const Tensor& scale, FrozenConstants& constants) {
  const std::string key = fmt::format("scaled|{}|{}|{}", identity_of(kernel), axis, identity_of(scale));
  const auto compute = [&] {
    const Tensor wide = kernel.cast(accumulation_dtype(kernel.dtype()));
    return std::vector<Tensor>{wide.dtype() == DType::float64 ? times_along<double>(wide, axis, scale)
                                                              : times_along<float>(wide, axis, scale)};
  };
  return constants.find_or_compute(key, compute).front();
}

Tensor divided_by(const Tensor& numbers, const Tensor& divisors, FrozenConstants& constants) {
  const std::string key = fmt::format("divided|{}|{}", identity_of(numbers), identity_of(divisors));
  const auto compute = [&] {
    Numbers all = numbers.to_doubles();
    const Numbers by = divisors.to_doubles();
    for (std::size_t i = 0; i < all.size(); ++i) all[i] /= by[i];
    return std::vector<Tensor>{per_channel(all).cast(numbers.dtype())};
  };
  return constants.find_or_compute(key, compute).front();
}

std::optional<Tensor> scaled_bias(const std::optional<Tensor>& bias, const ChannelScale& by, DType dtype,
                                  FrozenConstants& constants) {
  if (!bias && !by.shifts) return {};
  const std::string key = fmt::format("scaled bias|{}|{}|{}|{}", identity_of_any(bias), identity_of(by.scale),
                                      identity_of(by.shift), dtype_name(dtype));
  const auto compute = [&] {
    Numbers all = by.shift.to_doubles();
    if (bias) {
      const Numbers before = bias->to_doubles(), scale = by.scale.to_doubles();
      for (std::size_t i = 0; i < all.size(); ++i) all[i] += before[i] * scale[i];
    }
    return std::vector<Tensor>{per_channel(all).cast(dtype)};
  };
  return constants.find_or_compute(key, compute).front();
}

Tensor shifted_bias(const std::optional<Tensor>& bias, const Tensor& kernel, std::size_t in, std::size_t out,
                    const Tensor& shift, DType dtype, FrozenConstants& constants) {
  const std::string key = fmt::format("shifted bias|{}|{}|{}|{}|{}", identity_of_any(bias), identity_of(kernel), in,
                                      identity_of(shift), dtype_name(dtype));
  const auto compute = [&] {
    const PlacesAlong inputs(kernel.shape(), in), outputs(kernel.shape(), out);
    const Numbers numbers = kernel.to_doubles(), shifts = shift.to_doubles();
    Numbers all = bias ? bias->to_doubles() : Numbers(static_cast<std::size_t>(kernel.shape()[out]));
    for (std::size_t i = 0; i < numbers.size(); ++i) all[outputs.of(i)] += numbers[i] * shifts[inputs.of(i)];
    return std::vector<Tensor>{per_channel(all).cast(dtype)};
  };
  return constants.find_or_compute(key, compute).front();
}

Tensor as_dtype(const Tensor& numbers, DType dtype, FrozenConstants& constants) {
  if (numbers.dtype() == dtype) return numbers;
  const std::string key = fmt::format("cast|{}|{}", identity_of(numbers), dtype_name(dtype));
  return constants.find_or_compute(key, [&] { return std::vector<Tensor>{numbers.cast(dtype)}; }).front();
}

bool is_finite(const Tensor& numbers) {
  for (const double number : numbers.to_doubles()) {
    if (!std::isfinite(number)) return false;
  }
  return true;
}

}  // namespace mezzo::detail
