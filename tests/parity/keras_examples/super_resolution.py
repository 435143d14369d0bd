"""keras.io/examples/vision/super_resolution_sub_pixel"""

import math

from examples import initialize, keras, np, pictures

layers, ops = keras.layers, keras.ops
crop_size, upscale_factor, batch_size = 12, 3, 8
input_size = crop_size // upscale_factor


class DepthToSpace(layers.Layer):
    def __init__(self, block_size):
        super().__init__()
        self.block_size = block_size

    def call(self, input):
        batch, height, width, depth = ops.shape(input)
        depth = depth // (self.block_size**2)
        x = ops.reshape(input, [batch, height, width, self.block_size, self.block_size, depth])
        x = ops.transpose(x, [0, 1, 3, 2, 4, 5])
        x = ops.reshape(x, [batch, height * self.block_size, width * self.block_size, depth])
        return x


def get_model(upscale_factor=3, channels=1):
    conv_args = {
        "activation": "relu",
        "kernel_initializer": "orthogonal",
        "padding": "same",
    }
    inputs = keras.Input(shape=(None, None, channels))
    x = layers.Conv2D(16, 5, **conv_args)(inputs)
    x = layers.Conv2D(16, 3, **conv_args)(x)
    x = layers.Conv2D(8, 3, **conv_args)(x)
    x = layers.Conv2D(channels * (upscale_factor**2), 3, **conv_args)(x)
    outputs = DepthToSpace(upscale_factor)(x)
    return keras.Model(inputs, outputs)


# docs: begin
class ESPCNCallback(keras.callbacks.Callback):
    def __init__(self, test_img):
        super().__init__()
        self.test_img = test_img
        self.mean_psnr, self.brightness = [], []

    # Store PSNR value in each epoch.
    def on_epoch_begin(self, epoch, logs=None):
        self.psnr = []

    def on_epoch_end(self, epoch, logs=None):
        self.mean_psnr.append(np.mean(self.psnr))
        if epoch % 2 == 0:
            prediction = self.model.predict(self.test_img, verbose=0)
            self.brightness.append(np.mean(prediction))

    def on_test_batch_end(self, batch, logs=None):
        self.psnr.append(10 * math.log10(1 / logs["loss"]))
# docs: end


def record():
    images, _ = pictures(32, crop_size)
    train, valid = images[:24], images[24:]

    def process_input(input):
        return ops.image.resize(input, (input_size, input_size), interpolation="bilinear", antialias=True)

    larger, _ = pictures(1, 8)  # an image of another size
    model = get_model(upscale_factor=upscale_factor, channels=1)
    shapes = initialize(model)
    espcn_callback = ESPCNCallback(larger)
    early_stopping_callback = keras.callbacks.EarlyStopping(monitor="loss", patience=10)
    callbacks = [espcn_callback, early_stopping_callback]
    loss_fn = keras.losses.MeanSquaredError()
    optimizer = keras.optimizers.Adam(learning_rate=0.001)
    model.compile(optimizer=optimizer, loss=loss_fn)
    history = model.fit(process_input(train), train, batch_size=batch_size, epochs=3, callbacks=callbacks,
                        validation_data=(process_input(valid), valid), validation_batch_size=4, verbose=0,
                        shuffle=False).history
    return {"shapes": shapes, "history": history, "mean_psnr": [float(x) for x in espcn_callback.mean_psnr],
            "brightness": [float(x) for x in espcn_callback.brightness]}
