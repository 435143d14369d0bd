#pragma once
#include <string>

#include <mezzo/training/keras_files/class_rules.hpp>

// Translation of the objects of Keras' configs to those of mezzo's. Nothing in a file is run: functions and classes are
// names, and those that mezzo doesn't know are ValueErrors that name them.
namespace mezzo::detail {

/// Key of the projections of an attention layer in a DTypePolicyMap: a regular expression for their paths.
constexpr const char* projections_in_map = ".*/(query|key|value|gate|attention_output)";

/// Policies while layers are read.
struct KerasPolicies {
  std::string of_model{};  ///< policy of most layers; these inherit it
};

/// Name of the class of an object: the registered one, "my>Scale", or Keras' own. A ValueError for functions and for
/// classes of other modules.
std::string keras_class(const Json& object, const std::string& where);

/// An object of a family other than layers, as read_object() takes it: with "class_name", or a name.
Json object_in(KerasFamily family, const Json& object, const std::string& where);

/// A layer that is no model, as read_layer() takes it.
Json plain_layer_in(const Json& object, const KerasPolicies& policies);

/// Members that all layers have, in mezzo's config.
void common_members_in(const Json& config, const KerasPolicies& policies, const std::string& class_name,
                       const std::string& where, Json& out);

/// Name of the dtype policy in a config; "" for none, and for dtypes that are no policies, such as "int64".
std::string policy_name_in(const Json& dtype, const std::string& where);

/// Lists, arrays and numbers as an array for read_tensor().
Json tensor_in(const Json& value, const std::string& where);

/// A name of a file in one printable line, shortened.
std::string printable_name(const Json& name);

}  // namespace mezzo::detail
