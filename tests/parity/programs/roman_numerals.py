"""Writes decimal numbers as Roman numerals, letter by letter, by a recurrent encoder and decoder (Cho et al., 2014)."""

from programs import initialize, integers, keras, np

layers = keras.layers

SIGNS = {900: "CM", 500: "D", 400: "CD", 100: "C", 90: "XC", 50: "L", 40: "XL",
         10: "X", 9: "IX", 5: "V", 4: "IV", 1: "I"}
LETTERS = " IVXLCDM"
LONGEST = len("DCCCLXXXVIII")


def numeral(number):
    """Roman numeral, filled up with spaces."""
    text = ""
    for value, sign in SIGNS.items():
        text += sign * (number // value)
        number %= value
    return text.ljust(LONGEST)


def one_hot(words, alphabet):
    """Rows of the unit matrix: (words, characters, letters of the alphabet)."""
    return np.eye(len(alphabet))[[[alphabet.index(character) for character in word] for word in words]]


def lessons(stream, count):
    """Numbers below 1000 in both notations."""
    numbers = 1 + integers(stream, (count,), 999)
    decimals = [f"{number:03}" for number in numbers]
    return one_hot(decimals, "0123456789"), one_hot([numeral(number) for number in numbers], LETTERS)


def record():
    digits, letters = lessons(1, 50)
    other_digits, other_letters = lessons(2, 12)

    scribe = keras.Sequential()
    scribe.add(keras.Input((3, 10)))
    scribe.add(layers.LSTM(12))
    scribe.add(layers.RepeatVector(LONGEST))
    for width in (12, 8):
        scribe.add(layers.LSTM(return_sequences=True, units=width))
    scribe.add(layers.Dense(len(LETTERS), activation="softmax"))
    shapes = initialize(scribe)

    scribe.compile(optimizer=keras.optimizers.Adam(0.03), metrics=["accuracy"], loss="categorical_crossentropy")
    run = scribe.fit(digits, letters, epochs=4, batch_size=5, validation_data=(other_digits, other_letters),
                     shuffle=False, verbose=0)

    odds = scribe.predict(other_digits, verbose=0)
    text = "".join(LETTERS[place] for place in np.argmax(odds, axis=-1).ravel())
    ordered = np.sort(odds, axis=-1)
    assert np.min(ordered[..., -1] - ordered[..., -2]) > 0.01, "letters that are nearly as likely as others"
    return {"weights": shapes, "history": run.history, "odds": odds[0].ravel().tolist(), "text": text}
