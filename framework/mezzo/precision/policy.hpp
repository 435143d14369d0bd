#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <mezzo/core/api.hpp>
#include <mezzo/core/dtype.hpp>
#include <mezzo/core/names.hpp>
#include <mezzo/precision/op_precision.hpp>
#include <mezzo/precision/quantization_mode.hpp>

namespace mezzo {

class PolicyMap;

/// Compute, variable and output dtype of a layer, with names as in Keras or jmp:
///
/// | name | compute | variables | output |
/// |---|---|---|---|
/// | float32, float64, bfloat16, float16 | same | same | same |
/// | mixed_bfloat16 | bfloat16 | float32 | bfloat16 |
/// | mixed_float16 | float16, with loss scaling | float32 | float16 |
/// | mixed_int8 | bfloat16, with products of int8 | float32 | bfloat16 |
/// | p=f32,c=bf16,o=f32 | c; default: p | p; default: float32 | o; default: c |
/// | int8_from_float32, int4/128_from_mixed_bfloat16 | of the policy after "_from_" | same | same |
/// | float8_from_float32, float8_from_mixed_bfloat16 | likewise, with products of float8, emulated | same | same |
///
/// A layer that is built under a quantized policy stores its kernels as integers, as Layer::quantize() does. The part
/// before "_from_" is its mode: int8, int4 (one scale for each output) or int4/128 (one for each block of 128 inputs),
/// then optionally /none, /dynamic or /static for the inputs of products; nf4 or nf4/64; gptq/4/128 for Dense and
/// EinsumDense layers, whose weights Layer::quantize("gptq", GPTQConfig) or a file gives.
///
/// fake_int8_from_float32 and fake_int4/128_from_float32 prepare for a quantized model (quantization-aware training):
/// kernels stay floats, and products round them and their inputs to what the mode would store. Their inputs can also be
/// /learned: fake_int8/learned_from_float32.
///
/// Under float8_from_float32, Dense, EinsumDense and attention projections train with operands of products in
/// float8_e4m3fn and gradients in float8_e5m2, as in Keras. Their kernels stay floats. Throws a ValueError for a policy
/// after "_from_" with products of int8.
///
/// Under mixed_int8, products of the kernels of dense layers and attention projections quantize their operands to int8,
/// with a scale for each row of inputs and column of the kernel (Wortsman et al., 2023). So do Conv2D layers with 32
/// channels and filters or more, with a scale for each image and filter. Gradients of kernels stay in the compute
/// dtype. The notation of the same for other dtypes is products: "p=f32,c=f32,products=int8". products=int8_tiles also
/// quantizes the operands of the gradients of dense kernels. Throws a NameError for products in float64.
///
/// The dtypes of jmp's notation are f16 or half, bf16, f32 or full, f64, and the names above. The keys may be written
/// out: params, compute, output.
///
/// The empty policy inherits from the nearest enclosing level that has a policy: a container, the Trainer, or
/// set_dtype_policy().
class MEZZO_API Policy {
 public:
  Policy() = default;

  /// The policy of that name, a std::string or a literal; "" inherits. Throws a NameError that lists the valid names if
  /// there is none.
  template <class S, detail::IfName<S> = 0>
  Policy(const S& name) : Policy(from_name(name)) {}

  /// The policy with all three dtypes equal. Throws a NameError unless the dtype is floating.
  Policy(DType dtype) : Policy(dtype, dtype, dtype) {}

  /// A policy of three dtypes. Throws a NameError unless all are floating.
  Policy(DType compute, DType variable, DType output);

  /// A policy for each layer; see PolicyMap.
  Policy(const PolicyMap& map);

  /// A policy for each op; see OpLists. Variables are float32; compute_dtype() returns float32.
  template <class Lists, class = std::enable_if_t<std::is_convertible_v<const Lists*, const OpPrecision*>>>
  Policy(const Lists& lists) : Policy(std::shared_ptr<const OpPrecision>(std::make_shared<const Lists>(lists))) {}
  explicit Policy(std::shared_ptr<const OpPrecision> by_op);

  /// True for the empty policy.
  bool inherits() const { return name_ == nullptr; }

  /// Policy of a layer with this path, relative to the layer whose policy this is: the policy itself, or the map's
  /// entry, which may inherit.
  Policy at(const std::string& path) const;

  /// The map of a policy made from a PolicyMap, else null.
  const PolicyMap* map() const { return map_.get(); }

  /// The op lists of a policy made from OpLists, else null.
  const OpPrecision* by_op() const { return by_op_.get(); }

  /// Name in the table above, or the text of the map or the op lists; "" if it inherits.
  const std::string& name() const;

  /// @name Dtypes; of a map, the dtypes of its default policy
  /// @{
  DType compute_dtype() const { return compute_; }
  DType variable_dtype() const { return variable_; }
  DType output_dtype() const { return output_; }
  /// @}

  /// Format of the weights that the policy quantizes, or float8; none for most policies.
  QuantizationMode quantization_mode() const { return mode_; }

  /// Format that the policy prepares weights for, while they stay floats: int8 of fake_int8_from_float32.
  QuantizationMode fake_quantization() const { return fake_; }

