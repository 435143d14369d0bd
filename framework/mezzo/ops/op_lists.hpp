#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/dtype.hpp>
#include <mezzo/precision/op_precision.hpp>

namespace mezzo {

/// Options of OpLists. The lists hold names of this library ("matmul") or of torch ("mm", "linear"). Torch's names of
/// ops that this library lacks have no effect and cause a warning. Any other name is a NameError with the nearest valid
/// names, and with the line number if it is in a file.
struct OpListsOptions {
  DType dtype = DType::bfloat16;  ///< dtype of the ops in `lower`: bfloat16, or float16 (with loss scaling)
  /// "O1": casts by the lists. "O2": matrix products and convolutions compute in `dtype`, everything else in float32;
  /// no list may be given.
  std::string opt_level = "O1";
  std::optional<std::vector<std::string>> lower{};    ///< ops that compute in `dtype`; default: Habana's list
  std::optional<std::vector<std::string>> float32{};  ///< ops that compute in float32; default: Habana's list
  /// Path of a file with the ops of `lower`, one a line; a # begins a comment. At most 1 MiB.
  std::string lower_file{};
  std::string float32_file{};  ///< path of a file with the ops of `float32`
  bool verbose = false;        ///< writes each cast once to the output: op, layer, both dtypes
};

/// Precision by op instead of by layer, as Habana's HMP: one list of ops that compute in a low precision and one of ops
/// that compute in float32. An op on neither list computes in the dtype of its first operand; an op of several equal
/// operands (add, concat), unless it is in place (a += b), computes in the widest of their dtypes. float64 operands of
/// listed ops are not cast.
///
/// An OpLists is accepted as a policy: `Trainer({.precision = OpLists({.dtype = DType::float16})})`. Layers then cast
/// nothing, even if they have a policy of their own. Variables are float32. Only ops cast, in the forward pass;
/// gradients have the dtypes of their values. disable_casts() and an inner autocast() override the lists.
class MEZZO_API OpLists : public OpPrecision {
 public:
  /// Throws a ValueError for a dtype other than float16 and bfloat16, an unknown opt_level, lists with "O2", a list
  /// given twice (names and file), or an op on both lists. Throws a FileError for an unreadable file.
  explicit OpLists(const OpListsOptions& options = {});

  /// The lists of torch.autocast on CPUs: products, convolutions and attention in `dtype`, losses in float32.
  static OpLists torch_amp(DType dtype = DType::bfloat16, bool verbose = false);

  DType dtype() const override { return dtype_; }
  bool verbose() const override { return told_ != nullptr; }

  /// The list that contains this op, by this library's name.
  detail::Listing listing(const std::string& op) const override;

  /// Equal for lists with the same effect.
  const std::string& name() const override { return name_; }

  void report_cast(const std::string& op, const std::string& path, DType from, DType to) const override;

 private:
  struct Told;

  DType dtype_;
  detail::Listing others_ = detail::Listing::unlisted;
  std::map<std::string, detail::Listing> listings_;
  std::string name_;
  std::shared_ptr<Told> told_;  // null if not verbose
};

}  // namespace mezzo
