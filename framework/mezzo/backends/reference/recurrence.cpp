#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/ops/recurrence_layout.hpp>

// Computes sample by sample and step by step, in double.
namespace mezzo::reference {
namespace {

using Index = std::int64_t;
using detail::RecurrenceLayout;
using Kind = RecurrenceLayout::Kind;

/// An activation and its slope as a function of its result.
struct RecurrentActivation {
  double (*value)(double x);
  double (*slope)(double y);
};

constexpr double selu_scale = 1.05070098735548049342, selu_alpha = 1.67326324235437728482;  // Klambauer et al., 2017

double stable_sigmoid(double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }
double stable_softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
double clipped(double x, double low, double high) { return std::isnan(x) ? x : std::clamp(x, low, high); }

RecurrentActivation activation_of(const std::string& name) {
  if (name == "elu") {
    return {[](double x) { return x > 0 ? x : std::expm1(x); }, [](double y) { return y > 0 ? 1 : y + 1; }};
  }
  if (name == "exponential") return {[](double x) { return std::exp(x); }, [](double y) { return y; }};
  if (name == "hard_sigmoid") {
    return {[](double x) { return clipped(x / 6 + 0.5, 0, 1); },
            [](double y) { return y > 0 && y < 1 ? 1.0 / 6 : 0.0; }};
  }
  if (name == "hard_tanh") {
    return {[](double x) { return clipped(x, -1, 1); }, [](double y) { return y > -1 && y < 1 ? 1.0 : 0.0; }};
  }
  if (name == "leaky_relu") {
    return {[](double x) { return x > 0 ? x : 0.2 * x; }, [](double y) { return y > 0 ? 1.0 : 0.2; }};
  }
  if (name == "linear") return {[](double x) { return x; }, [](double) { return 1.0; }};
  if (name == "log_sigmoid") {
    return {[](double x) { return -stable_softplus(-x); }, [](double y) { return -std::expm1(y); }};
  }
  if (name == "relu") {
    return {[](double x) { return x < 0 ? 0.0 : x; }, [](double y) { return y > 0 ? 1.0 : 0.0; }};
  }
  if (name == "relu6") {
    return {[](double x) { return clipped(x, 0, 6); }, [](double y) { return y > 0 && y < 6 ? 1.0 : 0.0; }};
  }
  if (name == "selu") {
    return {[](double x) { return selu_scale * (x > 0 ? x : selu_alpha * std::expm1(x)); },
            [](double y) { return y > 0 ? selu_scale : y + selu_scale * selu_alpha; }};
  }
  if (name == "sigmoid") return {stable_sigmoid, [](double y) { return y * (1 - y); }};
  if (name == "softplus") return {stable_softplus, [](double y) { return -std::expm1(-y); }};
  if (name == "softsign") {
    return {[](double x) { return x / (1 + std::abs(x)); },
            [](double y) { return (1 - std::abs(y)) * (1 - std::abs(y)); }};
  }
  return {[](double x) { return std::tanh(x); }, [](double y) { return 1 - y * y; }};  // tanh
}

/// A request of recurrence or its gradient, for samples of dtype T.
template <class T>
class Samples {
 public:
  Samples(const KernelRequest& request, bool gradient)
      : at_(request.attributes, gradient),
        activation_(activation_of(at_.activation)),
        gate_(activation_of(at_.recurrent_activation)) {
    const Shape& shape = request.inputs[gradient ? at_.states : at_.x].shape;
    batch_ = shape[0];
    steps_ = shape[1];
    units_ = request.inputs[at_.kernel].shape[0];
    width_ = at_.gates * units_;
  }

  Index batch() const { return batch_; }
  Index work() const { return steps_ * units_ * width_; }
  /// Doubles of scratch memory for a sample.
  Index scratch() const { return 4 * units_ + 3 * width_; }

