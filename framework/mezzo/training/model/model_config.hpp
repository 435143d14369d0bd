#pragma once
#include <optional>
#include <string>
#include <vector>

#include <mezzo/nn/config_json.hpp>
#include <mezzo/training/model/model.hpp>
#include <mezzo/training/model/saving.hpp>

namespace mezzo::detail {

/// Config of a layer. A ValueError with the reason and a remedy if it can't be saved.
Json write_layer(const LayerState& state);

/// Makes a layer of its config. `policy` replaces that of the config, unless it inherits.
Any<Layer> read_layer(const Json& json, const Policy& policy = {});

/// A copy of a Sequential, functional Model or Lambda, which shares the state; an empty handle for other layers.
Any<Layer> copy_container(const Layer& layer);

/// Makes a model of the config of a Sequential, Functional or registered model, and builds it if it was built.
/// `otherwise`: policy of a model without its own.
Any<Model> read_model(const Json& json, const Policy& policy, const Policy& otherwise);

/// Structure of a functional model.
Json write_graph(const LayerState& model);

/// An op that functional models may hold outside of layers. A ValueError names other ops.
Json write_op(const Op& op, const Attributes& attributes);
Value read_op(const Json& json, const Values& inputs);
bool is_saved_op(const std::string& name);

/// Config of compile().
Json write_compile(const CompileOptions& options, const Layer& model);
CompileOptions read_compile(const Json& json, const Layer& model);

/// Shape and dtype.
Json write_spec(const Spec& spec);
Spec read_spec(const Json& json, const std::string& where);

/// Name of a layer in its parent.
const std::string& entry_of(const LayerState& parent, const LayerState& child);

}  // namespace mezzo::detail
