#include <algorithm>
#include <cstdint>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/backends/reference/matrix_stack.hpp>
#include <mezzo/core/int8_scale.hpp>

// Products whose operands are quantized to int8 by groups of rows of the left matrix and of columns of the right one.
// Sums of a group are exact integers. Scales are multiplied, groups added, and bias and ReLU applied, in float32.
namespace mezzo::reference {
namespace {

/// Codes and scales of the rows of a matrix, in scratch memory.
struct Codes {
  std::int8_t* numbers;
  float* scales;  ///< (rows, groups)
  std::int64_t depth;

  /// Calls body(group, first term, end).
  template <class Body>
  void for_groups(const Body& body) const {
    for (std::int64_t group = 0; group < detail::int8_groups(depth); ++group) {
      body(group, group * detail::int8_group, std::min(depth, (group + 1) * detail::int8_group));
    }
  }

  /// Quantizes row `row` with the numbers x(0), x(1), ....
  template <class Numbers>
  void quantize(std::int64_t row, const Numbers& x) const {
    for_groups([&](std::int64_t group, std::int64_t begin, std::int64_t end) {
      const detail::Int8Scale scale(
          detail::largest_magnitude(end - begin, [&](std::int64_t k) { return x(begin + k); }));
      scales[row * detail::int8_groups(depth) + group] = scale.scale;
      for (std::int64_t k = begin; k < end; ++k) {
        numbers[row * depth + k] = static_cast<std::int8_t>(scale.code(x(k)));
      }
    });
  }

  /// Product of row i with row j of `columns`.
  float product(std::int64_t i, const Codes& columns, std::int64_t j) const {
    const std::int8_t *const a = numbers + i * depth, *const b = columns.numbers + j * depth;
    const std::int64_t groups = detail::int8_groups(depth);
    float all = 0;
    for_groups([&](std::int64_t group, std::int64_t begin, std::int64_t end) {
      std::int32_t sum = 0;
      for (std::int64_t k = begin; k < end; ++k) sum += a[k] * b[k];
      all += detail::Int8Scale::product(static_cast<float>(sum), scales[i * groups + group],
                                        columns.scales[j * groups + group]);
    });
    return all;
  }
};

template <class T, class Out>
std::unique_ptr<Kernel> int8_matmul(const KernelRequest& request) {
  const ProductSize size = product_size(request, is_batched(request));
  const Stack a =
      stack_of(request.inputs[0].shape, request.attributes.get_or<bool>("transpose_a", false), is_batched(request));
  const Stack b =
      stack_of(request.inputs[1].shape, request.attributes.get_or<bool>("transpose_b", false), is_batched(request));
  const bool biased = request.inputs.size() > 2, relu = has_relu(request);
  ScratchLayout layout;
  const auto codes_at = [&](std::int64_t rows) {
    const std::size_t numbers = layout.take(static_cast<std::size_t>(rows * size.depth));
    const std::size_t scales =
        layout.take(static_cast<std::size_t>(rows * detail::int8_groups(size.depth)) * sizeof(float));
    return [=, depth = size.depth](const KernelArguments& arguments) {
      char* const scratch = static_cast<char*>(arguments.scratch);
      return Codes{reinterpret_cast<std::int8_t*>(scratch + numbers), reinterpret_cast<float*>(scratch + scales),
                   depth};
    };
  };
  const auto left = codes_at(size.rows), right = codes_at(size.columns);
  const auto run = [=](const KernelArguments& arguments) {
    const Codes rows = left(arguments), columns = right(arguments);
    const T* const bias = biased ? arguments.in<T>(2) : nullptr;
    for (std::int64_t batch = 0; batch < size.batches; ++batch) {
      const T* const of_a = arguments.in<T>(0) + batch * a.next_matrix;
      const T* const of_b = arguments.in<T>(1) + batch * b.next_matrix;
      const std::int64_t each = grain_of(size.depth);
      parallel_for(size.rows, each, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          rows.quantize(i,
                        [&](std::int64_t k) { return static_cast<float>(of_a[i * a.next_row + k * a.next_column]); });
        }
      });
      parallel_for(size.columns, each, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t j = begin; j < end; ++j) {
          columns.quantize(
              j, [&](std::int64_t k) { return static_cast<float>(of_b[k * b.next_row + j * b.next_column]); });
        }
      });
      Out* const out = arguments.out<Out>(0) + batch * size.rows * size.columns;
      parallel_for(size.rows, grain_of(size.depth * size.columns), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          for (std::int64_t j = 0; j < size.columns; ++j) {
            const T y = rows.product(i, columns, j);
            out[i * size.columns + j] = static_cast<Out>(finish(y, bias, j, relu));
          }
        }
      });
    }
  };
  return make_kernel(run, {}, layout.size());
}

}  // namespace

std::unique_ptr<Kernel> create_int8_matmul(const KernelRequest& request, std::string& reason) {
  return for_input_and_output(request, reason, [&](auto zero, auto out_zero) {
    return int8_matmul<decltype(zero), decltype(out_zero)>(request);
  });
}

}  // namespace mezzo::reference
