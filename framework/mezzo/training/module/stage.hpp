#pragma once

namespace mezzo {

/// Kind of a call of Trainer or Model, and of a step. Model::evaluate and the validation of fit are `validate`.
enum class Stage { fit, validate, test, predict };

}  // namespace mezzo
