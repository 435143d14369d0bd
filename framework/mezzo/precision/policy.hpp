#pragma once
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <mezzo/core/dtype.hpp>
#include <mezzo/precision/op_precision.hpp>

namespace mezzo {

class PolicyMap;

/// In which dtype a layer computes, in which its variables are kept, and in which what it gives leaves it. A value with
/// a name, as in Keras or jmp:
///
/// | name | compute | variables | output |
/// |---|---|---|---|
/// | float32, float64, bfloat16, float16 | that | that | that |
/// | mixed_bfloat16 | bfloat16 | float32 | bfloat16 |
/// | mixed_float16 | float16, with loss scaling | float32 | float16 |
/// | p=f32,c=bf16,o=f32 | c, or p if there is none | p, or float32 | o, or c |
///
/// jmp's names of dtypes are f16 or half, bf16, f32 or full, f64, or those above; params, compute and output may be
/// written out.
///
/// The empty policy inherits: the nearest enclosing level decides (containers, Trainer, set_dtype_policy).
class Policy {
 public:
  Policy() = default;

  /// A NameError that lists the good names if there is none of this one; "" inherits.
  Policy(const std::string& name);
  Policy(const char* name) : Policy(std::string(name)) {}

  /// A floating dtype for both; a NameError for an integer one.
  Policy(DType dtype) : Policy(std::string(dtype_name(dtype))) {}

  /// All three; a NameError unless they are floating.
  Policy(DType compute, DType variable, DType output);

  /// By layer: see PolicyMap.
  Policy(const PolicyMap& map);

  /// By op: see OpLists. Variables are float32, and so is the compute dtype that layers report.
  template <class Lists, class = std::enable_if_t<std::is_convertible_v<const Lists*, const OpPrecision*>>>
  Policy(const Lists& lists) : Policy(std::shared_ptr<const OpPrecision>(std::make_shared<const Lists>(lists))) {}
  explicit Policy(std::shared_ptr<const OpPrecision> by_op);

  bool inherits() const { return name_ == nullptr; }

  /// What it says of a layer with this path, counted from where the policy was given: itself, or the map's entry, which
  /// may inherit.
  Policy at(const std::string& path) const;

  /// The map that it was made from, or null.
  const PolicyMap* map() const { return map_.get(); }

  /// The op lists that it was made from, or null.
  const OpPrecision* by_op() const { return by_op_.get(); }

  const std::string& name() const;

  /// Of a map, those of its default.
  DType compute_dtype() const { return compute_; }
  DType variable_dtype() const { return variable_; }
  DType output_dtype() const { return output_; }
  bool operator==(const Policy& other) const { return name() == other.name(); }
  bool operator!=(const Policy& other) const { return !(*this == other); }

 private:
  std::shared_ptr<const std::string> name_;  // null inherits; shared, as policies are copied in each step
  DType compute_ = DType::float32;
  DType variable_ = DType::float32;
  DType output_ = DType::float32;
  std::shared_ptr<const PolicyMap> map_;
  std::shared_ptr<const OpPrecision> by_op_;
};

/// The dtype in which ops compute under a policy; under op lists that of the lower list.
DType computes_in(const Policy& policy);

/// Sets the policy that holds where no layer, container or Trainer says another; an inheriting one means float32.
void set_dtype_policy(const Policy& policy);

/// The policy set so; float32 at the start.
Policy dtype_policy();

/// What `Trainer({.precision})` takes: 32, 16 or 64, or a name.
///
/// | precision | policy |
/// |---|---|
/// | 32, "32", "32-true", "float32" | float32 |
/// | 64, "64", "64-true", "float64" | float64 |
/// | "bf16", "bf16-mixed", "mixed_bfloat16" | mixed_bfloat16 |
/// | 16, "16", "16-mixed", "mixed_float16" | mixed_float16, on a CPU too |
/// | "bf16-true", "bfloat16" | bfloat16 |
/// | "16-true", "float16" | float16 |
/// | "auto" | of float32, mixed_bfloat16 and mixed_float16 the one that trains this model fastest here |
///
/// "auto" is for fit: it runs a few steps under each, checks that their losses agree with float32's, puts weights and
/// optimizers back as they were, and writes a line that says what it chose and why. Later calls with the model keep it.
///
/// Not given, each model keeps its own policy. Anything else is a NameError that lists the good ones.
class Precision {
 public:
  Precision() = default;
  Precision(int bits) : Precision(std::to_string(bits)) {}
  Precision(bool) = delete;
  Precision(const char* name) : Precision(std::string(name)) {}
  Precision(const std::string& name);
  Precision(Policy policy) : policy_(std::move(policy)) {}
  Precision(const PolicyMap& map) : policy_(map) {}
  template <class Lists, class = std::enable_if_t<std::is_convertible_v<const Lists*, const OpPrecision*>>>
  Precision(const Lists& lists) : policy_(lists) {}

  const Policy& policy() const { return policy_; }

  /// Whether it is "auto"; the policy then inherits.
  bool automatic() const { return automatic_; }

 private:
  Policy policy_;
  bool automatic_ = false;
};

}  // namespace mezzo
