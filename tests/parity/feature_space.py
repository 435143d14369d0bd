"""Records Keras' FeatureSpace: each type of feature and both output modes, adapted on a table of 300 rows, and the results
for other rows with unknown values."""

from common import array, keras, np, write

keras.config.set_floatx("float32")  # the dtype of a FeatureSpace
FeatureSpace = keras.utils.FeatureSpace
rng = np.random.default_rng(11)
rows = 300
cities = np.array(["Lyon", "Oslo", "Rome", "Łódź", "Kyōto", "", "[UNK]"])
table = {
    "age": np.round(rng.normal(40, 12, rows), 1).astype("float32"),
    "income": np.round(rng.exponential(1500, rows), 2).astype("float32"),
    "share": (rng.integers(0, 11, rows) / 10).astype("float32"),
    "zip": rng.integers(-2, 9, rows),
    "city": cities[rng.choice(7, rows, p=[0.3, 0.2, 0.2, 0.1, 0.1, 0.05, 0.05])],
    "job": np.array(["baker", "nurse", "pilot"])[rng.integers(0, 3, rows)],
}
others = {
    "age": np.array([40, 0, -3.5, 1e6, 39.9, 25, 61, 40], "float32"),
    "income": np.array([0, 10, 1500.25, 99999, 700, 2000, 1, 3], "float32"),
    "share": np.array([0.1, 0.2, 0.3, 0.5, 0.6, 0.7, 0.9, 1.1], "float32"),
    "zip": np.array([-1, 3, 8, 100, 77, -50, 0, 5]),
    "city": np.array(["Lyon", "Paris", "", "[UNK]", "Kyōto", "Ωmega", "Rome", "New York"]),
    "job": np.array(["nurse", "baker", "judge", "pilot", "", "cook", "nurse", "tailor"]),
}
F = FeatureSpace
spaces = {
    "float": dict(features={"age": "float"}),
    "normalized": dict(features={"age": "float_normalized", "income": F.float_normalized()}),
    "rescaled": dict(features={"age": F.float_rescaled(scale=0.1, offset=-1.5), "income": "float_rescaled"}),
    "discretized": dict(features={"age": "float_discretized", "income": F.float_discretized(num_bins=5)}),
    "few_bins": dict(features={"age": "float_discretized", "income": "float_discretized"}, num_discretization_bins=3),
    "boundaries": dict(features={"share": F.float_discretized(num_bins=None, bin_boundaries=[0.1, 0.3, 0.6, 0.7, 0.9],
                                                              output_mode="int")}, output_mode="dict"),
    "integers": dict(features={"zip": "integer_categorical"}),
    "few_integers": dict(features={"zip": F.integer_categorical(max_tokens=6, num_oov_indices=3)}),
    "strings": dict(features={"city": "string_categorical", "job": "string_categorical"}),
    "few_strings": dict(features={"city": F.string_categorical(max_tokens=5, num_oov_indices=2)}),
    "hashed": dict(features={"zip": "integer_hashed", "city": F.string_hashed(num_bins=7)}, hashing_dim=10),
    "indices": dict(features={"age": F.float_discretized(num_bins=4, output_mode="int"),
                              "zip": F.integer_categorical(output_mode="int"),
                              "city": F.string_categorical(output_mode="int"),
                              "job": F.string_hashed(num_bins=9, output_mode="int")}, output_mode="dict"),
    "crosses": dict(features={"city": "string_categorical", "job": "string_hashed", "zip": "integer_categorical"},
                    crosses=[("job", "city"), F.cross(("zip", "city"), crossing_dim=11)], crossing_dim=16),
    "crossed_bins": dict(features={"age": F.float_discretized(num_bins=4), "income": F.float_discretized(num_bins=6)},
                         crosses=[F.cross(("age", "income"), crossing_dim=12, output_mode="int")], output_mode="dict"),
    "all": dict(features={"zip": "integer_hashed", "city": "string_categorical", "age": "float_normalized",
                          "share": "float", "income": F.float_discretized(num_bins=8)},
                crosses=[("zip", "city"), ("city", "income")], crossing_dim=10),
    "all_dict": dict(features={"zip": F.integer_categorical(output_mode="int"), "city": "string_categorical",
                               "age": "float_normalized", "share": "float"},
                     crosses=[("zip", "city")], output_mode="dict"),
}


def vocabularies(space):
    return {name: [str(token) for token in layer.get_vocabulary()] for name, layer in space.preprocessors.items()
            if hasattr(layer, "get_vocabulary")}


def plain(x):
    return array(np.asarray(x.numpy() if hasattr(x, "numpy") else x))


def result(options):
    space = FeatureSpace(**options)
    if any(getattr(layer, "bin_boundaries", None) for layer in space.preprocessors.values()):
        space._is_adapted = True  # adapt() raises for given boundaries
    else:
        space.adapt({name: table[name] for name in options["features"]})
    out = space({name: others[name] for name in options["features"]})
    out = {name: plain(x) for name, x in out.items()} if isinstance(out, dict) else plain(out)
    boundaries = {name: layer.bin_boundaries for name, layer in space.preprocessors.items()
                  if hasattr(layer, "bin_boundaries")}
    return {"vocabularies": vocabularies(space), "boundaries": boundaries, "output": out}


def columns(data):
    return {name: x.tolist() if x.dtype.kind == "U" else array(x) for name, x in data.items()}


write("feature_space", {"table": columns(table), "others": columns(others)} |
      {name: result(options) for name, options in spaces.items()})
