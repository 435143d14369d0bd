#include <mezzo/training/profilers/explain_profiler.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/training/profilers/plan_text.hpp>
#include <mezzo/training/profilers/report_file.hpp>

namespace mezzo::profilers {
namespace {

const char* const explain_label = "[profilers::ExplainProfiler]";

}  // namespace

struct ExplainProfiler::State {
  detail::ReportFile file;
};

ExplainProfiler::ExplainProfiler(const ExplainProfilerOptions& options)
    : state_(std::make_shared<State>(State{{explain_label, options.dirpath, options.filename, ".txt"}})) {}

void ExplainProfiler::on_epoch_end(Module& module, int epoch) {
  const auto& run = module.run_state();
  const bool planned = run && run->last_plan;
  const std::string text =
      planned ? detail::explain_text(module, explain_label,
                                     {.declined = true, .profile = run->last_plan->profile().runs() > 0})
              : "no plan: the steps run eagerly\n";
  state_->file.write(fmt::format("Epoch {}\n{}\n", epoch + 1, text));
}

}  // namespace mezzo::profilers
