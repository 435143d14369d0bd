#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <mezzo/backends/common/attention_shape.hpp>
#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/backends/reference/dot.hpp>
#include <mezzo/core/parallel.hpp>

// Computes query by query in double, with one row of scores at a time.
namespace mezzo::reference {
namespace {

using Index = std::int64_t;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Arrays and numbers of one head. Neighbouring positions lie heads * size elements apart.
template <class T>
struct Head {
  const AttentionShape& shape;
  const KernelArguments& arguments;
  Index b, h;
  std::uint64_t stream;
  Index first_sample;

  /// Address of position i in input or output `x`, where a head has `size` elements at each position.
  template <class P>
  P* at(P* x, Index positions, Index size, Index i) const {
    return x + ((b * positions + i) * shape.heads + h) * size;
  }

  double score(const T* query, const T* keys, Index i, Index j) const {
    const double product = shape.scale * dot(query, at(keys, shape.keys, shape.size, j), shape.size);
    if (!shape.masked) return product;
    const Index place = shape.mask_row(b, h, i) + j * shape.mask_strides[3];
    if (!shape.boolean_mask) return product + static_cast<double>(static_cast<const T*>(shape.mask(arguments))[place]);
    return static_cast<const bool*>(shape.mask(arguments))[place] ? product : -infinity;
  }

