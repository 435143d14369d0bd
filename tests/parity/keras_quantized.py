"""Quantized models in Keras' files, in both directions, with the same codes and scales.

keras_quantized.py PROGRAM, with the build tree's tests/test_training_keras_files as PROGRAM:
1. Keras quantizes each model and saves it as keras.keras, with inputs and outputs, and before as float.keras.
2. PROGRAM loads keras.keras, compares outputs, and saves mezzo.keras. It loads float.keras, quantizes it, and saves
   quantized.keras, quantized.weights.h5 and outputs.
3. Keras loads mezzo.keras and both other files, and compares outputs, codes and scales.

Layers in float8 have trained scales and histories in Keras' files, and new ones when PROGRAM quantizes.

keras_quantized.py --record: writes recorded/keras_quantized with some of the cases for the tests.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.update(CUDA_VISIBLE_DEVICES="", TF_CPP_MIN_LOG_LEVEL="3")

import keras  # noqa: E402
import numpy as np  # noqa: E402
from keras import layers  # noqa: E402
from keras.src.quantizers.gptq import GPTQ  # noqa: E402

RECORDED = Path(__file__).parent / "recorded" / "keras_quantized"
MODES = ["int8", "int4", "int4_4", "int4_-1", "gptq_4", "gptq_-1", "float8"]
SMALL = ["dense_int8_float32", "dense_int4_4_float32", "attention_int8_float32", "attention_int4_-1_float32",
         "tied_int4_float32", "untied_int8_float32", "untied_int4_4_float32", "several_int4_4_float32",
         "einsum_int8_float32", "several_int8_bfloat16", "dense_gptq_4_float32", "einsum_gptq_-1_float32",
         "dense_float8_float32", "attention_float8_bfloat16"]  # recorded


def dense():
    x = keras.Input((12,))
    return keras.Model(x, layers.Dense(3)(layers.Dense(7, activation="relu")(x)))


def sequential():
    return keras.Sequential([keras.Input((12,)), layers.Dense(7, activation="relu"), layers.Dropout(0.1),
                             layers.Dense(3, use_bias=False)])


def einsum():
    x = keras.Input((4, 12))
    y = layers.EinsumDense("abc,cde->abde", output_shape=(None, 2, 5), bias_axes="de")(x)
    return keras.Model(x, layers.EinsumDense("abde,def->abf", output_shape=(None, 6), bias_axes="f")(y))


def embedding():
    x = keras.Input((5,), dtype="int32")
    return keras.Model(x, layers.Dense(3)(layers.Embedding(11, 7)(x)))


def reversible(tie_weights):
    x = keras.Input((5,), dtype="int32")
    table = layers.ReversibleEmbedding(11, 7, tie_weights=tie_weights)
    return keras.Model(x, table(layers.LayerNormalization()(table(x)), reverse=True))


def attention():
    x = keras.Input((5, 8))
    return keras.Model(x, layers.MultiHeadAttention(2, 4)(x, x))


def several():
    x = keras.Input((5,), dtype="int32")
    y = layers.Embedding(11, 8)(x)
    y = layers.LayerNormalization()(y + layers.MultiHeadAttention(2, 4)(y, y))
    y = y + layers.Dense(8)(layers.Dense(16, activation="gelu")(y))
    return keras.Model(x, layers.Dense(3)(layers.GlobalAveragePooling1D()(y)))


MAKERS = {"dense": dense, "sequential": sequential, "einsum": einsum, "embedding": embedding, "attention": attention,
          "tied": lambda: reversible(True), "untied": lambda: reversible(False), "several": several}


def made(name):
    """The model of a case with two-signed numbers: Keras 3.15 saturates int4 blocks of one sign."""
    maker, policy = name.split("_")[0], name.split("_")[-1]
    keras.utils.set_random_seed(3)
    keras.config.set_dtype_policy("mixed_bfloat16" if policy == "bfloat16" else "float32")
    model = MAKERS[maker]()
    keras.config.set_dtype_policy("float32")
    random = np.random.default_rng(5)
    for place, variable in enumerate(model.variables):
        if variable.shape and "seed" not in variable.path:
            shape = tuple(variable.shape)
            signs = (-1.0) ** np.indices(shape).sum(0) if len(shape) > 1 else 1
            numbers = random.uniform(0.02, 1, shape) * signs
            variable.assign(numbers if len(shape) > 1 else 1 + 0.1 * numbers)
    return model


def quantize_by_gptq(model, group_size):
    """GPTQ with random inputs of each kernel: the codes are to be read, not to be good."""
    config = keras.quantizers.GPTQConfig(None, None, group_size=group_size)
    random = np.random.default_rng(9)
    for layer in model.layers:
        if isinstance(layer, (layers.Dense, layers.EinsumDense)):
            layer.quantize("gptq", config=config)
            gptq = GPTQ(layer, config)
            gptq.update_hessian_with_batch(random.normal(size=(64, gptq.rows)).astype("float32"))
            gptq.quantize_and_correct_layer()


def with_zero_points(layer, original):
    """Keras 3.15.1 leaves the zero points of gptq out when it saves, and can't load its files then."""
    if layer.quantization_mode == "gptq":
        return None, None, layer.kernel_zero
    return original(layer)


for of_class in (layers.Dense, layers.EinsumDense):
    given = of_class._get_kernel_with_merged_lora
    of_class._get_kernel_with_merged_lora = lambda layer, given=given: with_zero_points(layer, given)


def quantize(model, name):
    mode = name[name.index("_") + 1:name.rindex("_")]
    if mode.startswith("gptq"):
        quantize_by_gptq(model, int(mode.split("_")[1]))
    elif "_" in mode:
        model.quantize(config=keras.quantizers.Int4QuantizationConfig(block_size=int(mode.split("_")[1])))
    else:
        model.quantize(mode)
    if mode == "float8":
        set_scales(model)


