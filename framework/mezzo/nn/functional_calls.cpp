#include <algorithm>
#include <map>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/graph/op_registry.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/nn/called_layer.hpp>
#include <mezzo/nn/functional.hpp>
#include <mezzo/nn/penalties.hpp>
#include <mezzo/nn/weight_dtypes.hpp>

// Calls of functional models.
namespace mezzo {
namespace {

/// `shape` with the open sizes of the same layer's shape in its graph, for summaries.
Shape with_open_sizes(Shape shape, const std::optional<Shape>& in_graph) {
  if (!in_graph || in_graph->size() != shape.size()) return shape;
  for (std::size_t axis = 1; axis < shape.size(); ++axis) {
    if ((*in_graph)[axis] < 0) shape[axis] = -1;
  }
  return shape;
}

}  // namespace

std::string detail::FunctionalGraph::why_not_called() const {
  if (!layout_.problem.empty()) return layout_.problem;
  for (std::size_t i = 0; i < callers_.size(); ++i) {
    const auto& layer = layout_.calls[i].layer;
    if (!layer || callers_[i]) continue;
    return fmt::format("the class {} is not registered by register_layer()", (*layer)->kind);
  }
  return "";
}

Values detail::FunctionalGraph::call_layers(const Values& xs) const {
  std::map<detail::LayerState*, std::optional<Shape>> shapes;
  for (const Step& step : steps_) {
    for (const auto& layer : step.layers) shapes.emplace(layer.state.get(), layer.state->last_output);
  }
  std::vector<Values> results;
  const auto value = [&](const detail::GraphLayout::Operand& operand) -> Value {
    if (operand.kind == detail::GraphLayout::Operand::Kind::input) return xs[operand.index].across_border(false);
    if (operand.kind != detail::GraphLayout::Operand::Kind::call) return operand.constant;
    return results[operand.index].at(static_cast<std::size_t>(operand.output));
  };
  for (std::size_t i = 0; i < layout_.calls.size(); ++i) {
    const detail::GraphLayout::Call& call = layout_.calls[i];
    Values inputs;
    for (const detail::GraphLayout::Operand& operand : call.inputs) inputs.push_back(value(operand));
    if (call.layer) {
      results.push_back(detail::call_again(*callers_[i], call, inputs));
    } else {
      results.push_back(call.op->reinsert != nullptr ? call.op->reinsert(inputs, call.attributes)
                                                     : mezzo::insert(*call.op, inputs, call.attributes));
    }
  }
  for (const auto& [state, before] : shapes) {
    if (state->last_output) state->last_output = with_open_sizes(*state->last_output, before);
  }
  Values out;
  for (const detail::GraphLayout::Operand& operand : layout_.outputs) out.push_back(value(operand));
  return out;
}

Value detail::FunctionalGraph::leave(Value result, const Step& step, const detail::Frames& consumer) const {
  const auto same = [&](std::size_t depth) {
    return depth < consumer.size() && depth < step.layers.size() &&
           consumer[depth].info == step.layers[depth].state.pointer() &&
           consumer[depth].entry == step.layers[depth].entry;
  };
  std::size_t common = 0;
  while (same(common)) ++common;
  const bool called_on_symbols = Trace::current() == nullptr && result.symbolic();
  if (!is_floating(result.dtype()) || called_on_symbols) return result;
  const bool border = result.crosses_border();
  for (std::size_t depth = step.layers.size(); depth > common; --depth) {
    detail::Frames frames;
    for (std::size_t i = 0; i < depth; ++i) {
      const Step::Layer& layer = step.layers[i];
      frames.push_back({.info = layer.state.pointer(),
                        .entry = layer.entry,
                        .symbolic = false,
                        .regions = i + 1 < depth ? layer.regions : detail::CastRegions()});
    }
    const detail::CastScope outside(step.regions);
    const detail::Scope scope(frames);
    if (detail::casts_disabled()) continue;
    const Policy policy = detail::current_policy();
    const bool casts =
        policy.output_dtype() != policy.compute_dtype() || detail::has_wide_state(*step.layers[depth - 1].state);
    if (!casts || result.dtype() == policy.output_dtype()) continue;
    result = cast(result, policy.output_dtype()).across_border(border);
  }
  return result;
}

Values detail::FunctionalGraph::insert(const Values& xs, std::vector<Values>& results, bool remember) const {
  const auto value = [&](const Operand& operand, const detail::Frames& consumer) -> Value {
    const auto output = static_cast<std::size_t>(operand.output);
    switch (operand.kind) {
      case Operand::Kind::input:
        return xs[operand.index].across_border(operand.crosses_border);
      case Operand::Kind::step:
        return leave(results[operand.index][output], steps_[operand.index], consumer)
            .across_border(operand.crosses_border);
      case Operand::Kind::variable:
        return operand.crosses_border ? read_variable(variables_[operand.index].pointer())
                                      : read_variable(variables_[operand.index].pointer()).across_border(false);
      case Operand::Kind::constant:
        break;
    }
    return operand.constant;
  };
  const bool symbolic = std::any_of(xs.begin(), xs.end(), [](const Value& x) { return x.symbolic(); });
  // Updates run as soon as their values are available: a second call of a layer reads what the first one wrote.
  std::vector<std::pair<detail::Frames, std::size_t>> updating;
  const auto computed = [&](const Operand& operand) {
    return operand.kind != Operand::Kind::step || operand.index < results.size();
  };
  const auto run_updates = [&] {
    while (!updating.empty()) {
      const std::size_t i = updating.back().second;
      const Step& step = steps_[i];
      for (const Update& update : step.updates) {
        if (!computed(update.value)) return;
      }
      if (!std::all_of(step.losses.begin(), step.losses.end(), computed)) return;
      const detail::Frames frames = std::move(updating.back().first);
      updating.pop_back();
      const detail::Scope scope(frames);
      detail::UpdateCollector collector;
      for (const Update& update : step.updates) {
        update_in_training(update.variable.pointer(), value(update.value, frames));
      }
      for (const Operand& loss : step.losses) detail::add_loss(step.layers.back().state, value(loss, frames));
      collector.attach_to(results[i].front());
    }
  };
  std::map<const detail::RematCall*, std::shared_ptr<const detail::RematCall>>
      calls;  // of this insertion, by those of the graph
  const auto remat_of = [&](const Step::Layer& layer) -> std::shared_ptr<const detail::RematCall> {
    const detail::RematRule::Mode mode = layer.state->remat.mode;
    if (!layer.remat || (mode == detail::RematRule::Mode::none && !symbolic)) return nullptr;
    auto& call = calls[layer.remat.get()];
    const bool large = mode == detail::RematRule::Mode::larger_than && layer.remat->again;
    if (!call)
      call = std::make_shared<detail::RematCall>(detail::RematCall{large || mode == detail::RematRule::Mode::full});
    return call;
  };
  const std::size_t count = remember ? output_steps_ : steps_.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Step& step = steps_[i];
    const detail::CastScope outside(step.regions);
    detail::Frames frames;
    for (const auto& layer : step.layers) {
      frames.push_back({.info = layer.state.pointer(),
                        .entry = layer.entry,
                        .symbolic = symbolic,
                        .regions = {},
                        .training = layer.training,
                        .remat = remat_of(layer)});
      const detail::Scope outer(frames);
      if (remember) layer.state->last_policy = detail::current_policy();
      frames.back().regions = layer.regions;
    }
    // Results of steps come first: they are cast on leaving their layers, before this layer is entered.
    Values inputs(step.inputs.size());
    const auto fill = [&](bool steps) {
      for (std::size_t k = 0; k < inputs.size(); ++k) {
        if ((step.inputs[k].kind == Operand::Kind::step) == steps) inputs[k] = value(step.inputs[k], frames);
      }
    };
    fill(true);
    const detail::Scope scope(frames);
    fill(false);
    results.push_back(step.op->reinsert != nullptr ? step.op->reinsert(inputs, step.attributes)
                                                   : mezzo::insert(*step.op, inputs, step.attributes));
    if (remember) {
      for (const auto& layer : step.layers) {
        layer.state->last_output = with_open_sizes(results[i].front().shape(), layer.state->last_output);
      }
    }
    if (!step.updates.empty() || !step.losses.empty()) updating.emplace_back(std::move(frames), i);
    run_updates();
  }
  const auto result_at = [&](const Operand& operand) -> Value& {
    return results[operand.index][static_cast<std::size_t>(operand.output)];
  };
  for (const auto& [masked, mask] : masks_) {
    if (masked.index >= count || (mask.kind == Operand::Kind::step && mask.index >= count)) continue;
    result_at(masked) = result_at(masked).with_mask(value(mask, {}));
  }
  Values out;
  for (const Operand& operand : outputs_) {
    const Value y = value(operand, {});
    out.push_back(operand.kind == Operand::Kind::step ? y.with_mask(result_at(operand).mask()) : y);
  }
  return out;
}

}  // namespace mezzo
