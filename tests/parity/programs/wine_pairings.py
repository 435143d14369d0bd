"""Predicts from tables of embeddings whether a dish and a wine were liked together: matrix factorization with biases
(Koren, Bell and Volinsky, 2009). A third matrix lets the factors of dishes and of wines differ in number."""

from programs import initialize, integers, keras, np, uniform

layers, ops, l2 = keras.layers, keras.ops, keras.regularizers.l2
DISHES, WINES, DINNERS, TRAINED = 9, 7, 80, 64
DISH_FACTORS, WINE_FACTORS = 5, 3


class Pairing(keras.Model):
    """Its tables have a bias in the first column: how well a dish or wine is liked beside anything."""

    def __init__(self):
        super().__init__()
        self.bridge = self.add_weight((DISH_FACTORS, WINE_FACTORS), name="bridge")
        self.tables = [
            layers.Embedding(count, 1 + factors, embeddings_initializer="he_normal", embeddings_regularizer=l2(2e-3))
            for count, factors in ((DISHES, DISH_FACTORS), (WINES, WINE_FACTORS))
        ]

    def call(self, pairs):
        dish, wine = (table(pairs[:, side]) for side, table in enumerate(self.tables))
        wanted = ops.tensordot(dish[:, 1:], self.bridge, axes=1)
        match = ops.sum(wanted * wine[:, 1:], axis=1, keepdims=True)
        return ops.nn.sigmoid(match + dish[:, :1] + wine[:, :1])


def dinners():
    """Pairs of indices and the points of the guests, scaled to 0..1: the richer the dish, the more tannin it takes."""
    dish, wine = integers(1, (DINNERS,), DISHES), integers(2, (DINNERS,), WINES)
    richness, tannin = uniform(3, (DISHES,)), uniform(4, (WINES,))
    points = 12 + 6 * richness[dish] * tannin[wine] + uniform(5, (DINNERS,))
    worst, best = points.min(), points.max()
    return np.stack([dish, wine], axis=1), (points - worst) / (best - worst)


def record():
    pairs, liking = dinners()
    model = Pairing()
    model(pairs[:1])
    shapes = initialize(model)
    model.compile(keras.optimizers.Adam(learning_rate=0.02), keras.losses.BinaryCrossentropy(), metrics=["mae"])
    kept = (pairs[TRAINED:], liking[TRAINED:])
    run = model.fit(x=pairs[:TRAINED], y=liking[:TRAINED],
                    validation_data=kept, batch_size=16, epochs=4, shuffle=False, verbose=0)
    card = np.stack([np.full(WINES, 2), np.arange(WINES)], axis=1)
    chances = model.predict(card, verbose=0)[:, 0]
    order = np.argsort(-chances)
    return {"shapes": shapes, "history": run.history, "chances": chances.tolist(), "order": order.tolist()}