def is_scale(path):
    return path.endswith(("_scale", "_amax_history"))


def set_scales(model):
    random = np.random.default_rng(11)
    for variable in model.variables:
        if is_scale(variable.path):
            variable.assign(random.uniform(0.01, 0.5, tuple(variable.shape)))


def predicted(model, x):
    return np.asarray(model.predict(x, verbose=0)).astype("float32")


def write_case(folder):
    folder.mkdir(parents=True)
    model = made(folder.name)
    model.save(folder / "float.keras")
    quantize(model, folder.name)
    model.save(folder / "keras.keras")
    random = np.random.default_rng(7)
    shape = (3, *model.input_shape[1:])
    integers = model.inputs[0].dtype == "int32"
    x = random.integers(0, 11, shape).astype("int32") if integers else random.normal(size=shape).astype("float32")
    np.savez(folder / "expected.npz", x0=x, y0=predicted(model, x))
    return model


def difference(a, b):
    return float(np.max(np.abs(a - b)) / max(1, np.max(np.abs(b))))


def codes_differ(model, keras_model, without_scales=False):
    """Weights that differ from those of the model that Keras has quantized."""
    # Names of seed generators are counted in each process.
    mine = {v.path: np.asarray(v) for v in model.variables if "seed_generator" not in v.path}
    theirs = {v.path: np.asarray(v) for v in keras_model.variables if "seed_generator" not in v.path}
    if mine.keys() != theirs.keys():
        return [f"weights {sorted(mine.keys() ^ theirs.keys())}"]
    out = []
    for path, x in mine.items():
        if without_scales and is_scale(path):
            continue
        y = theirs[path]
        if path.endswith("g_idx"):  # Keras' gptq writes fractions and reads their whole part
            x, y = np.floor(x), np.floor(y)
        if x.dtype != y.dtype or x.shape != y.shape:
            out.append(f"{path}: {x.dtype} {x.shape} for {y.dtype} {y.shape}")
        elif not np.array_equal(x, y):
            out.append(f"{path} differs by {np.max(np.abs(x.astype('float64') - y.astype('float64')))}")
    return out


def bound_of(case):
    """The largest difference that rounding explains, relative to the largest output.

    Numbers that differ in the last bit of bfloat16 may get neighbouring codes of E4M3, 1/8 to 1/16 apart. Under float32
    float8 has the bound of the other modes.
    """
    if "bfloat16" not in case:
        return 1e-5
    return 1 / 16 if "float8" in case else 2e-2


def check(folder, keras_model):
    bound = bound_of(folder.name)
    expected = dict(np.load(folder / "expected.npz"))
    x, problems = expected["x0"], []
    for name in ("mezzo.keras", "quantized.keras"):
        model = keras.models.load_model(folder / name)
        y = expected["y0"] if name == "mezzo.keras" else np.load(folder / "quantized.npz")["y0"]
        worst = difference(predicted(model, x), y)
        problems += [f"{name}: outputs differ by {worst}"] if not worst <= bound else []
        new = "float8" in folder.name and name == "quantized.keras"  # with scales of its own
        if name == "mezzo.keras" or "gptq" not in folder.name:  # mezzo's GPTQ is that of the paper
            problems += [f"{name}: {text}" for text in codes_differ(model, keras_model, new)]
    model = keras.models.load_model(folder / "mezzo.keras")
    if new:
        model.load_weights(folder / "quantized.weights.h5")
        worst = difference(predicted(model, x), y)
        return problems + ([f"weights: outputs differ by {worst}"] if not worst <= bound else [])
    model.load_weights(folder / "quantized.weights.h5")
    if "gptq" not in folder.name:
        return problems + [f"weights: {text}" for text in codes_differ(model, keras_model)]
    worst = difference(predicted(model, x), np.load(folder / "quantized.npz")["y0"])
    problems += [f"weights: outputs differ by {worst}"] if not worst <= bound else []
    return problems


def is_in_keras(name, mode):
    """Keras' GPTQ has no attention layers that it can load again, and float8 no tables of embeddings."""
    if "gptq" in mode:
        return name in ("dense", "sequential", "einsum")
    return mode != "float8" or "tied" not in name


def compare(program, only):
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(os.environ.get("KEEP", temporary))
        shutil.rmtree(folder, ignore_errors=True)
        models = {}
        for name in MAKERS:
            for mode in [one for one in MODES if is_in_keras(name, one)]:
                for policy in ("float32", "bfloat16"):
                    case = f"{name}_{mode}_{policy}"
                    if not only or case in only:
                        models[case] = write_case(folder / case)
        run = subprocess.run([program, "--run_test=keras_quantized/quantized_files_of_keras_are_read_and_written"],
                             env={**os.environ, "MEZZO_KERAS_QUANTIZED": str(folder)})
        bad = 0
        for name, model in models.items():
            try:
                problems = check(folder / name, model)
            except Exception as error:  # of any kind: Keras can't load the file
                problems = [f"{type(error).__name__}: {str(error)[:600]}"]
            bad += bool(problems)
            for problem in problems:
                print(f"{name}: {problem}")
        print(f"{len(models)} cases, {bad} with problems in Keras, program returned {run.returncode}")
        sys.exit(bool(bad) or run.returncode)


def record():
    shutil.rmtree(RECORDED, ignore_errors=True)
    for name in SMALL:
        write_case(RECORDED / name)
        (RECORDED / name / "float.keras").unlink()
    print(f"keras_quantized: {sum(p.stat().st_size for p in RECORDED.rglob('*.*'))} bytes, Keras {keras.__version__}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    record() if sys.argv[1] == "--record" else compare(sys.argv[1], sys.argv[2:])
