#include <mezzo/backends/xsimd/recurrence/steps.hpp>

#include <mezzo/backends/xsimd/wide_operand.hpp>

namespace mezzo::xsimd_kernels {
namespace {

using Kind = detail::RecurrenceLayout::Kind;

class BackwardSteps final : public RecurrentSteps {
 public:
  BackwardSteps(const KernelRequest& request, Isa isa) : RecurrentSteps(request, true, isa) {
    const RecurrenceFunctions& f = functions_.recurrence;
    retreat_ = of_kind(at_.kind, f.simple_rnn_back, f.lstm_back, f.gru_back, f.gru_reset_before_back)[dtype_];
    RowLayout rows(batch_);
    rest_ = rows.floats(row_);
    dc_ = rows.floats(at_.kind == Kind::lstm ? row_ : 0);
    product_ = rows.floats(kernel_.product_width());
    sum_ = rows.floats(by_gates() ? row_ : 0);
    dropped_ = rows.floats(at_.dropped == Layout::none ? 0 : width_);
    factor_ = rows.layout.take(static_cast<std::size_t>(by_gates() ? at_.gates : 1) * kernel_.factor_bytes(batch_));
    packed_ = rows.layout.take(kernel_.packed_bytes());
    sums_ = rows.floats(sums() ? width_ : 0);
    scratch_ = rows.layout.size();
  }

  bool may_overwrite(std::size_t input, std::size_t output) const override {
    if (output == 0) return input == at_.saved_gates && at_.saved == at_.gates;
    return output == at_.before && input == at_.states;  // steps are computed backwards
  }

  void run(const KernelArguments& k) override {
    auto* base = static_cast<std::byte*>(k.scratch);
    kernel_.pack(k.inputs[at_.kernel], base + packed_);
    load_dropped(k, base);
    for_samples([&](Index first, Index last) { run_samples(k, base, first, last); });
    if (!sums()) return;
    parallel_for(width_, grain_of(batch_), [&](Index begin, Index end) {
      sum_blocks(sums_of(base, 0) + begin, width_, batch_, end - begin, k.out<float>(at_.sums) + begin);
    });
  }

 private:
  bool sums() const { return at_.sums != Layout::none; }

  /// Sums over the steps of a sample.
  float* sums_of(std::byte* base, Index b) const { return reinterpret_cast<float*>(base + sums_) + b * width_; }

  float* product_row(std::byte* base, Index b, Index gate) const {
    return reinterpret_cast<float*>(base + product_) + b * kernel_.product_width() + gate * kernel_.group_step();
  }

  /// Products of a gate's cotangents, times the gate's dropout.
  void multiply_gate(std::byte* base, Index first, Index last, Index gate) const {
    multiply(base, first, last, gate);
    for (Index b = first; b < last; ++b) {
      const float* of_dropout = dropped(base, b, gate);
      float* row = product_row(base, b, gate);
      for (Index j = 0; of_dropout != nullptr && j < units_; ++j) row[j] *= of_dropout[j];
    }
  }

  /// Sums the products of gates [0, gates).
  void add_gates(std::byte* base, Index first, Index last, Index gates) const {
    for (Index b = first; b < last; ++b) {
      float* sum = reinterpret_cast<float*>(base + sum_) + b * row_;
      for (Index gate = 0; gate < gates; ++gate) {
        const float* row = product_row(base, b, gate);
        for (Index j = 0; j < units_; ++j) sum[j] = gate == 0 ? row[j] : sum[j] + row[j];
      }
    }
  }

