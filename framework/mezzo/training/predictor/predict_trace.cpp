#include <mezzo/training/predictor/predict_trace.hpp>

#include <utility>

#include <mezzo/graph/quiet_casts.hpp>
#include <mezzo/ops/basic_ops.hpp>
#include <mezzo/training/module/kept_calls.hpp>
#include <mezzo/training/step/step_context.hpp>

namespace mezzo::detail {

Values call_predict_step(Module& module, const PredictSetting& setting, const Values& inputs, std::int64_t rows) {
  static const OptimizerConfigs none;
  const KeptCalls kept(*module.state());
  const PolicyScope policy(setting.policy);
  const CastScope casts(setting.regions);
  const RootScope root(module);
  const StepContext context(module, none, StepContext::Purpose::build);
  std::vector<Batch::Entry> fields;
  for (std::size_t i = 0; i < inputs.size(); ++i) fields.push_back({setting.fields.at(i), inputs[i], Role::input});
  const Value result = module.predict_step({std::move(fields), rows});
  return context.outputs(result);
}

Graph trace_predict_step(Module& module, const PredictSetting& setting, const std::vector<Spec>& inputs) {
  const QuietCasts quiet;
  Trace trace(Trace::Mode::graph);
  Values symbols;
  for (std::size_t i = 0; i < inputs.size(); ++i) symbols.push_back(trace.input(setting.fields.at(i), inputs[i]));
  const Values outputs = call_predict_step(module, setting, symbols, inputs.front().shape.front());
  const PolicyScope policy(setting.policy);
  for (const Value& output : outputs) {
    const DType dtype = is_floating(output.dtype()) ? accumulation_dtype(output.dtype()) : output.dtype();
    trace.output("output", trace.adopt(cast(output, dtype)));
  }
  return std::move(trace.graph());
}

}  // namespace mezzo::detail
