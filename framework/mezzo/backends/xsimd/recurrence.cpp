#include <mezzo/backends/xsimd/recurrence.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/recurrence_layout.hpp>

// Each step is a matrix product and elementwise functions on all samples, by the best kernels of those ops.
namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;
using detail::RecurrenceLayout;
using Kind = RecurrenceLayout::Kind;

/// A kernel with its operands of one run.
class Part {
 public:
  Part() = default;
  Part(const KernelRequest& request) : kernel_(choose_kernel(request).kernel) {}

  std::size_t scratch_bytes() const { return kernel_ ? kernel_->scratch_bytes() : 0; }

  void operator()(const float* a, const float* b, float* out, void* scratch) const {
    const void* inputs[] = {a, b};
    void* outputs[] = {out};
    kernel_->run({inputs, outputs, scratch});
  }

 private:
  std::unique_ptr<Kernel> kernel_;
};

Part function_part(const Op& op, Index elements, const std::string& where) {
  const Spec spec{{elements}, DType::float32};
  return Part({.op = &op, .attributes = {}, .inputs = {spec}, .outputs = {spec}, .where = where});
}

Part product_part(const Shape& a, const Shape& b, bool transpose_b, const std::string& where) {
  const Shape out{a[0], transpose_b ? b[0] : b[1]};
  return Part({.op = &ops::matmul,
               .attributes = {{"transpose_a", false}, {"transpose_b", transpose_b}, {"dtype", DType::float32}},
               .inputs = {{a, DType::float32}, {b, DType::float32}},
               .outputs = {{out, DType::float32}},
               .where = where});
}

/// Sizes and operands of a request, which both kernels use.
class Steps {
 public:
  Steps(const KernelRequest& request, bool gradient) : at_(request.attributes, gradient) {
    const Shape& shape = request.inputs[gradient ? at_.states : at_.x].shape;
    batch_ = shape[0];
    steps_ = shape[1];
    units_ = request.inputs[at_.kernel].shape[0];
    width_ = at_.gates * units_;
    count_ = batch_ * units_;
  }

 protected:
  bool skips(const KernelArguments& k, Index b, Index t) const {
    return at_.mask != RecurrenceLayout::none && !k.in<bool>(at_.mask)[b * steps_ + t];
  }

  /// Copies an operand (batch, units); zeros if it is absent.
  void load(const KernelArguments& k, std::size_t place, float* to) const {
    if (place == RecurrenceLayout::none) {
      std::fill_n(to, count_, 0.0F);
    } else {
      std::copy_n(k.in<float>(place), count_, to);
    }
  }

  RecurrenceLayout at_;
  Index batch_ = 0, steps_ = 0, units_ = 0, width_ = 0, count_ = 0;
};

class ForwardSteps final : public Kernel, Steps {
 public:
  explicit ForwardSteps(const KernelRequest& request) : Steps(request, false) {
    const std::string& where = request.where;
    product_ = product_part({batch_, units_}, {units_, width_}, false, where);
    tanh_ = function_part(ops::tanh, count_, where);
    if (at_.kind != Kind::simple_rnn) {
      gates_ = function_part(ops::sigmoid, (at_.kind == Kind::lstm ? 3 : 2) * count_, where);
    }
    ScratchLayout layout;
    const auto floats = [&](Index n) { return layout.take(static_cast<std::size_t>(n) * sizeof(float)); };
    h_ = floats(count_);
    c_ = floats(count_);
    z_ = floats(batch_ * width_);
    a_ = floats(batch_ * width_);
    y_ = floats(count_);
    rest_ = layout.size();
    bytes_ = rest_ + std::max({product_.scratch_bytes(), tanh_.scratch_bytes(), gates_.scratch_bytes()});
  }

  std::size_t scratch_bytes() const override { return bytes_; }

