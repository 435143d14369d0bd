"""Repaints rings in the manner of a woven cloth: gradient descent on the pixels, seen by random convolutions.

Gatys, Ecker and Bethge (2016), "Image Style Transfer Using Convolutional Neural Networks".
"""

from programs import initialize, keras, np

import jax  # after programs, which sets float64

layers, ops = keras.layers, keras.ops

SIDE, STEPS = 16, 10
# Stages of the network with their channels. A stage without channels halves height and width.
STAGES = {"grain": 6, "half": 0, "thread": 8, "quarter": 0, "outline": 8}
# Stages whose Gram matrices count, with their weights.
CLOTH = {"grain": 0.5, "thread": 2.0}


def rings_and_cloth():
    """Two pictures of shape (1, SIDE, SIDE, 3) with values from 0 to 1."""
    down, right = np.mgrid[:SIDE, :SIDE] - SIDE / 2 + 0.25
    radius = np.sqrt(down**2 + right**2)
    rings = [0.5 + 0.5 * np.cos(rate * radius) for rate in (0.5, 0.8, 0.3)]
    down, right = down[:SIDE // 2, :SIDE // 2], right[:SIDE // 2, :SIDE // 2]
    knot = [0.5 + 0.5 * np.sin(rate * down) * np.sin(1.5 * rate * right) for rate in (1.1, 1.7, 0.9)]
    rings, knot = (ops.convert_to_tensor(np.stack(colors, axis=-1)[None]) for colors in (rings, knot))
    return rings, ops.tile(knot, (1, 2, 2, 1))


def observer():
    """Returns the model that maps a picture to the stages of CLOTH and, last, to "outline"."""
    x = paper = layers.Input((SIDE, SIDE, 3))
    for name, channels in STAGES.items():
        if channels:
            x = layers.Conv2D(channels, 3, padding="same", activation="relu", name=name)(x)
        else:
            x = layers.AveragePooling2D(pool_size=2, name=name)(x)
    chain = keras.Model(paper, x)
    return keras.Model(inputs=chain.inputs, outputs=[chain.get_layer(name).output for name in [*CLOTH, "outline"]])


def gram(maps):
    """Mean products of channels: (pictures, channels, channels)."""
    pictures, height, width, channels = ops.shape(maps)
    pixels = ops.reshape(maps, (pictures, height * width, channels))
    return ops.matmul(ops.transpose(pixels, (0, 2, 1)), pixels) / (height * width)


def roughness(picture):
    """Mean of the lengths of color slopes to the power of 1.5, a total variation that is smooth at 0."""
    corner = picture[:, :-1, :-1]
    steepness = ops.square(picture[:, 1:, :-1] - corner) + ops.square(picture[:, :-1, 1:] - corner)
    return ops.mean(ops.power(steepness, 0.75))


class Repainting:
    def __init__(self, see, content, manner):
        *fabric, outline = see(ops.concatenate([content, manner], axis=0))
        self.see, self.outline = see, outline[:1]
        self.grams = [gram(maps[1:]) for maps in fabric]

    def mismatch(self, picture):
        """Returns the errors of content and manner."""
        *fabric, outline = self.see(picture)
        manner = ops.zeros(shape=())
        for maps, wanted, weight in zip(fabric, self.grams, CLOTH.values()):
            manner = manner + weight * ops.sum(ops.square(gram(maps) - wanted))
        return ops.mean(ops.square(outline - self.outline)), manner

    def cost(self, picture):
        content, manner = self.mismatch(picture)
        return 4.0 * content + manner + 0.05 * roughness(picture)


def record():
    rings, cloth = rings_and_cloth()
    see = observer()
    shapes = initialize(see)
    task = Repainting(see, rings, cloth)
    picture = keras.Variable(rings, name="picture")
    fading = keras.optimizers.schedules.ExponentialDecay(decay_rate=0.5, decay_steps=4, initial_learning_rate=40.0)
    optimizer = keras.optimizers.SGD(fading)
    cost_and_slope = jax.value_and_grad(task.cost)
    costs, mismatches = [], [[float(part) for part in task.mismatch(rings)]]
    for _ in range(STEPS):
        cost, slope = cost_and_slope(picture.value)
        optimizer.apply([slope], [picture])
        costs.append(float(cost))
        mismatches.append([float(part) for part in task.mismatch(picture.value)])
    return {
        "shapes": shapes,
        "costs": costs,
        "contents": [content for content, _ in mismatches],
        "manners": [manner for _, manner in mismatches],
        "learning_rate": float(optimizer.learning_rate),
        "roughness": [float(roughness(x)) for x in (rings, cloth, picture.value)],
        "diagonal": np.diagonal(np.asarray(picture)[0]).reshape(-1).tolist(),
    }
