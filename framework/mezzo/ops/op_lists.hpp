#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/core/dtype.hpp>
#include <mezzo/precision/op_precision.hpp>

namespace mezzo {

/// Names in lists are this library's ("matmul") or torch's ("mm", "linear"); torch's of ops that aren't here are taken
/// too and mean nothing. An unknown name is a NameError with the nearest ones, and the line if it stands in a file.
struct OpListsOptions {
  DType dtype = DType::bfloat16;  ///< of the ops of the lower list; or float16, with loss scaling
  /// "O1": the lists. "O2": matrix products and convolutions in `dtype`, everything else in float32; it takes no lists.
  std::string opt_level = "O1";
  std::optional<std::vector<std::string>> lower{};    ///< ops that compute in `dtype`; not given, Habana's default
  std::optional<std::vector<std::string>> float32{};  ///< ops that compute in float32; not given, Habana's default
  std::string lower_file{};    ///< the same from a file: one op a line, what follows a # is a comment
  std::string float32_file{};  ///< the same
  bool verbose = false;        ///< writes each cast once: op, layer, from, to
};

/// Precision by op instead of by layer, as Habana's HMP: a list of ops that compute in a low precision and one of those
/// that compute in float32. Of the others, one of several equal operands (add, concat) computes in the widest, an
/// in-place one (a += b) and all the rest in the first operand's dtype. float64 is left alone.
///
/// A policy, wherever one is taken: `Trainer({.precision = OpLists({.dtype = DType::float16})})`. Under it layers cast
/// nothing, in whatever policy of their own: variables are float32 and only ops cast, in the forward pass; gradients
/// have the dtypes of their values. disable_casts() comes before the lists, and so does an autocast() within them.
class OpLists : public OpPrecision {
 public:
  /// A ValueError for a dtype that isn't float16 or bfloat16, another opt_level, lists with "O2", a list and its file,
  /// or an op on both lists; a FileError for an unreadable file.
  explicit OpLists(const OpListsOptions& options = {});

  /// The lists of torch.autocast on CPUs: products, convolutions and attention in `dtype`, losses in float32.
  static OpLists torch_amp(DType dtype = DType::bfloat16, bool verbose = false);

  DType dtype() const override { return dtype_; }
  bool verbose() const override { return told_ != nullptr; }

  /// How the lists have the op of that name, one of this library's.
  Listing listing(const std::string& op) const override;

  /// Equal for lists that say the same.
  const std::string& name() const override { return name_; }

  void report_cast(const std::string& op, const std::string& path, DType from, DType to) const override;

 private:
  struct Told;

  DType dtype_;
  Listing others_ = Listing::unlisted;
  std::map<std::string, Listing> listings_;
  std::string name_;
  std::shared_ptr<Told> told_;  // null: not verbose
};

}  // namespace mezzo
