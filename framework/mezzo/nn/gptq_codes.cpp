#include <mezzo/nn/gptq_codes.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/graph/code_formulas.hpp>
#include <mezzo/ops/linalg.hpp>

namespace mezzo::detail {
namespace {

using Order = std::vector<std::int64_t>;

/// The Hessian with 1 in the diagonal for inputs that are always 0, as in Keras.
Tensor without_dead_inputs(const Tensor& hessian) {
  Tensor out = hessian.owned();
  auto* const numbers = out.mutable_data<double>();
  const std::int64_t count = out.shape()[0];
  for (std::int64_t i = 0; i < count; ++i) {
    double& diagonal = numbers[i * count + i];
    if (diagonal == 0) diagonal = 1;
  }
  return out;
}

/// Order in which inputs are rounded.
Order order_of(const Tensor& hessian, const GptqForm& form) {
  const std::int64_t count = hessian.shape()[0];
  Order order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  if (!form.activation_order) return order;
  const auto* const x = hessian.data<double>();
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t a, std::int64_t b) { return x[a * count + a] > x[b * count + b]; });
  return order;
}

/// The Hessian with its rows and columns in that order, and the damping in its diagonal.
Tensor damped(const Tensor& hessian, double damping, const Order& order) {
  const std::int64_t count = hessian.shape()[0];
  Tensor out({count, count}, DType::float64);
  const auto* const from = hessian.data<double>();
  auto* const to = out.mutable_data<double>();
  double trace = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double* const row = from + order[static_cast<std::size_t>(i)] * count;
    for (std::int64_t j = 0; j < count; ++j) to[i * count + j] = row[order[static_cast<std::size_t>(j)]];
    trace += to[i * count + i];
  }
  for (std::int64_t i = 0; i < count; ++i) to[i * count + i] += damping * trace / static_cast<double>(count);
  return out;
}

/// Upper triangular U with U^T U = the inverse of x. Row i has the inverse of the inputs from i on, in which those
/// before i are eliminated, divided by the root of its first number.
Tensor root_of_inverse(const Tensor& x) {
  const Value inverse = cholesky_inverse(cholesky(Value(x)));
  return cholesky(inverse, true).tensor();
}

/// Rounds tiles of columns of a kernel, which don't depend on each other.
class GptqRounding {
 public:
  GptqRounding(const Tensor& kernel, const Tensor& root, const GptqForm& form, const Order& order, GptqCodes& out)
      : form_(form),
        order_(order),
        inputs_(kernel.shape()[0]),
        columns_(kernel.shape()[1]),
        block_(form.block_size > 0 ? form.block_size : inputs_),
        kernel_(kernel.data<float>()),
        root_(root.data<double>()),
        codes_(out.codes.mutable_data<std::int8_t>()),
        scale_(out.scale.mutable_data<float>()),
        zero_(form.bits == 4 ? out.zero.mutable_data<std::int8_t>() : nullptr) {}

  static constexpr std::int64_t tile = 16;

  void round(std::int64_t first) const {
    const std::int64_t width = std::min(tile, columns_ - first);
    std::vector<double> w(static_cast<std::size_t>(inputs_ * tile));
    for (std::int64_t i = 0; i < inputs_; ++i) {
      for (std::int64_t c = 0; c < width; ++c) w[at(i, c)] = kernel_[source(i) * columns_ + first + c];
    }
    // Blocks are of consecutive inputs of the kernel: in another order, they are complete only in the given kernel.
    if (form_.activation_order) {
      for (std::int64_t i = 0; i < inputs_; i += block_) choose_steps(i, first, width, nullptr);
    }
    for (std::int64_t i = 0; i < inputs_; ++i) {
      if (!form_.activation_order && i % block_ == 0) choose_steps(i, first, width, w.data());
      round_row(i, first, width, w.data());
    }
  }

 private:
  static std::size_t at(std::int64_t i, std::int64_t c) { return static_cast<std::size_t>(i * tile + c); }
  std::int64_t source(std::int64_t i) const { return order_[static_cast<std::size_t>(i)]; }

