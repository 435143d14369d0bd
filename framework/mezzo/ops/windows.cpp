#include <algorithm>
#include <cmath>
#include <string>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/arrangement.hpp>
#include <mezzo/ops/conv2d.hpp>
#include <mezzo/ops/creation.hpp>
#include <mezzo/ops/custom_gradient.hpp>
#include <mezzo/ops/elementwise.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/host.hpp>
#include <mezzo/ops/image_helpers.hpp>
#include <mezzo/ops/indexing.hpp>
#include <mezzo/ops/linalg.hpp>
#include <mezzo/ops/numpy.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/products.hpp>

// Windows of arrays, the Bessel function i0 and LU factors.
namespace mezzo {
namespace {

Shape pair_of(const detail::Ints& numbers, const char* function, const char* name, std::int64_t least = 1) {
  return numbers.pair(detail::current_label(function), name, least);
}

/// Sum of the Chebyshev polynomials of x with these factors (Clenshaw, 1955).
template <std::size_t N>
Value chebyshev(const Value& x, const double (&factors)[N]) {
  Value next = factors[N - 1], last = 0.0;
  for (std::size_t i = N - 1; i-- > 1;) {
    const Value now = 2 * x * next - last + factors[i];
    last = next;
    next = now;
  }
  return x * next - last + factors[0];
}

/// Chebyshev coefficients, fitted in float64: exp(-x) i0(x) in [0, 8] by x / 4 - 1, and sqrt(x) exp(-x) i0(x) from 8 on
/// by 16 / x - 1.
constexpr double near_zero[] = {
    0.33839763720473803,    -0.3046826723431984,     0.1716209015222087,     -0.09490109704804756,
    0.04930528423967058,    -0.023737414805899384,   0.01054646039459498,    -0.004324309995050513,
    0.0016394756169412744,  -0.0005763755745385368,  0.00018850288509573488, -5.754195010049701e-05,
    1.6448448070693066e-05, -4.416738358563599e-06,  1.1173875390746436e-06, -2.6707938512560146e-07,
    6.046995009889589e-08,  -1.3000250109751478e-08, 2.6598236424479894e-09, -5.189793439441815e-10,
    9.67580288113723e-11,   -1.7268291241379075e-11, 2.954748112848904e-12,  -4.855249535751227e-13,
    7.669309631808118e-14,  -1.1666223542761145e-14, 1.6864287744056127e-15};
constexpr double from_8_on[] = {
    0.40224520550705445,    0.003369116478255698,   6.889758346916963e-05,   2.891370520838876e-06,
    2.048918588859472e-07,  2.266668992056964e-08,  3.3962320333813523e-09,  4.94060259370599e-10,
    1.1889135231868408e-11, -3.149915883682297e-11, -1.3215846195180348e-11, -1.7940449126285784e-12,
    7.179912220323104e-13,  3.852318464225846e-13,  1.5403234243649423e-14,  -4.140243703432134e-14,
    -9.60453938603223e-15,  3.7636560534792805e-15, 1.758593271006248e-15};

struct Factors {
  std::vector<double> lu;
  std::vector<std::int32_t> pivots;
};

/// LU factors of n x n matrices by rows with partial pivoting.
Factors factorize(const Tensor& matrices) {
  const std::int64_t n = matrices.shape().back();
  Factors out{matrices.to_doubles(), {}};
  const std::int64_t count = n == 0 ? 0 : matrices.size() / (n * n);
  for (std::int64_t m = 0; m < count; ++m) {
    double* const a = out.lu.data() + m * n * n;
    for (std::int64_t k = 0; k < n; ++k) {
      std::int64_t pivot = k;
      for (std::int64_t i = k + 1; i < n; ++i) {
        if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k])) pivot = i;
      }
      out.pivots.push_back(static_cast<std::int32_t>(pivot));
      if (pivot != k) std::swap_ranges(a + k * n, a + k * n + n, a + pivot * n);
      for (std::int64_t i = k + 1; i < n && a[k * n + k] != 0; ++i) {
        const double factor = a[i * n + k] /= a[k * n + k];
        for (std::int64_t j = k + 1; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
      }
    }
  }
  return out;
}

/// Matrices (..., N, N) that put the rows in the order of the pivots.
Tensor permutations(const Tensor& pivots, DType dtype) {
  Shape shape = pivots.shape();
  const std::int64_t n = shape.back();
  shape.push_back(n);
  Tensor out(shape, DType::float64);
  double* const p = out.mutable_data<double>();
  for (std::int64_t m = 0; n > 0 && m < pivots.size() / n; ++m) {
    std::vector<std::int64_t> rows;
    for (std::int64_t i = 0; i < n; ++i) rows.push_back(i);
    for (std::int64_t i = 0; i < n; ++i) {
      std::swap(rows[static_cast<std::size_t>(i)],
                rows[static_cast<std::size_t>(pivots.data<std::int32_t>()[m * n + i])]);
    }
    for (std::int64_t i = 0; i < n; ++i) p[(m * n + i) * n + rows[static_cast<std::size_t>(i)]] = 1;
  }
  return out.cast(dtype);
}

