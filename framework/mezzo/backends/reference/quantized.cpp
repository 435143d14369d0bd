#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/backends/reference/row_codes.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/graph/codes.hpp>
#include <mezzo/ops/quantized.hpp>
#include <mezzo/precision/nf4.hpp>

namespace mezzo::reference {
namespace {

/// Number of a code: a division by the scale, or with a zero point a product.
template <class T>
T number_of(std::int32_t code, float scale, const std::int8_t* zero) {
  return zero == nullptr ? static_cast<T>(code) / static_cast<T>(scale)
                         : static_cast<T>(code - *zero) * static_cast<T>(scale);
}

template <class T>
T nf4_number(std::int32_t code, float scale) {
  return static_cast<T>(nf4_values[detail::nf4_position(code)]) * static_cast<T>(scale);
}

/// Numbers of a row of codes of NF4. `run`: columns with one scale.
template <class T, class Out>
void dequantize_nf4_row(const std::int8_t* codes, std::int64_t columns, std::int64_t run, const float* scale,
                        Out* out) {
  for (std::int64_t begin = 0; begin < columns; begin += run, ++scale) {
    for (std::int64_t i = begin; i < std::min(columns, begin + run); ++i) {
      out[i] = static_cast<Out>(nf4_number<T>(detail::code_at(codes, i, 4), *scale));
    }
  }
}

/// Numbers of a row of codes, computed in T. `run`: columns with one scale, 0 for all.
template <class T, class Out>
void dequantize_row(const std::int8_t* codes, std::int64_t bits, std::int64_t columns, std::int64_t run,
                    const float* scale, const std::int8_t* zero, Out* out) {
  if (run == 1 && zero == nullptr) {
    for (std::int64_t i = 0; i < columns; ++i) {
      out[i] = static_cast<Out>(static_cast<T>(detail::code_at(codes, i, bits)) / static_cast<T>(scale[i]));
    }
    return;
  }
  const std::int64_t width = run == 0 ? columns : run;
  for (std::int64_t begin = 0, of = 0; begin < columns; begin += width, ++of) {
    for (std::int64_t i = begin; i < std::min(columns, begin + width); ++i) {
      out[i] = static_cast<Out>(
          number_of<T>(detail::code_at(codes, i, bits), scale[of], zero == nullptr ? nullptr : zero + of));
    }
  }
}

template <class T, class Out>
std::unique_ptr<Kernel> dequantize(const KernelRequest& request) {
  const Attributes& attributes = request.attributes;
  const auto bits = attributes.get<std::int64_t>("bits"), columns = attributes.get<std::int64_t>("columns");
  Shape shape = request.inputs[0].shape;
  shape.back() = columns;
  const std::int64_t rows = columns == 0 ? 0 : element_count(shape) / columns,
                     bytes = detail::bytes_of_codes(columns, bits);
  const detail::ScalePositions at(shape, attributes.get<Shape>("axes"), attributes.get<std::int64_t>("block_size"));
  const bool has_zero = request.inputs.size() > 2, nf4 = detail::is_nf4(attributes);
  return make_kernel([=](const KernelArguments& arguments) {
    parallel_for(rows, grain_of(columns), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        const std::int64_t first = at.of_row(row);
        if (nf4) {
          dequantize_nf4_row<T>(arguments.in<std::int8_t>(0) + row * bytes, columns, at.run(),
                                arguments.in<float>(1) + first, arguments.out<Out>(0) + row * columns);
          continue;
        }
        dequantize_row<T>(arguments.in<std::int8_t>(0) + row * bytes, bits, columns, at.run(),
                          arguments.in<float>(1) + first, has_zero ? arguments.in<std::int8_t>(2) + first : nullptr,
                          arguments.out<Out>(0) + row * columns);
      }
    });
  });
}

/// Sizes and form of a product.
struct Form {
  std::int64_t bits, columns, rows, depth, width, block;
  bool transposed, nf4, has_zero;
  std::string activations;

  explicit Form(const KernelRequest& request)
      : bits(request.attributes.get<std::int64_t>("bits")),
        columns(request.attributes.get<std::int64_t>("columns")),
        rows(0),
        depth(request.inputs[0].shape.back()),
        width(request.outputs[0].shape.back()),
        block(request.attributes.get<std::int64_t>("block_size")),
        transposed(request.attributes.get<bool>("transpose_b")),
        nf4(detail::is_nf4(request.attributes)),
        has_zero(detail::has_zero(request.attributes)),
        activations(request.attributes.get<std::string>("activations")) {
    const Shape& x = request.inputs[0].shape;
    rows = element_count(Shape(x.begin(), x.end() - 1));
    if (block <= 0) block = std::max<std::int64_t>(depth, 1);
  }

  std::int64_t blocks() const { return (depth + block - 1) / block; }

