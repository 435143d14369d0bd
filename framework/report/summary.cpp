#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include <mezzo/model/model.hpp>
#include <mezzo/report/detail/table.hpp>

namespace mezzo {
namespace {

const std::vector<detail::Column> columns{{"Layer (type)"}, {"Path"},          {"Output shape"}, {"Compute"},
                                          {"Variables"},    {"Param #", true}, {"Bytes", true},  {"Trainable"}};

/// 1234567 -> "1,234,567".
std::string grouped(std::int64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t i = text.size(); i > 3;) text.insert(i -= 3, ",");
  return text;
}

std::string bytes_text(std::size_t bytes) {
  const char* units[] = {"KiB", "MiB", "GiB"};
  double number = static_cast<double>(bytes) / 1024;
  if (number < 1) return std::to_string(bytes) + " B";
  std::size_t unit = 0;
  for (; number >= 1024 && unit < 2; ++unit) number /= 1024;
  return fmt::format("{:.1f} {}", number, units[unit]);
}

/// How many numbers, in how many bytes.
struct Size {
  std::int64_t count = 0;
  std::size_t bytes = 0;
  void add(const Tensor& tensor) {
    count += tensor.size();
    bytes += tensor.bytes();
  }
  std::string text() const { return grouped(count) + " (" + bytes_text(bytes) + ")"; }
};

/// The weights of a layer and of those below it, each once.
void collect_weights(const LayerState& state, std::vector<Variable>& out) {
  for (const Variable& weight : state.weights) {
    const auto same = [&](const Variable& other) { return other.id() == weight.id(); };
    if (std::none_of(out.begin(), out.end(), same)) out.push_back(weight);
  }
  for (const auto& child : state.children) collect_weights(*child.second, out);
}

std::string dtypes_of(const std::vector<Variable>& weights) {
  std::string text;
  std::vector<DType> seen;
  for (const Variable& weight : weights) {
    if (std::find(seen.begin(), seen.end(), weight.dtype()) != seen.end()) continue;
    seen.push_back(weight.dtype());
    text += (text.empty() ? "" : ", ") + std::string(dtype_name(weight.dtype()));
  }
  return text.empty() ? "-" : text;
}

/// With the batch axis open, whatever batch came last.
std::string output_text(const std::optional<Shape>& output) {
  if (!output) return "?";
  Shape shape = *output;
  if (!shape.empty()) shape[0] = -1;
  return to_string(shape);
}

/// The lines of a layer's sub-layers, each with those below it.
class Lines {
 public:
  void add_below(const LayerState& state, const std::string& path, std::size_t depth, const Policy& policy,
                 bool trainable) {
    for (const auto& [name, child] : state.children) {
      const Policy& nearest = child->policy.inherits() ? policy : child->policy;
      const bool trained = trainable && child->trainable;
      add(*child, name, path + name, depth, nearest, trained);
      add_below(*child, path + name + "/", depth + 1, nearest, trained);
    }
  }

  void add(const LayerState& state, const std::string& name, const std::string& path, std::size_t depth,
           const Policy& policy, bool trained) {
    std::vector<Variable> weights;
    collect_weights(state, weights);
    Size size;
    for (const Variable& weight : weights) size.add(weight.value());
    const bool built = state.called || !weights.empty();
    const Policy& shown = state.last_policy.inherits() ? policy : state.last_policy;
    unbuilt_ += built ? 0 : 1;
    rows_.push_back({std::string(2 * depth, ' ') + name + (name.empty() ? "(" : " (") + state.kind + ")", path,
                     output_text(state.last_output), dtype_name(shown.compute_dtype()), dtypes_of(weights),
                     built ? grouped(size.count) : "?", built ? bytes_text(size.bytes) : "?",
                     weights.empty() ? "-"
                     : trained       ? "yes"
                                     : "no"});
  }

  std::string text() const {
    std::string out;
    for (const std::string& line : detail::table_lines(columns, rows_)) out += line + "\n";
    return out;
  }

  int unbuilt() const { return unbuilt_; }

 private:
  std::vector<std::vector<std::string>> rows_;
  int unbuilt_ = 0;
};

}  // namespace

std::string Model::summary_text() const {
  Lines lines;
  const Policy policy = state()->policy.inherits() ? mezzo::dtype_policy() : state()->policy;
  if (!state()->weights.empty()) lines.add(*state(), "", "", 0, policy, trainable());
  lines.add_below(*state(), "", 0, policy, trainable());

  Size total, trained, frozen, slots;
  for (const WeightPolicy& weight : weight_policies(*this, {})) {
    total.add(weight.variable.value());
    (weight.trainable ? trained : frozen).add(weight.variable.value());
  }
  if (compiled_.optimizer) {
    for (const auto& entry : compiled_.optimizer->state()->slots) {
      for (const auto& slot : entry.values) slots.add(slot->value);
    }
  }
  total.count += slots.count;
  total.bytes += slots.bytes;
  std::string text = "Model: " + (name().empty() ? state()->kind : name()) + "\n" + lines.text();
  text += "Total params: " + total.text() +
          (lines.unbuilt() > 0 ? ", without " + std::to_string(lines.unbuilt()) + " layers that are not built" : "") +
          "\nTrainable params: " + trained.text() + "\nNon-trainable params: " + frozen.text() + "\n";
  if (slots.count > 0) text += "Optimizer params: " + slots.text() + "\n";
  return text;
}

void Model::summary() const { std::cout << summary_text() << std::flush; }

}  // namespace mezzo