  /// Chooses scales and zero points for the block from input `begin` on, by its numbers in `w` or in the kernel.
  void choose_steps(std::int64_t begin, std::int64_t first, std::int64_t width, const double* w) const {
    for (std::int64_t c = 0; c < width; ++c) {
      double least = 0, most = 0;
      for (std::int64_t i = begin; i < std::min(inputs_, begin + block_); ++i) {
        const double x = w != nullptr ? w[at(i, c)] : static_cast<double>(kernel_[i * columns_ + first + c]);
        least = std::min(least, x);
        most = std::max(most, x);
      }
      set_step(begin / block_ * columns_ + first + c, static_cast<float>(least), static_cast<float>(most));
    }
  }

  /// Keras' compute_quantization_parameters() of numbers in this range, in float32.
  void set_step(std::int64_t place, float least, float most) const {
    if (zero_ == nullptr) {
      scale_[place] = symmetric_scale(std::max(-least, most), CodeRange<float>::of(false).limit);
      return;
    }
    if (form_.symmetric) {
      most = std::max(-least, most);
      least = -most;
    }
    if (least == most) {
      least -= 1;
      most += 1;
    }
    const float scale = (most - least) / 15;
    scale_[place] = scale > 0 ? scale : 1e-8F;
    const float zero = form_.symmetric ? 8 : std::nearbyint(-least / scale_[place]);
    zero_[place] = static_cast<std::int8_t>(std::clamp(zero - 8, -8.0F, 7.0F));
  }

  /// Writes the codes of row i and changes the rows that follow.
  void round_row(std::int64_t i, std::int64_t first, std::int64_t width, double* w) const {
    const float most = zero_ == nullptr ? 127 : 7, least = zero_ == nullptr ? -127 : -8;
    const double* const row = root_ + i * inputs_;
    std::array<double, tile> errors{};
    for (std::int64_t c = 0; c < width; ++c) {
      const std::int64_t place = source(i) / block_ * columns_ + first + c;
      // In float32 as in Keras: in a symmetric range the largest number is a tie, 7.5 steps from 0.
      const float scale = scale_[place], zero = zero_ == nullptr ? 0 : zero_[place];
      const auto number = static_cast<float>(w[at(i, c)]);
      const float steps = zero_ == nullptr ? number * scale : number / scale + zero;
      const float code = std::clamp(std::nearbyint(steps), least, most);
      codes_[source(i) * columns_ + first + c] = static_cast<std::int8_t>(code);
      const double read = static_cast<double>(code - zero);
      const double rounded = zero_ == nullptr ? read / static_cast<double>(scale) : read * static_cast<double>(scale);
      errors[static_cast<std::size_t>(c)] = (w[at(i, c)] - rounded) / row[i];
    }
    for (std::int64_t k = i + 1; k < inputs_; ++k) {
      double* const to = w + k * tile;
      for (std::size_t c = 0; c < errors.size(); ++c) to[c] -= errors[c] * row[k];
    }
  }

  const GptqForm& form_;
  const Order& order_;
  std::int64_t inputs_, columns_, block_;
  const float* kernel_;
  const double* root_;
  std::int8_t* codes_;
  float* scale_;
  std::int8_t* zero_;
};

}  // namespace

GptqCodes gptq_codes(const Tensor& kernel, const Tensor& hessian, const GptqForm& form, const std::string& name) {
  const std::int64_t inputs = kernel.shape()[0], columns = kernel.shape()[1];
  const Tensor living = without_dead_inputs(hessian);
  const Order order = order_of(living, form);
  const Tensor root = root_of_inverse(damped(living, form.damping, order));
  const auto* const numbers = root.data<double>();
  for (std::int64_t i = 0; i < inputs; ++i) {
    if (numbers[i * inputs + i] > 0) continue;  // false for NaN
    fail<ValueError>("[quantize gptq]",
                     "the Hessian of {} must be positive definite; use more inputs or a larger hessian_damping", name);
  }
  GptqCodes out;
  out.codes = Tensor({inputs, columns}, DType::int8);
  const std::int64_t blocks = form.block_size > 0 ? (inputs + form.block_size - 1) / form.block_size : 1;
  out.scale = Tensor(form.bits == 4 ? Shape{blocks, columns} : Shape{columns}, DType::float32);
  if (form.bits == 4) out.zero = Tensor(out.scale.shape(), DType::int8);
  const GptqRounding rounding(kernel, root, form, order, out);
  parallel_for((columns + GptqRounding::tile - 1) / GptqRounding::tile, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) rounding.round(i * GptqRounding::tile);
  });
  return out;
}

}  // namespace mezzo::detail
