#pragma once
#include <optional>
#include <string>
#include <vector>

#include <mezzo/nn/config_json.hpp>

// Keras' configs and mezzo's have the same members, with the exceptions of these tables.
namespace mezzo::detail {

/// Families of objects in configs.
enum class KerasFamily { layer, initializer, regularizer, constraint, loss, metric, optimizer, schedule };

/// Module that Keras' configs name for a family: "keras.layers".
const char* keras_module(KerasFamily family);

/// Family of the objects that an option has: "bias_initializer" -> initializer. None for other values.
std::optional<KerasFamily> family_of_member(const std::string& member);

/// True for options that are activations.
bool is_activation(const std::string& member);

/// Form of an option in Keras' config.
enum class MemberForm {
  same,
  number,  ///< mezzo has one number where Keras 2 has a list of one
  list,    ///< mezzo has a list where Keras may have one number
  flat,    ///< mezzo has a list of numbers where Keras has lists in a list
  tensor,  ///< mezzo has an array where Keras has a number or lists
};
MemberForm form_of_member(const std::string& class_name, const std::string& member);

/// Name in mezzo's config of Keras' member, and back.
std::string member_in(const std::string& class_name, const std::string& member);
std::string member_out(const std::string& class_name, const std::string& member);

/// Name in mezzo of Keras' class, and back. The result is the name itself for most.
std::string class_in(const std::string& name);
std::string class_out(const std::string& name);

/// True if a member that mezzo lacks may have that value in a file: it changes no result.
bool has_no_effect(const std::string& member, const Json& value);

/// True if Keras lacks a member of mezzo's config. It can be left out if it has the value `without`.
struct MezzoMember {
  const char* name;
  Json without;
};
const MezzoMember* member_of_mezzo_alone(const std::string& class_name, const std::string& member);

/// Value in Keras' config for an option that isn't used: null in place of 0, "" or [].
bool is_unused(const std::string& class_name, const std::string& member, const Json& value);

/// True if Keras lacks the class.
bool is_class_of_mezzo_alone(KerasFamily family, const std::string& name);

/// True if Keras' class has the option data_format.
bool has_data_format(const std::string& class_name);

/// True if Keras' class takes no dtype policy, or only one of integers.
bool has_no_policy(const std::string& class_name);

/// True if Keras' class has no option `trainable`.
bool has_no_trainable(const std::string& class_name);

}  // namespace mezzo::detail
