#pragma once
#include <cstdint>

#include <mezzo/core/api.hpp>
#include <mezzo/graph/value.hpp>

// Keras' activation functions beside exp, gelu, relu, sigmoid, softmax, softplus and tanh: compositions of ops, which
// plans compute in one pass. Elementwise, of floats of any shape, unless an axis is named. Each is an
// ActivationFunction by its name, too. A function with an argument that has a default is overloaded for one Value, so
// that it is an ActivationFunction itself: `Dense(4, {.activation = leaky_relu})`.
namespace mezzo {

/// min(max(x, 0), 6). The gradients at 0 and at 6 are 0, as in PyTorch and TensorFlow.
MEZZO_API Value relu6(const Value& x);

/// x where x >= 0, else negative_slope x.
MEZZO_API Value leaky_relu(const Value& x, double negative_slope);
inline Value leaky_relu(const Value& x) { return leaky_relu(x, 0.2); }

/// x where x > 0, else alpha (exp(x) - 1) (Clevert et al., 2016).
MEZZO_API Value elu(const Value& x, double alpha);
inline Value elu(const Value& x) { return elu(x, 1.0); }

/// 1.0507 elu(x, 1.67326) (Klambauer et al., 2017).
MEZZO_API Value selu(const Value& x);

/// x where x > 0, else alpha (exp(x / alpha) - 1) (Barron, 2017). Throws a ValueError if alpha is 0.
MEZZO_API Value celu(const Value& x, double alpha);
inline Value celu(const Value& x) { return celu(x, 1.0); }

/// x sigmoid(x) (Ramachandran et al., 2017).
MEZZO_API Value silu(const Value& x);
inline Value swish(const Value& x) { return silu(x); }

/// relu6(x + 3) / 6.
MEZZO_API Value hard_sigmoid(const Value& x);

/// x hard_sigmoid(x) (Howard et al., 2019).
MEZZO_API Value hard_silu(const Value& x);
inline Value hard_swish(const Value& x) { return hard_silu(x); }

/// x limited to [-1, 1].
MEZZO_API Value hard_tanh(const Value& x);

/// x where |x| > threshold, else 0.
MEZZO_API Value hard_shrink(const Value& x, double threshold);
inline Value hard_shrink(const Value& x) { return hard_shrink(x, 0.5); }

/// x moved by `threshold` towards 0; 0 where |x| <= threshold.
MEZZO_API Value soft_shrink(const Value& x, double threshold);
inline Value soft_shrink(const Value& x) { return soft_shrink(x, 0.5); }

/// x - tanh(x).
MEZZO_API Value tanh_shrink(const Value& x);

/// x / (|x| + 1).
MEZZO_API Value softsign(const Value& x);
inline Value soft_sign(const Value& x) { return softsign(x); }

/// 0 where x <= -1, x where x >= 1, between them (x + 1)^2 / 4.
MEZZO_API Value sparse_plus(const Value& x);

/// (x + 1) / 2 limited to [0, 1].
MEZZO_API Value sparse_sigmoid(const Value& x);

/// (x + sqrt(x^2 + b)) / 2 (Barron, 2021).
MEZZO_API Value squareplus(const Value& x, double b);
inline Value squareplus(const Value& x) { return squareplus(x, 4); }

/// x where x > threshold, else default_value.
MEZZO_API Value threshold(const Value& x, double threshold, double default_value);

/// log(sigmoid(x)), without overflow.
MEZZO_API Value log_sigmoid(const Value& x);

/// x tanh(softplus(x)) (Misra, 2019).
MEZZO_API Value mish(const Value& x);

/// a sigmoid(b) of the halves a and b of x along `axis` (Dauphin et al., 2017). Throws a ShapeError if the size of the
/// axis is odd.
MEZZO_API Value glu(const Value& x, std::int64_t axis);
inline Value glu(const Value& x) { return glu(x, -1); }

/// log(softmax(x)) along `axis`, without overflow; computed in float32 (float64 for float64).
MEZZO_API Value log_softmax(const Value& x, std::int64_t axis);
inline Value log_softmax(const Value& x) { return log_softmax(x, -1); }

/// Euclidean projection of x to the probability simplex along `axis` (Martins and Astudillo, 2016). Throws a ShapeError
/// if the axis has size 0.
MEZZO_API Value sparsemax(const Value& x, std::int64_t axis);
inline Value sparsemax(const Value& x) { return sparsemax(x, -1); }

namespace activations {

/// x.
MEZZO_API Value linear(const Value& x);

/// exp(x).
MEZZO_API Value exponential(const Value& x);

}  // namespace activations

}  // namespace mezzo
