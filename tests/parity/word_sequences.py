"""Records small files like Keras' imdb.npz and reuters.npz, and what Keras reads from them."""

import base64
import tempfile
from pathlib import Path

from common import keras, np, write

rng = np.random.default_rng(3)
imdb, reuters = keras.src.datasets.imdb, keras.src.datasets.reuters


def texts(count):
    lists = np.empty(count, dtype=object)
    for i in range(count):
        lists[i] = [int(w) for w in rng.integers(1, (30, 300, 70000)[i % 3], rng.integers(0 if i else 1, 9))]
    return lists


def listed(sets):
    return [{"x": [[int(w) for w in x] for x in xs], "y": [int(y) for y in ys]} for xs, ys in sets]


def case(module, arrays, *options):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file.npz"
        np.savez(path, **arrays)
        module.get_file = lambda *args, **kwargs: path
        sets = [listed(module.load_data(**given)) for given in options]
        return {"file": base64.b64encode(path.read_bytes()).decode(), "sets": sets}


films = {"x_train": texts(12), "y_train": rng.integers(0, 2, 12), "x_test": texts(7), "y_test": rng.integers(0, 2, 7)}
options = [{}, {"num_words": 200, "skip_top": 5, "maxlen": 7, "seed": 4},
           {"start_char": None, "oov_char": None, "index_from": 0, "num_words": 100}]
write("word_sequences", {
    "imdb": case(imdb, films, *options),
    "reuters": case(reuters, {"x": texts(15), "y": rng.integers(0, 46, 15)}, {}, {"test_split": 0.4, "num_words": 50}),
    "function": case(reuters, {"x": np.array([print], dtype=object), "y": np.arange(1)}),
    "words": case(reuters, {"x": np.array([["a"], ["b", "c"]], dtype=object), "y": np.arange(2)}),
})
