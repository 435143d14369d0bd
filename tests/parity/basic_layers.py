"""Records layers that merge, normalize, activate or encode positions: outputs, gradients, moved statistics."""

import importlib
import sys
import types
from pathlib import Path

from common import keras, np, write
from layer_cases import record

layers = keras.layers


def hub(name):
    """A layer of keras_hub, computed in float64: its tables are float32. Loaded without the other parts of keras_hub,
    which need other packages."""
    if "keras_hub" not in sys.modules:
        root = next(Path(p) / "keras_hub" for p in sys.path if (Path(p) / "keras_hub").is_dir())
        package = types.ModuleType("keras_hub")
        package.__path__ = [str(root)]
        sys.modules["keras_hub"] = package
    module = importlib.import_module(f"keras_hub.src.layers.modeling.{name}")
    source = Path(module.__file__).read_text().replace('"float32"', '"float64"')
    exec(compile(source, module.__file__, "exec"), module.__dict__)  # noqa: S102
    return module


def with_arguments(layer, **arguments):
    """The layer, called with these arguments."""

    class Called(type(layer)):
        def call(self, *inputs, **kwargs):
            return super().call(*inputs, **{**arguments, **kwargs})

    layer.__class__ = Called
    return layer


def masked_softmax(mask, axis=-1):
    return with_arguments(layers.Softmax(axis=axis), mask=np.array(mask, dtype=bool))


def inside(case, name, own=()):
    """The case of a layer that holds another one under that name, which has the weights beside `own`."""
    path = lambda weight: weight if weight in own else f"{name}/{weight}"  # noqa: E731
    for weight in case["weights"]:
        weight["name"] = path(weight["name"])
    case["weights"].sort(key=lambda weight: weight["name"] not in own)
    case["weight_gradients"] = {path(key): value for key, value in case["weight_gradients"].items()}
    return case


rotary = hub("rotary_embedding").RotaryEmbedding
sine = hub("sine_position_encoding").SinePositionEncoding
positions = hub("position_embedding").PositionEmbedding

