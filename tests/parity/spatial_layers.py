"""Records outputs and gradients of Keras' convolutions, pooling and other layers of 1 to 3 spatial axes."""

from common import keras, write
from layer_cases import record

layers = keras.layers
line, image, volume = (2, 7, 4), (2, 6, 5, 4), (1, 4, 5, 3, 2)
small_line, small, small_volume = (2, 4, 3), (2, 3, 2, 2), (1, 2, 3, 2, 2)
cases = {
    "conv1d": record(layers.Conv1D(3, 3), line),
    "conv1d_same_strides_relu": record(layers.Conv1D(3, 3, strides=2, padding="same", activation="relu"), line),
    "conv1d_causal": record(layers.Conv1D(2, 3, padding="causal", dilation_rate=2), line),
    "conv1d_causal_strides": record(layers.Conv1D(2, 2, padding="causal", strides=3), line),
    "conv1d_groups_without_bias": record(layers.Conv1D(6, 2, groups=2, dilation_rate=3, use_bias=False), line),
    "conv3d": record(layers.Conv3D(3, 2), volume),
    "conv3d_same_strides": record(layers.Conv3D(2, (1, 3, 2), strides=(2, 1, 2), padding="same"), volume),
    "conv3d_dilated_groups": record(layers.Conv3D(4, 2, dilation_rate=(3, 2, 1), groups=2, activation="tanh"), volume),
    "conv1d_transpose": record(layers.Conv1DTranspose(3, 3), small_line),
    "conv1d_transpose_same": record(layers.Conv1DTranspose(2, 3, strides=2, padding="same", activation="relu"),
                                    small_line),
    "conv1d_transpose_output_padding": record(layers.Conv1DTranspose(2, 2, strides=3, output_padding=1, use_bias=False),
                                              small_line),
    "conv1d_transpose_dilated": record(layers.Conv1DTranspose(2, 3, dilation_rate=2), small_line),
    "conv3d_transpose": record(layers.Conv3DTranspose(2, 2, strides=(1, 2, 2)), small_volume),
    "conv3d_transpose_same": record(layers.Conv3DTranspose(3, (2, 1, 3), strides=2, padding="same"), small_volume),
    "conv3d_transpose_output_padding": record(
        layers.Conv3DTranspose(2, 3, strides=2, padding="same", output_padding=(1, 0, 1)), small_volume),
    "depthwise_conv1d": record(layers.DepthwiseConv1D(3, depth_multiplier=2, padding="same"), line),
    "depthwise_conv1d_strides": record(layers.DepthwiseConv1D(2, strides=2, activation="relu", use_bias=False), line),
    "depthwise_conv2d": record(layers.DepthwiseConv2D(3), image),
    "depthwise_conv2d_same": record(layers.DepthwiseConv2D((3, 2), strides=2, padding="same", depth_multiplier=3), image),
    "depthwise_conv2d_dilated": record(layers.DepthwiseConv2D((2, 3), dilation_rate=(3, 2), activation="tanh"), image),
    "separable_conv1d": record(layers.SeparableConv1D(5, 3, dilation_rate=2, depth_multiplier=2), line),
    "separable_conv1d_same": record(layers.SeparableConv1D(2, 2, strides=2, padding="same", use_bias=False), line),
    "separable_conv2d": record(layers.SeparableConv2D(3, 3), image),
    "separable_conv2d_same": record(
        layers.SeparableConv2D(3, (2, 3), strides=2, padding="same", depth_multiplier=2, activation="relu"), image),
    "global_average_pooling3d": record(layers.GlobalAveragePooling3D(), volume),
    "global_average_pooling3d_keepdims": record(layers.GlobalAveragePooling3D(keepdims=True), volume),
    "up_sampling1d": record(layers.UpSampling1D(3), small_line),
    "up_sampling2d": record(layers.UpSampling2D(), small),
    "up_sampling2d_factors": record(layers.UpSampling2D((3, 1)), small),
    "up_sampling3d": record(layers.UpSampling3D(), small_volume),
    "up_sampling3d_factors": record(layers.UpSampling3D((1, 3, 2)), small_volume),
    "zero_padding1d": record(layers.ZeroPadding1D(), small_line),
    "zero_padding1d_pair": record(layers.ZeroPadding1D((0, 2)), small_line),
    "zero_padding3d": record(layers.ZeroPadding3D(), small_volume),
    "zero_padding3d_of_three": record(layers.ZeroPadding3D((2, 0, 1)), small_volume),
    "zero_padding3d_pairs": record(layers.ZeroPadding3D(((1, 0), (0, 2), (0, 0))), small_volume),
    "cropping1d": record(layers.Cropping1D(), line),
    "cropping1d_pair": record(layers.Cropping1D((0, 3)), line),
    "cropping2d": record(layers.Cropping2D(), small),
    "cropping2d_of_two": record(layers.Cropping2D((2, 1)), image),
    "cropping2d_pairs": record(layers.Cropping2D(((1, 0), (0, 3))), image),
    "cropping3d": record(layers.Cropping3D(), volume),
    "cropping3d_pairs": record(layers.Cropping3D(((1, 2), (0, 3), (1, 0))), volume),
    "repeat_vector": record(layers.RepeatVector(3), (2, 4)),
}
for interpolation in ("bilinear", "bicubic", "lanczos3", "lanczos5"):
    cases["up_sampling2d_" + interpolation] = record(layers.UpSampling2D((2, 3), interpolation=interpolation), small)
for by in ("Average", "Max"):
    name = by.lower() + "_pooling"
    of = lambda rank, kind="": getattr(layers, f"{kind}{by}Pooling{rank}D")  # noqa: E731
    cases[name + "1d"] = record(of(1)(2), line)
    cases[name + "1d_same"] = record(of(1)(3, strides=2, padding="same"), line)
    cases[name + "3d"] = record(of(3)(2), volume)
    cases[name + "3d_same"] = record(of(3)((3, 2, 1), strides=(1, 2, 1), padding="same"), volume)
    for rank, shape, size in ((1, line, 3), (2, image, (4, 5)), (3, volume, 2)):
        cases[f"adaptive_{name}{rank}d"] = record(of(rank, "Adaptive")(size), shape)
for rank, shape in ((1, line), (2, image), (3, volume)):
    layer = getattr(layers, f"GlobalMaxPooling{rank}D")
    cases[f"global_max_pooling{rank}d"] = record(layer(), shape)
    cases[f"global_max_pooling{rank}d_keepdims"] = record(layer(keepdims=True), shape)
write("spatial_layers", cases)
