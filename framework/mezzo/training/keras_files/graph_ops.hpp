#pragma once
#include <optional>
#include <string>

#include <mezzo/nn/config_json.hpp>

// Ops between the layers of functional models: operations of keras.ops in Keras' configs.
namespace mezzo::detail {

/// True if an object of a config is an operation and no layer.
bool is_keras_operation(const Json& object);

/// An op of mezzo's config: {"op", "attributes"}. `arguments`: the values of the call that are no symbols, by name. A
/// ValueError that starts with `where` for an operation that mezzo's configs don't have.
Json operation_in(const std::string& class_name, const Json& config, const std::string& where);

/// The key of x[key] for the attributes of the op slice.
Json key_of_slice(const Json& attributes);

/// An operation of Keras' config for an op of mezzo's. A ValueError for an op that Keras lacks.
Json operation_out(const Json& op, const std::string& name, const std::string& where);

}  // namespace mezzo::detail
