"""Records Keras' automatic names of all its layers."""

import inspect

from common import keras, write
from keras.src.utils.naming import to_snake_case

classes = {c.__name__ for c in vars(keras.layers).values() if inspect.isclass(c) and issubclass(c, keras.Layer)}
write("names", {name: to_snake_case(name) for name in sorted(classes)})
