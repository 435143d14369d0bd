#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/graph/value.hpp>
#include <mezzo/precision/mx.hpp>

namespace mezzo {

/// fake_quantize_mx() of a step's values: emulates products of MX formats in training. The gradient is that of the
/// identity (straight-through). Computed by C++ code on one thread, in double.
MEZZO_API Value fake_quantize_mx(const Value& x, const MXOptions& options = {});

}  // namespace mezzo
