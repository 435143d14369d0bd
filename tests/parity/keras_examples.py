"""The models of all programs of tests/parity/programs in Keras' files, in both directions.

keras_examples.py PROGRAM [NAME...], with the build tree's tests/test_training_keras_files as PROGRAM:
1. Each example runs with Keras, one epoch for each fit. Keras saves its models, with inputs, outputs and the next 10
   losses on a batch of the example's data.
2. PROGRAM loads each file, compares outputs and losses, and saves the model again.
3. Keras loads that file and compares outputs and losses.

keras_examples.py --record: writes recorded/keras_files with some of the models for the tests.

Keras runs on JAX: on TensorFlow, Adam and RMSprop leave out rows of embeddings that a batch doesn't have.
"""

import importlib
import inspect
import json
import os
import shutil
import subprocess
import sys
import tempfile
import types
import zipfile
from pathlib import Path

os.environ.update(KERAS_BACKEND="jax", JAX_PLATFORMS="cpu", CUDA_VISIBLE_DEVICES="", TF_CPP_MIN_LOG_LEVEL="3")

import keras  # noqa: E402
import numpy as np  # noqa: E402

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "programs")]
sys.modules["common"] = types.SimpleNamespace(keras=keras, np=np)  # whose own one sets float64

import programs  # noqa: E402
from keras_files import RECORDED, count_problems, write_case  # noqa: E402
from keras_models import inputs_of  # noqa: E402

NAMES = sorted(path.stem[len("test_"):] for path in (HERE / "programs").glob("test_*.cpp"))
RECORDED_NAMES = ["patch_mixer", "mosaic_transformer", "bearing_faults", "wine_pairings"]
LAMBDA = "a Lambda with a function of Python can't be read"


class Runs:
    """Models that an example initializes, and the first data of their fits."""

    def __init__(self):
        self.models, self.data = [], {}
        self.initialize, self.fit = programs.initialize, keras.Model.fit
        programs.initialize = self.note_model
        runs = self

        def fit(model, *args, **kwargs):
            given = inspect.signature(self.fit).bind(model, *args, **kwargs).arguments
            runs.data.setdefault(id(model), (given["x"], given.get("y")))
            return runs.fit(model, *args, **{**kwargs, "epochs": 1})

        keras.Model.fit = fit

    def note_model(self, model, stream=100):
        shapes = self.initialize(model, stream)
        if isinstance(model, keras.Model):
            self.models.append(model)
        return shapes

    def of(self, name):
        self.models, self.data = [], {}
        module = importlib.import_module(name)
        for value in vars(module).values():
            if inspect.isclass(value) and issubclass(value, keras.Layer) and value.__module__ == name:
                make_saveable(value)
        module.record()
        return self.models


def make_saveable(cls):
    """Gives a class a config of the arguments of its constructor, under the name "examples>Name"."""
    make, names = cls.__init__, inspect.signature(cls.__init__).parameters

    def __init__(self, *args, **kwargs):
        make(self, *args, **kwargs)
        bound = inspect.signature(make).bind(self, *args, **kwargs)
        bound.apply_defaults()
        object.__setattr__(self, "_given", {key: x for key, x in list(bound.arguments.items())[1:]})

    def get_config(self):
        given = {name: keras.saving.serialize_keras_object(x) for name, x in self._given.items() if name != "kwargs"}
        return {"name": self.name, "trainable": self.trainable, **given}

    def from_config(config):
        given = {name: keras.saving.deserialize_keras_object(config[name]) for name in names if name in config}
        layer = cls(**given)
        layer.name = config["name"]
        return layer

    cls.__init__, cls.get_config, cls.from_config = __init__, get_config, staticmethod(from_config)
    if cls.__name__ == "Posterior":  # mezzo writes several inputs as one list
        call = cls.call
        cls.call = lambda self, *xs: call(self, *(xs[0] if len(xs) == 1 else xs))
    keras.saving.register_keras_serializable("examples")(cls)


