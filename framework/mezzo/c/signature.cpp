#include <mezzo/c/signature.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include <mezzo/core/fail.hpp>
#include <mezzo/training/module/inference_graph.hpp>

namespace mezzo::detail {
namespace {

/// Names that the model has, or "" for each.
std::vector<std::string> names_or_blanks(const std::function<std::vector<std::string>()>& names, std::size_t count) {
  try {
    std::vector<std::string> out = names();
    if (out.size() == count) return out;
  } catch (const ValueError&) {  // a class of models without names
  }
  return std::vector<std::string>(count);
}

/// Outputs for inputs whose open axes have that size, and whose first axis has `samples`.
std::vector<Spec> traced_outputs(Model& model, std::vector<Spec> inputs, std::int64_t samples, std::int64_t open) {
  for (Spec& input : inputs) {
    for (std::size_t axis = 0; axis < input.shape.size(); ++axis) {
      if (input.shape[axis] < 0) input.shape[axis] = axis == 0 ? samples : open;
    }
  }
  std::vector<Spec> out;
  for (const Graph::Output& output : inference_graph(model, inputs).outputs) {
    out.push_back({output.value.shape(), output.value.dtype()});
  }
  return out;
}

/// Outputs with -1 for the sizes that depend on those of the inputs. The layers accept only some sizes, which are not
/// known: images must be large, texts must be short.
std::vector<Spec> outputs_of(Model& model, const std::vector<Spec>& inputs) {
  constexpr std::array<std::array<std::int64_t, 2>, 4> trials{{{8, 12}, {32, 64}, {224, 256}, {2, 3}}};
  for (std::size_t i = 0;; ++i) {
    try {
      std::vector<Spec> out = traced_outputs(model, inputs, 2, trials[i][0]);
      const std::vector<Spec> other = traced_outputs(model, inputs, 3, trials[i][1]);
      for (std::size_t k = 0; k < out.size(); ++k) {
        for (std::size_t axis = 0; axis < out[k].shape.size(); ++axis) {
          if (out[k].shape[axis] != other.at(k).shape.at(axis)) out[k].shape[axis] = -1;
        }
      }
      return out;
    } catch (const Error&) {
      if (i + 1 == trials.size()) throw;
    }
  }
}

std::vector<Port> ports_of(const std::vector<Spec>& specs, const std::vector<std::string>& names) {
  std::vector<Port> out;
  for (std::size_t i = 0; i < specs.size(); ++i) out.push_back({names[i], specs[i]});
  return out;
}

}  // namespace

Signature Signature::of(Model& model, std::vector<Spec> inputs) {
  Signature out;
  try {
    if (inputs.empty()) {
      inputs = input_specs(*model.state());
      for (Spec& input : inputs) {
        if (!input.shape.empty()) input.shape.front() = -1;  // else that of the call that built the model
      }
    }
    if (inputs.empty()) {
      out.unknown = "the model has no Input and was not called before it was saved";
      return out;
    }
    const std::vector<Spec> outputs = outputs_of(model, inputs);
    out.inputs = ports_of(inputs, names_or_blanks([&] { return model.input_names(); }, inputs.size()));
    out.outputs = ports_of(outputs, names_or_blanks([&] { return model.output_names(); }, outputs.size()));
  } catch (const Error& error) {
    out.unknown = error.what();
  }
  return out;
}

}  // namespace mezzo::detail