image = (2, 3, 4, 6)
steps = (2, 5, 6)
write("basic_layers", {
    "subtract": record(layers.Subtract(), (3, 4), (3, 1)),
    "average": record(layers.Average(), (3, 4), (3, 1), (3, 4)),
    "maximum": record(layers.Maximum(), (3, 4), (3, 1), (3, 4)),
    "minimum": record(layers.Minimum(), (3, 4), (3, 4), (3, 4)),
    "average_ranks": record(layers.Average(), (2, 3), (2, 4, 3)),
    "dot": record(layers.Dot(1), (3, 4), (3, 4)),
    "dot_normalize": record(layers.Dot(-1, normalize=True), (2, 3, 4), (2, 5, 4)),
    "dot_axes": record(layers.Dot((1, 2)), (2, 3, 4), (2, 5, 3)),
    "dot_ranks": record(layers.Dot((3, 1), normalize=True), (2, 2, 3, 4), (2, 4, 3)),
    "dot_of_vectors": record(layers.Dot((2, 1)), (2, 3, 4), (2, 4)),
    "prelu": record(layers.PReLU(), (3, 4)),
    "prelu_shared": record(layers.PReLU(shared_axes=(1, 2)), image),
    "elu": record(layers.ELU(), (3, 4), low=-4.0),
    "elu_alpha": record(layers.ELU(alpha=0.3), (3, 4), low=-4.0),
    "softmax_axes": record(layers.Softmax(axis=(1, -1)), (2, 3, 4), low=-5.0),
    "softmax_mask": record(masked_softmax([[1, 0, 1, 1], [0, 1, 0, 0], [0, 0, 0, 0]]), (3, 4), low=-5.0),
    "softmax_mask_axes": record(masked_softmax([[[1, 0, 1]], [[1, 1, 0]]], (-2, -1)), (2, 4, 3), low=-5.0),
    "group_normalization": record(layers.GroupNormalization(3), image),
    "group_normalization_options": record(layers.GroupNormalization(2, axis=1, epsilon=1e-5), (2, 4, 3, 2)),
    "group_normalization_of_instances": record(layers.GroupNormalization(-1, center=False), image),
    "group_normalization_of_vectors": record(layers.GroupNormalization(2, scale=False), (3, 6)),
    "group_normalization_frozen": record(layers.GroupNormalization(1), image, training=True, frozen=True),
    "rms_normalization": record(layers.RMSNormalization(), steps),
    "rms_normalization_axes": record(layers.RMSNormalization(axis=(-2, -1), epsilon=1e-2), image),
    "unit_normalization": record(layers.UnitNormalization(), steps),
    "unit_normalization_axes": record(layers.UnitNormalization(axis=(1, 2)), steps),
    "spectral_normalization": inside(
        record(layers.SpectralNormalization(layers.Dense(4)), (3, 5), training=True), "dense", own=("vector_u",)),
    "spectral_normalization_conv2d": inside(
        record(layers.SpectralNormalization(layers.Conv2D(3, 2), power_iterations=3), image, training=True), "conv2d",
        own=("vector_u",)),
    "activity_regularization": record(layers.ActivityRegularization(0.1, 0.2), (3, 4)),
    "identity": record(layers.Identity(), (3, 4)),
    "gaussian_noise_inference": record(layers.GaussianNoise(0.5), (3, 4)),
    "spatial_dropout_inference": record(layers.SpatialDropout1D(0.5), (2, 3, 4)),
    "einsum_dense": record(layers.EinsumDense("ab,bc->ac", 4, bias_axes="c"), (3, 5)),
    "einsum_dense_heads": record(layers.EinsumDense("abc,cde->abde", (None, 2, 3), bias_axes="de"), steps),
    "einsum_dense_merge": record(
        layers.EinsumDense("abde,dec->abc", (None, 5), bias_axes="c", activation="tanh"), (2, 3, 2, 4)),
    "einsum_dense_ellipsis": record(layers.EinsumDense("...x,xy->...y", 4, bias_axes="y"), steps),
    "einsum_dense_last_ellipsis": record(layers.EinsumDense("ab...,bc->ac...", 4, bias_axes="c"), steps),
    "einsum_dense_elementwise": record(layers.EinsumDense("abc,bc->abc", (5, 6), bias_axes="b"), steps),
    "reversible_embedding": record(layers.ReversibleEmbedding(7, 3), (4, 5), below=7),
    "reversible_embedding_reverse": inside(record(
        with_arguments(layers.ReversibleEmbedding(7, 6, logit_soft_cap=2.0), reverse=True), steps), "inner"),
    "reversible_embedding_untied": inside(record(
        with_arguments(layers.ReversibleEmbedding(7, 6, tie_weights=False), reverse=True), steps), "inner"),
    "rotary": record(rotary(), steps),
    "rotary_heads": record(with_arguments(rotary(max_wavelength=100, scaling_factor=4.0), start_index=3), (2, 5, 3, 4)),
    "rotary_dynamic": record(rotary(rope_type="dynamic", scaling_factor=2.0, denominator_dim=10), steps),
    "rotary_yarn": record(
        rotary(rope_type="yarn", scaling_factor=8.0, original_max_position_embeddings=64, beta_fast=4.0, truncate=False),
        (2, 5, 16)),
    "rotary_yarn_truncate": record(
        with_arguments(rotary(rope_type="yarn", scaling_factor=8.0, original_max_position_embeddings=64),
                       start_index=62), (2, 5, 16)),
    "rotary_axes": record(rotary(sequence_axis=2, feature_axis=1), (2, 4, 5, 3)),
    "rotary_positions": record(with_arguments(rotary(), positions=np.array([[0, 2, 4, 6, 9], [1, 3, 3, 0, 7]])), steps),
    "sine": record(sine(), (2, 5, 7)),
    "sine_options": record(with_arguments(sine(max_wavelength=50), start_index=4), steps),
    "sine_positions": record(with_arguments(sine(), positions=np.array([3.0, 0.0, 1.0, 1.0, 8.0])), steps),
    "position_embedding": record(positions(8), steps),
    "position_embedding_start": record(with_arguments(positions(8), start_index=3), steps),
    "position_embedding_positions": record(
        with_arguments(positions(8), positions=np.array([[0, 2, 4, 6, 7], [1, 3, 3, 0, 7]])), steps),
})
