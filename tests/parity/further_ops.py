"""Records values and gradients of keras.ops without NaN, of sets, windows, images, convolutions and pooling."""

from cases import record
from common import integers, keras, np, numbers, write

ops = keras.ops
image = keras.ops.image
cases = {}


def case(name, function, *inputs):
    cases[name] = record(function, *inputs)


def with_nan(x):
    """NaN in place of 9: the recorded files have no NaN."""
    return ops.where(ops.equal(x, 9.0), np.nan, x)


# Without NaN.
holes = numbers(1, (3, 4, 2))
holes[0, 1, 0] = holes[2, 3, 1] = holes[1, :, 1] = 9.0
holes[1, 0, 1], holes[1, 3, 1] = 0.25, -0.5
for name in ("nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanvar", "nanstd", "nanmedian"):
    f = getattr(ops, name)
    case(name, lambda a, f=f: f(with_nan(a)), holes)
    case(name + "_axis", lambda a, f=f: f(with_nan(a), axis=1), holes)
    case(name + "_axes_kept", lambda a, f=f: f(with_nan(a), axis=(0, -1), keepdims=True), holes)
for name in ("nanargmax", "nanargmin"):
    f = getattr(ops, name)
    case(name, lambda a, f=f: f(with_nan(a)), holes)
    case(name + "_axis", lambda a, f=f: f(with_nan(a), axis=1), holes)
for method in ("linear", "lower", "higher", "midpoint", "nearest"):
    case("nanquantile_" + method, lambda a, method=method: ops.nanquantile(with_nan(a), 0.3, axis=1, method=method), holes)
case("nanquantiles", lambda a: ops.nanquantile(with_nan(a), np.array([0.1, 0.5, 1.0]), axis=0), holes)
case("nanpercentile", lambda a: ops.nanpercentile(with_nan(a), 70.0), holes)
case("nancumsum", lambda a: ops.nancumsum(with_nan(a), axis=1), holes)
case("nancumprod", lambda a: ops.nancumprod(with_nan(a), axis=0), holes)

# Sets, positions, pieces.
ints = integers(2, (3, 5), 9) - 4
case("moments", lambda a: ops.moments(a, axes=[0]), numbers(3, (4, 3)))
case("isin", ops.isin, ints, np.array([3, -2, 0]))
case("isin_invert", lambda a, b: ops.isin(a, b, invert=True), ints, np.array([[3, -2], [0, 1]]))
case("unique", lambda a: np.unique(np.asarray(a), return_index=True, return_inverse=True, return_counts=True), ints)
case("nonzero", ops.nonzero, ints)
case("unravel_index", lambda i: ops.unravel_index(i, (3, 4, 5)), np.array([[0, 59, 17], [-1, -60, 33]]))
case("argpartition_value", lambda a: ops.take(a, ops.argpartition(a, 2)[2]), np.array([5, 1, 4, 2, 9]))
data = numbers(4, (6, 2))
data[1, 0] = data[3, 1] = data[4, 1] = 0.0
segments = np.array([0, 2, 0, 2, 2, 4])


def segment_prod(a, i):
    """JAX has no gradient of segment_prod; this has."""
    return ops.prod(ops.where((np.arange(5)[:, None] == i)[:, :, None], a, 1.0), axis=1)


assert np.array_equal(segment_prod(data, segments), ops.segment_prod(data, segments, num_segments=5))
case("segment_prod", segment_prod, data, segments)
x = numbers(5, (4, 6, 2))
case("hsplit", lambda a: ops.hsplit(a, 3), x)
case("vsplit", lambda a: ops.vsplit(a, [1, 3]), x)
case("dsplit", lambda a: ops.dsplit(a, 2), x)

# Correlation, distances, windows.
for mode in ("valid", "same", "full"):
    case("correlate_" + mode, lambda a, b, mode=mode: ops.correlate(a, b, mode=mode), numbers(6, (7,)), numbers(7, (4,)))
    case("correlate_swapped_" + mode, lambda a, b, mode=mode: ops.correlate(a, b, mode=mode), numbers(6, (3,)), numbers(7, (6,)))
case("corrcoef", ops.corrcoef, numbers(8, (3, 6)))
case("cdist", ops.cdist, numbers(9, (4, 3)), numbers(10, (5, 3)))
case("psnr", lambda a, b: ops.psnr(a, b, 2.0), numbers(11, (3, 4)), numbers(12, (3, 4)))
pictures = numbers(13, (2, 3, 6, 5))
case("unfold", lambda a: ops.unfold(a, 2), pictures)
case("unfold_options", lambda a: ops.unfold(a, (3, 2), dilation=(1, 2), padding=(1, 0), stride=(2, 1)), pictures)
case("fold", lambda a: ops.fold(a, (6, 5), (3, 2), padding=(1, 0), stride=(1, 1)), numbers(14, (2, 12, 24)))
case("extract_sequences", lambda a: ops.extract_sequences(a, 3, 2), numbers(15, (2, 8)))
case("depth_to_space", lambda a: ops.depth_to_space(a, 2), numbers(16, (2, 3, 2, 8)))
case("space_to_depth", lambda a: ops.space_to_depth(a, 2), numbers(17, (2, 4, 6, 3)))
case("i0", ops.i0, np.array([-12.5, -8.0, -1.5, 0.0, 0.3, 4.0, 7.9, 8.1, 30.0]))
case("rms_normalization", lambda a, s: ops.rms_normalization(a, s, axis=-1), numbers(18, (3, 4)), numbers(19, (4,)))
matrices = numbers(20, (2, 4, 4))
case("lu_factor", ops.lu_factor, matrices)