  void forward(const KernelArguments& k, Index b, double* scratch) const {
    double *h = scratch, *c = h + units_, *reset = c + units_, *z = reset + 2 * units_, *inner = z + width_;
    load(k, at_.state, b, h);
    load(k, at_.carry, b, c);
    for (Index t = 0; t < steps_; ++t) {
      const Index step = b * steps_ + t;
      T* saved = at_.saved > 0 ? k.out<T>(2) + step * at_.saved * units_ : nullptr;
      if (skips(k, step)) {
        std::fill_n(saved, at_.saved * units_, T{0});
      } else {
        advance(k, b, k.in<T>(at_.x) + step * width_, h, c, reset, z, inner, saved);
      }
      store(h, k.out<T>(0) + step * units_);
      if (at_.kind == Kind::lstm) store(c, k.out<T>(3) + step * units_);
    }
    store(h, k.out<T>(1) + b * units_);
    if (at_.kind == Kind::lstm) store(c, k.out<T>(4) + b * units_);
  }

  void backward(const KernelArguments& k, Index b, double* scratch) const {
    double *dh = scratch, *dc = dh + units_, *before = dc + units_, *next = before + units_, *d = next + units_,
           *inner = d + width_, *sums = inner + width_;
    std::fill_n(sums, width_, 0.0);
    load(k, at_.of_last, b, dh);
    load(k, at_.of_carry, b, dc);
    for (Index t = steps_ - 1; t >= 0; --t) {
      const Index step = b * steps_ + t;
      T* dx = k.out<T>(0) + step * width_;
      if (at_.of_states != RecurrenceLayout::none) {
        for (Index i = 0; i < units_; ++i) dh[i] += read(k, at_.of_states, step * units_ + i);
      }
      if (t > 0) {
        for (Index i = 0; i < units_; ++i) before[i] = read(k, at_.states, (step - 1) * units_ + i);
      } else {
        load(k, at_.state, b, before);
      }
      if (at_.before != RecurrenceLayout::none) store(before, k.out<T>(at_.before) + step * units_);
      if (skips(k, step)) {
        std::fill_n(dx, width_, T{0});
        continue;
      }
      retreat(k, b, t, dh, dc, before, next, d, inner);
      const double* of_products = at_.is_gru() ? inner : d;
      for (Index j = 0; j < width_; ++j) {
        dx[j] = static_cast<T>(d[j]);
        sums[j] += of_products[j];
      }
    }
    store(dh, k.out<T>(1) + b * units_);
    if (at_.kind == Kind::lstm) store(dc, k.out<T>(2) + b * units_);
  }

  /// Writes the cotangent of the bias, after all samples.
  void add_sums(const KernelArguments& k, const double* scratch) const {
    if (at_.sums == RecurrenceLayout::none) return;
    for (Index j = 0; j < width_; ++j) {
      double sum = 0;
      for (Index b = 0; b < batch_; ++b) sum += scratch[(b + 1) * this->scratch() - width_ + j];
      k.out<T>(at_.sums)[j] = static_cast<T>(sum);
    }
  }

 private:
  static double read(const KernelArguments& k, std::size_t place, Index i) {
    return static_cast<double>(k.in<T>(place)[i]);
  }

  /// Row b of an operand (batch, units); zeros if it is absent.
  void load(const KernelArguments& k, std::size_t place, Index b, double* to) const {
    for (Index i = 0; i < units_; ++i) to[i] = place == RecurrenceLayout::none ? 0 : read(k, place, b * units_ + i);
  }

  void store(const double* from, T* to) const {
    for (Index i = 0; i < units_; ++i) to[i] = static_cast<T>(from[i]);
  }

  bool skips(const KernelArguments& k, Index step) const {
    return at_.mask != RecurrenceLayout::none && !k.in<bool>(at_.mask)[step];
  }

  double factor(const KernelArguments& k, Index b, Index gate, Index i) const {
    return at_.dropped == RecurrenceLayout::none ? 1 : read(k, at_.dropped, b * width_ + gate * units_ + i);
  }

