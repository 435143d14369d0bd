#include <mezzo/backends/xsimd/recurrence/steps.hpp>

namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;
using Kind = detail::RecurrenceLayout::Kind;

RecurrenceFunctions::Advance advance_of(const RecurrenceFunctions& f, Kind kind, DType dtype) {
  return (kind == Kind::lstm ? f.lstm : kind == Kind::gru ? f.gru : f.simple_rnn)[dtype];
}

class ForwardSteps final : public Kernel, RecurrentSteps {
 public:
  ForwardSteps(const KernelRequest& request, Isa isa)
      : RecurrentSteps(request, false, isa), advance_(advance_of(functions_.recurrence, at_.kind, dtype_)) {
    RowLayout rows(batch_);
    h_ = rows.floats(row_);
    c_ = rows.floats(at_.kind == Kind::lstm ? row_ : 0);
    product_ = rows.floats(kernel_.product_width());
    factor_ = rows.layout.take(kernel_.narrow() ? kernel_.factor_bytes(batch_) : 0);
    bias_ = rows.layout.take(at_.bias == Layout::none ? 0 : static_cast<std::size_t>(width_) * sizeof(float));
    packed_ = rows.layout.take(kernel_.packed_bytes());
    scratch_ = rows.layout.size();
  }

  std::size_t scratch_bytes() const override { return scratch_; }
  std::string detail() const override { return kernel_.narrow() ? "bfloat16 products" : ""; }

  void run(const KernelArguments& k) override {
    auto* base = static_cast<std::byte*>(k.scratch);
    kernel_.pack(k.inputs[at_.kernel], base + packed_);
    if (at_.bias != Layout::none) {
      functions_.cast.from_storage[dtype_].float32(k.inputs[at_.bias], base + bias_, width_);
    }
    for_samples([&](Index first, Index last) { run_samples(k, base, first, last); });
  }

 private:
  void run_samples(const KernelArguments& k, std::byte* base, Index first, Index last) const {
    auto *h = reinterpret_cast<float*>(base + h_), *c = reinterpret_cast<float*>(base + c_);
    auto* product = reinterpret_cast<float*>(base + product_);
    auto* factor = kernel_.narrow() ? reinterpret_cast<bfloat16*>(base + factor_) : nullptr;
    const bool lstm = at_.kind == Kind::lstm;
    load(k, at_.state, first, last, h, row_);
    if (lstm) load(k, at_.carry, first, last, c, row_);
    for (Index b = first; factor != nullptr && b < last; ++b) {
      bfloat16* to = factor + b * kernel_.factor_width();
      std::fill_n(to, kernel_.factor_width(), bfloat16(0.0F));
      functions_.cast.from_storage.float32.bfloat16(h + b * row_, to, units_);
    }
    const void* factors = factor == nullptr ? static_cast<const void*>(h) : factor;
    RecurrentStep s;
    s.units = units_;
    if (at_.bias != Layout::none) s.bias = reinterpret_cast<const float*>(base + bias_);
    for (Index t = 0; t < steps_; ++t) {
      kernel_.multiply(factors, base + packed_, product, first, last - first);
      for (Index b = first; b < last; ++b) {
        const Index step = b * steps_ + t;
        s.skipped = skips(k, b, t);
        s.x = input(k, at_.x, step * width_);
        s.product = product + b * kernel_.product_width();
        s.h = h + b * row_;
        if (factor != nullptr) s.factor = factor + b * kernel_.factor_width();
        s.states = output(k, 0, step * units_);
        if (at_.saved > 0) s.gates = output(k, 2, step * at_.saved * units_);
        if (lstm) {
          s.c = c + b * row_;
          s.carries = output(k, 3, step * units_);
        }
        advance_(s);
      }
    }
    store(k, 1, first, last, h, row_);
    if (lstm) store(k, 4, first, last, c, row_);
  }

  RecurrenceFunctions::Advance advance_;
  std::size_t h_ = 0, c_ = 0, product_ = 0, factor_ = 0, bias_ = 0, packed_ = 0, scratch_ = 0;  // offsets
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
