#include <mezzo/backends/xsimd/recurrence/steps.hpp>

namespace mezzo::xsimd_kernels {
namespace {

using Kind = detail::RecurrenceLayout::Kind;

class ForwardSteps final : public RecurrentSteps {
 public:
  ForwardSteps(const KernelRequest& request, Isa isa) : RecurrentSteps(request, false, isa) {
    const RecurrenceFunctions& f = functions_.recurrence;
    advance_ = of_kind(at_.kind, f.simple_rnn, f.lstm, f.gru, f.gru_reset_before)[dtype_];
    RowLayout rows(batch_);
    h_ = rows.floats(row_);
    c_ = rows.floats(at_.kind == Kind::lstm ? row_ : 0);
    product_ = rows.floats(kernel_.product_width());
    const auto gates = static_cast<std::size_t>(by_gates() ? at_.gates : kernel_.narrow() ? 1 : 0);
    factor_ = rows.layout.take(gates * kernel_.factor_bytes(batch_));
    reset_ = rows.floats(by_gates() ? row_ : 0);
    dropped_ = rows.floats(at_.dropped == Layout::none ? 0 : width_);
    bias_ = rows.layout.take(at_.bias == Layout::none ? 0 : static_cast<std::size_t>(width_) * sizeof(float));
    packed_ = rows.layout.take(kernel_.packed_bytes());
    scratch_ = rows.layout.size();
  }

  bool may_overwrite(std::size_t input, std::size_t output) const override {
    return input == at_.x && (at_.saved == 0 ? output == 0 : output == 2 && at_.saved == at_.gates);
  }

  void run(const KernelArguments& k) override {
    auto* base = static_cast<std::byte*>(k.scratch);
    kernel_.pack(k.inputs[at_.kernel], base + packed_);
    if (at_.bias != Layout::none) {
      functions_.cast.from_storage[dtype_].float32(k.inputs[at_.bias], base + bias_, width_);
    }
    load_dropped(k, base);
    for_samples([&](Index first, Index last) { run_samples(k, base, first, last); });
  }

 private:
  /// Factors of a gate: rows of `from` times the gate's dropout.
  void write_factors(std::byte* base, Index first, Index last, Index gate, const float* from) const {
    std::byte* factors = base + factor_ + static_cast<std::size_t>(gate) * kernel_.factor_bytes(batch_);
    for (Index b = first; b < last; ++b) {
      std::byte* factor = factors + kernel_.factor_bytes(b);
      auto* to =
          kernel_.narrow() ? reinterpret_cast<float*>(base + reset_) + b * row_ : reinterpret_cast<float*>(factor);
      const float* of_dropout = dropped(base, b, gate);
      for (Index j = 0; j < units_; ++j) to[j] = from[b * row_ + j] * (of_dropout == nullptr ? 1.0F : of_dropout[j]);
      if (kernel_.narrow()) functions_.cast.from_storage.float32.bfloat16(to, factor, units_);
    }
  }

  void multiply_gate(std::byte* base, Index first, Index last, Index gate, const float* from) const {
    write_factors(base, first, last, gate, from);
    multiply(base, first, last, gate);
  }

  void run_samples(const KernelArguments& k, std::byte* base, Index first, Index last) const {
    auto *h = reinterpret_cast<float*>(base + h_), *c = reinterpret_cast<float*>(base + c_);
    auto* product = reinterpret_cast<float*>(base + product_);
    auto* factor = kernel_.narrow() ? reinterpret_cast<bfloat16*>(base + factor_) : nullptr;
    const bool lstm = at_.kind == Kind::lstm;
    load(k, at_.state, first, last, h, row_);
    if (lstm) load(k, at_.carry, first, last, c, row_);
    clear_factors(base, first, last);
    for (Index b = first; factor != nullptr && b < last; ++b) {
      functions_.cast.from_storage.float32.bfloat16(h + b * row_, factor + b * kernel_.factor_width(), units_);
    }
    const void* factors = factor == nullptr ? static_cast<const void*>(h) : factor;
    auto* reset = reinterpret_cast<float*>(base + reset_);
    RecurrentStep s;
    s.units = units_;
    s.product_step = by_gates() ? kernel_.group_step() : units_;
    if (at_.bias != Layout::none) s.bias = reinterpret_cast<const float*>(base + bias_);
    const auto for_rows = [&](Index t, RecurrenceFunctions::Advance advance) {
      for (Index b = first; b < last; ++b) {
        const Index step = b * steps_ + t;
        s.skipped = skips(k, b, t);
        s.x = input(k, at_.x, step * width_);
        s.product = product + b * kernel_.product_width();
        s.h = h + b * row_;
        s.reset = reset + b * row_;
        if (factor != nullptr && !by_gates()) s.factor = factor + b * kernel_.factor_width();
        s.states = output(k, 0, step * units_);
        if (at_.saved > 0) s.gates = output(k, 2, step * at_.saved * units_);
        if (lstm) {
          s.c = c + b * row_;
          s.carries = output(k, 3, step * units_);
        }
        advance(s);
      }
    };
    for (Index t = 0; t < steps_; ++t) {
      if (by_gates()) {
        const Index same = resets_before() ? 2 : at_.gates;  // gates whose factors don't depend on another gate
        for (Index gate = 0; gate < same; ++gate) multiply_gate(base, first, last, gate, h);
        if (resets_before()) {
          for_rows(t, functions_.recurrence.reset[dtype_]);
          multiply_gate(base, first, last, 2, reset);
        }
      } else {
        kernel_.multiply(factors, base + packed_, product, first, last - first);
      }
      for_rows(t, advance_);
    }
    store(k, 1, first, last, h, row_);
    if (lstm) store(k, 4, first, last, c, row_);
  }

  RecurrenceFunctions::Advance advance_ = nullptr;
  std::size_t h_ = 0, c_ = 0, reset_ = 0, bias_ = 0;  // offsets in scratch memory
};

std::unique_ptr<Kernel> make_recurrence(const KernelRequest& request, Isa isa, std::string& reason) {
  if (!takes_recurrence(request, false, reason)) return nullptr;
  return std::make_unique<ForwardSteps>(request, isa);
}

}  // namespace

Entries recurrence_entries() {
  return {entry<make_recurrence>("recurrence"), entry<make_recurrence_gradient>("recurrence_gradient")};
}

}  // namespace mezzo::xsimd_kernels