  void run(const KernelArguments& k) override {
    auto* base = static_cast<std::byte*>(k.scratch);
    const auto floats = [&](std::size_t offset) { return reinterpret_cast<float*>(base + offset); };
    float *h = floats(h_), *c = floats(c_), *z = floats(z_), *a = floats(a_), *y = floats(y_);
    void* rest = base + rest_;
    load(k, at_.state, h);
    load(k, at_.carry, c);
    for (Index t = 0; t < steps_; ++t) {
      product_(h, k.in<float>(at_.kernel), z, rest);
      gather(k, t, z, a);
      if (at_.kind == Kind::lstm) {
        gates_(a, nullptr, a, rest);
        tanh_(a + 3 * count_, nullptr, a + 3 * count_, rest);
        for (Index b = 0; b < batch_; ++b) {
          if (skips(k, b, t)) continue;
          const Index first = b * units_;
          for (Index j = first; j < first + units_; ++j) c[j] = a[count_ + j] * c[j] + a[j] * a[3 * count_ + j];
        }
        tanh_(c, nullptr, y, rest);
      } else if (at_.kind == Kind::gru) {
        gates_(a, nullptr, a, rest);
        for (Index b = 0; b < batch_; ++b) {
          for (Index j = 0; j < units_; ++j) {
            a[2 * count_ + b * units_ + j] += a[count_ + b * units_ + j] * z[b * width_ + 2 * units_ + j];
          }
        }
        tanh_(a + 2 * count_, nullptr, a + 2 * count_, rest);
      } else {
        tanh_(a, nullptr, a, rest);
      }
      for (Index b = 0; b < batch_; ++b) write(k, b, t, h, c, z, a, y);
    }
    std::copy_n(h, count_, k.out<float>(1));
    if (at_.kind == Kind::lstm) std::copy_n(c, count_, k.out<float>(4));
  }

 private:
  /// Sums of inputs and products of step t, gate by gate: for lstm i, f, o, c; for gru z, r, and of h the input alone.
  void gather(const KernelArguments& k, Index t, float* z, float* a) const {
    constexpr Index lstm_places[] = {0, 1, 3, 2}, places[] = {0, 1, 2};
    const float* bias = at_.bias == RecurrenceLayout::none ? nullptr : k.in<float>(at_.bias);
    for (Index b = 0; b < batch_; ++b) {
      const float* x = k.in<float>(at_.x) + (b * steps_ + t) * width_;
      float* product = z + b * width_;
      for (Index j = 0; bias != nullptr && j < width_; ++j) product[j] += bias[j];
      for (Index gate = 0; gate < at_.gates; ++gate) {
        float* to = a + (at_.kind == Kind::lstm ? lstm_places : places)[gate] * count_ + b * units_;
        const float *in = x + gate * units_, *of_state = product + gate * units_;
        if (at_.kind == Kind::gru && gate == 2) {
          std::copy_n(in, units_, to);
        } else {
          for (Index j = 0; j < units_; ++j) to[j] = in[j] + of_state[j];
        }
      }
    }
  }

  /// Updates h of sample b and writes its outputs of step t.
  void write(const KernelArguments& k, Index b, Index t, float* h, const float* c, const float* z, const float* a,
             const float* y) const {
    const Index first = b * units_, step = b * steps_ + t;
    float* saved = at_.saved > 0 ? k.out<float>(2) + step * at_.saved * units_ : nullptr;
    if (skips(k, b, t)) {
      std::fill_n(saved, at_.saved * units_, 0.0F);
    } else if (at_.kind == Kind::lstm) {
      constexpr Index places[] = {0, 1, 3, 2};
      for (Index j = first; j < first + units_; ++j) h[j] = a[2 * count_ + j] * y[j];
      for (Index gate = 0; gate < 4; ++gate)
        std::copy_n(a + places[gate] * count_ + first, units_, saved + gate * units_);
    } else if (at_.kind == Kind::gru) {
      for (Index j = first; j < first + units_; ++j) h[j] = a[j] * h[j] + (1 - a[j]) * a[2 * count_ + j];
      for (Index gate = 0; gate < 3; ++gate) std::copy_n(a + gate * count_ + first, units_, saved + gate * units_);
      std::copy_n(z + b * width_ + 2 * units_, units_, saved + 3 * units_);
    } else {
      std::copy_n(a + first, units_, h + first);
    }
    std::copy_n(h + first, units_, k.out<float>(0) + step * units_);
    if (at_.kind == Kind::lstm) std::copy_n(c + first, units_, k.out<float>(3) + step * units_);
  }

