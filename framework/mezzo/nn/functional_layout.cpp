#include <algorithm>
#include <map>
#include <set>

#include <mezzo/core/fail.hpp>
#include <mezzo/nn/called_layer.hpp>
#include <mezzo/nn/functional.hpp>

namespace mezzo {
namespace {

using Place = std::pair<std::size_t, int>;  // step and output

/// A call of a layer, found by one of its outputs.
struct KnownCall {
  detail::LayerCall call;
  detail::Shared<detail::LayerState> layer;
  Any<Layer> caller{};  ///< empty if its class is not known
};

}  // namespace

void detail::FunctionalGraph::read_layout(const Places& inputs, const Places& steps) {
  layout_.inputs = inputs_;
  layout_.input_names = input_names_;

  // Calls of the outermost layers, by the steps that compute their outputs.
  std::vector<KnownCall> known;
  std::map<Place, std::size_t> calls;
  std::set<const detail::LayerState*> seen;
  for (const Step& step : steps_) {
    if (!step.regions.empty()) layout_.problem = fmt::format("the op {} is inside of autocast()", step.op->name);
    if (step.layers.empty() || !seen.insert(step.layers.front().state.get()).second) continue;
    for (const detail::LayerCall& call : step.layers.front().state->calls) {
      Any<Layer> caller;
      for (const detail::LayerCall::Symbol& y : call.outputs) {
        const detail::NodePtr node = y.node.lock();
        const auto place = steps.find(node.get());
        if (place == steps.end()) continue;
        if (const detail::CalledLayer* kept = detail::called_layer(*node)) caller = kept->layer;
        const auto is_y = [&](const detail::LayerCall::Symbol& x) {
          return x.output == y.output && x.node.lock() == y.node.lock();
        };
        if (std::any_of(call.inputs.begin(), call.inputs.end(), is_y)) continue;  // passed through
        calls.emplace(Place{place->second, y.output}, known.size());
      }
      known.push_back({call, step.layers.front().state, caller});
    }
  }

  // Appends the calls behind a value, operands first. An explicit stack, since graphs may be deep.
  std::map<std::size_t, std::size_t> done_calls, done_ops;  // index in `known`, or step -> index in the layout
  const auto call_at = [&](const Place& place) {
    const auto found = calls.find(place);
    return found == calls.end() ? known.size() : found->second;
  };
  using Kind = detail::GraphLayout::Operand::Kind;
  const auto problem = [&](const std::string& text) {
    if (layout_.problem.empty()) layout_.problem = text;
    return detail::GraphLayout::Operand{};
  };
  // The following two lambdas return the operand of the layout if its dependencies are available; else they push these
  // on the stack.
  std::vector<Place> pending;
  const auto of_place = [&](const Place& place) -> std::optional<detail::GraphLayout::Operand> {
    const Step& step = steps_[place.first];
    const std::size_t call = call_at(place);
    if (call < known.size()) {
      const auto found = done_calls.find(call);
      if (found == done_calls.end()) {
        pending.push_back(place);
        return {};
      }
      int output = 0;
      const auto& outputs = call_outputs_[found->second];
      while (outputs[static_cast<std::size_t>(output)] != place) ++output;
      return detail::GraphLayout::Operand{Kind::call, found->second, output, {}};
    }
    if (!step.layers.empty()) {
      const LayerState& layer = *step.layers.front().state;
      return problem(fmt::format("a value inside the layer \"{}\" is used outside of it",
                                 layer.name.empty() ? snake_case(layer.kind) : layer.name));
    }
    const auto found = done_ops.find(place.first);
    if (found == done_ops.end()) {
      pending.push_back(place);
      return {};
    }
    return detail::GraphLayout::Operand{Kind::call, found->second, place.second, {}};
  };
  const auto of_operand = [&](const Operand& operand) -> std::optional<detail::GraphLayout::Operand> {
    switch (operand.kind) {
      case Operand::Kind::input:
        return detail::GraphLayout::Operand{Kind::input, operand.index, 0, {}};
      case Operand::Kind::constant:
        return detail::GraphLayout::Operand{Kind::constant, 0, 0, operand.constant};
      case Operand::Kind::variable:
        return problem(fmt::format("the variable \"{}\" is read outside of layers", variables_[operand.index]->name));
      case Operand::Kind::step:
        break;
    }
    return of_place({operand.index, operand.output});
  };
  const auto of_symbol = [&](const detail::LayerCall::Symbol& symbol) -> std::optional<detail::GraphLayout::Operand> {
    if (symbol.constant.defined()) return detail::GraphLayout::Operand{Kind::constant, 0, 0, symbol.constant};
    if (symbol.output < 0) return problem("the mask of a value was removed by with_mask({})");
    const detail::Node* node = symbol.node.lock().get();
    if (const auto input = inputs.find(node); input != inputs.end()) {
      return detail::GraphLayout::Operand{Kind::input, input->second, 0, {}};
    }
    if (const auto step = steps.find(node); step != steps.end()) return of_place({step->second, symbol.output});
    return problem("a layer was called with a value that the outputs don't depend on");
  };
  // A mask that no output depends on.
  const auto unused = [&](const detail::LayerCall::Symbol& mask) {
    const detail::Node* node = mask.node.lock().get();
    return !mask.constant.defined() && mask.output >= 0 && inputs.count(node) == 0 && steps.count(node) == 0;
  };
  const auto add = [&](const Place& place) {
    detail::GraphLayout::Call made;
    const std::size_t call = call_at(place);
    const std::size_t waiting = pending.size();
    const auto take = [&](const std::optional<detail::GraphLayout::Operand>& operand) {
      if (operand) made.inputs.push_back(*operand);
    };
    std::vector<Place> outputs;
    if (call < known.size()) {
      if (done_calls.count(call) != 0) return;
      const detail::LayerCall& noted = known[call].call;
      const std::size_t first_mask = noted.inputs.size() - noted.masked.size();
      for (std::size_t i = 0; i < noted.inputs.size(); ++i) {
        if (i >= first_mask && unused(noted.inputs[i])) continue;
        if (i >= first_mask) made.masked.push_back(noted.masked[i - first_mask]);
        take(of_symbol(noted.inputs[i]));
      }
      made.layer = known[call].layer;
      made.training = known[call].call.training;
      made.arguments = known[call].call.arguments;
      for (const detail::LayerCall::Symbol& y : known[call].call.outputs) {
        const auto step = steps.find(y.node.lock().get());
        outputs.emplace_back(step == steps.end() ? steps_.size() : step->second, y.output);
      }
    } else {
      if (done_ops.count(place.first) != 0) return;
      const Step& step = steps_[place.first];
      for (const Operand& operand : step.inputs) take(of_operand(operand));
      outputs.emplace_back(place.first, 0);
      made.op = step.op;
      made.attributes = step.attributes;
    }
    if (pending.size() > waiting) return;  // operands first
    (call < known.size() ? done_calls[call] : done_ops[place.first]) = layout_.calls.size();
    layout_.calls.push_back(std::move(made));
    callers_.push_back(call < known.size() ? known[call].caller : Any<Layer>());
    call_outputs_.push_back(std::move(outputs));
  };
  const auto complete = [&] {
    while (!pending.empty()) {
      const Place place = pending.back();
      const std::size_t before = pending.size(), made = layout_.calls.size();
      add(place);
      if (layout_.calls.size() > made || pending.size() == before) pending.pop_back();
    }
  };
  for (const Operand& output : outputs_) {
    std::optional<detail::GraphLayout::Operand> operand = of_operand(output);
    if (!operand) {
      complete();
      operand = of_operand(output);
    }
    layout_.outputs.push_back(*operand);
  }
}

void detail::FunctionalGraph::note_calls(const Values& inputs, const std::vector<Values>& results) const {
  for (std::size_t i = 0; i < layout_.calls.size(); ++i) {
    const detail::GraphLayout::Call& call = layout_.calls[i];
    if (!call.layer) continue;
    detail::LayerCall noted{{}, {}, call.training, call.arguments, call.masked};
    const auto symbol = [](const Value& value) {
      return detail::LayerCall::Symbol{value.node(), value.output(), value.node() ? Value() : value};
    };
    bool complete = true;
    for (const detail::GraphLayout::Operand& operand : call.inputs) {
      switch (operand.kind) {
        case detail::GraphLayout::Operand::Kind::input:
          noted.inputs.push_back(symbol(inputs[operand.index]));
          break;
        case detail::GraphLayout::Operand::Kind::call: {
          const auto& outputs = call_outputs_[operand.index];
          const bool of_layer = layout_.calls[operand.index].layer.has_value();
          const Place place = of_layer ? outputs[static_cast<std::size_t>(operand.output)]
                                       : Place{outputs.front().first, operand.output};
          noted.inputs.push_back(symbol(results[place.first][static_cast<std::size_t>(place.second)]));
          break;
        }
        case detail::GraphLayout::Operand::Kind::constant:
          noted.inputs.push_back(symbol(operand.constant));
          break;
        case detail::GraphLayout::Operand::Kind::other:
          complete = false;
      }
    }
    for (const auto& [step, output] : call_outputs_[i]) {
      const bool used = step < results.size();
      noted.outputs.push_back(used ? symbol(results[step][static_cast<std::size_t>(output)])
                                   : detail::LayerCall::Symbol{});
    }
    if (!complete) continue;
    Values outputs;
    for (const auto& [step, output] : call_outputs_[i]) {
      if (step < results.size()) outputs.push_back(results[step][static_cast<std::size_t>(output)]);
    }
    detail::keep_called_layer(callers_[i], {}, outputs);
    detail::keep_masks(outputs);
    (*call.layer)->calls.push_back(std::move(noted));
  }
}

}  // namespace mezzo
