#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/gradient.hpp>

namespace mezzo {

/// @name Functions of gradients
/// Each takes the result of value_and_grad(), and computes at once or inside of compile_step(). Gradients with an
/// undefined value are left out of norms, and stay undefined.
/// @{

/// Joint L2 norm of all gradients, float32 of shape ().
MEZZO_API Value global_norm(const Gradients& gradients);

/// Result of clip_by_global_norm().
struct ClippedGradients {
  Gradients gradients;  ///< clipped
  Value global_norm;    ///< before clipping, float32 of shape ()
};

/// Scales all gradients down to a joint L2 norm of at most `clip_norm`, which is greater than 0, as TensorFlow's: the
/// factor is clip_norm / max(norm, clip_norm). The gradients are NaN if the norm is not finite. A ValueError for
/// another clip_norm.
MEZZO_API ClippedGradients clip_by_global_norm(const Gradients& gradients, double clip_norm);

/// Clips in place and returns the norm before, as torch's clip_grad_norm_(): the factor is
/// min(1, max_norm / (norm + 1e-6)). A ValueError for a negative max_norm.
MEZZO_API Value clip_grad_norm(Gradients& gradients, double max_norm);

/// Limits each element to [low, high]. A ValueError if low > high.
MEZZO_API Gradients clip_by_value(const Gradients& gradients, double low, double high);

/// Adds `factor * more` to `sum`, gradient by gradient, for several losses of one update. An empty `sum` becomes
/// `factor * more`. A ValueError if the lists have different weights.
MEZZO_API void add_gradients(Gradients& sum, const Gradients& more, double factor = 1);
/// @}

}  // namespace mezzo