  /// out[gate] = (factors of the gate * h) times the gate's matrix.
  void multiply(const KernelArguments& k, Index b, Index gate, const double* h, double* out) const {
    double* to = out + gate * units_;
    std::fill_n(to, units_, 0.0);
    for (Index i = 0; i < units_; ++i) {
      const double x = h[i] * factor(k, b, gate, i);
      const T* row = k.in<T>(at_.kernel) + i * width_ + gate * units_;
      for (Index j = 0; j < units_; ++j) to[j] += x * static_cast<double>(row[j]);
    }
  }

  /// Sum over j of d[gate, j] kernel[i, gate, j], times the factor.
  double back(const KernelArguments& k, Index b, Index gate, Index i, const double* d) const {
    const T* row = k.in<T>(at_.kernel) + i * width_ + gate * units_;
    double sum = 0;
    for (Index j = 0; j < units_; ++j) sum += d[gate * units_ + j] * static_cast<double>(row[j]);
    return sum * factor(k, b, gate, i);
  }

  /// One step from x; changes h and c and writes the gates.
  void advance(const KernelArguments& k, Index b, const T* x, double* h, double* c, double* reset, double* z,
               double* inner, T* saved) const {
    const Index n = units_;
    const bool before = at_.kind == Kind::gru_reset_before;
    const auto multiply_gates = [&](Index first, Index last, const double* state) {
      for (Index gate = first; gate < last; ++gate) multiply(k, b, gate, state, inner);
      for (Index j = first * n; at_.bias != RecurrenceLayout::none && j < last * n; ++j)
        inner[j] += read(k, at_.bias, j);
    };
    multiply_gates(0, before ? 2 : at_.gates, h);
    const auto in = [&](Index j) { return static_cast<double>(x[j]); };
    if (at_.kind == Kind::simple_rnn) {
      for (Index j = 0; j < n; ++j) h[j] = activation_.value(in(j) + inner[j]);
      return;
    }
    if (at_.kind == Kind::lstm) {
      for (Index j = 0; j < n; ++j) {
        for (Index g = 0; g < 4; ++g) {
          z[g * n + j] = (g == 2 ? activation_ : gate_).value(in(g * n + j) + inner[g * n + j]);
        }
        c[j] = z[n + j] * c[j] + z[j] * z[2 * n + j];
        h[j] = z[3 * n + j] * activation_.value(c[j]);
      }
      for (Index j = 0; j < 4 * n; ++j) saved[j] = static_cast<T>(z[j]);
      return;
    }
    for (Index j = 0; j < 2 * n; ++j) z[j] = gate_.value(in(j) + inner[j]);
    if (before) {
      for (Index j = 0; j < n; ++j) reset[j] = z[n + j] * h[j];
      multiply_gates(2, 3, reset);
    }
    for (Index j = 0; j < n; ++j) {
      const double product = inner[2 * n + j];
      z[2 * n + j] = activation_.value(in(2 * n + j) + (before ? product : z[n + j] * product));
      if (!before) saved[3 * n + j] = static_cast<T>(product);
    }
    for (Index j = 0; j < n; ++j) h[j] = z[j] * h[j] + (1 - z[j]) * z[2 * n + j];
    for (Index j = 0; j < 3 * n; ++j) saved[j] = static_cast<T>(z[j]);
  }