  /// Dropout's factor for weight j of query i: 0 or 1 / (1 - rate).
  double kept(Index i, Index j) const {
    if (shape.rate == 0) return 1;
    const auto n = static_cast<std::uint64_t>(shape.first_word(first_sample + b, h, i) + j);
    return unit_float(philox(stream, n / 4)[n % 4]) >= static_cast<float>(shape.rate) ? 1 / (1 - shape.rate) : 0;
  }
};

/// Calls body(head, numbers) for each head; `numbers` is the part of scratch that belongs to the calling thread.
template <class T, class Body>
void for_heads(const AttentionShape& shape, const HeadThreads& threads, const KernelArguments& arguments,
               const Body& body) {
  const std::uint64_t stream = shape.stream(arguments);
  const Index first_sample = shape.first_sample(arguments);
  threads.for_heads<double>(arguments.scratch, [&](Index i, double* numbers) {
    body(Head<T>{.shape = shape,
                 .arguments = arguments,
                 .b = i / shape.heads,
                 .h = i % shape.heads,
                 .stream = stream,
                 .first_sample = first_sample},
         numbers);
  });
}

template <class T>
std::unique_ptr<Kernel> attention(const KernelRequest& request) {
  const AttentionShape shape(request, 0);
  const HeadThreads threads(shape, shape.keys + shape.value_size);
  const auto run = [shape, threads](const KernelArguments& arguments) {
    for_heads<T>(shape, threads, arguments, [&](const Head<T>& head, double* weights) {
      double* result = weights + shape.keys;
      for (Index i = 0; i < shape.queries; ++i) {
        const T* query = head.at(arguments.in<T>(0), shape.queries, shape.size, i);
        const Index visible = visible_keys(i, shape.keys, shape.causal);
        double maximum = -infinity, total = 0;
        for (Index j = 0; j < visible; ++j) {
          weights[j] = head.score(query, arguments.in<T>(1), i, j);
          maximum = std::isnan(weights[j]) ? weights[j] : std::max(maximum, weights[j]);
        }
        std::fill_n(result, shape.value_size, 0.0);
        for (Index j = 0; j < visible && maximum != -infinity; ++j) {
          const double weight = std::exp(weights[j] - maximum);
          total += weight;
          const double part = weight * head.kept(i, j);
          const T* value = head.at(arguments.in<T>(2), shape.keys, shape.value_size, j);
          for (Index c = 0; c < shape.value_size; ++c) result[c] += part * static_cast<double>(value[c]);
        }
        T* y = head.at(arguments.out<T>(0), shape.queries, shape.value_size, i);
        for (Index c = 0; c < shape.value_size; ++c) y[c] = static_cast<T>(total == 0 ? 0 : result[c] / total);
        const double logarithm = total == 0 ? infinity : maximum + std::log(total);
        arguments.out<T>(1)[(head.b * shape.heads + head.h) * shape.queries + i] = static_cast<T>(logarithm);
      }
    });
  };
  return make_kernel(run, {}, threads.bytes<double>());
}

/// With p_j = exp(score_j - log of the sum), d_j = g . value_j and delta = g . y, the cotangent of score j is
/// p_j (d_j - delta) (Dao et al., "FlashAttention", 2022, appendix B.2).
template <class T>
std::unique_ptr<Kernel> attention_gradient(const KernelRequest& request) {
  const AttentionShape shape(request, 1);
  const HeadThreads threads(shape, shape.size + shape.keys * (shape.size + shape.value_size));
  const auto run = [shape, threads](const KernelArguments& arguments) {
    for_heads<T>(shape, threads, arguments, [&](const Head<T>& head, double* of_query) {
      double* of_keys = of_query + shape.size;
      double* of_values = of_keys + shape.keys * shape.size;
      std::fill_n(of_keys, shape.keys * (shape.size + shape.value_size), 0.0);
      for (Index i = 0; i < shape.queries; ++i) {
        const T* query = head.at(arguments.in<T>(1), shape.queries, shape.size, i);
        const T* g = head.at(arguments.in<T>(0), shape.queries, shape.value_size, i);
        const double delta = dot(g, head.at(arguments.in<T>(4), shape.queries, shape.value_size, i), shape.value_size);
        const auto logarithm =
            static_cast<double>(arguments.in<T>(5)[(head.b * shape.heads + head.h) * shape.queries + i]);
        std::fill_n(of_query, shape.size, 0.0);
        for (Index j = 0; j < visible_keys(i, shape.keys, shape.causal); ++j) {
          const double weight = std::exp(head.score(query, arguments.in<T>(2), i, j) - logarithm);
          const double kept = head.kept(i, j);
          const T* key = head.at(arguments.in<T>(2), shape.keys, shape.size, j);
          const T* value = head.at(arguments.in<T>(3), shape.keys, shape.value_size, j);
          const double of_score = shape.scale * weight * (kept * dot(g, value, shape.value_size) - delta);
          for (Index c = 0; c < shape.size; ++c) {
            of_query[c] += of_score * static_cast<double>(key[c]);
            of_keys[j * shape.size + c] += of_score * static_cast<double>(query[c]);
          }
          for (Index c = 0; c < shape.value_size; ++c) {
            of_values[j * shape.value_size + c] += weight * kept * static_cast<double>(g[c]);
          }
        }
        T* to = head.at(arguments.out<T>(0), shape.queries, shape.size, i);
        for (Index c = 0; c < shape.size; ++c) to[c] = static_cast<T>(of_query[c]);
      }
      for (Index j = 0; j < shape.keys; ++j) {
        T* to_key = head.at(arguments.out<T>(1), shape.keys, shape.size, j);
        T* to_value = head.at(arguments.out<T>(2), shape.keys, shape.value_size, j);
        for (Index c = 0; c < shape.size; ++c) to_key[c] = static_cast<T>(of_keys[j * shape.size + c]);
        for (Index c = 0; c < shape.value_size; ++c) {
          to_value[c] = static_cast<T>(of_values[j * shape.value_size + c]);
        }
      }
    });
  };
  return make_kernel(run, {}, threads.bytes<double>());
}

}  // namespace

std::unique_ptr<Kernel> create_scaled_dot_product_attention(const KernelRequest& request, std::string& reason) {
  return for_float_or_double(request, request.inputs[0].dtype, reason,
                             [&](auto zero) { return attention<decltype(zero)>(request); });
}

std::unique_ptr<Kernel> create_scaled_dot_product_attention_gradient(const KernelRequest& request,
                                                                     std::string& reason) {
  return for_float_or_double(request, request.inputs[1].dtype, reason,
                             [&](auto zero) { return attention_gradient<decltype(zero)>(request); });
}

}  // namespace mezzo::reference