/// The cotangent of a matrix from that of its packed factors: P^T L^-T (tril(L^T dL, -1) + triu(dU U^T)) U^-T.
Value lu_gradient(const Value& lu, const Value& order, const Value& g) {
  const std::int64_t n = lu.shape().back();
  const Value unit = eye(n, std::nullopt, 0, lu.dtype());
  const Value lower = tril(lu, -1) + unit, upper = triu(lu);
  const Value of_lower = tril(matmul(swapaxes(lower, -1, -2), tril(g, -1)), -1);
  const Value of_upper = triu(matmul(triu(g), swapaxes(upper, -1, -2)));
  const Value left = solve_triangular(swapaxes(lower, -1, -2), of_lower + of_upper);
  const Value right = solve_triangular(upper, swapaxes(left, -1, -2));  // (x U^-T)^T = U^-1 x^T
  return matmul(swapaxes(order, -1, -2), swapaxes(right, -1, -2));
}

}  // namespace

Value correlate(const Value& x1, const Value& x2, const char* mode) {
  const std::string label = detail::current_label("correlate");
  const std::string name = mode;
  if (name != "valid" && name != "same" && name != "full") {
    fail<NameError>(label, "unknown mode \"{}\"; valid names: full, same, valid", name);
  }
  if (x1.shape().size() != 1 || x2.shape().size() != 1 || x1.shape()[0] < 1 || x2.shape()[0] < 1) {
    fail<ShapeError>(label, "operands must be vectors with elements; got shapes {} and {}", x1.shape(), x2.shape());
  }
  const DType common = promote(x1.dtype(), x2.dtype());
  DType narrow{};
  const bool whole = !is_floating(common);
  const auto wide = [&](const Value& x) { return whole ? cast(x, DType::float64) : detail::as_wide(x, narrow); };
  const bool swapped = x1.shape()[0] < x2.shape()[0];
  const Value moved = wide(swapped ? x1 : x2), fixed = wide(swapped ? x2 : x1);
  const std::int64_t size = moved.shape()[0];
  const std::int64_t before = name == "valid" ? 0 : name == "full" ? size - 1 : size / 2;
  const std::int64_t after = name == "valid" ? 0 : name == "full" ? size - 1 : size - size / 2 - 1;
  const Value line = before + after > 0 ? pad(fixed, {{before}, {after}}) : fixed;
  const Value sums = conv2d(reshape(line, {1, 1, -1, 1}), reshape(moved, {1, -1, 1, 1}));
  const Value out = reshape(sums, {-1});
  const Value ordered = swapped ? flip(out) : out;
  return whole ? cast(round(ordered), common) : detail::as(ordered, common);
}

Value unfold(const Value& x, const detail::Ints& kernel_size, const UnfoldOptions& options) {
  const std::string label = detail::current_label("unfold");
  const Shape window = pair_of(kernel_size, "unfold", "kernel_size"),
              padding = pair_of(options.padding, "unfold", "padding", 0);
  const Shape dilation = pair_of(options.dilation, "unfold", "dilation"),
              stride = pair_of(options.stride, "unfold", "stride");
  const Shape& shape = x.shape();
  if (shape.size() != 4) fail<ShapeError>(label, "x must be (batch, channels, height, width); got shape {}", shape);
  const Shape margin{0, 0, padding[0], padding[1]};
  const Value whole = padding == Shape{0, 0} ? x : pad(x, {margin, margin});
  const Shape sizes{whole.shape()[2], whole.shape()[3]};
  Shape positions;
  const Tensor places = detail::window_indices(sizes, window, stride, dilation, true, positions);
  const Value lines = take(reshape(whole, {shape[0], shape[1], sizes[0] * sizes[1]}), places, 2);
  return reshape(lines, {shape[0], shape[1] * window[0] * window[1], positions[0] * positions[1]});
}

Value fold(const Value& x, const detail::Ints& output_size, const detail::Ints& kernel_size,
           const UnfoldOptions& options) {
  const std::string label = detail::current_label("fold");
  const Shape window = pair_of(kernel_size, "fold", "kernel_size"),
              padding = pair_of(options.padding, "fold", "padding", 0);
  const Shape dilation = pair_of(options.dilation, "fold", "dilation"),
              stride = pair_of(options.stride, "fold", "stride");
  const Shape target = pair_of(output_size, "fold", "output_size");
  const Shape sizes{target[0] + 2 * padding[0], target[1] + 2 * padding[1]};
  Shape positions;
  const Tensor places = detail::window_indices(sizes, window, stride, dilation, true, positions);
  const std::int64_t elements = window[0] * window[1], count = positions[0] * positions[1];
  const Shape& shape = x.shape();
  if (shape.size() != 3 || shape[1] % elements != 0 || shape[2] != count) {
    fail<ShapeError>(label, "x must be (batch, a multiple of {}, {}) for images of {} by {}; got shape {}", elements,
                     count, target[0], target[1], shape);
  }
  const std::int64_t channels = shape[1] / elements;
  const Value lines = reshape(x, {shape[0], channels, elements * count});
  const DType dtype = detail::operand_dtypes(ops::scatter_add, ops::scatter_add.cast, {places, lines}).back();
  const Value sums =
      insert_one(ops::scatter_add, {places, lines},
                 {{"axis", std::int64_t{2}}, {"size", sizes[0] * sizes[1]}, {"negative", false}, {"dtype", dtype}});
  const Value whole = reshape(sums, {shape[0], channels, sizes[0], sizes[1]});
  return padding == Shape{0, 0} ? whole
                                : slice(whole, {{0, 0, padding[0], padding[1]}, {-1, -1, target[0], target[1]}});
}

