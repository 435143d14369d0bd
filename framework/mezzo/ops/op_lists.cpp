#include <mezzo/ops/op_lists.hpp>

#include <mutex>
#include <set>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/ops/op_names.hpp>

namespace mezzo {
namespace {

const std::vector<std::string> products{"conv1d",           "conv2d",           "conv3d", "conv_transpose1d",
                                        "conv_transpose2d", "conv_transpose3d", "matmul"};

/// Habana's default lists, without ops that mezzo lacks.
const std::vector<std::string> habana_lower{
    "batch_norm", "conv1d",    "conv2d",    "conv3d",    "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
    "dropout",    "dropout1d", "dropout2d", "dropout3d", "group_norm",       "instance_norm",    "layer_norm",
    "leaky_relu", "matmul",    "multiply",  "relu",      "transpose"};
const std::vector<std::string> habana_float32{"cross_entropy", "divide",      "embedding", "log",
                                              "log2",          "log_softmax", "softmax",   "top_k"};

std::vector<std::string> chosen(const char* list, const std::optional<std::vector<std::string>>& names,
                                const std::string& file, const std::vector<std::string>& otherwise) {
  if (names && !file.empty()) {
    fail<ValueError>("[OpLists]", "at most one of {} and {}_file may be given; got both", list, list);
  }
  const bool lower = std::string(list) == "lower";
  if (!file.empty()) return detail::read_op_names(file, lower);
  return detail::resolve_op_names(names ? *names : otherwise, fmt::format("[OpLists] {}", list), lower);
}

}  // namespace

/// Casts that were written already.
struct OpLists::Told {
  std::mutex mutex;
  std::set<std::string> lines;
};

OpLists::OpLists(const OpListsOptions& options)
    : dtype_(options.dtype), told_(options.verbose ? std::make_shared<Told>() : nullptr) {
  if (dtype_ != DType::bfloat16 && dtype_ != DType::float16) {
    fail<ValueError>("[OpLists]", "dtype must be bfloat16 or float16; got {}", dtype_);
  }
  std::vector<std::string> lower = products, wide;
  if (options.opt_level == "O2") {
    if (options.lower || options.float32 || !options.lower_file.empty() || !options.float32_file.empty()) {
      fail<ValueError>("[OpLists]",
                       "opt_level \"O2\" must be given without lists (matrix products and convolutions are in {}, "
                       "everything else in float32); got a list",
                       dtype_);
    }
    others_ = detail::Listing::float32;
  } else if (options.opt_level == "O1") {
    lower = chosen("lower", options.lower, options.lower_file, habana_lower);
    wide = chosen("float32", options.float32, options.float32_file, habana_float32);
  } else {
    fail<ValueError>("[OpLists]", "opt_level must be \"O1\" or \"O2\"; got \"{}\"", options.opt_level);
  }
  for (const std::string& op : lower) listings_[op] = detail::Listing::lower;
  for (const std::string& op : wide) {
    if (!listings_.emplace(op, detail::Listing::float32).second && listings_[op] == detail::Listing::lower) {
      fail<ValueError>("[OpLists]", "each op must be on one list; got \"{}\" on both", op);
    }
  }
  name_ = fmt::format("OpLists({}, {}{}", dtype_, options.opt_level, verbose() ? ", verbose" : "");
  for (const auto& [op, list] : listings_) {
    name_ += fmt::format(", {}{}", list == detail::Listing::lower ? '-' : '+', op);
  }
  name_ += ")";
}

OpLists OpLists::torch_amp(DType dtype, bool verbose) {
  std::vector<std::string> lower = products;
  lower.push_back("scaled_dot_product_attention");
  return OpLists({.dtype = dtype,
                  .lower = lower,
                  .float32 = std::vector<std::string>{"cross_entropy", "prod"},
                  .verbose = verbose});
}

detail::Listing OpLists::listing(const std::string& op) const {
  const auto found = listings_.find(op);
  return found == listings_.end() ? others_ : found->second;
}

void OpLists::report_cast(const std::string& op, const std::string& path, DType from, DType to) const {
  const std::string line = fmt::format("[OpLists] {}{}{}: {} -> {}\n", op, path.empty() ? "" : " in ", path, from, to);
  const std::lock_guard<std::mutex> lock(told_->mutex);
  if (told_->lines.insert(line).second) detail::write_output(line);
}

}  // namespace mezzo