  Part product_, tanh_, gates_;
  std::size_t h_ = 0, c_ = 0, z_ = 0, a_ = 0, y_ = 0, rest_ = 0, bytes_ = 0;  // offsets in scratch memory
};

class BackwardSteps final : public Kernel, Steps {
 public:
  explicit BackwardSteps(const KernelRequest& request) : Steps(request, true) {
    product_ = product_part({batch_, width_}, {units_, width_}, true, request.where);
    tanh_ = function_part(ops::tanh, count_, request.where);
    ScratchLayout layout;
    const auto floats = [&](Index n) { return layout.take(static_cast<std::size_t>(n) * sizeof(float)); };
    dh_ = floats(count_);
    kept_ = floats(count_);
    dc_ = floats(count_);
    y_ = floats(count_);
    d_ = floats(batch_ * width_);
    rest_ = layout.size();
    bytes_ = rest_ + std::max(product_.scratch_bytes(), tanh_.scratch_bytes());
  }

  std::size_t scratch_bytes() const override { return bytes_; }

  void run(const KernelArguments& k) override {
    auto* base = static_cast<std::byte*>(k.scratch);
    const auto floats = [&](std::size_t offset) { return reinterpret_cast<float*>(base + offset); };
    float *dh = floats(dh_), *kept = floats(kept_), *dc = floats(dc_), *y = floats(y_), *d = floats(d_);
    void* rest = base + rest_;
    load(k, at_.of_last, dh);
    load(k, at_.of_carry, dc);
    for (Index t = steps_ - 1; t >= 0; --t) {
      if (at_.kind == Kind::lstm) {
        for (Index b = 0; b < batch_; ++b) {
          std::copy_n(k.in<float>(at_.carries) + (b * steps_ + t) * units_, units_, y + b * units_);
        }
        tanh_(y, nullptr, y, rest);
      }
      for (Index b = 0; b < batch_; ++b)
        retreat(k, b, t, dh + b * units_, kept + b * units_, dc + b * units_, y + b * units_, d + b * width_);
      product_(d, k.in<float>(at_.kernel), dh, rest);
      for (Index j = 0; j < count_; ++j) dh[j] += kept[j];
    }
    std::copy_n(dh, count_, k.out<float>(1));
    if (at_.kind == Kind::lstm) std::copy_n(dc, count_, k.out<float>(2));
  }