  /// Inputs that share a scale under int4 and nf4 policies; -1: all.
  std::int64_t block_size() const { return block_size_; }

  /// Format of the inputs of products with quantized weights.
  QuantizedInputs quantized_inputs() const { return inputs_; }

  /// The policy without quantization: float32 of int8_from_float32.
  Policy source() const;

  /// Format of the operands of matrix products in training.
  ProductFormat products() const { return products_; }

  /// Policies are equal if their names are.
  bool operator==(const Policy& other) const { return name() == other.name(); }
  bool operator!=(const Policy& other) const { return !(*this == other); }

 private:
  static Policy from_name(const std::string& name);
  static Policy from_notation(const std::string& text);

  /// The same policy with products in that format, under its own name.
  Policy with_products(ProductFormat products) const;
  static Policy quantized_from(const std::string& name, std::size_t from);

  std::shared_ptr<const std::string> name_;  // null: inherits; shared because policies are copied in each step
  DType compute_ = DType::float32;
  DType variable_ = DType::float32;
  DType output_ = DType::float32;
  QuantizationMode mode_ = QuantizationMode::none;
  QuantizationMode fake_ = QuantizationMode::none;
  QuantizedInputs inputs_ = QuantizedInputs::floats;
  ProductFormat products_ = ProductFormat::same;
  std::int64_t block_size_ = -1;
  std::shared_ptr<const PolicyMap> map_;
  std::shared_ptr<const OpPrecision> by_op_;
};

namespace detail {
/// Dtype in which ops compute under a policy; under op lists, the dtype of the lower list.
MEZZO_API DType computes_in(const Policy& policy);
}  // namespace detail

/// Sets the policy for everything without a policy of its layer, container or Trainer. An inheriting one means float32.
/// The next run (fit, evaluate, predict) of a model that is built already converts its variables.
MEZZO_API void set_dtype_policy(const Policy& policy);

/// The policy set by set_dtype_policy(); default: float32.
MEZZO_API Policy dtype_policy();

namespace detail {
/// Number of changes of dtype_policy(). A variable with a dtype of an older version is converted by the next run.
MEZZO_API std::uint32_t dtype_policy_version();
}  // namespace detail

/// Option `precision` of the Trainer: 32, 16, 64 or a name.
///
/// | precision | policy |
/// |---|---|
/// | 32, "32", "32-true", "float32" | float32 |
/// | 64, "64", "64-true", "float64" | float64 |
/// | "bf16", "bf16-mixed", "mixed_bfloat16" | mixed_bfloat16 |
/// | 16, "16", "16-mixed", "mixed_float16" | mixed_float16, on a CPU too |
/// | "bf16-true", "bfloat16" | bfloat16 |
/// | "16-true", "float16" | float16 |
/// | "int8-mixed", "mixed_int8" | mixed_int8 inside of the model |
/// | "auto" | the fastest of float32, mixed_bfloat16 and mixed_float16 for this model and machine |
/// | "auto-int8" | "auto" that also tries "int8-mixed" |
///
/// "int8-mixed" is completed for the model when it runs. The first and the last of its layers with a matrix of weights
/// have mixed_bfloat16, because int8 products cost most accuracy there; all others have mixed_int8. If this CPU
/// multiplies bfloat16 no faster than float32, the two policies are float32 and "p=f32,c=f32,products=int8" instead.
/// Give `Policy("mixed_int8")` or a PolicyMap for a policy that is the same for all layers and machines.
///
/// "auto" is for fit. It runs a few steps under each policy, checks that the losses agree with the losses of float32,
/// restores weights and optimizers, and writes a line with the choice and the reason. Later calls with the model keep
/// the choice.
///
/// Default: each model keeps its own policy. An unknown name is a NameError that lists the valid names.
class MEZZO_API Precision {
 public:
  Precision() = default;

  /// Bits 16, 32 or 64, a name of the table, a Policy, a PolicyMap or op lists. A ValueError for other bits, a
  /// NameError for an unknown name.
  Precision(int bits);
  Precision(bool) = delete;
  Precision(std::nullptr_t) = delete;
  Precision(const char* name) : Precision(std::string(name)) {}
  Precision(const std::string& name);
  Precision(Policy policy) : policy_(std::move(policy)) {}
  Precision(const PolicyMap& map) : policy_(map) {}
  template <class Lists, class = std::enable_if_t<std::is_convertible_v<const Lists*, const OpPrecision*>>>
  Precision(const Lists& lists) : policy_(lists) {}

  const Policy& policy() const { return policy_; }  ///< inherits, if none was given; see automatic()

  /// True for "auto" and "auto-int8"; the policy then inherits.
  bool automatic() const { return automatic_; }

  /// True for "int8-mixed" and "mixed_int8" by name, which leave the first and last layer in 16 bits, and for
  /// "auto-int8", which may choose it.
  bool int8_inside() const { return int8_inside_; }

 private:
  Policy policy_;
  bool automatic_ = false, int8_inside_ = false;
};

}  // namespace mezzo
