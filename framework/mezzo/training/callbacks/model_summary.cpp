#include <mezzo/training/callbacks/model_summary.hpp>

#include <vector>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/core/text_table.hpp>

namespace mezzo {
namespace {

using LayerRows = std::vector<std::vector<std::string>>;

/// Elements of all weights of a layer and those below.
std::int64_t count_below(const detail::LayerState& state) {
  std::int64_t count = 0;
  for (const Variable& weight : state.weights) count += element_count(weight.shape());
  for (const auto& child : state.children) count += count_below(*child.second);
  return count;
}

void add_layer_rows(const detail::LayerState& state, const std::string& path, bool trainable, int depth,
                    LayerRows& rows) {
  if (depth == 0) return;
  for (const auto& [name, child] : state.children) {
    const bool trains = trainable && child->trainable;
    const std::int64_t count = count_below(*child);
    rows.push_back({path + name, child->kind, detail::count_text(count), count == 0 ? "-" : trains ? "yes" : "no"});
    add_layer_rows(*child, path + name + ".", trains, depth - 1, rows);
  }
}

}  // namespace

ModelSummary::ModelSummary(const ModelSummaryOptions& options) : options_(options) {
  if (options_.max_depth < -1) {
    fail<ValueError>("[ModelSummary]", "max_depth must be -1 or more; got {}", options_.max_depth);
  }
}

std::string ModelSummary::text(const Module& module, int max_depth) {
  LayerRows rows;
  add_layer_rows(*module.state(), "", module.trainable(), max_depth, rows);
  std::string out;
  for (const std::string& line : detail::table_lines({{"Name"}, {"Type"}, {"Params", true}, {"Trainable"}}, rows)) {
    out += line + "\n";
  }
  std::int64_t trained = 0, total = 0;
  std::size_t bytes = 0;
  for (const Variable& weight : module.trainable_weights()) trained += element_count(weight.shape());
  for (const Variable& weight : module.weights()) {
    total += element_count(weight.shape());
    bytes += weight.state()->value.bytes();
  }
  return out + fmt::format("Trainable params: {}\nNon-trainable params: {}\nTotal params: {} ({})\n",
                           detail::count_text(trained), detail::count_text(total - trained), detail::count_text(total),
                           detail::bytes_text(bytes));
}

void ModelSummary::on_fit_start() {
  if (options_.max_depth != 0) detail::write_output(text(module(), options_.max_depth));
}

}  // namespace mezzo