  std::int32_t code(const std::int8_t* codes, std::int64_t k, std::int64_t n) const {
    const std::int64_t bytes = detail::bytes_of_codes(columns, bits);
    return transposed ? detail::code_at(codes + n * bytes, k, bits) : detail::code_at(codes + k * bytes, n, bits);
  }
  std::int64_t scale(std::int64_t b, std::int64_t n) const { return transposed ? n * blocks() + b : b * width + n; }
};

/// Element n of the product of a row of codes, with exact sums.
template <class T>
T integer_product(const Form& form, const std::int8_t* x, const std::int8_t* codes, const float* scales,
                  const std::int8_t* zeros, T scale, std::int64_t n) {
  T out = 0;
  for (std::int64_t b = 0; b < form.blocks(); ++b) {
    const std::int64_t at = form.scale(b, n);
    const std::int32_t zero = zeros == nullptr ? 0 : zeros[at];
    std::int64_t sum = 0;
    for (std::int64_t k = b * form.block; k < std::min(form.depth, (b + 1) * form.block); ++k) {
      sum += static_cast<std::int64_t>(x[k]) * (form.code(codes, k, n) - zero);
    }
    if (zeros == nullptr) return static_cast<T>(sum) / (scale * static_cast<T>(scales[at]));
    out += static_cast<T>(sum) * static_cast<T>(scales[at]);
  }
  return zeros == nullptr ? 0 : out / scale;
}

/// Element n of the product of a row of floats.
template <class T>
T float_product(const Form& form, const T* x, const std::int8_t* codes, const float* scales, const std::int8_t* zeros,
                std::int64_t n) {
  double out = 0;
  for (std::int64_t k = 0; k < form.depth; ++k) {
    const std::int64_t at = form.scale(k / form.block, n);
    const std::int32_t code = form.code(codes, k, n);
    out += static_cast<double>(x[k]) * (form.nf4
                                            ? nf4_number<T>(code, scales[at])
                                            : number_of<T>(code, scales[at], zeros == nullptr ? nullptr : zeros + at));
  }
  return static_cast<T>(out);
}

template <class T>
std::unique_ptr<Kernel> float_matmul(const Form& form) {
  return make_kernel([form](const KernelArguments& arguments) {
    const auto* zeros = form.has_zero ? arguments.in<std::int8_t>(3) : nullptr;
    parallel_for(form.rows, grain_of(form.depth * form.width), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        for (std::int64_t n = 0; n < form.width; ++n) {
          arguments.out<T>(0)[i * form.width + n] =
              float_product(form, arguments.in<T>(0) + i * form.depth, arguments.in<std::int8_t>(1),
                            arguments.in<float>(2), zeros, n);
        }
      }
    });
  });
}

template <class T>
std::unique_ptr<Kernel> integer_matmul(const Form& form) {
  ScratchLayout layout;
  const std::size_t codes_at = layout.take(static_cast<std::size_t>(form.rows * form.depth));
  const std::size_t scales_at = layout.take(static_cast<std::size_t>(form.rows) * sizeof(T));
  const auto run = [=](const KernelArguments& arguments) {
    const auto* zeros = form.has_zero ? arguments.in<std::int8_t>(3) : nullptr;
    const float* given = form.activations == "static" ? arguments.in<float>(form.has_zero ? 4 : 3) : nullptr;
    auto* rows = static_cast<std::int8_t*>(arguments.scratch) + codes_at;
    auto* scales = reinterpret_cast<T*>(static_cast<std::byte*>(arguments.scratch) + scales_at);
    parallel_for(form.rows, grain_of(form.depth * form.width), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        std::int8_t* row = rows + i * form.depth;
        quantize_row(arguments.in<T>(0) + i * form.depth, form.depth, given, row, scales[i]);
        T* out = arguments.out<T>(0) + i * form.width;
        for (std::int64_t n = 0; n < form.width; ++n) {
          out[n] = std::isnan(scales[i]) ? std::numeric_limits<T>::quiet_NaN()
                                         : integer_product(form, row, arguments.in<std::int8_t>(1),
                                                           arguments.in<float>(2), zeros, scales[i], n);
        }
      }
    });
  };
  return make_kernel(run, {}, layout.size());
}

}  // namespace

std::unique_ptr<Kernel> create_dequantize(const KernelRequest& request, std::string& reason) {
  switch (request.outputs[0].dtype) {
    case DType::float32:
      return dequantize<float, float>(request);
    case DType::float64:
      return dequantize<double, double>(request);
    case DType::bfloat16:
      return dequantize<float, bfloat16>(request);
    case DType::float16:
      return dequantize<float, float16>(request);
    default:
      return decline(reason, "computes floats; got {}", request.outputs[0].dtype);
  }
}

std::unique_ptr<Kernel> create_quantized_matmul(const KernelRequest& request, std::string& reason) {
  return for_float_or_double(request, request.inputs[0].dtype, reason, [&](auto zero) {
    const Form form(request);
    return form.activations == "none" ? float_matmul<decltype(zero)>(form) : integer_matmul<decltype(zero)>(form);
  });
}

}  // namespace mezzo::reference
