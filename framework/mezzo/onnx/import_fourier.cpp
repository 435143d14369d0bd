#include <cmath>

#include <mezzo/onnx/import_call.hpp>
#include <mezzo/onnx/import_operators.hpp>
#include <mezzo/ops/ops.hpp>

// Discrete Fourier transforms, as products with matrices of cosines and sines.
namespace mezzo::detail {
namespace {

constexpr std::int64_t most_points = 2048;
constexpr std::int64_t most_framed = std::int64_t{1} << 24U;  // of all frames

/// Cosines, or sines, of 2 pi j k / n for j < rows and k < columns.
Value wave_matrix(std::int64_t rows, std::int64_t columns, std::int64_t n, bool sine) {
  std::vector<double> numbers;
  for (std::int64_t j = 0; j < rows; ++j) {
    for (std::int64_t k = 0; k < columns; ++k) {
      const double angle = 2 * M_PI * static_cast<double>(j * k % n) / static_cast<double>(n);
      numbers.push_back(sine ? std::sin(angle) : std::cos(angle));
    }
  }
  return Value(Tensor({rows, columns}, numbers).cast(DType::float32)).across_border();
}

/// Transforms x (..., points, 1 or 2) along its axis -2: `results` numbers of the transform of n points.
Value transformed(const Value& x, std::int64_t n, std::int64_t results, bool inverse) {
  const Shape shape = x.shape();
  const std::int64_t points = shape[shape.size() - 2];
  const Values parts = unstack(x, -1);
  const Value cosines = wave_matrix(points, results, n, false), sines = wave_matrix(points, results, n, true);
  Value real = matmul(parts[0], cosines), imaginary = matmul(parts[0], sines);
  if (!inverse) imaginary = -imaginary;
  if (parts.size() == 2) {
    const Value turned = matmul(parts[1], sines);
    real = inverse ? real - turned : real + turned;
    imaginary = imaginary + matmul(parts[1], cosines);
  }
  const Value y = stack({real, imaginary}, -1);
  return inverse ? y * (1.0 / static_cast<double>(n)) : y;
}

void check_points(const OnnxCall& call, std::int64_t n) {
  if (n < 1 || n > most_points) call.refuse("transforms must have from 1 to {} points; got {}", most_points, n);
}

void run_dft(OnnxCall& call) {
  const bool inverse = call.integer("inverse", 0) != 0, one_sided = call.integer("onesided", 0) != 0;
  const Shape shape = call.shape(0);
  const std::size_t rank = shape.size();
  if (rank < 2 || shape.back() < 1 || shape.back() > 2) {
    call.refuse("the last axis must have 1 or 2 numbers; got shape {}", shape);
  }
  if (one_sided && (inverse || shape.back() == 2)) call.refuse("onesided must be 0 for complex numbers; got 1");
  std::int64_t axis = call.opset() < 20 ? call.integer("axis", 1) : call.has(2) ? call.one_int(2, "axis") : -2;
  axis = normalize_axis(axis, rank, call.where() + " axis");
  if (axis == static_cast<std::int64_t>(rank) - 1) call.refuse("axis must not be the last one; got {}", axis);
  Value x = moveaxis(call.in(0), axis, -2);
  const std::int64_t points = shape[static_cast<std::size_t>(axis)];
  const std::int64_t n = call.has(1) ? call.one_int(1, "dft_length") : points;
  check_points(call, n);
  if (points > n) {
    Shape sizes = x.shape();
    sizes[rank - 2] = n;
    x = slice(x, Shape(rank, 0), sizes);
  }
  call.put(moveaxis(transformed(x, n, one_sided ? n / 2 + 1 : n, inverse), -2, axis));
}

/// Transforms of frames of a signal (batch, samples[, 1]).
void run_stft(OnnxCall& call) {
  const bool one_sided = call.integer("onesided", 1) != 0;
  const Shape shape = call.shape(0);
  if (shape.size() < 2 || shape.size() > 3 || (shape.size() == 3 && shape[2] != 1)) {
    call.refuse("the signal must be (batch, samples, 1), of real numbers; got shape {}", shape);
  }
  const std::int64_t step = call.one_int(1, "frame_step");
  const std::int64_t n = call.has(3) ? call.one_int(3, "frame_length") : call.has(2) ? element_count(call.shape(2)) : 0;
  check_points(call, n);
  if (step < 1 || shape[1] < n)
    call.refuse("frames of {} samples with a step of {} must fit the signal; got shape {}", n, step, shape);
  const std::int64_t frames = (shape[1] - n) / step + 1;
  std::vector<std::int64_t> places;
  if (frames > most_framed / n) call.refuse("frames must have at most {} samples; got {}", most_framed, frames * n);
  for (std::int64_t i = 0; i < frames; ++i) {
    for (std::int64_t k = 0; k < n; ++k) places.push_back(i * step + k);
  }
  const Value signal = reshape(call.in(0), {shape[0], shape[1]});
  Value framed = reshape(take(signal, int64_vector(places), 1), {shape[0], frames, n});
  if (call.has(2)) {
    if (call.shape(2) != Shape{n}) call.refuse("the window must have {} numbers; got shape {}", n, call.shape(2));
    framed = framed * call.in(2);
  }
  call.put(transformed(expand_dims(framed, -1), n, one_sided ? n / 2 + 1 : n, false));
}

}  // namespace

void add_onnx_fourier(OnnxOperators& table) {
  table["DFT"] = {.run = run_dft, .least = 1, .most = 3};
  table["STFT"] = {.run = run_stft, .least = 2, .most = 4};
}

}  // namespace mezzo::detail
