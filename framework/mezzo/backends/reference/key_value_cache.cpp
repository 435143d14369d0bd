#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include <mezzo/backends/common/cached_attention_shape.hpp>
#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/backends/reference/dot.hpp>

namespace mezzo::reference {
namespace {

using Index = std::int64_t;

/// Computes head by head in double.
template <class T>
std::unique_ptr<Kernel> cached_attention(const KernelRequest& request) {
  const CachedAttentionShape shape(request);
  const auto run = [shape](const KernelArguments& arguments) {
    const Index filled = shape.filled(arguments);
    auto* weights = static_cast<double*>(arguments.scratch);
    double* result = weights + shape.capacity + 1;
    for (Index head = 0; head < shape.batch * shape.heads; ++head) {
      const Index group = shape.group(head);
      const T* query = arguments.in<T>(0) + head * shape.size;
      const auto row = [&](std::size_t fresh, std::size_t cache, Index size, Index i) {
        return i == filled ? arguments.in<T>(fresh) + group * size
                           : arguments.in<T>(cache) + (group * shape.capacity + i) * size;
      };
      double maximum = 0;
      for (Index i = 0; i <= filled; ++i) {
        weights[i] = shape.scale * dot(query, row(1, 3, shape.size, i), shape.size);
        maximum = i == 0 ? weights[i] : std::max(maximum, weights[i]);
      }
      double total = 0;
      std::fill_n(result, shape.value_size, 0.0);
      for (Index i = 0; i <= filled; ++i) {
        const double weight = std::exp(weights[i] - maximum);
        total += weight;
        const T* value = row(2, 4, shape.value_size, i);
        for (Index c = 0; c < shape.value_size; ++c) result[c] += weight * static_cast<double>(value[c]);
      }
      T* out = arguments.out<T>(0) + head * shape.value_size;
      for (Index c = 0; c < shape.value_size; ++c) out[c] = static_cast<T>(result[c] / total);
    }
  };
  return make_kernel(run, {}, static_cast<std::size_t>(shape.capacity + 1 + shape.value_size) * sizeof(double));
}

}  // namespace

std::unique_ptr<Kernel> create_cached_attention(const KernelRequest& request, std::string& reason) {
  return for_float_or_double(request, request.inputs[0].dtype, reason,
                             [&](auto zero) { return cached_attention<decltype(zero)>(request); });
}

std::unique_ptr<Kernel> create_cache_update(const KernelRequest& request, std::string&) {
  const Shape& cache = request.inputs[0].shape;
  const Index batch = cache[0], heads = cache[1], capacity = cache[2], count = request.inputs[1].shape[1];
  const auto element = static_cast<Index>(dtype_size(request.inputs[0].dtype));
  const Index row = cache[3] * element;
  const auto run = [batch, heads, capacity, count, row](const KernelArguments& arguments) {
    auto* out = arguments.out<char>(0);
    if (out != arguments.in<char>(0)) {
      std::memcpy(out, arguments.in<char>(0), static_cast<std::size_t>(batch * heads * capacity * row));
    }
    const Index first = std::min(std::max<Index>(*arguments.in<std::int32_t>(2), 0), capacity - count);
    const char* x = arguments.in<char>(1);
    for (Index b = 0; b < batch; ++b) {
      for (Index i = 0; i < count; ++i) {
        for (Index head = 0; head < heads; ++head, x += row) {
          char* to = out + ((b * heads + head) * capacity + first + i) * row;
          std::memcpy(to, x, static_cast<std::size_t>(row));
        }
      }
    }
  };
  return make_kernel(run, {true});
}

}  // namespace mezzo::reference
