#include <mezzo/training/profile.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include <mezzo/core/text_table.hpp>

namespace mezzo::detail {
namespace {

using Cells = std::vector<std::string>;

/// What a kernel, or all of one op, did in a mean step.
struct Cost {
  double time = 0;  ///< nanoseconds
  double operations = 0, bytes = 0;
  int kernels = 0;

  void add(const Cost& other) {
    time += other.time;
    operations += other.operations;
    bytes += other.bytes;
    kernels += other.kernels;
  }
};

/// Units a nanosecond are 1e9 a second.
std::string rate(double amount, double time) {
  return amount > 0 && time > 0 ? fmt::format("{:.1f}", amount / time) : "";
}

const std::vector<Column> cost_columns{{"us", true}, {"share", true}, {"GFLOP/s", true}, {"GB/s", true}, {"KiB", true}};

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

/// By op, the slowest first.
std::vector<Named> by_op(const std::vector<Named>& costs) {
  std::map<std::string, Cost> sums;
  for (const Named& one : costs) sums[one.op].add(one.cost);
  std::vector<Named> sorted;
  for (const auto& entry : sums) sorted.push_back({entry.first, entry.second});
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Named& a, const Named& b) { return a.cost.time > b.cost.time; });
  return sorted;
}

std::string summary(const std::vector<Named>& costs, double wall) {
  std::vector<Cells> rows;
  for (const Named& one : by_op(costs)) {
    const std::string kernels = one.cost.kernels > 0 ? std::to_string(one.cost.kernels) : "";
    rows.push_back(joined<std::string>({one.op, kernels}, cost_cells(one.cost, wall)));
  }
  std::string text;
  for (const std::string& line : table_lines(joined({{"op"}, {"kernels", true}}, cost_columns), rows)) {
    text += line + "\n";
  }
  return text;
}

std::string why_not(const std::vector<std::string>& declined) {
  std::string text;
  for (const std::string& reason : declined) text += (text.empty() ? "    not " : "; not ") + reason;
  return text.empty() ? text : text + "\n";
}

}  // namespace

std::string profile_text(const Plan& plan) {
  const std::vector<Plan::Row> kernels = plan.rows();
  const Profile& profile = plan.profile();
  const double wall = profile.wall_time();
  std::vector<Named> costs;
  std::vector<Cells> rows;
  for (const Plan::Row& row : kernels) {
    costs.push_back({row.op, {profile.lap_time(costs.size()), row.operations, static_cast<double>(row.bytes), 1}});
    const std::string kernel = row.kernel + (row.detail.empty() ? "" : ":" + row.detail);
    rows.push_back(joined<std::string>({row.op, row.path}, cost_cells(costs.back().cost, wall), {kernel, row.outputs}));
  }
  for (const char* chore : {"(binding)", "(compute copies)", "(gates)", "(commits)"}) {
    costs.push_back({chore, {profile.lap_time(costs.size()), 0, 0, 0}});
    rows.push_back(joined<std::string>({chore, ""}, cost_cells(costs.back().cost, wall), {"", ""}));
  }
  const auto lines = table_lines(joined({{"op"}, {"layer"}}, cost_columns, {{"kernel"}, {"outputs"}}), rows);
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += lines[i] + "\n";
    const bool is_kernel = i >= 2 && i - 2 < kernels.size();  // after titles and rule
    if (is_kernel) text += why_not(kernels[i - 2].declined);
  }
  return text + "\n" + summary(costs, wall) +
         fmt::format("\n{:.1f} % of the step's {:.3f} us, the mean of {} after the first\n",
                     100 * profile.run_time() / wall, wall / 1e3, profile.runs());
}

}  // namespace mezzo::detail