Value extract_sequences(const Value& x, std::int64_t sequence_length, std::int64_t sequence_stride) {
  const std::string label = detail::current_label("extract_sequences");
  if (sequence_length < 1 || sequence_stride < 1) {
    fail<ValueError>(label, "sequence_length and sequence_stride must be at least 1; got {} and {}", sequence_length,
                     sequence_stride);
  }
  if (x.shape().empty() || x.shape().back() < 0) {
    fail<ShapeError>(label, "x must have a last axis of known size; got shape {}", x.shape());
  }
  Shape positions, shape = x.shape();
  const Tensor places = detail::window_indices({x.shape().back().or_unknown()}, {sequence_length}, {sequence_stride},
                                               {1}, false, positions);
  shape.back() = positions[0];
  shape.push_back(sequence_length);
  return reshape(take(x, places, -1), shape);
}

Value depth_to_space(const Value& x, std::int64_t block_size) {
  const Shape& s = x.shape();
  const std::int64_t b = block_size;
  if (b < 1 || s.size() != 4 || s[3] % (b * b) != 0) {
    fail<ShapeError>(detail::current_label("depth_to_space"),
                     "x must be (batch, height, width, a multiple of {}); got shape {}", b * b, s);
  }
  const std::int64_t channels = s[3] / (b * b);
  const Value blocks = transpose(reshape(x, {s[0], s[1], s[2], b, b, channels}), {0, 1, 3, 2, 4, 5});
  return reshape(blocks, {s[0], s[1] * b, s[2] * b, channels});
}

Value space_to_depth(const Value& x, std::int64_t block_size) {
  const Shape& s = x.shape();
  const std::int64_t b = block_size;
  if (b < 1 || s.size() != 4 || s[1] % b != 0 || s[2] % b != 0) {
    fail<ShapeError>(detail::current_label("space_to_depth"),
                     "x must be (batch, height, width, channels) with sides that are multiples of {}; got shape {}", b,
                     s);
  }
  const Value blocks = transpose(reshape(x, {s[0], s[1] / b, b, s[2] / b, b, s[3]}), {0, 1, 3, 2, 4, 5});
  return reshape(blocks, {s[0], s[1] / b, s[2] / b, s[3] * b * b});
}

Value i0(const Value& x) {
  DType narrow{};
  const Value size = abs(detail::as_wide(x, narrow));
  const Value low = minimum(size, 8.0), high = maximum(size, 8.0);
  // exp(x / 2) twice: i0 is finite a little beyond the end of exp.
  const Value near = chebyshev(low * 0.25 - 1, near_zero) * exp(low);
  const Value half = exp(high * 0.5);
  const Value far = chebyshev(16 / high - 1, from_8_on) / sqrt(high) * half * half;
  return detail::as(where(size <= 8.0, near, far), narrow);
}

LU lu_factor(const Value& x) {
  const std::string label = detail::current_label("lu_factor");
  const Shape& shape = x.shape();
  if (shape.size() < 2 || shape[shape.size() - 1] != shape[shape.size() - 2]) {
    fail<ShapeError>(label, "x must be square matrices (..., N, N); got shape {}", shape);
  }
  DType narrow{};
  const Value wide = detail::as_wide(x, narrow);
  const Shape lines(shape.begin(), shape.end() - 1);
  HostOptions whole_numbers;
  whole_numbers.shape = lines;
  whole_numbers.dtype = DType::int32;
  const Value pivots =
      host([lines](const Tensor& a) { return Tensor(lines, factorize(a).pivots); }, stop_gradient(wide), whole_numbers);
  const auto factors = custom_gradient([](const Values& xs) {
    const DType dtype = xs[0].dtype();
    const Value lu =
        host([dtype](const Tensor& a) { return Tensor(a.shape(), factorize(a).lu).cast(dtype); }, stop_gradient(xs[0]));
    HostOptions square;
    square.shape = xs[0].shape();
    square.dtype = dtype;
    const Value order = host([dtype](const Tensor& p) { return permutations(p, dtype); }, xs[1], square);
    return CustomGradientResult{lu, [lu, order](const Value& upstream) {
                                  return Values{lu_gradient(stop_gradient(lu), order, upstream), Value()};
                                }};
  });
  return {detail::as(factors({wide, pivots}), narrow), pivots};
}

}  // namespace mezzo
