#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/common/labels.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/core/parallel.hpp>

namespace mezzo::reference {
namespace {

using Index = std::int64_t;
constexpr double smallest = 1e-7;  // Keras clips probabilities to [1e-7, 1 - 1e-7]

/// Sizes, dtype and attributes of a request.
struct Task {
  Index rows, classes;
  DType labels;
  bool from_logits;
  std::string what;  ///< layer and operand, as named in error texts

  /// Checks all labels, then calls body(row, label) for each row.
  template <class Body>
  void for_rows(const KernelArguments& arguments, const Body& body) const {
    check_labels(arguments.inputs[0], labels, rows, classes, what);
    parallel_for(rows, grain_of(classes), [&](Index begin, Index end) {
      for (Index row = begin; row < end; ++row) body(row, label_at(arguments.inputs[0], labels, row));
    });
  }
};

Task task(const KernelRequest& request) {
  return {.rows = element_count(request.inputs[0].shape),
          .classes = request.inputs[1].shape.back(),
          .labels = request.inputs[0].dtype,
          .from_logits = request.attributes.get<bool>("from_logits"),
          .what = fmt::format("{} labels", request.where)};
}

/// softmax(x)[i] = exp(x[i] - maximum) / total.
struct Softmax {
  double maximum, total;
};

template <class T>
Softmax softmax_of(const T* x, Index classes) {
  Softmax s{static_cast<double>(*std::max_element(x, x + classes)), 0};
  for (Index i = 0; i < classes; ++i) s.total += std::exp(static_cast<double>(x[i]) - s.maximum);
  return s;
}

template <class T>
double sum_of(const T* x, Index classes) {
  double sum = 0;
  for (Index i = 0; i < classes; ++i) sum += static_cast<double>(x[i]);
  return sum;
}

template <class T>
double loss(const T* x, Index classes, Index label, bool from_logits) {
  const auto score = static_cast<double>(x[label]);
  if (from_logits) {
    const Softmax s = softmax_of(x, classes);
    return std::log(s.total) - (score - s.maximum);
  }
  return -std::log(std::clamp(score / sum_of(x, classes), smallest, 1 - smallest));
}

/// Reads each score before its place is written, so dx may be x.
template <class T>
void gradient(const T* x, Index classes, Index label, bool from_logits, double g, T* dx) {
  if (from_logits) {
    const Softmax s = softmax_of(x, classes);
    for (Index i = 0; i < classes; ++i) {
      const double probability = std::exp(static_cast<double>(x[i]) - s.maximum) / s.total;
      dx[i] = static_cast<T>(g * (i == label ? probability - 1 : probability));
    }
    return;
  }
  const auto score = static_cast<double>(x[label]);
  const double sum = sum_of(x, classes);
  const bool clipped = score / sum < smallest || score / sum > 1 - smallest;
  for (Index i = 0; i < classes; ++i) {
    dx[i] = clipped ? T{0} : static_cast<T>(g * (i == label ? 1 / sum - 1 / score : 1 / sum));
  }
}

}  // namespace

std::unique_ptr<Kernel> create_sparse_categorical_crossentropy(const KernelRequest& request, std::string& reason) {
  return for_float_or_double(request, request.inputs[1].dtype, reason, [&](auto zero) {
    using T = decltype(zero);
    return make_kernel([t = task(request)](const KernelArguments& arguments) {
      t.for_rows(arguments, [&](Index row, Index label) {
        const T* x = arguments.in<T>(1) + row * t.classes;
        arguments.out<T>(0)[row] = static_cast<T>(loss(x, t.classes, label, t.from_logits));
      });
    });
  });
}

std::unique_ptr<Kernel> create_sparse_categorical_crossentropy_gradient(const KernelRequest& request,
                                                                        std::string& reason) {
  return for_float_or_double(request, request.inputs[1].dtype, reason, [&](auto zero) {
    using T = decltype(zero);
    const auto run = [t = task(request)](const KernelArguments& arguments) {
      t.for_rows(arguments, [&](Index row, Index label) {
        const auto g = static_cast<double>(arguments.in<T>(2)[row]);
        const Index at = row * t.classes;
        gradient(arguments.in<T>(1) + at, t.classes, label, t.from_logits, g, arguments.out<T>(0) + at);
      });
    };
    return make_kernel(run, {false, true});
  });
}

}  // namespace mezzo::reference
