#pragma once
#include <mezzo/precision/policy.hpp>

namespace mezzo {

/// The dtype in which a policy has ops computed: of op lists that of the lower one.
DType computes_in(const Policy& policy);

}  // namespace mezzo
