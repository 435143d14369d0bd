#include <algorithm>
#include <cmath>
#include <cstdint>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/core/parallel.hpp>

// Computes blocks of channels that share cache lines. All sums of a block are complete before it is written, so outputs
// may lie on inputs.
namespace mezzo::reference {
namespace {

using Index = std::int64_t;
constexpr Index block = 16;

/// sums[c] = the sum over all rows of term(index of the element, c), for the channels [first, first + count).
template <class Term>
void sum_rows(Index rows, Index channels, Index first, Index count, double* sums, const Term& term) {
  std::fill_n(sums, count, 0.0);
  for (Index row = 0; row < rows; ++row) {
    for (Index c = 0; c < count; ++c) sums[c] += term(row * channels + first + c, c);
  }
}

/// Calls body(first channel, number of channels) for each block.
template <class Body>
void for_blocks(Index channels, const Body& body) {
  parallel_for((channels + block - 1) / block, 1, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) body(i * block, std::min(block, channels - i * block));
  });
}

template <class T>
std::unique_ptr<Kernel> batch_norm(const KernelRequest& request) {
  const Index channels = request.inputs[0].shape.back();
  const Index rows = channels == 0 ? 0 : element_count(request.inputs[0].shape) / channels;
  const double epsilon = request.attributes.get<double>("epsilon");
  const double momentum = request.attributes.get<double>("momentum");
  const bool training = request.attributes.get<bool>("training");
  const bool relu = has_relu(request), adds = request.inputs.size() > 5;
  const auto run = [=](const KernelArguments& arguments) {
    for_blocks(channels, [&](Index first, Index count) {
      const T* x = arguments.in<T>(0);
      const T* moving_mean = arguments.in<T>(3);
      const T* moving_variance = arguments.in<T>(4);
      double mean[block], variance[block];
      if (training) {
        sum_rows(rows, channels, first, count, mean, [&](Index i, Index) { return static_cast<double>(x[i]); });
        for (Index c = 0; c < count; ++c) mean[c] /= static_cast<double>(rows);
        sum_rows(rows, channels, first, count, variance, [&](Index i, Index c) {
          const double difference = static_cast<double>(x[i]) - mean[c];
          return difference * difference;
        });
        for (Index c = 0; c < count; ++c) variance[c] /= static_cast<double>(rows);
      } else {
        std::copy_n(moving_mean + first, count, mean);
        std::copy_n(moving_variance + first, count, variance);
      }
      double scale[block], shift[block];
      for (Index c = 0; c < count; ++c) {
        const Index i = first + c;
        const double inverse = 1 / std::sqrt(variance[c] + epsilon);
        scale[c] = inverse * static_cast<double>(arguments.in<T>(1)[i]);
        shift[c] = static_cast<double>(arguments.in<T>(2)[i]);
        const double kept = training ? momentum : 1;
        arguments.out<T>(1)[i] = static_cast<T>(mean[c]);
        arguments.out<T>(2)[i] = static_cast<T>(inverse);
        arguments.out<T>(3)[i] =
            static_cast<T>(training ? kept * moving_mean[i] + (1 - kept) * mean[c] : moving_mean[i]);
        arguments.out<T>(4)[i] =
            static_cast<T>(training ? kept * moving_variance[i] + (1 - kept) * variance[c] : moving_variance[i]);
      }
      T* y = arguments.out<T>(0);
      for (Index row = 0; row < rows; ++row) {
        for (Index c = 0; c < count; ++c) {
          const Index i = row * channels + first + c;
          const double residual = adds ? static_cast<double>(arguments.in<T>(5)[i]) : 0;
          const double value = (static_cast<double>(x[i]) - mean[c]) * scale[c] + shift[c] + residual;
          y[i] = static_cast<T>(relu && value < 0 ? 0 : value);
        }
      }
    });
  };
  return make_kernel(run, {true, false, false, false, false, true});
}

template <class T>
std::unique_ptr<Kernel> batch_norm_gradient(const KernelRequest& request) {
  const Index channels = request.inputs[1].shape.back();
  const Index rows = channels == 0 ? 0 : element_count(request.inputs[1].shape) / channels;
  const bool training = request.attributes.get<bool>("training");
  const bool masked = request.inputs.size() > 5, kept = request.outputs.size() > 3;
  const auto run = [=](const KernelArguments& arguments) {
    for_blocks(channels, [&](Index first, Index count) {
      const auto g = [&](Index i) {
        return masked && !(arguments.in<T>(5)[i] > 0) ? 0.0 : static_cast<double>(arguments.in<T>(0)[i]);
      };
      const T* x = arguments.in<T>(1);
      const T* mean = arguments.in<T>(3) + first;
      const T* inverse = arguments.in<T>(4) + first;
      const auto normalized = [&](Index i, Index c) {
        return (static_cast<double>(x[i]) - static_cast<double>(mean[c])) * static_cast<double>(inverse[c]);
      };
      double dgamma[block], dbeta[block];
      sum_rows(rows, channels, first, count, dbeta, [&](Index i, Index) { return g(i); });
      sum_rows(rows, channels, first, count, dgamma, [&](Index i, Index c) { return g(i) * normalized(i, c); });
      for (Index c = 0; c < count; ++c) {
        arguments.out<T>(1)[first + c] = static_cast<T>(dgamma[c]);
        arguments.out<T>(2)[first + c] = static_cast<T>(dbeta[c]);
      }
      T* dx = arguments.out<T>(0);
      for (Index row = 0; row < rows; ++row) {
        for (Index c = 0; c < count; ++c) {
          const Index i = row * channels + first + c;
          const double common = training ? (dbeta[c] + normalized(i, c) * dgamma[c]) / static_cast<double>(rows) : 0;
          const double scale = static_cast<double>(arguments.in<T>(2)[first + c]) * static_cast<double>(inverse[c]);
          const double cotangent = g(i);
          dx[i] = static_cast<T>((cotangent - common) * scale);
          if (kept) arguments.out<T>(3)[i] = static_cast<T>(cotangent);
        }
      }
    });
  };
  return make_kernel(run, {true, true});
}

}  // namespace

std::unique_ptr<Kernel> create_batch_norm(const KernelRequest& request, std::string& reason) {
  return for_float_or_double(request, request.inputs[0].dtype, reason,
                             [&](auto zero) { return batch_norm<decltype(zero)>(request); });
}

std::unique_ptr<Kernel> create_batch_norm_gradient(const KernelRequest& request, std::string& reason) {
  return for_float_or_double(request, request.inputs[1].dtype, reason,
                             [&](auto zero) { return batch_norm_gradient<decltype(zero)>(request); });
}

}  // namespace mezzo::reference
