#pragma once
#include <string>
#include <vector>

#include <mezzo/ops/activation.hpp>

namespace mezzo::detail {

/// Hugging Face's names of activation functions that the options of models accept.
const std::vector<std::string>& activation_names();

/// The function of such a name. Throws a NameError: `<where> unknown <option> "x"; valid names: ...`.
ActivationFunction activation_of_name(const std::string& where, const char* option, const std::string& name);

}  // namespace mezzo::detail
