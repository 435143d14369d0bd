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


def batches(metric, y_true, y_pred, weights=None):
    """Result over two batches of different sizes, and with sample weights."""
    first = len(y_pred) * 2 // 3
    case = {"y_true": array(y_true), "y_pred": array(y_pred)}
    for kind in ("plain", "weighted"):
        if kind == "weighted" and weights is None:
            continue
        metric.reset_state()
        for part in (slice(0, first), slice(first, None)):
            given = None if kind == "plain" else weights[part]
            metric.update_state(y_true[part], y_pred[part], sample_weight=given)
        case[kind] = array(np.asarray(metric.result()))
    if weights is not None:
        case["weights"] = array(weights)
    return case


metrics = keras.metrics
factors = numbers(20, (9,), 0, 2)
labels = integers(21, (9, 1), 2).astype("float64")
likely = numbers(22, (9, 1), 0, 1)
wide, wide_likely = integers(23, (9, 4), 2).astype("float64"), numbers(24, (9, 4), 0, 1)
one_hots, class_scores = np.eye(4)[integers(25, (9,), 4)], numbers(26, (9, 4), 0, 1)
real, other = numbers(27, (9, 3)), numbers(28, (9, 3))
classes, guesses = integers(29, (9, 2), 3), integers(30, (9, 2), 3)
scenarios = {
    "true_positives": batches(metrics.TruePositives(), labels, likely, factors),
    "false_positives": batches(metrics.FalsePositives(thresholds=0.3), labels, likely, factors),
    "true_negatives": batches(metrics.TrueNegatives(thresholds=[0.7, 0.2]), labels, likely, factors),
    "false_negatives": batches(metrics.FalseNegatives(), wide, wide_likely, factors),
    "precision": batches(metrics.Precision(), labels, likely, factors),
    "precision_thresholds": batches(metrics.Precision(thresholds=[0.3, 0.7]), wide, wide_likely, factors),
    "precision_top_k": batches(metrics.Precision(top_k=2), wide, wide_likely, factors),
    "precision_class": batches(metrics.Precision(class_id=1), wide, wide_likely, factors),
    "recall": batches(metrics.Recall(), labels, likely, factors),
    "recall_top_k": batches(metrics.Recall(top_k=2, class_id=2), wide, wide_likely, factors),
    "sensitivity_at_specificity": batches(metrics.SensitivityAtSpecificity(0.5), labels, likely, factors),
    "specificity_at_sensitivity": batches(metrics.SpecificityAtSensitivity(0.4, num_thresholds=1), labels, likely),
    "precision_at_recall": batches(metrics.PrecisionAtRecall(0.6, num_thresholds=20), labels, likely, factors),
    "recall_at_precision": batches(metrics.RecallAtPrecision(0.6), labels, likely, factors),
    "auc": batches(metrics.AUC(), labels, likely, factors),
    "auc_5": batches(metrics.AUC(num_thresholds=5), labels, likely, factors),
    "auc_thresholds": batches(metrics.AUC(thresholds=[0.8, 0.1, 0.35]), labels, likely, factors),
    "auc_pr": batches(metrics.AUC(curve="PR"), labels, likely, factors),
    "auc_pr_minoring": batches(metrics.AUC(curve="PR", summation_method="minoring"), labels, likely),
    "auc_majoring": batches(metrics.AUC(summation_method="majoring", num_thresholds=7), labels, likely),
    "auc_gain": batches(metrics.AUC(curve="PRGAIN"), labels, likely),
    "auc_labels": batches(metrics.AUC(multi_label=True, label_weights=[1.0, 2.0, 0.5, 1.0]), wide, wide_likely),
    "auc_num_labels": batches(metrics.AUC(multi_label=True, num_labels=4, curve="PR"), wide, wide_likely),
    "auc_logits": batches(metrics.AUC(from_logits=True), labels, likely * 6 - 3),
    "f1_score": batches(metrics.F1Score(), one_hots, class_scores, factors),
    "f1_micro": batches(metrics.F1Score(average="micro"), one_hots, class_scores, factors),
    "f1_macro": batches(metrics.F1Score(average="macro", threshold=0.6), wide, wide_likely, factors),
    "fbeta_weighted": batches(metrics.FBetaScore(average="weighted", beta=2.0), one_hots, class_scores, factors),
    "io_u": batches(metrics.IoU(num_classes=3, target_class_ids=[0, 2]), classes, guesses),
    "mean_io_u": batches(metrics.MeanIoU(num_classes=3, ignore_class=1), classes, guesses),
    "binary_io_u": batches(metrics.BinaryIoU(threshold=0.4), labels, likely),
    "one_hot_io_u": batches(metrics.OneHotIoU(num_classes=4, target_class_ids=[1, 2]), one_hots, class_scores),
    "one_hot_mean_io_u": batches(metrics.OneHotMeanIoU(num_classes=4), one_hots, class_scores),
    "r2_score": batches(metrics.R2Score(), real, other, factors),
    "r2_variance": batches(metrics.R2Score(class_aggregation="variance_weighted_average", num_regressors=2), real,
                           other, factors),
    "r2_none": batches(metrics.R2Score(class_aggregation=None), real, other, factors),
    "root_mean_squared_error": batches(metrics.RootMeanSquaredError(), real, other, factors),
    "mean_absolute_percentage_error": batches(metrics.MeanAbsolutePercentageError(), real, other, factors),
    "mean_squared_logarithmic_error": batches(metrics.MeanSquaredLogarithmicError(), likely, labels, factors),
    "cosine_similarity": batches(metrics.CosineSimilarity(), real, other, factors),
    "log_cosh": batches(metrics.LogCoshError(), real, other, factors),
    "pearson_correlation": batches(metrics.PearsonCorrelation(), real, other, factors),
    "concordance_correlation": batches(metrics.ConcordanceCorrelation(), real, other, factors),
    "hinge": batches(metrics.Hinge(), 2 * wide - 1, wide_likely, factors),
    "squared_hinge": batches(metrics.SquaredHinge(), 2 * wide - 1, wide_likely, factors),
    "categorical_hinge": batches(metrics.CategoricalHinge(), one_hots, class_scores, factors),
    "kl_divergence": batches(metrics.KLDivergence(), wide_likely, class_scores, factors),
    "poisson": batches(metrics.Poisson(), wide_likely, class_scores + 0.1, factors),
    "binary_crossentropy": batches(metrics.BinaryCrossentropy(label_smoothing=0.1), wide, wide_likely, factors),
    "categorical_crossentropy": batches(metrics.CategoricalCrossentropy(from_logits=True), one_hots, class_scores,
                                        factors),
    "accuracy": batches(metrics.Accuracy(), classes, guesses, factors),
    "binary_accuracy_weighted": batches(metrics.BinaryAccuracy(), wide, wide_likely, factors),
    "sparse_categorical_accuracy_elements": batches(metrics.SparseCategoricalAccuracy(), classes,
                                                    numbers(32, (9, 2, 3)), numbers(33, (9, 2), 0, 2)),
    "top_k": batches(metrics.TopKCategoricalAccuracy(k=2), one_hots, class_scores, factors),
    "sparse_top_k": batches(metrics.SparseTopKCategoricalAccuracy(k=2), integers(34, (9,), 4), class_scores, factors),
}
best_first = np.argsort(-class_scores, axis=1)
scenarios["sparse_top_k_of_ids"] = batches(metrics.SparseTopKCategoricalAccuracy(k=2, from_sorted_ids=True),
                                           integers(34, (9,), 4), best_first, factors)
write("metric_states", scenarios)

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