  /// One step back: d becomes the cotangent of x; dh and dc become the cotangents of the states before the step.
  /// `before` is the h before the step.
  void retreat(const KernelArguments& k, Index b, Index t, double* dh, double* dc, const double* before, double* next,
               double* d, double* inner) const {
    const Index n = units_, step = b * steps_ + t;
    const auto saved = [&](Index gate, Index j) { return read(k, at_.saved_gates, (step * at_.saved + gate) * n + j); };
    if (at_.kind == Kind::simple_rnn) {
      for (Index j = 0; j < n; ++j) d[j] = dh[j] * activation_.slope(read(k, at_.states, step * n + j));
      for (Index i = 0; i < n; ++i) dh[i] = back(k, b, 0, i, d);
      return;
    }
    if (at_.kind == Kind::lstm) {
      for (Index j = 0; j < n; ++j) {
        const double i = saved(0, j), f = saved(1, j), g = saved(2, j), o = saved(3, j);
        const double y = activation_.value(read(k, at_.carries, step * n + j));
        double last = at_.carry == RecurrenceLayout::none ? 0 : read(k, at_.carry, b * n + j);
        if (t > 0) last = read(k, at_.carries, (step - 1) * n + j);
        const double of_carry = dc[j] + dh[j] * o * activation_.slope(y);
        d[j] = of_carry * g * gate_.slope(i);
        d[n + j] = of_carry * last * gate_.slope(f);
        d[2 * n + j] = of_carry * i * activation_.slope(g);
        d[3 * n + j] = dh[j] * y * gate_.slope(o);
        dc[j] = of_carry * f;
      }
      for (Index i = 0; i < n; ++i) {
        dh[i] = 0;
        for (Index gate = 0; gate < 4; ++gate) dh[i] += back(k, b, gate, i, d);
      }
      return;
    }
    for (Index j = 0; j < n; ++j) {
      const double z = saved(0, j), candidate = saved(2, j);
      d[j] = dh[j] * (before[j] - candidate) * gate_.slope(z);
      d[2 * n + j] = dh[j] * (1 - z) * activation_.slope(candidate);
      next[j] = dh[j] * z;
    }
    std::copy_n(d, width_, inner);  // cotangents of the products
    for (Index j = 0; j < n; ++j) {
      const double r = saved(1, j);
      double of_reset = 0;
      if (at_.kind == Kind::gru) {
        of_reset = d[2 * n + j] * saved(3, j);
        inner[2 * n + j] *= r;
      } else {
        const double of_product = back(k, b, 2, j, d);
        of_reset = of_product * before[j];
        next[j] += of_product * r;
      }
      d[n + j] = inner[n + j] = of_reset * gate_.slope(r);
    }
    for (Index i = 0; i < n; ++i) {
      dh[i] = next[i] + back(k, b, 0, i, inner) + back(k, b, 1, i, inner);
      if (at_.kind == Kind::gru) dh[i] += back(k, b, 2, i, inner);
    }
  }

  RecurrenceLayout at_;
  RecurrentActivation activation_, gate_;
  Index batch_ = 0, steps_ = 0, units_ = 0, width_ = 0;
};

/// A kernel that calls body(samples, arguments, sample, scratch) for each sample.
template <class T, class Body>
std::unique_ptr<Kernel> for_samples(const KernelRequest& request, bool gradient, Body body) {
  const Samples<T> samples(request, gradient);
  const auto run = [samples, body](const KernelArguments& arguments) {
    auto* scratch = static_cast<double*>(arguments.scratch);
    parallel_for(samples.batch(), grain_of(samples.work()), [&](Index begin, Index end) {
      for (Index b = begin; b < end; ++b) body(samples, arguments, b, scratch + b * samples.scratch());
    });
    samples.add_sums(arguments, scratch);
  };
  return make_kernel(run, {}, static_cast<std::size_t>(samples.batch() * samples.scratch()) * sizeof(double));
}

}  // namespace

std::unique_ptr<Kernel> create_recurrence(const KernelRequest& request, std::string& reason) {
  return for_float_or_double(request, request.inputs[0].dtype, reason, [&](auto zero) {
    using T = decltype(zero);
    return for_samples<T>(request, false,
                          [](const Samples<T>& samples, const KernelArguments& arguments, Index b, double* scratch) {
                            samples.forward(arguments, b, scratch);
                          });
  });
}

std::unique_ptr<Kernel> create_recurrence_gradient(const KernelRequest& request, std::string& reason) {
  return for_float_or_double(request, request.inputs[0].dtype, reason, [&](auto zero) {
    using T = decltype(zero);
    return for_samples<T>(request, true,
                          [](const Samples<T>& samples, const KernelArguments& arguments, Index b, double* scratch) {
                            samples.backward(arguments, b, scratch);
                          });
  });
}

}  // namespace mezzo::reference