 private:
  /// Sample b of step t: d becomes the cotangent of the products, kept the rest of that of the state before.
  void retreat(const KernelArguments& k, Index b, Index t, float* dh, float* kept, float* dc, const float* y,
               float* d) const {
    const Index n = units_, step = b * steps_ + t;
    float* dx = k.out<float>(0) + step * width_;
    if (at_.of_states != RecurrenceLayout::none) {
      const float* g = k.in<float>(at_.of_states) + step * n;
      for (Index j = 0; j < n; ++j) dh[j] += g[j];
    }
    if (skips(k, b, t)) {
      std::copy_n(dh, n, kept);
      std::fill_n(d, width_, 0.0F);
      std::fill_n(dx, width_, 0.0F);
      return;
    }
    std::fill_n(kept, n, 0.0F);
    const auto before = [&](std::size_t sequence, std::size_t initial) -> const float* {
      if (t > 0) return k.in<float>(sequence) + (step - 1) * n;
      return initial == RecurrenceLayout::none ? nullptr : k.in<float>(initial) + b * n;
    };
    const float* saved = at_.saved > 0 ? k.in<float>(at_.saved_gates) + step * at_.saved * n : nullptr;
    if (at_.kind == Kind::lstm) {
      const float *i = saved, *f = saved + n, *g = saved + 2 * n, *o = saved + 3 * n;
      const float* last = before(at_.carries, at_.carry);
      for (Index j = 0; j < n; ++j) {
        const float of_carry = dc[j] + dh[j] * o[j] * (1 - y[j] * y[j]);
        d[j] = of_carry * g[j] * i[j] * (1 - i[j]);
        d[n + j] = of_carry * (last == nullptr ? 0.0F : last[j]) * f[j] * (1 - f[j]);
        d[2 * n + j] = of_carry * i[j] * (1 - g[j] * g[j]);
        d[3 * n + j] = dh[j] * y[j] * o[j] * (1 - o[j]);
        dc[j] = of_carry * f[j];
      }
    } else if (at_.kind == Kind::gru) {
      const float *z = saved, *r = saved + n, *candidate = saved + 2 * n, *inner = saved + 3 * n;
      const float* last = before(at_.states, at_.state);
      for (Index j = 0; j < n; ++j) {
        const float of_candidate = dh[j] * (1 - z[j]) * (1 - candidate[j] * candidate[j]);
        d[j] = dh[j] * ((last == nullptr ? 0.0F : last[j]) - candidate[j]) * z[j] * (1 - z[j]);
        d[n + j] = of_candidate * inner[j] * r[j] * (1 - r[j]);
        d[2 * n + j] = of_candidate * r[j];
        dx[2 * n + j] = of_candidate;
        kept[j] = dh[j] * z[j];
      }
      std::copy_n(d, 2 * n, dx);
      return;
    } else {
      const float* h = k.in<float>(at_.states) + step * n;
      for (Index j = 0; j < n; ++j) d[j] = dh[j] * (1 - h[j] * h[j]);
    }
    std::copy_n(d, width_, dx);
  }

  Part product_, tanh_;
  std::size_t dh_ = 0, kept_ = 0, dc_ = 0, y_ = 0, d_ = 0, rest_ = 0, bytes_ = 0;  // offsets in scratch memory
};

/// True if these kernels compute the request. Sets the reason otherwise.
bool takes_recurrence(const KernelRequest& request, bool gradient, std::string& reason) {
  const RecurrenceLayout at(request.attributes, gradient);
  const Spec& first = request.inputs[gradient ? at.states : at.x];
  const bool gates = at.kind == Kind::simple_rnn || at.recurrent_activation == "sigmoid";
  if (first.dtype != DType::float32) {
    reason = fmt::format("takes float32; got {}", first.dtype);
  } else if (at.kind == Kind::gru_reset_before || at.dropped != RecurrenceLayout::none) {
    reason = "takes neither gru_reset_before nor dropped states";
  } else if (at.activation != "tanh" || !gates) {
    reason = fmt::format("takes tanh and sigmoid; got {} and {}", at.activation, at.recurrent_activation);
  } else if (element_count(request.outputs[0].shape) == 0) {
    reason = "takes arrays with elements";
  }
  return reason.empty();
}

std::unique_ptr<Kernel> make_recurrence(const KernelRequest& request, Isa, std::string& reason) {
  if (!takes_recurrence(request, false, reason)) return nullptr;
  return std::make_unique<ForwardSteps>(request);
}

std::unique_ptr<Kernel> make_recurrence_gradient(const KernelRequest& request, Isa, std::string& reason) {
  if (!takes_recurrence(request, true, reason)) return nullptr;
  return std::make_unique<BackwardSteps>(request);
}

}  // namespace

Entries recurrence_entries() {
  return {entry<make_recurrence>("recurrence"), entry<make_recurrence_gradient>("recurrence_gradient")};
}

}  // namespace mezzo::xsimd_kernels
