#include <cmath>
#include <cstdint>

#include <mezzo/backends/reference/compact.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/core/parallel.hpp>

// Elementwise: all of an element is read before any of it is written, so that outputs may lie on inputs.
namespace mezzo::reference {
namespace {

/// What both optimizers do to a gradient, and to the variable for its decay.
struct Common {
  std::int64_t size;
  double weight_decay, clipvalue;
  bool has_copy;
  DType copy_dtype;
  std::int64_t columns;  ///< of a compact gradient; else 0
  std::size_t places;    ///< the input that tells where its rows are

  /// Element i of the gradient.
  template <class G>
  G gradient(const KernelArguments& arguments, std::int64_t i) const {
    const G* g = arguments.in<G>(1);
    if (columns == 0) return g[i];
    const std::int32_t place = arguments.in<std::int32_t>(places)[i / columns];
    return place < 0 ? G{0} : g[place * columns + i % columns];
  }

  template <class T>
  T clip(T g) const {
    const auto limit = static_cast<T>(clipvalue);
    if (clipvalue == 0) return g;
    return g > limit ? limit : g < -limit ? -limit : g;
  }

  /// The new variable, in the dtype of the last output.
  template <class T>
  void copy(const KernelArguments& arguments, std::size_t output, std::int64_t i, T w) const {
    if (!has_copy) return;
    if (copy_dtype == DType::float32) {
      arguments.out<float>(output)[i] = static_cast<float>(w);
    } else {
      arguments.out<double>(output)[i] = static_cast<double>(w);
    }
  }
};

Common common(const KernelRequest& request) {
  return {element_count(request.inputs[0].shape),
          request.attributes.get<double>("weight_decay"),
          request.attributes.get<double>("clipvalue"),
          request.attributes.has("copy_dtype"),
          request.attributes.get_or<DType>("copy_dtype", DType::float32),
          has_compact_gradient(request) ? columns_of(request) : 0,
          request.inputs.size() - 1};
}

/// make(zero of the variable's type, zero of the gradient's).
template <class Make>
std::unique_ptr<Kernel> for_variable_and_gradient(const KernelRequest& request, std::string& reason, Make&& make) {
  return for_float_or_double(request, request.inputs[0].dtype, reason, [&](auto zero) {
    return for_float_or_double(request, request.inputs[1].dtype, reason,
                               [&](auto gradient_zero) { return make(zero, gradient_zero); });
  });
}

template <class T, class G>
std::unique_ptr<Kernel> sgd_update(const KernelRequest& request) {
  const double momentum = request.attributes.get<double>("momentum");
  const bool nesterov = request.attributes.get<bool>("nesterov");
  const auto run = [c = common(request), momentum, nesterov](const KernelArguments& arguments) {
    const std::size_t scalars = momentum > 0 ? 3 : 2;
    const double rate = *arguments.in<double>(scalars);
    const auto multiplier = static_cast<T>(*arguments.in<double>(scalars + 1));
    const auto lr = static_cast<T>(rate), decay = static_cast<T>(rate * c.weight_decay), m = static_cast<T>(momentum);
    parallel_for(c.size, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        T w = arguments.in<T>(0)[i];
        const T g = c.clip(static_cast<T>(c.template gradient<G>(arguments, i)) * multiplier);
        if (decay != 0) w -= decay * w;
        if (momentum > 0) {
          const T buffer = m * arguments.in<T>(2)[i] - lr * g;
          w += nesterov ? m * buffer - lr * g : buffer;
          arguments.out<T>(1)[i] = buffer;
        } else {
          w -= lr * g;
        }
        arguments.out<T>(0)[i] = w;
        c.copy(arguments, momentum > 0 ? 2 : 1, i, w);
      }
    });
  };
  return make_kernel(run, overwritten_by_update(request));
}

template <class T, class G>
std::unique_ptr<Kernel> adam_update(const KernelRequest& request) {
  const double beta_1 = request.attributes.get<double>("beta_1");
  const double beta_2 = request.attributes.get<double>("beta_2");
  const auto epsilon = static_cast<T>(request.attributes.get<double>("epsilon"));
  const auto run = [=, c = common(request)](const KernelArguments& arguments) {
    const double rate = *arguments.in<double>(4), t = *arguments.in<double>(5);
    const auto multiplier = static_cast<T>(*arguments.in<double>(6));
    const auto alpha = static_cast<T>(rate * std::sqrt(1 - std::pow(beta_2, t)) / (1 - std::pow(beta_1, t)));
    const auto decay = static_cast<T>(rate * c.weight_decay);
    const auto rest_1 = static_cast<T>(1 - beta_1), rest_2 = static_cast<T>(1 - beta_2);
    parallel_for(c.size, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        T w = arguments.in<T>(0)[i], m = arguments.in<T>(2)[i], v = arguments.in<T>(3)[i];
        const T g = c.clip(static_cast<T>(c.template gradient<G>(arguments, i)) * multiplier);
        if (decay != 0) w -= decay * w;
        m += (g - m) * rest_1;
        v += (g * g - v) * rest_2;
        w -= alpha * m / (std::sqrt(v) + epsilon);
        arguments.out<T>(0)[i] = w;
        arguments.out<T>(1)[i] = m;
        arguments.out<T>(2)[i] = v;
        c.copy(arguments, 3, i, w);
      }
    });
  };
  return make_kernel(run, overwritten_by_update(request));
}

}  // namespace

std::unique_ptr<Kernel> create_sgd_update(const KernelRequest& request, std::string& reason) {
  return for_variable_and_gradient(request, reason, [&](auto zero, auto gradient_zero) {
    return sgd_update<decltype(zero), decltype(gradient_zero)>(request);
  });
}

std::unique_ptr<Kernel> create_adam_update(const KernelRequest& request, std::string& reason) {
  return for_variable_and_gradient(request, reason, [&](auto zero, auto gradient_zero) {
    return adam_update<decltype(zero), decltype(gradient_zero)>(request);
  });
}

}  // namespace mezzo::reference
