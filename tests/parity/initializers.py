"""Records fans and statistics of Keras' initializers."""

from common import keras, np, write

from keras.src.initializers.random_initializers import compute_fans

SHAPES = [(), (7,), (300, 200), (3, 3, 16, 32), (5, 8, 4)]
LARGE = (3, 3, 64, 128)
NAMES = ["glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "lecun_normal", "lecun_uniform",
         "random_normal", "random_uniform", "truncated_normal", "variance_scaling"]


def statistics(initializer):
    x = np.asarray(initializer(LARGE), dtype="float64")
    return {"shape": LARGE, "mean": x.mean(), "deviation": x.std(), "lowest": x.min(), "highest": x.max()}


keras.utils.set_random_seed(0)
cases = {"fans": [{"shape": shape, "fans": compute_fans(shape)} for shape in SHAPES]}
for name in NAMES:
    cases[name] = statistics(keras.initializers.get(name))
for mode in ("fan_in", "fan_out", "fan_avg"):
    for distribution in ("truncated_normal", "untruncated_normal", "uniform"):
        cases[f"{mode} {distribution}"] = statistics(
            keras.initializers.VarianceScaling(3.0, mode=mode, distribution=distribution))
write("initializers", cases)
