"""Records the shapes of the weights and the first losses of keras.io's examples. Each has its C++ program beside it."""

import autoencoder
import collaborative_filtering
import gan
import imbalanced_classification
import knowledge_distillation
import mlp_mixer
import two_inputs
import two_outputs
import vae
from examples import write

examples = (autoencoder, collaborative_filtering, gan, imbalanced_classification, knowledge_distillation, mlp_mixer,
            two_inputs, two_outputs, vae)
write("keras_examples", {example.__name__: example.record() for example in examples})
