"""Records values of Keras' metrics: for each sample, and over all samples."""

from common import array, integers, keras, np, numbers, write


def record(metric, y_true, y_pred):
    each = []
    for i in range(len(y_pred)):
        metric.reset_state()
        metric.update_state(y_true[i:i + 1], y_pred[i:i + 1])
        each.append(float(metric.result()))
    metric.reset_state()
    half = len(y_pred) // 2
    metric.update_state(y_true[:half], y_pred[:half])
    metric.update_state(y_true[half:], y_pred[half:])
    return {"y_true": array(y_true), "y_pred": array(y_pred), "values": array(np.array(each)),
            "result": float(metric.result()), "name": metric.name}


metrics = keras.metrics
scores = numbers(1, (8, 3))
ties = np.array([[1.0, 1.0], [2.0, 2.0], [0.0, 1.0]])
one_hot = np.eye(3)[integers(3, (8,), 3)]
binary = integers(4, (8, 1), 2)
likely = numbers(5, (8, 1), 0, 1)
likely[0] = 0.5
write("metrics", {
    "sparse_categorical_accuracy": record(metrics.SparseCategoricalAccuracy(), integers(2, (8,), 3), scores),
    "sparse_categorical_accuracy_column": record(metrics.SparseCategoricalAccuracy(), integers(2, (8, 1), 3), scores),
    "sparse_categorical_accuracy_ties": record(metrics.SparseCategoricalAccuracy(), np.array([0, 1, 1]), ties),
    "sparse_categorical_accuracy_rank_3": record(metrics.SparseCategoricalAccuracy(), integers(6, (4, 3), 2),
                                                 numbers(7, (4, 3, 2))),
    "categorical_accuracy": record(metrics.CategoricalAccuracy(), one_hot, scores),
    "binary_accuracy": record(metrics.BinaryAccuracy(), binary, likely),
    "binary_accuracy_threshold": record(metrics.BinaryAccuracy(threshold=0.3), binary, likely),
    "binary_accuracy_wide": record(metrics.BinaryAccuracy(), integers(8, (4, 3), 2), numbers(9, (4, 3), 0, 1)),
    "mean_squared_error": record(metrics.MeanSquaredError(), numbers(10, (6, 2)), numbers(11, (6, 2))),
    "mean_absolute_error": record(metrics.MeanAbsoluteError(), numbers(10, (6, 2)), numbers(11, (6, 2))),
    "sparse_categorical_crossentropy": record(metrics.SparseCategoricalCrossentropy(from_logits=True),
                                              integers(2, (8,), 3), scores),
})
