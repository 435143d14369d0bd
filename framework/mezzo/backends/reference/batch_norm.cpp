#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/compiler/pass_attributes.hpp>
#include <mezzo/core/parallel.hpp>

// Computes blocks of channels that share cache lines. All sums of a block are complete before it is written, so outputs
// may use the memory of inputs.
namespace mezzo::reference {
namespace {

using Index = std::int64_t;
constexpr Index block = 16;

/// Limits of the output by the epilogue; NaN: none.
struct Limits {
  double least = std::numeric_limits<double>::quiet_NaN(), most = least;

  explicit Limits(const KernelRequest& request) {
    if (!has_relu(request)) return;
    least = 0;
    most = request.attributes.get_or("max_value", most);
  }
};

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

/// With `statistics_only`, the outputs are those of batch_norm_statistics.
template <class T>
std::unique_ptr<Kernel> batch_norm(const KernelRequest& request, bool statistics_only = false) {
  const Index channels = request.inputs[0].shape.back();
  const Index rows = channels == 0 ? 0 : element_count(request.inputs[0].shape) / channels;
  const double epsilon = request.attributes.get<double>("epsilon");
  const double momentum = request.attributes.get<double>("momentum");
  const bool training = request.attributes.get<bool>("training");
  const bool again = request.attributes.get_or(detail::again, false);  // the inputs are statistics of another norm
  const Limits limits(request);
  const bool adds = request.inputs.size() > 5, shifts = statistics_only || request.outputs.size() > 5;
  const std::size_t at = statistics_only ? 0 : 1;  // of the statistics among the outputs
  const auto run = [=](const KernelArguments& arguments) {
    for_blocks(channels, [&](Index first, Index count) {
      const T* x = arguments.in<T>(0);
      const T *moving_mean = arguments.in<T>(3), *moving_variance = arguments.in<T>(4);
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
      double scale[block], shift[block];  // about the mean as it is stored, which the gradient reads
      for (Index c = 0; c < count; ++c) {
        const Index i = first + c;
        const double inverse = again ? variance[c] : 1 / std::sqrt(variance[c] + epsilon);
        const double kept = training ? momentum : 1;
        arguments.out<T>(at)[i] = static_cast<T>(mean[c]);
        arguments.out<T>(at + 1)[i] = static_cast<T>(inverse);
        scale[c] = static_cast<double>(arguments.out<T>(at + 1)[i]) * static_cast<double>(arguments.in<T>(1)[i]);
        const double rounding = mean[c] - static_cast<double>(arguments.out<T>(at)[i]);
        shift[c] =
            static_cast<double>(static_cast<T>(static_cast<double>(arguments.in<T>(2)[i]) - rounding * scale[c]));
        if (shifts) arguments.out<T>(at + 4)[i] = static_cast<T>(shift[c]);
        arguments.out<T>(at + 2)[i] =
            static_cast<T>(training ? kept * moving_mean[i] + (1 - kept) * mean[c] : moving_mean[i]);
        arguments.out<T>(at + 3)[i] =
            static_cast<T>(training ? kept * moving_variance[i] + (1 - kept) * variance[c] : moving_variance[i]);
      }
      if (statistics_only) return;
      T* y = arguments.out<T>(0);
      for (Index row = 0; row < rows; ++row) {
        for (Index c = 0; c < count; ++c) {
          const Index i = row * channels + first + c;
          const double residual = adds ? static_cast<double>(arguments.in<T>(5)[i]) : 0;
          const double about = static_cast<double>(arguments.out<T>(1)[first + c]);
          const auto value = static_cast<T>((static_cast<double>(x[i]) - about) * scale[c] + shift[c] + residual);
          y[i] = static_cast<T>(value < limits.least ? limits.least : value > limits.most ? limits.most : value);
        }
      }
    });
  };
  return make_kernel(run,
                     statistics_only ? std::vector<bool>{} : std::vector<bool>{true, false, false, false, false, true});
}

template <class T>
std::unique_ptr<Kernel> batch_norm_gradient(const KernelRequest& request) {
  const Index channels = request.inputs[1].shape.back();
  const Index rows = channels == 0 ? 0 : element_count(request.inputs[1].shape) / channels;
  const bool training = request.attributes.get<bool>("training");
  const Limits limits(request);
  const bool masked = request.inputs.size() > 5, kept = request.outputs.size() > 3;
  const bool again = request.attributes.get_or("shift", false);
  const auto run = [=](const KernelArguments& arguments) {
    for_blocks(channels, [&](Index first, Index count) {
      const T* x = arguments.in<T>(1);
      const T* mean = arguments.in<T>(3) + first;
      const T* inverse = arguments.in<T>(4) + first;
      const auto output = [&](Index i, Index c) {
        if (!again) return arguments.in<T>(5)[i];
        const double scale = static_cast<double>(inverse[c]) * static_cast<double>(arguments.in<T>(2)[first + c]);
        const double difference = static_cast<double>(x[i]) - static_cast<double>(mean[c]);
        return static_cast<T>(difference * scale + static_cast<double>(arguments.in<T>(5)[first + c]));
      };
      const auto g = [&](Index i, Index c) {
        const bool passes = !masked || (output(i, c) > limits.least && !(output(i, c) >= limits.most));
        return passes ? static_cast<double>(arguments.in<T>(0)[i]) : 0.0;
      };
      const auto normalized = [&](Index i, Index c) {
        return (static_cast<double>(x[i]) - static_cast<double>(mean[c])) * static_cast<double>(inverse[c]);
      };
      double dgamma[block], dbeta[block];
      sum_rows(rows, channels, first, count, dbeta, g);
      sum_rows(rows, channels, first, count, dgamma, [&](Index i, Index c) { return g(i, c) * normalized(i, c); });
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
          const double cotangent = g(i, c);
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

std::unique_ptr<Kernel> create_batch_norm_statistics(const KernelRequest& request, std::string& reason) {
  return for_float_or_double(request, request.inputs[0].dtype, reason,
                             [&](auto zero) { return batch_norm<decltype(zero)>(request, true); });
}

std::unique_ptr<Kernel> create_batch_norm_gradient(const KernelRequest& request, std::string& reason) {
  return for_float_or_double(request, request.inputs[1].dtype, reason,
                             [&](auto zero) { return batch_norm_gradient<decltype(zero)>(request); });
}

}  // namespace mezzo::reference
