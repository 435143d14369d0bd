"""Learns lines of verse by a causal transformer, and continues an opening after each epoch.

Vaswani et al. (2017), "Attention Is All You Need"; Radford et al. (2018), "Improving Language Understanding by
Generative Pre-Training".
"""

from programs import initialize, keras, np, uniform

layers, ops = keras.layers, keras.ops

LINES = [
    "the miller waits by the sea",
    "the heron waits under a tree",
    "the miller sings in the rain",
    "the heron sings down the lane",
    "our sexton sleeps by the sea",
    "our heron sleeps under a tree",
    "our sexton walks in the rain",
    "our miller walks down the lane",
    "a heron walks by the mill",
    "a sexton sings under the hill",
    "a miller sleeps by the door",
    "a stranger waits on the shore",
]
STEPS = 5  # words that the model reads, all but the last one of a line


# docs: begin
def sight(steps, reaches):
    """Mask (1, heads, steps, steps): head i sees a word and those before it, `reaches[i]` words in all."""
    place = ops.arange(steps)
    gap = ops.reshape(place, (steps, 1)) - place
    past = ops.cast(gap >= 0, "int32")
    heads = [past * ops.cast(gap < reach, "int32") for reach in reaches]
    return ops.cast(ops.concatenate([ops.expand_dims(head, (0, 1)) for head in heads], axis=1), "bool")


class Recollection(layers.Layer):
    """Adds to each word what it recalls of those before it, and then what a dense network makes of the sum."""

    def __init__(self, reaches, width):
        super().__init__()
        self.reaches = reaches
        self.norm_input = layers.LayerNormalization(epsilon=1e-5)
        self.attend = layers.MultiHeadAttention(len(reaches), width // len(reaches))
        self.norm_sum = layers.LayerNormalization(epsilon=1e-5)
        self.dense = keras.Sequential([
            layers.Dense(2 * width, activation="relu"),
            layers.Dense(width),
            layers.Dropout(0.0),
        ])

    def call(self, x):
        y = self.norm_input(x)
        x = x + self.attend(y, y, attention_mask=sight(ops.shape(x)[1], self.reaches))
        return x + self.dense(self.norm_sum(x))
# docs: end


class PlacedWords(layers.Layer):
    """Vectors of words, each plus that of its place in the line."""

    def __init__(self, words, width):
        super().__init__()
        self.of_word = layers.Embedding(input_dim=words, output_dim=width)
        self.of_place = layers.Embedding(input_dim=STEPS, output_dim=width)

    def call(self, line):
        return self.of_word(line) + self.of_place(ops.arange(ops.shape(line)[1]))


# docs: begin
class Writer(keras.callbacks.Callback):
    """Continues an opening after each epoch: each draw decides among the three best words."""

    def __init__(self, opening, reader, draws):
        super().__init__()
        self.opening = opening
        self.reader = reader
        self.draws = draws
        self.verse = []

    def on_epoch_end(self, epoch, logs=None):
        line = self.opening
        for place in range(line.count(" "), STEPS):
            scores, _ = self.model.predict(self.reader([line])[:, :STEPS], verbose=0)
            best, words = ops.top_k(scores[0, place], k=3, sorted=True)
            chances = ops.cumsum(keras.activations.softmax(best))
            word = words[ops.searchsorted(chances, self.draws[epoch, place])]
            line += " " + self.reader.get_vocabulary()[int(word)]
        self.verse.append(line)
# docs: end


def record():
    # docs: begin
    reader = layers.TextVectorization(output_sequence_length=STEPS + 1)
    reader.adapt(LINES)
    count = reader.vocabulary_size()
    line = layers.Input((STEPS,), dtype="int32")
    state = PlacedWords(count, 16)(line)
    for _ in range(2):
        state = Recollection((2, STEPS), 16)(state)
    scores = layers.Dense(count)(state)
    model = keras.Model(inputs=line, outputs=[scores, state])
    cross_entropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=keras.optimizers.Adam(0.02), loss=[cross_entropy, None])
    # docs: end
    weights = initialize(model)
    numbers = np.asarray(reader(LINES))
    writer = Writer("our sexton", reader, uniform(60, (6, STEPS), 0.0, 1.0))
    read, following = numbers[:, :-1], numbers[:, 1:]
    fitted = model.fit(read, following, batch_size=4, epochs=6, shuffle=False, verbose=0, callbacks=[writer])
    _, states = model.predict(read, verbose=0)
    lengths = np.sqrt(np.sum(states**2, axis=(1, 2)))
    return {"weights": weights, "loss": fitted.history["loss"], "verse": writer.verse, "lengths": lengths.tolist()}
