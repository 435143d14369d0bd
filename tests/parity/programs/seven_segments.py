"""Reads digits from photographs of seven-segment displays by a small convolutional network."""

from programs import initialize, integers, keras, np

layers = keras.layers

# Pixels of the segments a to g, and the segments that each digit lights.
FACE = [" aaa ", "f   b", "f   b", "f   b", " ggg ", "e   c", "e   c", "e   c", " ddd "]
LIT = ["abcdef", "bc", "abdeg", "abcdg", "bcfg", "acdfg", "acdefg", "abc", "abcdefg", "abcdfg"]


def photograph(digits, stream):
    """Bytes (digits, 12, 8): a display at some place of each picture, and noise in all pixels."""
    pictures = integers(stream, (len(digits), 12, 8), 60)
    places = integers(stream + 1, (len(digits), 2), 4)
    for picture, digit, (top, left) in zip(pictures, digits, places):
        for row, segments in enumerate(FACE):
            for column, segment in enumerate(segments):
                if segment in LIT[digit]:
                    picture[top + row, left + column] += 190
    return pictures.astype("uint8")


def record():
    digits = integers(1, (160,), 10)
    photographs = photograph(digits, 10)

    # docs: begin
    # Bytes become brightnesses between 0 and 1, with an axis for the one channel.
    pictures = np.expand_dims(photographs.astype("float32") / 255, axis=-1)
    targets = keras.utils.to_categorical(digits, 10)

    display = keras.Sequential([
        keras.Input(shape=(12, 8, 1)),
        layers.Conv2D(activation="relu", filters=8, kernel_size=(3, 2)),
        layers.MaxPooling2D(pool_size=2),
        layers.Dropout(0.0),  # drops nothing, for numbers that can be compared
        layers.Conv2D(activation="relu", filters=16, kernel_size=3),
        layers.Flatten(),
        layers.Dense(activation="softmax", units=10),
    ])
    # docs: end
    shapes = initialize(display)

    # docs: begin
    display.compile("adam", metrics=["accuracy"], loss="categorical_crossentropy")
    fitted = display.fit(pictures[:128], targets[:128], validation_split=0.25, batch_size=4,
                         shuffle=False, epochs=4, verbose=0)
    scores = display.evaluate(pictures[128:], targets[128:], verbose=0, return_dict=True)
    # docs: end
    return {"weights": shapes, "history": fitted.history, "scores": scores}
