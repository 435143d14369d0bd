#include <mezzo/backends/table.hpp>

#include <algorithm>
#include <utility>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/compiler/kernel_options.hpp>
#include <mezzo/core/scoped_value.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

/// An operand with a float32 copy in scratch memory.
struct Conversion {
  std::size_t operand;
  std::size_t offset;            ///< of the copy, in bytes
  std::unique_ptr<Kernel> cast;  ///< from an input to float32, or from float32 to an output
};

/// Replaces bfloat16 and float16 operands by float32 operands in scratch memory.
std::vector<Conversion> widen(std::vector<Spec>& specs, bool input, ScratchLayout& layout, const std::string& where) {
  std::vector<Conversion> conversions;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    Spec& spec = specs[i];
    if (!is_half(spec.dtype)) continue;
    const DType half = std::exchange(spec.dtype, DType::float32);
    conversions.push_back({i, layout.take(bytes_of(spec)),
                           input ? cast_kernel(spec.shape, half, DType::float32, where)
                                 : cast_kernel(spec.shape, DType::float32, half, where)});
  }
  return conversions;
}

/// The attributes of the float32 op: its output dtypes are widened, copy_dtype is left out.
Attributes widen(const Attributes& attributes) {
  Attributes wide;
  for (const auto& [name, value] : attributes.entries()) {
    if (name == "copy_dtype") continue;
    const bool narrow = name == "dtype" && is_half(std::get<DType>(value));
    wide.set(name, narrow ? detail::Attribute(DType::float32) : value);
  }
  return wide;
}

class Widened final : public Kernel {
 public:
  explicit Widened(const KernelRequest& request) : output_count_(request.outputs.size()) {
    KernelRequest wide = request;
    wide.constants.clear();  // of other dtypes
    wide.attributes = widen(request.attributes);
    if (request.attributes.has("copy_dtype")) {  // cast from the variable as it is stored, rounded
      const Spec& copy = request.outputs.back();
      copy_ = cast_kernel(copy.shape, request.outputs[0].dtype, copy.dtype, request.where);
      wide.outputs.pop_back();
    }
    ScratchLayout layout;
    input_pointers_ = layout.take(request.inputs.size() * sizeof(void*));
    output_pointers_ = layout.take(request.outputs.size() * sizeof(void*));
    inputs_ = widen(wide.inputs, true, layout, request.where);
    outputs_ = widen(wide.outputs, false, layout, request.where);
    input_count_ = wide.inputs.size();
    // Products of float16 operands in bfloat16 would lose digits.
    const ScopedValue exact(kernel_options().float32_matmul, std::optional(detail::Float32Matmul::highest));
    inner_ = choose_kernel(wide);
    rest_ = layout.size();
    scratch_bytes_ = rest_ + inner_scratch_bytes();
  }

  void run(const KernelArguments& arguments) override {
    auto* scratch = static_cast<std::byte*>(arguments.scratch);
    auto** inputs = reinterpret_cast<const void**>(scratch + input_pointers_);
    auto** outputs = reinterpret_cast<void**>(scratch + output_pointers_);
    void* rest = scratch + rest_;
    std::copy_n(arguments.inputs, input_count_, inputs);
    std::copy_n(arguments.outputs, output_count_, outputs);
    for (const Conversion& c : inputs_) {
      void* wide = scratch + c.offset;
      c.cast->run({&inputs[c.operand], &wide, rest});
      inputs[c.operand] = wide;
    }
    for (const Conversion& c : outputs_) outputs[c.operand] = scratch + c.offset;
    inner_.kernel->run({inputs, outputs, rest});
    for (const Conversion& c : outputs_) {
      const void* wide = outputs[c.operand];
      c.cast->run({&wide, &arguments.outputs[c.operand], rest});
    }
    if (copy_) {
      const void* variable = arguments.outputs[0];
      copy_->run({&variable, &arguments.outputs[output_count_ - 1], rest});
    }
  }

  std::size_t scratch_bytes() const override { return scratch_bytes_; }

  bool may_overwrite(std::size_t i, std::size_t output) const override {
    const auto converted = [](const std::vector<Conversion>& conversions, std::size_t operand) {
      return std::any_of(conversions.begin(), conversions.end(),
                         [&](const Conversion& c) { return c.operand == operand; });
    };
    return converted(inputs_, i) || converted(outputs_, output) || inner_.kernel->may_overwrite(i, output);
  }

  std::string detail() const override {
    const std::string detail = inner_.kernel->detail();
    return fmt::format("float32 {}{}{}", inner_.implementation, detail.empty() ? "" : " ", detail);
  }

 private:
  std::size_t inner_scratch_bytes() const {
    std::size_t bytes = std::max(inner_.kernel->scratch_bytes(), copy_ ? copy_->scratch_bytes() : 0);
    for (const auto* conversions : {&inputs_, &outputs_}) {
      for (const Conversion& c : *conversions) bytes = std::max(bytes, c.cast->scratch_bytes());
    }
    return bytes;
  }

  std::vector<Conversion> inputs_, outputs_;
  std::unique_ptr<Kernel> copy_;
  detail::ChosenKernel inner_;
  std::size_t input_count_ = 0, output_count_;
  std::size_t input_pointers_ = 0, output_pointers_ = 0, rest_ = 0, scratch_bytes_ = 0;  // offsets in scratch memory
};

}  // namespace

std::unique_ptr<Kernel> create_widened(const KernelRequest& request, std::string& reason) {
  const auto half = [](const Spec& spec) { return is_half(spec.dtype); };
  const bool is_update = !request.op->in_place.empty();
  if (is_update && (request.attributes.has("kept") || request.attributes.has("key"))) {
    return decline(reason, "takes updates that round to nearest; got {}", request.attributes.to_string());
  }
  if (std::any_of(request.inputs.begin(), request.inputs.end(), half) ||
      std::any_of(request.outputs.begin(), request.outputs.end(), half)) {
    return std::make_unique<Widened>(request);
  }
  return decline(reason, "takes bfloat16 or float16 operands; got only other dtypes");
}

std::vector<detail::Implementation> widen_implementations() {
  std::vector<detail::Implementation> list;
  for (const Op* op : ops::table()) {
    if (op->widens) list.push_back({.name = "widen", .op = op, .create = create_widened, .int8_products = true});
  }
  return list;
}

}  // namespace mezzo