  void run_samples(const KernelArguments& k, std::byte* base, Index first, Index last) const {
    auto *rest = reinterpret_cast<float*>(base + rest_), *dc = reinterpret_cast<float*>(base + dc_);
    std::byte* factors = base + factor_;
    const float* product = reinterpret_cast<const float*>(base + (by_gates() ? sum_ : product_));
    const Index product_width = by_gates() ? row_ : kernel_.product_width(), factor_width = kernel_.factor_width();
    const bool lstm = at_.kind == Kind::lstm;
    load(k, at_.of_last, first, last, rest, row_);
    if (lstm) load(k, at_.of_carry, first, last, dc, row_);
    clear_factors(base, first, last);
    if (sums()) std::fill(sums_of(base, first), sums_of(base, last), 0.0F);
    RecurrentStepBack s;
    s.units = units_;
    s.d_step = by_gates() ? batch_ * factor_width : units_;
    const auto for_rows = [&](Index t, RecurrenceFunctions::Retreat retreat, bool resets) {
      for (Index b = first; b < last; ++b) {
        const Index step = b * steps_ + t;
        s.skipped = skips(k, b, t);
        s.product = resets ? product_row(base, b, 2) : has_product(k, b, t + 1) ? product + b * product_width : nullptr;
        s.of_states = input(k, at_.of_states, step * units_);
        s.rest = rest + b * row_;
        s.states = input(k, at_.states, step * units_);
        s.gates = input(k, at_.saved_gates, step * at_.saved * units_);
        s.before = before(k, b, t);
        s.dx = output(k, 0, step * width_);
        if (sums()) s.sums = sums_of(base, b);
        if (lstm) {
          s.dc = dc + b * row_;
          s.carries = input(k, at_.carries, step * units_);
        }
        if (kernel_.narrow()) {
          s.factor = reinterpret_cast<bfloat16*>(factors) + b * factor_width;
        } else {
          s.d = reinterpret_cast<float*>(factors) + b * factor_width;
        }
        retreat(s);
        if (!resets) write_before(k, b, t);
      }
    };
    for (Index t = steps_ - 1; t >= 0; --t) {
      for_rows(t, retreat_, false);
      if (!by_gates()) {
        kernel_.multiply(factors, base + packed_, reinterpret_cast<float*>(base + product_), first, last - first);
        continue;
      }
      if (resets_before()) {
        multiply_gate(base, first, last, 2);
        for_rows(t, functions_.recurrence.reset_back[dtype_], true);
      }
      const Index gates = resets_before() ? 2 : at_.gates;  // that multiply the state before the step
      for (Index gate = 0; gate < gates; ++gate) multiply_gate(base, first, last, gate);
      add_gates(base, first, last, gates);
    }
    for (Index b = first; b < last; ++b) {
      for (Index j = 0; has_product(k, b, 0) && j < units_; ++j) rest[b * row_ + j] += product[b * product_width + j];
    }
    store(k, 1, first, last, rest, row_);
    if (lstm) store(k, 2, first, last, dc, row_);
  }

  /// Writes the state before step t, perhaps over the state after it.
  void write_before(const KernelArguments& k, Index b, Index t) const {
    if (at_.before == Layout::none) return;
    const void* from = t > 0 ? input(k, at_.states, (b * steps_ + t - 1) * units_) : input(k, at_.state, b * units_);
    void* to = output(k, at_.before, (b * steps_ + t) * units_);
    const auto bytes = static_cast<std::size_t>(units_ * bytes_);
    if (from == nullptr) {
      std::memset(to, 0, bytes);
    } else {
      std::memcpy(to, from, bytes);
    }
  }

  /// True if step t ran and multiplied. The product of a skipped step is 0, or NaN if the kernel isn't finite.
  bool has_product(const KernelArguments& k, Index b, Index t) const { return t < steps_ && !skips(k, b, t); }

  /// Carry (lstm) or state before step t; null: zeros.
  const void* before(const KernelArguments& k, Index b, Index t) const {
    const bool lstm = at_.kind == Kind::lstm;
    if (t > 0) return input(k, lstm ? at_.carries : at_.states, (b * steps_ + t - 1) * units_);
    return input(k, lstm ? at_.carry : at_.state, b * units_);
  }

  RecurrenceFunctions::Retreat retreat_ = nullptr;
  std::size_t rest_ = 0, dc_ = 0, sum_ = 0, sums_ = 0;  // offsets in scratch memory
};

}  // namespace

std::unique_ptr<Kernel> make_recurrence_gradient(const KernelRequest& request, Isa isa, std::string& reason) {
  if (!takes_recurrence(request, true, reason)) return nullptr;
  return std::make_unique<BackwardSteps>(request, isa);
}

}  // namespace mezzo::xsimd_kernels