# Images.
photo = numbers(21, (2, 5, 7, 3), 0.0, 1.0)
one = numbers(22, (4, 6, 2))
case("rgb_to_grayscale", image.rgb_to_grayscale, photo)
case("rgb_to_hsv", image.rgb_to_hsv, photo)
case("hsv_to_rgb", image.hsv_to_rgb, photo)
for method in ("bilinear", "nearest", "bicubic", "lanczos3", "lanczos5"):
    case("resize_up_" + method, lambda a, m=method: image.resize(a, (7, 5), interpolation=m), one)
    case("resize_down_" + method, lambda a, m=method: image.resize(a, (3, 11), interpolation=m), photo)
    if method != "nearest":
        case("resize_antialias_" + method, lambda a, m=method: image.resize(a, (2, 3), interpolation=m, antialias=True), photo)
case("resize_crop", lambda a: image.resize(a, (6, 3), crop_to_aspect_ratio=True), photo)
case("resize_pad", lambda a: image.resize(a, (6, 3), pad_to_aspect_ratio=True, fill_value=0.5), photo)
case("scale_and_translate", lambda a: image.scale_and_translate(
    a, (2, 4, 9, 3), np.array([0.7, 1.3]), np.array([0.4, -0.8]), (1, 2), "cubic"), photo)
case("crop_images", lambda a: image.crop_images(a, top_cropping=1, left_cropping=2, target_height=3, target_width=4), photo)
case("pad_images", lambda a: image.pad_images(a, 1, 2, target_height=8, target_width=10), photo)
case("extract_patches", lambda a: image.extract_patches(a, (2, 3)), photo)
case("extract_patches_same", lambda a: image.extract_patches(a, 3, strides=2, padding="same"), photo)
case("extract_patches_dilated", lambda a: image.extract_patches(a, 2, strides=1, dilation_rate=2), one)
case("extract_patches_3d", lambda a: image.extract_patches_3d(a, 2, strides=1), numbers(23, (1, 3, 4, 3, 2)))
places = numbers(24, (2, 3, 4), -4.0, 9.0) + 0.003
for mode in ("constant", "nearest", "wrap", "mirror", "reflect"):
    case("map_coordinates_" + mode, lambda a, c, m=mode: image.map_coordinates(a, c, 1, m, 0.25), numbers(25, (5, 6)), places)
    case("map_nearest_" + mode, lambda a, c, m=mode: image.map_coordinates(a, c, 0, m, 0.25), numbers(25, (5, 6)), places)
turn = np.array([[0.9, 0.2, 0.3, -0.1, 1.1, -0.4, 0, 0], [1.2, -0.3, 1.0, 0.2, 0.8, 0.5, 0, 0]])
case("affine_transform", lambda a: image.affine_transform(a, turn), photo)
case("affine_nearest", lambda a: image.affine_transform(a, turn[0], "nearest", "reflect"), one)
start = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 4.0], [6.0, 4.0]])
end = np.array([[0.5, 0.3], [5.7, 0.1], [0.2, 3.6], [5.5, 4.2]])
case("gaussian_blur", lambda a: image.gaussian_blur(a, (3, 5), (1.0, 0.7), data_format="channels_last"), photo)
case("sobel_edges", lambda a: image.sobel_edges(a, data_format="channels_last"), photo)
case("ssim", lambda a, b: image.ssim(a, b, filter_size=3), photo, numbers(26, (2, 5, 7, 3), 0.0, 1.0))
case("perspective_transform", lambda a: image.perspective_transform(a, start, end), one)

write("further_ops", cases)

# Convolutions and pooling of 1, 2 and 3 axes: name, shapes of x and of the kernels, options. On JAX, pooling without
# strides fails in Keras 3.15: they are given.
cases.clear()
seeds = iter(range(1000, 2000))


def spatial(name, function, *shapes, **options):
    case(name, lambda *xs: getattr(ops, function)(*xs, **options), *[numbers(next(seeds), shape) for shape in shapes])