def batch_of(model, data):
    """Lists of the first samples, in the order of inputs and outputs; numbers by chance without data."""
    if data is None:
        x = inputs_of(model, np.random.default_rng(3), 4)
        rng = np.random.default_rng(4)
        return x, [rng.uniform(0, 1, [4, *y.shape[1:]]).astype("float32") for y in model.outputs]
    x, y = data
    if y is None:
        x, y = next(iter(x))
    names = [tensor.name for tensor in getattr(model, "inputs", None) or []]
    x = [x[name] for name in names] if isinstance(x, dict) else x if isinstance(x, (list, tuple)) else [x]
    y = [y[name] for name in model.output_names] if isinstance(y, dict) else y if isinstance(y, (list, tuple)) else [y]
    return [narrow(value) for value in x], [narrow(value) for value in y]


def narrow(array):
    array = np.asarray(array)[:8]
    return array.astype("float32") if array.dtype == np.float64 else array


def has_python(model, folder):
    """True if the options of compile() name functions or classes of the example."""
    path = folder / "trial.keras"
    model.save(path)
    config = json.loads(zipfile.ZipFile(path).read("config.json"))
    path.unlink()
    modules = []

    def collect(part):
        if isinstance(part, dict):
            modules.append(part.get("module") or "keras")
        for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else []:
            collect(inner)

    collect(config.get("compile_config"))
    return not config.get("compile_config") or any(not module.startswith("keras") for module in modules)


def saved_models(runs, name, folder):
    """Writes a case for each model of an example. A model with a Lambda is refused; its models are cases."""
    models = runs.of(name)
    parts = [layer for model in models if has_lambda(model) for layer in model.layers if isinstance(layer, keras.Model)]
    if parts:
        (folder / f"{name}_refused").mkdir()
        models[0].save(folder / f"{name}_refused" / "keras.keras")
        (folder / f"{name}_refused" / "error.txt").write_text(LAMBDA)
    for i, model in enumerate([model for model in models if not has_lambda(model)] + list(dict.fromkeys(parts))):
        x, y = batch_of(model, runs.data.get(id(model)))
        model.trainable = True  # examples freeze models after their training
        if has_python(model, folder):
            outputs = model(x if len(x) > 1 else x[0])
            outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
            y = [np.random.default_rng(4).uniform(0, 1, one.shape).astype("float32") for one in outputs]
            model.compile("adam", "mse")
        model.fixed_data = (x if len(x) > 1 else x[0], y if len(y) > 1 else y[0])
        model.fixed_inputs = x
        write_case(folder / f"{name}_{i}", model)


def has_lambda(model):
    return any(isinstance(layer, keras.layers.Lambda) for layer in model.layers)


def compare(program, only):
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(os.environ.get("KEEP", temporary))
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        runs = Runs()
        for name in only or NAMES:
            saved_models(runs, name, folder)
        run = subprocess.run([program, "--run_test=keras_examples/models_of_examples_are_read_and_written"],
                             env={**os.environ, "MEZZO_KERAS_EXAMPLES": str(folder)})
        cases = [path for path in sorted(folder.iterdir()) if not (path / "error.txt").exists()]
        bad = count_problems(cases)
        print(f"{len(only or NAMES)} examples, {len(cases)} models, {bad} with problems in Keras, "
              f"program returned {run.returncode}")
        sys.exit(bool(bad) or run.returncode)


def record():
    runs = Runs()
    with tempfile.TemporaryDirectory() as temporary:
        for name in RECORDED_NAMES:
            saved_models(runs, name, Path(temporary))
        for path in sorted(Path(temporary).iterdir()):
            shutil.rmtree(RECORDED / "examples" / path.name, ignore_errors=True)
            shutil.copytree(path, RECORDED / "examples" / path.name)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    record() if sys.argv[1] == "--record" else compare(sys.argv[1], sys.argv[2:])
