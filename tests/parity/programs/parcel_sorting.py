"""Sorts parcels: the words of the address, a picture of the label and measures give depot, vehicle, risk and hours.

The words go through bidirectional LSTMs (Hochreiter & Schmidhuber, 1997; Schuster & Paliwal, 1997).
"""

from programs import initialize, integers, keras, np, uniform

layers = keras.layers
STREET_WORDS, DEPOTS, VEHICLES, SIDE = 40, 5, 3, 12


def parcels(stream, count):
    words = integers(stream, (count, 9), STREET_WORDS - 1) + 1
    lengths = integers(stream + 1, (count,), 6) + 4
    size_and_mass = uniform(stream + 2, (count, 4), 0.0, 3.0)
    fragile = np.floor(uniform(stream + 3, (count, 1), 0.25, 1.75))
    # A diagonal stroke marks the labels of fragile parcels.
    stroke = fragile[:, :, None, None] * np.eye(SIDE)[None, :, :, None]
    given = {
        "address": keras.utils.pad_sequences([list(row[:n]) for row, n in zip(words, lengths)], maxlen=7),
        "label": 0.7 * stroke + 0.3 * uniform(stream + 4, (count, SIDE, SIDE, 1)),
        "measures": size_and_mass,
    }
    wanted = {
        "depot": np.eye(DEPOTS)[words[:, 0] % DEPOTS],
        "vehicle": np.eye(VEHICLES)[size_and_mass[:, 3].astype(int)],
        "fragile": fragile,
        "hours": 2 + lengths[:, None] + 1.5 * size_and_mass[:, :1],
    }
    return given, wanted


def sorting_model():
    address = keras.Input(name="address", dtype="int32", shape=(None,))
    label = keras.Input(name="label", shape=(SIDE, SIDE, 1))
    measures = keras.Input(name="measures", shape=(4,))

    words = layers.Embedding(STREET_WORDS, 6, mask_zero=True)(address)
    route = layers.Bidirectional(layers.LSTM(return_sequences=True, units=5))(words)
    route = layers.Bidirectional(layers.LSTM(4))(route)
    ink = layers.MaxPooling2D(2)(layers.Conv2D(4, kernel_size=3, activation="relu")(label))
    ink = layers.GlobalAveragePooling2D()(layers.Conv2D(6, kernel_size=3, activation="relu")(ink))
    joint = layers.concatenate([layers.GlobalAveragePooling1D()(words), route, ink, measures])
    joint = layers.Dense(14, activation="relu")(joint)

    heads = {"depot": (DEPOTS, None), "vehicle": (VEHICLES, "softmax"), "fragile": (1, "sigmoid"),
             "hours": (1, "softplus")}
    return keras.Model([address, label, measures],
                       [layers.Dense(units, shape, name=name)(joint) for name, (units, shape) in heads.items()])


def record():
    given, wanted = parcels(1, 32)
    model = sorting_model()
    shapes = initialize(model)
    losses, metrics = keras.losses, keras.metrics
    model.compile(
        loss={"depot": losses.CategoricalCrossentropy(from_logits=True), "fragile": "binary_crossentropy",
              "vehicle": losses.CategoricalCrossentropy(), "hours": losses.MeanSquaredError()},
        loss_weights={"hours": 0.02, "fragile": 0.5, "depot": 1.0, "vehicle": 1.0},
        metrics={"depot": metrics.CategoricalAccuracy(), "vehicle": "accuracy", "fragile": ["accuracy"],
                 "hours": [metrics.MeanAbsoluteError(), metrics.MeanAbsolutePercentageError()]},
        optimizer=keras.optimizers.RMSprop(5e-3))
    history = model.fit(given, wanted, epochs=3, batch_size=8, shuffle=False, verbose=0).history
    unseen, answers = parcels(11, 12)
    return {
        "shapes": shapes,
        "history": history,
        "unseen": model.evaluate(unseen, answers, batch_size=8, return_dict=True, verbose=0),
        "predictions": [output[:4].ravel().tolist() for output in model.predict(unseen, verbose=0)],
    }
