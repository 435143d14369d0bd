#include <mezzo/backends/xsimd/few_rows.hpp>

#include <algorithm>

#include <mezzo/backends/xsimd/conversions.hpp>
#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/products.hpp>

// The time of a product of a few rows is that of reading the matrix. oneDNN 2.6 converts a bfloat16 matrix in each
// call, and has no products of float16. oneDNN is faster from about 8 rows on with plain bfloat16 matrices, from 2 with
// others.
namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

/// Largest number of rows for which this is no slower than oneDNN.
Index most_rows(DType dtype, bool transposed) {
  const bool many = dtype == DType::float16 || (dtype == DType::bfloat16 && !transposed);
  return many ? FewRows::most_rows : 1;
}

std::unique_ptr<Kernel> make_matmul(const KernelRequest& request, Isa isa, std::string& reason) {
  const DType dtype = request.inputs[0].dtype;
  if (!is_stored(dtype)) return decline_dtype(reason, dtype);
  const Spec& matrix = request.inputs[1];
  const DType result = request.outputs[0].dtype;
  if (matrix.dtype != dtype || result != dtype) {
    return decline(reason, "takes operands and results of one dtype; got {}, {} and {}", dtype, matrix.dtype, result);
  }
  if (matrix.shape.size() != 2 || request.attributes.get_or<bool>("transpose_a", false) || has_relu(request)) {
    return decline(reason, "takes a plain left operand, one matrix and no ReLU");
  }
  const bool transposed = request.attributes.get_or<bool>("transpose_b", false);
  const Index depth = matrix.shape[transposed ? 1 : 0], columns = matrix.shape[transposed ? 0 : 1];
  const Index rows = element_count(request.inputs[0].shape) / depth;
  constexpr Index least_matrix = 65536;
  if (rows > most_rows(dtype, transposed) || depth * columns < least_matrix) {
    return decline(reason, "multiplies at most {} rows of {} with at least {} numbers; got {} and {}",
                   most_rows(dtype, transposed), dtype, least_matrix, rows, depth * columns);
  }
  // Pieces whose sums stay in the L1 cache, and as many as there are threads.
  constexpr Index most_columns = 512, line = 64;
  const Index piece = std::min(most_columns, round_up((columns + thread_count() - 1) / thread_count(), line));
  const FewRowsFunctions& functions = kernels(isa).few_rows;
  const Index size = size_of(dtype), widened = dtype == DType::float32 ? 0 : round_up(rows * depth, line);
  const bool biased = request.inputs.size() > 2;
  const DType bias_dtype = biased ? request.inputs[2].dtype : dtype;
  const auto run =
      [=, widen = kernels(isa).cast.from_storage[dtype].float32,
       multiply = (transposed ? functions.transposed : functions.plain)[dtype]](const KernelArguments& arguments) {
        auto* const scratch = static_cast<float*>(arguments.scratch);
        if (widened > 0) widen(arguments.inputs[0], scratch, rows * depth);
        const float* const a = widened > 0 ? scratch : arguments.in<float>(0);
        parallel_for((columns + piece - 1) / piece, 1, [&](Index begin, Index end) {
          for (Index i = begin; i < end; ++i) {
            const Index first = i * piece;
            FewRows product;
            product.a = a;
            product.b = arguments.in<char>(1) + first * (transposed ? depth : 1) * size;
            product.b_width = transposed ? depth : columns;
            product.rows = rows;
            product.depth = depth;
            product.columns = std::min(piece, columns - first);
            product.sums = scratch + widened + first * rows;
            if (biased) product.bias = arguments.in<char>(2) + first * size_of(bias_dtype);
            product.float32_bias = bias_dtype == DType::float32;
            product.out = arguments.out<char>(0) + first * size;
            product.out_width = columns;
            multiply(product);
          }
        });
      };
  return make_kernel(run, {}, static_cast<std::size_t>(widened + rows * columns) * sizeof(float));
}

}  // namespace

Entries few_rows_entries() { return {entry<make_matmul>("matmul")}; }

}  // namespace mezzo::xsimd_kernels
