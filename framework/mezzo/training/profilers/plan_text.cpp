#include <mezzo/training/profilers/plan_text.hpp>

#include <algorithm>
#include <cmath>
#include <map>

#include <mezzo/compiler/plan.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/text_table.hpp>

namespace mezzo {
namespace {

using detail::table_lines;
using detail::TextColumn;
using Cells = std::vector<std::string>;

/// Time and work of a kernel, or of all kernels of one op, in a mean step.
struct Cost {
  double time = 0;        ///< nanoseconds
  double operations = 0;  ///< multiplications and additions
  double bytes = 0;       ///< read and written
  int kernels = 0;

  void add(const Cost& other) {
    time += other.time;
    operations += other.operations;
    bytes += other.bytes;
    kernels += other.kernels;
  }
};

/// Amount per nanosecond, which is 1e9 per second; "" if there is none.
std::string rate(double amount, double time) {
  return amount > 0 && time > 0 ? fmt::format("{:.1f}", amount / time) : "";
}

constexpr std::size_t header_lines = 2;  // titles and rule of a table

const std::vector<TextColumn> cost_columns{
    {"us", true}, {"share", true}, {"GFLOP/s", true}, {"GB/s", true}, {"KiB", true}};

Cells cost_cells(const Cost& cost, double wall) {
  return {fmt::format("{:.3f}", cost.time / 1e3), fmt::format("{:.1f} %", 100 * cost.time / wall),
          rate(cost.operations, cost.time), rate(cost.bytes, cost.time),
          cost.bytes > 0 ? fmt::format("{:.0f}", std::ceil(cost.bytes / 1024)) : ""};
}

template <class T>
std::vector<T> joined(std::vector<T> front, const std::vector<T>& middle, const std::vector<T>& back = {}) {
  front.insert(front.end(), middle.begin(), middle.end());
  front.insert(front.end(), back.begin(), back.end());
  return front;
}

struct Named {
  std::string op;
  Cost cost;
};

/// Sums by op, the slowest first.
std::vector<Named> by_op(const std::vector<Named>& costs) {
  std::map<std::string, Cost> sums;
  for (const Named& one : costs) sums[one.op].add(one.cost);
  std::vector<Named> sorted;
  for (const auto& entry : sums) sorted.push_back({entry.first, entry.second});
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Named& a, const Named& b) { return a.cost.time > b.cost.time; });
  return sorted;
}

std::string sums_text(const std::vector<Named>& costs, double wall) {
  std::vector<Cells> rows;
  for (const Named& one : by_op(costs)) {
    const std::string kernels = one.cost.kernels > 0 ? fmt::to_string(one.cost.kernels) : "";
    rows.push_back(joined<std::string>({one.op, kernels}, cost_cells(one.cost, wall)));
  }
  std::string text;
  for (const std::string& line : table_lines(joined({{"op"}, {"kernels", true}}, cost_columns), rows)) {
    text += line + "\n";
  }
  return text;
}

/// One line with the reasons against more specialized kernels; "" if there are none.
std::string declined_text(const std::vector<std::string>& declined) {
  return declined.empty() ? "" : fmt::format("    not {}\n", fmt::join(declined, "; not "));
}

std::string kernel_name(const detail::Plan::Row& row) {
  return row.detail.empty() ? row.kernel : fmt::format("{}:{}", row.kernel, row.detail);
}

std::string layer_name(const detail::Plan::Row& row) { return row.again ? row.path + " (again)" : row.path; }

/// A line per kernel in the plan's order, a line per chore, the sums by op, and the share of the step's wall time that
/// they cover. Times are means over all runs of the plan except the first.
std::string profile_text(const detail::Plan& plan) {
  const std::vector<detail::Plan::Row> kernels = plan.rows();
  const Profile& profile = plan.profile();
  const double wall = profile.wall_time();
  std::vector<Named> costs;
  std::vector<Cells> rows;
  for (const detail::Plan::Row& row : kernels) {
    const Cost cost{.time = profile.lap_time(costs.size()),
                    .operations = row.operations,
                    .bytes = static_cast<double>(row.bytes),
                    .kernels = 1};
    costs.push_back({row.op, cost});
    rows.push_back(
        joined<std::string>({row.op, layer_name(row)}, cost_cells(cost, wall), {kernel_name(row), row.outputs}));
  }
  for (const char* chore : detail::chore_names) {
    costs.push_back({chore, {.time = profile.lap_time(costs.size())}});
    rows.push_back(joined<std::string>({chore, ""}, cost_cells(costs.back().cost, wall), {"", ""}));
  }
  const auto lines = table_lines(joined({{"op"}, {"layer"}}, cost_columns, {{"kernel"}, {"outputs"}}), rows);
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += lines[i] + "\n";
    const bool is_kernel = i >= header_lines && i - header_lines < kernels.size();
    if (is_kernel) text += declined_text(kernels[i - header_lines].declined);
  }
  return text + "\n" + sums_text(costs, wall) +
         fmt::format("\n{:.1f} % of the step's {:.3f} us, the mean of {} after the first\n",
                     100 * profile.run_time() / wall, wall / 1e3, profile.runs());
}

}  // namespace

std::string detail::explain_text(const Module& module, const std::string& where, const ExplainOptions& options) {
  const std::shared_ptr<detail::RunState>& state = module.run_state();
  if (!state) fail<ValueError>(where, "explain: a step must have run; got none");
  const detail::AccessScope access(state->usage);
  if (access.refused()) {
    fail<ValueError>(where, "explain: the model must be idle; got a call while another thread runs it");
  }
  if (!state->last_plan) fail<ValueError>(where, "explain: a step must have run; got none");
  const detail::Plan& plan = *state->last_plan;
  if (options.profile) {
    if (plan.profile().runs() > 0) return profile_text(plan);
    fail<ValueError>(where, "explain: a profile needs 2 steps or more, since the first isn't counted; got 1");
  }
  const std::vector<detail::Plan::Row> kernels = plan.rows();
  std::vector<Cells> rows;
  std::size_t total = 0;
  for (const detail::Plan::Row& row : kernels) {
    rows.push_back({row.op, layer_name(row), kernel_name(row), fmt::to_string((row.bytes + 1023) / 1024), row.outputs});
    total += row.bytes;
  }
  const auto lines = table_lines({{"op"}, {"layer"}, {"kernel"}, {"KiB", true}, {"outputs"}}, rows);
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += lines[i] + "\n";
    if (!options.declined || i < header_lines) continue;
    for (const std::string& reason : kernels[i - header_lines].declined) text += fmt::format("    not {}\n", reason);
  }
  return text + fmt::format("{} kernels, {} KiB read and written, arena {} KiB\n", kernels.size(), total / 1024,
                            plan.arena_bytes() / 1024);
}

}  // namespace mezzo
