#include <fmt/format.h>

#include <mezzo/compiler/plan.hpp>
#include <mezzo/core/text_table.hpp>
#include <mezzo/training/model.hpp>
#include <mezzo/training/profile.hpp>

namespace mezzo {

std::string Model::explain(const ExplainOptions& options) {
  if (!run_state() || !run_state()->last_plan) throw ValueError(label() + " explain: nothing has run yet");
  const Plan& plan = *run_state()->last_plan;
  if (options.profile) {
    if (plan.profile().runs() > 0) return detail::profile_text(plan);
    throw ValueError(label() + " explain: a profile needs a second step, since the first isn't counted");
  }
  const std::vector<Plan::Row> kernels = plan.rows();
  std::vector<std::vector<std::string>> rows;
  std::size_t total = 0;
  for (const Plan::Row& row : kernels) {
    rows.push_back({row.op, row.path, row.kernel + (row.detail.empty() ? "" : ":" + row.detail),
                    std::to_string((row.bytes + 1023) / 1024), row.outputs});
    total += row.bytes;
  }
  const auto lines = detail::table_lines({{"op"}, {"layer"}, {"kernel"}, {"KiB", true}, {"outputs"}}, rows);
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += lines[i] + "\n";
    if (!options.declined || i < 2) continue;  // after titles and rule
    for (const std::string& reason : kernels[i - 2].declined) text += "    not " + reason + "\n";
  }
  return text + fmt::format("{} kernels, {} KiB read and written, arena {} KiB\n", kernels.size(), total / 1024,
                            plan.arena_bytes() / 1024);
}

}  // namespace mezzo
