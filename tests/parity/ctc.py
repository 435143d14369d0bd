"""Records connectionist temporal classification: losses, gradients and decoded sequences."""

from common import array, integers, keras, np, numbers, write

import jax

ops = keras.ops


def loss(target, output, target_length, output_length, mask_index=0):
    def function(logits):
        return ops.ctc_loss(target, logits, target_length, output_length, mask_index=mask_index)

    values = function(jax.numpy.asarray(output))
    cotangent = numbers(50, values.shape, 0.5, 2.0)
    gradient = jax.grad(lambda p: (function(p) * cotangent).sum())(jax.numpy.asarray(output))
    return {"target": array(target), "output": array(output), "target_length": array(target_length),
            "output_length": array(output_length), "mask_index": mask_index, "values": array(values),
            "cotangent": array(cotangent), "gradient": array(gradient)}


def decoded(inputs, lengths, **options):
    sequences, scores = ops.ctc_decode(inputs, lengths, **options)
    return {"inputs": array(inputs), "lengths": array(lengths), "sequences": array(sequences), "scores": array(scores)}


# Plain labels, repeated ones, one, none, and as many as there are frames.
target = np.array([[1, 2, 3, 4], [2, 2, 1, 1], [3, 0, 0, 0], [0, 0, 0, 0], [1, 2, 1, 2]])
target_length = np.array([4, 4, 1, 0, 4])
output = numbers(1, (5, 9, 5), -3, 3)
lengths = np.array([9, 8, 3, 5, 4])
other = np.array([[0, 1], [1, 1], [3, 0]])
logits = numbers(2, (3, 5, 4), -30, 30)
scores = numbers(3, (3, 7, 4), -2, 2)
cases = {
    "loss": loss(target, output, target_length, lengths),
    "loss_mask": loss(other, logits, np.array([2, 2, 1]), np.array([5, 3, 4]), mask_index=2),
    "loss_without_alignment": loss(target[:2], output[:2, :3], target_length[:2], np.array([3, 2])),
    "greedy": decoded(scores, np.array([7, 4, 0])),
    "greedy_repeated": decoded(scores, np.array([7, 4, 0]), merge_repeated=False, mask_index=3),
    "beam": decoded(scores, np.array([7, 4, 1]), strategy="beam_search", beam_width=20, top_paths=3),
    "beam_narrow": decoded(scores, np.array([7, 5, 2]), strategy="beam_search", beam_width=3, top_paths=2,
                           mask_index=3),
    "beam_one": decoded(np.round(scores), np.array([6, 7, 3]), strategy="beam_search", beam_width=1),
}
y_true = np.array([[1, 3, 3], [2, 0, 0]])
y_pred = numbers(4, (2, 6, 4), -2, 2)
cases["class"] = {"y_true": array(y_true), "y_pred": array(y_pred), "values": array(keras.losses.ctc(y_true, y_pred)),
                  "mean": float(keras.losses.CTC()(y_true, y_pred))}
write("ctc", cases)
