#include <algorithm>
#include <cmath>
#include <cstdint>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/core/parallel.hpp>

// Computes row by row. The sums of a row are complete before it is written, so outputs may use the memory of inputs.
namespace mezzo::reference {
namespace {

using Index = std::int64_t;

/// x as rows; the elements of a row are normalized together. The statistics have one element for each row.
struct NormalizedRows {
  Index columns, rows;
  NormalizedRows(const Spec& gamma, const Spec& statistics)
      : columns(element_count(gamma.shape)), rows(element_count(statistics.shape)) {}
};

template <class T>
std::unique_ptr<Kernel> layer_norm(const KernelRequest& request) {
  const NormalizedRows r(request.inputs[1], request.outputs[1]);
  const double epsilon = request.attributes.get<double>("epsilon");
  return make_kernel(
      [r, epsilon](const KernelArguments& arguments) {
        const auto share = 1 / static_cast<double>(r.columns);
        parallel_for(r.rows, grain_of(r.columns), [&](Index begin, Index end) {
          for (Index row = begin; row < end; ++row) {
            const T* x = arguments.in<T>(0) + row * r.columns;
            double sum = 0, squares = 0;
            for (Index c = 0; c < r.columns; ++c) sum += static_cast<double>(x[c]);
            const double mean = sum * share;
            for (Index c = 0; c < r.columns; ++c) {
              const double difference = static_cast<double>(x[c]) - mean;
              squares += difference * difference;
            }
            const double inverse = 1 / std::sqrt(squares * share + epsilon);
            T* y = arguments.out<T>(0) + row * r.columns;
            for (Index c = 0; c < r.columns; ++c) {
              const double normalized = (static_cast<double>(x[c]) - mean) * inverse;
              const auto gamma = static_cast<double>(arguments.in<T>(1)[c]);
              y[c] = static_cast<T>(normalized * gamma + static_cast<double>(arguments.in<T>(2)[c]));
            }
            arguments.out<T>(1)[row] = static_cast<T>(mean);
            arguments.out<T>(2)[row] = static_cast<T>(inverse);
          }
        });
      },
      {true});
}

/// Writes the gradient of one row of x, and adds the row's terms to the gradients of gamma and beta in double.
template <class T>
void gradient_of_row(const KernelArguments& arguments, Index row, Index columns, double* dgamma, double* dbeta) {
  const T* g = arguments.in<T>(0) + row * columns;
  const T* x = arguments.in<T>(1) + row * columns;
  const auto mean = static_cast<double>(arguments.in<T>(3)[row]);
  const auto inverse = static_cast<double>(arguments.in<T>(4)[row]);
  const auto normalized = [&](Index c) { return (static_cast<double>(x[c]) - mean) * inverse; };
  const auto scaled = [&](Index c) { return static_cast<double>(g[c]) * static_cast<double>(arguments.in<T>(2)[c]); };
  double sum = 0, products = 0;
  for (Index c = 0; c < columns; ++c) {
    sum += scaled(c);
    products += scaled(c) * normalized(c);
    dgamma[c] += static_cast<double>(g[c]) * normalized(c);
    dbeta[c] += static_cast<double>(g[c]);
  }
  const auto share = 1 / static_cast<double>(columns);
  T* dx = arguments.out<T>(0) + row * columns;
  for (Index c = 0; c < columns; ++c) {
    dx[c] = static_cast<T>(inverse * (scaled(c) - share * (sum + normalized(c) * products)));
  }
}

template <class T>
std::unique_ptr<Kernel> layer_norm_gradient(const KernelRequest& request) {
  const NormalizedRows r(request.inputs[2], request.inputs[3]);
  const auto run = [r](const KernelArguments& arguments) {
    auto* dgamma = static_cast<double*>(arguments.scratch);
    auto* dbeta = dgamma + r.columns;
    std::fill_n(dgamma, 2 * r.columns, 0.0);
    for (Index row = 0; row < r.rows; ++row) gradient_of_row<T>(arguments, row, r.columns, dgamma, dbeta);
    for (Index c = 0; c < r.columns; ++c) {
      arguments.out<T>(1)[c] = static_cast<T>(dgamma[c]);
      arguments.out<T>(2)[c] = static_cast<T>(dbeta[c]);
    }
  };
  return make_kernel(run, {true, true}, 2 * static_cast<std::size_t>(r.columns) * sizeof(double));
}

}  // namespace

std::unique_ptr<Kernel> create_layer_norm(const KernelRequest& request, std::string& reason) {
  return for_float_or_double(request, request.inputs[0].dtype, reason,
                             [&](auto zero) { return layer_norm<decltype(zero)>(request); });
}

std::unique_ptr<Kernel> create_layer_norm_gradient(const KernelRequest& request, std::string& reason) {
  return for_float_or_double(request, request.inputs[1].dtype, reason,
                             [&](auto zero) { return layer_norm_gradient<decltype(zero)>(request); });
}

}  // namespace mezzo::reference
