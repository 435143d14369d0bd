#include <mezzo/training/module/traced_step.hpp>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {

TracedStep& TracedStep::current(const std::string& what) {
  if (TracedStep* const step = innermost()) return *step;
  fail<ValueError>("[Module]", "{} must be called inside a step that a Trainer runs; got a call outside of one", what);
}

Value first_output(const Values& outputs, const std::string& where) {
  if (TracedStep* const step = TracedStep::innermost()) {
    step->note_outputs(outputs, where);
  } else {
    require_one_output(outputs.size(), where, "predict");
  }
  return outputs.front();
}

void require_one_output(std::size_t outputs, const std::string& where, const std::string& verb) {
  if (outputs == 1) return;
  fail<ValueError>(where, "{}: the model must have one output; got {}: predict_all of a Model returns all", verb,
                   outputs);
}

}  // namespace mezzo::detail
