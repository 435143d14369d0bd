#include <fmt/format.h>

#include <mezzo/compiler/plan.hpp>
#include <mezzo/model/model.hpp>

namespace mezzo {

std::string Model::explain(const ExplainOptions& options) {
  if (!run_state() || !run_state()->last_plan) throw ValueError(label() + " explain: nothing has run yet");
  const Plan& plan = *run_state()->last_plan;
  std::string text = fmt::format("{:<42} {:<40} {:<22} {:>10}  {}\n", "op", "layer", "kernel", "KiB", "outputs");
  std::size_t total = 0;
  for (const Plan::Row& row : plan.rows()) {
    const std::string kernel = row.kernel + (row.detail.empty() ? "" : ":" + row.detail);
    text += fmt::format("{:<42} {:<40} {:<22} {:>10}  {}\n", row.op, row.path, kernel, (row.bytes + 1023) / 1024,
                        row.outputs);
    if (options.declined) {
      for (const std::string& reason : row.declined) text += "    not " + reason + "\n";
    }
    total += row.bytes;
  }
  return text + fmt::format("{} kernels, {} KiB read and written, arena {} KiB\n", plan.rows().size(), total / 1024,
                            plan.arena_bytes() / 1024);
}

}  // namespace mezzo
