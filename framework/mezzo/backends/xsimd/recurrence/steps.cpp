#include <mezzo/backends/xsimd/recurrence/steps.hpp>

namespace mezzo::xsimd_kernels {

RecurrentSteps::RecurrentSteps(const KernelRequest& request, bool gradient, Isa isa)
    : at_(request.attributes, gradient),
      dtype_(request.outputs[0].dtype),
      bytes_(size_of(dtype_)),
      by_gates_(at_.kind == Layout::Kind::gru_reset_before || at_.dropped != Layout::none),
      functions_(kernels(isa)) {
  const Shape& shape = request.inputs[gradient ? at_.states : at_.x].shape;
  batch_ = shape[0];
  steps_ = shape[1];
  units_ = request.inputs[at_.kernel].shape[0];
  width_ = at_.gates * units_;
  row_ = spread_width(units_);
  kernel_ = PackedKernel(units_, width_, by_gates_ ? at_.gates : 1, gradient, dtype_, isa);
}

void RecurrentSteps::load_dropped(const KernelArguments& k, std::byte* base) const {
  if (at_.dropped == Layout::none) return;
  functions_.cast.from_storage[dtype_].float32(k.inputs[at_.dropped], base + dropped_, batch_ * width_);
}

void RecurrentSteps::clear_factors(std::byte* base, Index first, Index last) const {
  for (Index gate = 0; kernel_.narrow() && gate < (by_gates() ? at_.gates : 1); ++gate) {
    std::memset(base + factor_ + kernel_.factor_bytes(gate * batch_ + first), 0, kernel_.factor_bytes(last - first));
  }
}

void RecurrentSteps::multiply(std::byte* base, Index first, Index last, Index gate) const {
  kernel_.multiply(base + factor_ + static_cast<std::size_t>(gate) * kernel_.factor_bytes(batch_), base + packed_,
                   reinterpret_cast<float*>(base + product_), first, last - first, gate);
}

void RecurrentSteps::load(const KernelArguments& k, std::size_t place, Index first, Index last, float* rows,
                          Index row_width) const {
  for (Index b = first; b < last; ++b) {
    const void* from = input(k, place, b * units_);
    if (from == nullptr) {
      std::fill_n(rows + b * row_width, units_, 0.0F);
    } else {
      functions_.cast.from_storage[dtype_].float32(from, rows + b * row_width, units_);
    }
  }
}

void RecurrentSteps::store(const KernelArguments& k, std::size_t place, Index first, Index last, const float* rows,
                           Index row_width) const {
  for (Index b = first; b < last; ++b) {
    functions_.cast.from_storage.float32[dtype_](rows + b * row_width, output(k, place, b * units_), units_);
  }
}

bool takes_recurrence(const KernelRequest& request, bool gradient, std::string& reason) {
  const detail::RecurrenceLayout at(request.attributes, gradient);
  const DType dtype = request.outputs[0].dtype;
  const bool gates = at.kind == detail::RecurrenceLayout::Kind::simple_rnn || at.recurrent_activation == "sigmoid";
  if (!is_stored(dtype)) {
    reason = fmt::format("takes float32, bfloat16 and float16; got {}", dtype);
  } else if (at.activation != "tanh" || !gates) {
    reason = fmt::format("takes tanh and sigmoid; got {} and {}", at.activation, at.recurrent_activation);
  } else if (element_count(request.outputs[0].shape) == 0) {
    reason = "takes arrays with elements";
  }
  for (std::size_t i = 0; i < request.inputs.size() && reason.empty(); ++i) {
    const DType other = request.inputs[i].dtype;
    if (i != at.mask && other != dtype)
      reason = fmt::format("takes operands of one dtype; got {} and {}", dtype, other);
  }
  return reason.empty();
}

}  // namespace mezzo::xsimd_kernels
