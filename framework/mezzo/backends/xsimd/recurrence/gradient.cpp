#include <mezzo/backends/xsimd/recurrence/steps.hpp>

namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;
using Kind = detail::RecurrenceLayout::Kind;

RecurrenceFunctions::Retreat retreat_of(const RecurrenceFunctions& f, Kind kind, DType dtype) {
  return (kind == Kind::lstm ? f.lstm_back : kind == Kind::gru ? f.gru_back : f.simple_rnn_back)[dtype];
}

class BackwardSteps final : public Kernel, RecurrentSteps {
 public:
  BackwardSteps(const KernelRequest& request, Isa isa)
      : RecurrentSteps(request, true, isa), retreat_(retreat_of(functions_.recurrence, at_.kind, dtype_)) {
    RowLayout rows(batch_);
    rest_ = rows.floats(row_);
    dc_ = rows.floats(at_.kind == Kind::lstm ? row_ : 0);
    product_ = rows.floats(kernel_.product_width());
    factor_ = rows.layout.take(kernel_.factor_bytes(batch_));
    packed_ = rows.layout.take(kernel_.packed_bytes());
    scratch_ = rows.layout.size();
  }

  std::size_t scratch_bytes() const override { return scratch_; }
  std::string detail() const override { return kernel_.narrow() ? "bfloat16 products" : ""; }

  void run(const KernelArguments& k) override {
    auto* base = static_cast<std::byte*>(k.scratch);
    kernel_.pack(k.inputs[at_.kernel], base + packed_);
    for_samples([&](Index first, Index last) { run_samples(k, base, first, last); });
  }

 private:
  void run_samples(const KernelArguments& k, std::byte* base, Index first, Index last) const {
    auto *rest = reinterpret_cast<float*>(base + rest_), *dc = reinterpret_cast<float*>(base + dc_);
    auto* product = reinterpret_cast<float*>(base + product_);
    std::byte* factors = base + factor_;
    const Index factor_width = kernel_.factor_width();
    const bool lstm = at_.kind == Kind::lstm;
    load(k, at_.of_last, first, last, rest, row_);
    if (lstm) load(k, at_.of_carry, first, last, dc, row_);
    if (kernel_.narrow()) std::memset(factors + kernel_.factor_bytes(first), 0, kernel_.factor_bytes(last - first));
    RecurrentStepBack s;
    s.units = units_;
    for (Index t = steps_ - 1; t >= 0; --t) {
      for (Index b = first; b < last; ++b) {
        const Index step = b * steps_ + t;
        s.skipped = skips(k, b, t);
        s.product = has_product(k, b, t + 1) ? product + b * kernel_.product_width() : nullptr;
        s.of_states = input(k, at_.of_states, step * units_);
        s.rest = rest + b * row_;
        s.states = input(k, at_.states, step * units_);
        s.gates = input(k, at_.saved_gates, step * at_.saved * units_);
        s.before = before(k, b, t);
        s.dx = output(k, 0, step * width_);
        if (lstm) {
          s.dc = dc + b * row_;
          s.carries = input(k, at_.carries, step * units_);
        }
        if (kernel_.narrow()) {
          s.factor = reinterpret_cast<bfloat16*>(factors) + b * factor_width;
        } else {
          s.d = reinterpret_cast<float*>(factors) + b * factor_width;
        }
        retreat_(s);
      }
      kernel_.multiply(factors, base + packed_, product, first, last - first);
    }
    for (Index b = first; b < last; ++b) {
      for (Index j = 0; has_product(k, b, 0) && j < units_; ++j) {
        rest[b * row_ + j] += product[b * kernel_.product_width() + j];
      }
    }
    store(k, 1, first, last, rest, row_);
    if (lstm) store(k, 2, first, last, dc, row_);
  }

  /// True if step t ran and multiplied. The product of a skipped step is 0, or NaN if the kernel isn't finite.
  bool has_product(const KernelArguments& k, Index b, Index t) const { return t < steps_ && !skips(k, b, t); }

  /// Carry (lstm) or state before step t; null: zeros.
  const void* before(const KernelArguments& k, Index b, Index t) const {
    const bool lstm = at_.kind == Kind::lstm;
    if (t > 0) return input(k, lstm ? at_.carries : at_.states, (b * steps_ + t - 1) * units_);
    return input(k, lstm ? at_.carry : at_.state, b * units_);
  }

  RecurrenceFunctions::Retreat retreat_;
  std::size_t rest_ = 0, dc_ = 0, product_ = 0, factor_ = 0, packed_ = 0, scratch_ = 0;  // offsets
};

}  // namespace

std::unique_ptr<Kernel> make_recurrence_gradient(const KernelRequest& request, Isa isa, std::string& reason) {
  if (!takes_recurrence(request, true, reason)) return nullptr;
  return std::make_unique<BackwardSteps>(request, isa);
}

}  // namespace mezzo::xsimd_kernels