channels_last = {"data_format": "channels_last"}
spatial("conv_1", "conv", (2, 7, 3), (3, 3, 4), strides=2, padding="same", **channels_last)
spatial("conv_1_groups", "conv", (2, 9, 4), (2, 2, 6), dilation_rate=3, **channels_last)
spatial("conv_2", "conv", (2, 5, 6, 3), (3, 2, 3, 2), strides=(2, 1), padding="same", **channels_last)
spatial("conv_2_groups", "conv", (1, 5, 6, 4), (2, 3, 2, 4), dilation_rate=(3, 2), **channels_last)
spatial("conv_3", "conv", (2, 4, 5, 3, 2), (2, 3, 2, 2, 3), **channels_last)
spatial("conv_3_same", "conv", (1, 5, 4, 3, 2), (3, 2, 3, 2, 2), strides=(2, 3, 1), padding="same", **channels_last)
spatial("conv_3_groups", "conv", (1, 6, 4, 3, 4), (2, 2, 1, 2, 6), dilation_rate=(3, 2, 1), **channels_last)
spatial("conv_3_strides", "conv", (1, 7, 4, 3, 4), (3, 2, 1, 1, 4), strides=(2, 1, 2), **channels_last)
spatial("depthwise_conv_1", "depthwise_conv", (2, 6, 3), (3, 3, 2), padding="same", **channels_last)
spatial("depthwise_conv_2", "depthwise_conv", (2, 6, 5, 2), (3, 2, 2, 3), strides=2, **channels_last)
spatial("depthwise_conv_3", "depthwise_conv", (1, 4, 3, 4, 2), (2, 2, 3, 2, 2), padding="same", **channels_last)
spatial("separable_conv_1", "separable_conv", (2, 8, 3), (3, 3, 2), (1, 6, 4), dilation_rate=2, **channels_last)
spatial("separable_conv_2", "separable_conv", (1, 5, 4, 2), (2, 3, 2, 2), (1, 1, 4, 3), strides=2, padding="same", **channels_last)
spatial("separable_conv_3", "separable_conv", (1, 3, 4, 3, 2), (2, 2, 2, 2, 1), (1, 1, 1, 2, 3), **channels_last)
spatial("conv_transpose_1", "conv_transpose", (2, 4, 3), (3, 2, 3), strides=2, padding="same", **channels_last)
spatial("conv_transpose_1_valid", "conv_transpose", (2, 4, 3), (2, 2, 3), strides=3, **channels_last)
spatial("conv_transpose_1_added", "conv_transpose", (1, 4, 2), (3, 2, 2), strides=3, padding="same", output_padding=2, **channels_last)
spatial("conv_transpose_2", "conv_transpose", (2, 3, 4, 2), (3, 2, 3, 2), strides=(1, 2), dilation_rate=(2, 1), **channels_last)
spatial("conv_transpose_3", "conv_transpose", (2, 3, 2, 4, 2), (3, 2, 3, 3, 2), strides=(2, 1, 2), padding="same", **channels_last)
spatial("conv_transpose_3_valid", "conv_transpose", (1, 2, 3, 2, 2), (2, 3, 1, 2, 2), strides=(3, 2, 2), **channels_last)
spatial("conv_transpose_3_added", "conv_transpose", (1, 3, 2, 2, 2), (3, 2, 4, 1, 2), strides=(2, 3, 2), output_padding=(1, 2, 0), **channels_last)
spatial("conv_transpose_3_added_same", "conv_transpose", (1, 3, 2, 2, 2), (2, 3, 4, 1, 2), strides=(3, 3, 2), output_padding=(1, 2, 0), padding="same", **channels_last)
spatial("conv_transpose_3_dilated", "conv_transpose", (1, 3, 2, 3, 1), (3, 2, 2, 2, 1), dilation_rate=(2, 3, 1), **channels_last)
for name in ("average_pool", "max_pool"):
    spatial(name + "_1", name, (2, 7, 3), pool_size=3, strides=2, padding="same", **channels_last)
    spatial(name + "_1_valid", name, (2, 7, 3), pool_size=2, strides=2, **channels_last)
    spatial(name + "_2", name, (2, 5, 6, 3), pool_size=(3, 2), strides=(1, 3), padding="same", **channels_last)
    spatial(name + "_3", name, (2, 4, 5, 3, 2), pool_size=(2, 3, 1), strides=(2, 3, 1), **channels_last)
    spatial(name + "_3_same", name, (1, 5, 4, 3, 2), pool_size=(3, 2, 3), strides=(2, 3, 1), padding="same", **channels_last)
    spatial("adaptive_" + name + "_1", "adaptive_" + name, (2, 7, 3), output_size=5, **channels_last)
    spatial("adaptive_" + name + "_1_more", "adaptive_" + name, (2, 3, 2), output_size=5, **channels_last)
    spatial("adaptive_" + name + "_2", "adaptive_" + name, (2, 10, 6, 2), output_size=(7, 4), **channels_last)
    spatial("adaptive_" + name + "_2_even", "adaptive_" + name, (2, 6, 4, 2), output_size=2, **channels_last)
    spatial("adaptive_" + name + "_3", "adaptive_" + name, (1, 5, 4, 3, 2), output_size=(3, 2, 3), **channels_last)

write("spatial", cases)
