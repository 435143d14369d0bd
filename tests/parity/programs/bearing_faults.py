"""Finds machines with a faulty bearing in a table of words, codes and readings. Few are faulty.

Faulty machines weigh more in the loss (King and Zeng 2001: Logistic Regression in Rare Events Data).
"""

from programs import initialize, integers, keras, np, uniform

layers, metrics = keras.layers, keras.metrics

GREASES = np.array(["lithium", "polyurea", "calcium"])
SERIES = np.array([6203, 22210, 32008, 6310])


def machines(stream, count):
    """Columns of the table, and 1 for each faulty machine."""
    column = (count, 1)
    table = {
        "grease": GREASES[integers(stream, column, 3)],
        "series": SERIES[integers(stream + 1, column, 4)],
        "hours": uniform(stream + 2, column, 0, 20000),
        "heat": uniform(stream + 3, column, 30, 110),
        "bands": uniform(stream + 4, (count, 3), 0, 5),
    }
    dry = (table["hours"] > 12000) & (table["heat"] > 80) & (table["grease"] != "polyurea")
    rattling = (table["bands"][:, :1] > 4.5) & (table["series"] > 7000)
    return table, (dry | rattling).astype("int32")


class Inspection:
    """Learns vocabularies and scales of a table, and the network that takes them."""

    def __init__(self, table):
        self.words, self.codes = layers.StringLookup(), layers.IntegerLookup()
        self.words.adapt(table["grease"])
        self.codes.adapt(table["series"])
        self.scales = {name: layers.Normalization() for name in ("hours", "heat")}
        for name, scale in self.scales.items():
            scale.adapt(table[name])
        self.center, self.spread = np.mean(table["bands"], axis=0), np.std(table["bands"], axis=0)

    def encode(self, table):
        """The columns as numbers. Steps on JAX take neither words nor lookups."""
        return {
            **table,
            "grease": self.words(table["grease"]),
            "series": self.codes(table["series"]),
            "bands": (table["bands"] - self.center) / self.spread,
        }

    def network(self):
        grease = keras.Input(shape=(1,), name="grease", dtype="int64")
        series = keras.Input(shape=(1,), name="series", dtype="int64")
        hours = keras.Input(shape=(1,), name="hours")
        heat = keras.Input(shape=(1,), name="heat")
        bands = keras.Input(shape=(3,), name="bands")
        features = layers.concatenate([
            layers.CategoryEncoding(num_tokens=self.words.vocabulary_size(), output_mode="one_hot")(grease),
            layers.CategoryEncoding(num_tokens=self.codes.vocabulary_size(), output_mode="one_hot")(series),
            self.scales["hours"](hours),
            self.scales["heat"](heat),
            bands,
        ])
        hidden = layers.Dropout(0.0)(layers.Dense(12, activation="relu")(features))
        return keras.Model([grease, series, hours, heat, bands], layers.Dense(1, activation="sigmoid")(hidden))


def record():
    table, faulty = machines(40, 96)
    later, later_faulty = machines(60, 64)
    inspection = Inspection(table)
    model = inspection.network()
    shapes = initialize(model)
    counts = np.bincount(faulty.ravel())
    model.compile(optimizer=keras.optimizers.Adam(0.02), loss="binary_crossentropy", metrics=[
        metrics.FalseNegatives(name="missed"), metrics.FalsePositives(name="alarmed"),
        metrics.TrueNegatives(name="passed"), metrics.TruePositives(name="found"),
        metrics.Precision(name="precision"), metrics.Recall(name="recall"),
    ])
    history = model.fit(
        inspection.encode(table), faulty, batch_size=16, epochs=4, verbose=0, shuffle=False,
        validation_data=(inspection.encode(later), later_faulty),
        class_weight={label: len(faulty) / (2 * count) for label, count in enumerate(counts)},
    )
    # A grease that no machine of the table has.
    machine = {"grease": [["silicone"]], "series": [[22210]], "hours": [[15000.0]], "heat": [[95.0]],
               "bands": [[4.8, 1.5, 2.0]]}
    odds = model.predict(inspection.encode({name: np.array(x) for name, x in machine.items()}), verbose=0)
    return {
        "shapes": shapes,
        "words": inspection.words(GREASES).tolist(),
        "codes": inspection.codes(SERIES).tolist(),
        "counts": counts.tolist(),
        "history": history.history,
        "odds": float(odds[0, 0]),
    }
