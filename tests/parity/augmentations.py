"""Records changes of images by Keras for given factors: `transform_images` after the draws, or layers of fixed factors."""

from common import array, keras, np, numbers, write

layers = keras.layers
image, small = numbers(31, (2, 6, 5, 3)) * 127 + 128, numbers(32, (2, 7, 4, 1)) * 127 + 128
unit = numbers(33, (2, 5, 6, 3), 0, 1)
two = np.array([0.2, 0.9])


def case(x, y):
    return {"input": array(np.asarray(x)), "output": array(np.asarray(y, dtype="float64"))}


def after(layer, x, transformation):
    """Result for drawn numbers."""
    return case(x, layer.transform_images(keras.ops.convert_to_tensor(x), transformation, training=True))


def fixed(layer, x):
    return case(x, layer(x, training=True))


def each(layer, x):
    """Result for single images: in a batch, Equalization counts the pixels of all images."""
    return case(x, np.stack([np.asarray(layer(one, training=True)) for one in x]))


shear = layers.RandomShear((0.0, 0.5), (0.0, 0.5), fill_mode="constant", fill_value=9.0)
shear_factors = keras.ops.convert_to_tensor(np.array([[0.3, -0.2], [0.3, -0.2]]))
perspective = layers.RandomPerspective(fill_value=5.0)
start = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 5.0], [4.0, 5.0]])
end = start + start * np.array([[0.1, 0.2], [-0.2, 0.1], [0.2, 0.15], [0.1, -0.25]])
points = {"apply_perspective": np.array([True, True]), "start_points": np.stack([start] * 2),
          "end_points": np.stack([end] * 2)}
blur = {"should_apply_blur": np.array([True, True]), "blur_factor": np.array([0.8, 0.4])}
keep = {"permutation_order": np.array([1, 0])}
box = layers.CutMix()._generate_batch_mask(image.shape, tuple(np.array(c) for c in (
    [0.5, 1.0], [3.25, 2.0], [1.0, 0.2], [4.5, 5.9])))
labels = np.eye(2)

cases = {
    "hue": after(layers.RandomHue(0.5), image, {"factor": np.array([0.3, 0.3])}),
    "hue_back": after(layers.RandomHue(0.5, value_range=(0, 1)), unit, {"factor": np.array([-0.45, -0.45])}),
    "saturation": fixed(layers.RandomSaturation((0.3, 0.3)), image),
    "saturation_more": fixed(layers.RandomSaturation((0.7, 0.7), value_range=(0, 1)), unit),
    "degeneration": fixed(layers.RandomColorDegeneration((0.4, 0.4)), image),
    "sharpness": fixed(layers.RandomSharpness((0.9, 0.9)), image),
    "sharpness_smooth": fixed(layers.RandomSharpness((0.2, 0.2), value_range=(0, 200)), small),
    "grayscale": fixed(layers.RandomGrayscale(1.0), image),
    "invert": fixed(layers.RandomInvert((1.0, 1.0)), image),
    "posterization": fixed(layers.RandomPosterization((3, 3)), image),
    "posterization_unit": fixed(layers.RandomPosterization((2, 2), value_range=(0, 1)), unit),
    "jitter": fixed(layers.RandomColorJitter(brightness_factor=(0.1, 0.1), contrast_factor=(0.0, 0.0),
                                             saturation_factor=(0.4, 0.4)), image),
    "blur": after(layers.RandomGaussianBlur(kernel_size=(3, 5)), image, blur),
    "shear": after(shear, image, {"shear_factor": shear_factors, "input_shape": image.shape}),
    "perspective": after(perspective, image, points),
    "solarization": after(layers.Solarization(), image,
                          {"additions": np.full((2, 1, 1, 1), 20.0), "thresholds": np.full((2, 1, 1, 1), 140.0)}),
    "solarization_unit": after(layers.Solarization(value_range=(0, 1)), unit,
                               {"additions": np.full((2, 1, 1, 1), 51.0), "thresholds": np.full((2, 1, 1, 1), 102.0)}),
    "equalization": each(layers.Equalization(), image),
    "equalization_bins": each(layers.Equalization(bins=16), image),
    "equalization_unit": each(layers.Equalization(value_range=(0, 1)), unit),
    "contrast": fixed(layers.AutoContrast(), image),
    "contrast_unit": fixed(layers.AutoContrast(value_range=(0, 1)), unit * 0.5 + 0.2),
    "contrast_flat": fixed(layers.AutoContrast(), np.full((1, 3, 3, 3), 7.0)),
    "crop_equal": fixed(layers.RandomCrop(6, 3), image),
    "crop_small": fixed(layers.RandomCrop(9, 4), image),
    "crop_wide": fixed(layers.RandomCrop(4, 8), small),
    "mix": after(layers.MixUp(), image, keep | {"mix_weight": two}),
    "mix_labels": case(labels, layers.MixUp().transform_labels(labels, keep | {"mix_weight": two})),
    "cut": after(layers.CutMix(), image, keep | {"batch_masks": box[0], "mix_weight": box[1]}),
    "cut_labels": case(labels, layers.CutMix().transform_labels(labels, keep | {"mix_weight": np.asarray(box[1])})),
}


def crossed(*inputs, **options):
    return array(np.asarray(layers.HashedCrossing(**options)(tuple(np.array(x) for x in inputs))))


words, ints = ["a", "b", "c", "café", ""], [1, 5, 7, -3, 2**40]
crossings = {
    "strings": crossed(words, words[::-1], num_bins=1000003),
    "mixed": crossed(words, ints, num_bins=1000003),
    "integers": crossed(ints, ints[::-1], ints, num_bins=1000003),
    "few": crossed(ints, ints[::-1], num_bins=3),
    "columns": crossed([[1], [2]], [[3], [4]], num_bins=5),
    "one_hot": crossed([[1], [2]], [[3], [4]], num_bins=5, output_mode="one_hot", dtype="float32"),
}
write("augmentations", {"words": words, "integers": ints, "cases": cases, "crossings": crossings})
