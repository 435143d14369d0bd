"""Teaches a small network to name noisy glyphs, by labels and by the softened answers of a larger network.

Hinton, Vinyals and Dean (2015), "Distilling the Knowledge in a Neural Network".
"""

from programs import initialize, integers, keras, normal, np, uniform

layers, losses, ops = keras.layers, keras.losses, keras.ops

# Rows of five glyphs.
GLYPHS = ("..#.. ..#.. ##### ..#.. ..#..", "#...# .#.#. ..#.. .#.#. #...#", ".###. #...# #...# #...# .###.",
          "##### ....# ..##. ....# #####", "#.... #.... ##### #...# #...#")


def sheet(stream, count):
    """Glyphs at double size, with ink of random strength on rough paper, and their numbers."""
    kinds = integers(stream, (count,), len(GLYPHS))
    ink = np.array([[mark == "#" for mark in glyph if mark != " "] for glyph in GLYPHS], "float64")[kinds]
    large = ink.reshape(count, 5, 5, 1).repeat(2, axis=1).repeat(2, axis=2)
    return uniform(stream + 1, (count, 1, 1, 1), 0.4, 1.0) * large + 0.4 * normal(stream + 2, large.shape), kinds


def reader(name, *stages):
    """Names glyphs by stages of (filters, step of the convolution, step of the pooling)."""
    network = keras.Sequential([keras.Input((10, 10, 1))], name=name)
    for filters, step, pooling in stages:
        network.add(layers.Conv2D(filters, 3, strides=step, padding="same"))
        network.add(layers.LeakyReLU(negative_slope=0.1))
        network.add(layers.MaxPooling2D(pool_size=3, strides=pooling, padding="same"))
    network.add(layers.Flatten())
    network.add(layers.Dense(len(GLYPHS)))
    return network


class Apprentice(keras.Model):
    """A student whose loss also compares its answers with those of a frozen teacher."""

    def __init__(self, student, teacher):
        super().__init__()
        teacher.trainable = False
        self.student = student
        self.teacher = teacher

    def compile(self, optimizer, metrics, label_loss, hint_loss, hint_share, temperature):
        super().compile(metrics=metrics, optimizer=optimizer)
        self.label_loss = label_loss
        self.hint_loss = hint_loss
        self.hint_share = hint_share
        self.temperature = temperature

    def soften(self, scores):
        return ops.softmax(scores / self.temperature, axis=-1)

    def compute_loss(self, x, y, y_pred, sample_weight=None, training=True):
        hint = self.hint_loss(self.soften(self.teacher(x, training=False)), self.soften(y_pred))
        # The square makes up for the gradients, which shrink by it.
        hint *= self.temperature**2
        return (1 - self.hint_share) * self.label_loss(y, y_pred) + self.hint_share * hint

    def call(self, pictures):
        return self.student(pictures)


def record():
    teacher, student = reader("teacher", (8, 1, 2), (12, 2, 1)), reader("student", (4, 1, 3))
    weights = initialize(teacher) + initialize(student, 200)
    (pictures, kinds), (unseen, answers) = sheet(1, 60), sheet(11, 30)
    by_label = losses.SparseCategoricalCrossentropy(from_logits=True)
    teacher.compile(keras.optimizers.Adam(0.01), loss=by_label, metrics=[keras.metrics.SparseCategoricalAccuracy()])
    lessons = teacher.fit(pictures, kinds, batch_size=12, epochs=4, verbose=0, shuffle=False).history
    apprentice = Apprentice(student, teacher)
    apprentice.compile(keras.optimizers.Adam(0.02), [keras.metrics.SparseCategoricalAccuracy()], label_loss=by_label,
                       hint_loss=losses.KLDivergence(), hint_share=0.7, temperature=2.0)
    hints = apprentice.fit(pictures, kinds, batch_size=12, epochs=4, verbose=0, shuffle=False).history
    exam = apprentice.evaluate(unseen, answers, verbose=0, return_dict=True)
    chances = np.asarray(apprentice.soften(student.predict(unseen, verbose=0)))
    return {"weights": weights, "lessons": lessons, "hints": hints, "exam": exam, "chances": chances.ravel().tolist()}
