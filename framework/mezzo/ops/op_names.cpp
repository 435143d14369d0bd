#include <mezzo/ops/op_names.hpp>

#include <algorithm>
#include <set>
#include <string_view>

#include <mezzo/core/edit_distance.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/graph/op_registry.hpp>
#include <mezzo/io/file.hpp>

namespace mezzo::detail {
namespace {

constexpr std::uint64_t largest_file = std::uint64_t{1} << 20;  // in bytes
constexpr std::size_t longest_name = 64;

/// Names of torch ops without a counterpart here. Lists written for other libraries contain them.
const std::set<std::string>& absent() {
  static const std::set<std::string> names{"adaptive_avg_pool2d",
                                           "addcdiv",
                                           "addcmul",
                                           "addmv",
                                           "addr",
                                           "avg_pool1d",
                                           "avg_pool3d",
                                           "cdist",
                                           "celu",
                                           "conv_tbc",
                                           "cosine_similarity",
                                           "einsum",
                                           "elu",
                                           "embedding_bag",
                                           "gru_cell",
                                           "index_copy",
                                           "lstm_cell",
                                           "max_pool1d",
                                           "max_pool3d",
                                           "norm",
                                           "prelu",
                                           "rnn_relu",
                                           "rnn_tanh",
                                           "stack",
                                           "std",
                                           "var"};
  return names;
}

/// Names of torch's losses that are compositions here, of float32 and wider numbers.
const std::set<std::string>& losses() {
  static const std::set<std::string> names{"binary_cross_entropy",
                                           "binary_cross_entropy_with_logits",
                                           "hinge_embedding_loss",
                                           "kl_div",
                                           "l1_loss",
                                           "mse_loss",
                                           "smooth_l1_loss"};
  return names;
}

/// This library's name for `name`; empty if there is none.
std::string find(const std::string& name) {
  for (const Op* op : registered_ops()) {
    const auto& torch = op->torch_names;
    if (op->name == name || std::find(torch.begin(), torch.end(), name) != torch.end()) return op->name;
  }
  return "";
}

/// The three nearest valid names.
std::string nearest(const std::string& name) {
  std::vector<std::pair<std::size_t, std::string>> all;
  const auto add = [&](const std::string& other) { all.emplace_back(detail::edit_distance(name, other), other); };
  for (const Op* op : registered_ops()) {
    add(op->name);
    std::for_each(op->torch_names.begin(), op->torch_names.end(), add);
  }
  std::for_each(absent().begin(), absent().end(), add);
  std::for_each(losses().begin(), losses().end(), add);
  std::sort(all.begin(), all.end());
  return fmt::format("{}, {}, {}", all[0].second, all[1].second, all[2].second);
}

/// Appends this library's name for `name`. Torch ops that the library lacks, and losses on the lower list, cause a
/// warning. Throws a NameError otherwise.
void resolve(const std::string& name, const std::string& where, bool lower, std::vector<std::string>& out) {
  // Before nearest(), whose time is proportional to the length.
  if (name.size() > longest_name) {
    fail<NameError>("", "{}: the name of an op must have at most {} characters; got {}, which begin with \"{}\"", where,
                    longest_name, name.size(), name.substr(0, longest_name));
  }
  const std::string found = find(name);
  if (!found.empty()) {
    out.push_back(found);
  } else if (losses().count(name) != 0) {
    if (lower) warn(fmt::format("{}: \"{}\" has no effect: losses compute in at least float32", where, name));
  } else if (absent().count(name) != 0) {
    warn(fmt::format("{}: \"{}\" has no effect: no op of this library computes it alone", where, name));
  } else {
    fail<NameError>("", "{}: unknown op \"{}\"; nearest valid names: {}", where, name, nearest(name));
  }
}

}  // namespace

std::vector<std::string> resolve_op_names(const std::vector<std::string>& names, const std::string& where, bool lower) {
  std::vector<std::string> out;
  for (const std::string& name : names) resolve(name, where, lower, out);
  return out;
}

std::vector<std::string> read_op_names(const std::string& path, bool lower) {
  const Bytes bytes = read_file(path, largest_file);
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::vector<std::string> out;
  for (int line = 1; !rest.empty(); ++line) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view text = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    text = text.substr(0, text.find('#'));
    const std::size_t begin = text.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) continue;
    const std::string name(text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin));
    resolve(name, fmt::format("[OpLists] \"{}\" line {}", path, line), lower, out);
  }
  return out;
}

}  // namespace mezzo::detail
