"""Reads the event files of mezzo's TensorBoardLogger with TensorBoard: read_with_tensorboard.py TEST_PROGRAM.

Exits with 77 if this Python has no tensorboard, and MEZZO_TENSORBOARD names no other Python.
"""

import json
import math
import os
import subprocess
import sys
import tempfile
import time
import urllib.request


def check_run(path, rate):
    from tensorboard.backend.event_processing import event_accumulator
    from tensorboard.compat.proto import graph_pb2
    from tensorboard.util import tensor_util

    run = event_accumulator.EventAccumulator(path, size_guidance=dict.fromkeys(
        (event_accumulator.TENSORS, event_accumulator.SCALARS, event_accumulator.HISTOGRAMS), 0))
    run.Reload()
    losses = run.Scalars("loss")
    assert [event.step for event in losses] == list(range(20))
    assert all(abs(event.value - math.exp(-rate * event.step)) < 1e-6 for event in losses)
    assert [(event.step, event.value) for event in run.Scalars("epoch")] == [(i, i // 10) for i in range(20)]
    assert run.Scalars("hp_metric")[0].value == -1
    histogram = run.Histograms("weights")[0].histogram_value
    assert histogram.num == 1000 and sum(histogram.bucket) == 1000 and histogram.max <= rate
    text, = run.Tensors("notes")
    assert tensor_util.make_ndarray(text.tensor_proto).item() == b"a **bold** word"
    assert run.SummaryMetadata("notes").plugin_data.plugin_name == "text"
    images, = run.Tensors("pair")
    images = tensor_util.make_ndarray(images.tensor_proto)
    assert list(images[:2]) == [b"1", b"1"] and len(images) == 4
    assert all(image.startswith(b"\x89PNG") for image in images[2:])
    graph = run.Graph()
    assert isinstance(graph, graph_pb2.GraphDef)
    nodes = {node.name: node for node in graph.node}
    assert list(nodes["hidden/matmul"].input) == ["input_1", "hidden/kernel"], sorted(nodes)
    shape = nodes["hidden/matmul"].attr["_output_shapes"].list.shape[0]
    assert [dim.size for dim in shape.dim] == [1, 3], shape


def check_pages(logs):
    """The answers of TensorBoard's server to its pages."""
    from tensorboard import program

    board = program.TensorBoard()
    board.configure(argv=[None, "--logdir", logs, "--load_fast=false", "--host=127.0.0.1", "--port=0"])
    url = board.launch().rstrip("/")

    def get(path, query=None):
        data = None if query is None else json.dumps(query).encode()
        request = urllib.request.Request(url + path, data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read()

    runs = []
    for _ in range(600):  # the server reads the files in the background
        runs = json.loads(get("/data/runs"))
        if len(runs) == 2 and len(json.loads(get("/data/plugin/scalars/tags"))) == 2:
            break
        time.sleep(0.1)
    assert runs == ["runs/version_0", "runs/version_1"], runs
    assert set(json.loads(get("/data/plugin/scalars/tags"))["runs/version_1"]) >= {"loss", "val_loss", "hp_metric"}
    groups = json.loads(get("/data/plugin/hparams/session_groups", {
        "allowedStatuses": ["STATUS_SUCCESS"], "colParams": [{"metric": {"tag": "val_loss"}}],
        "startIndex": 0, "sliceSize": 10}))
    values = sorted((group["hparams"]["rate"], group["hparams"]["optimizer"], group["hparams"]["nesterov"],
                     group["hparams"]["layers"]) for group in groups["sessionGroups"])
    assert values == [(0.1, "adam", True, 3), (0.5, "adam", True, 3)], groups
    experiment = json.loads(get("/data/plugin/hparams/experiment", {}))
    metrics = {info["name"]["tag"] for info in experiment["metricInfos"]}
    assert metrics == {"epoch", "hp_metric", "loss", "val_loss"}, metrics
    images = json.loads(get("/data/plugin/images/images?tag=pair&run=runs%2Fversion_0&sample=1"))
    assert images[0]["step"] == 5, images
    image = get("/data/plugin/images/individualImage?" + images[0]["query"])
    assert image.startswith(b"\x89PNG") and image[16:24] == bytes([0, 0, 0, 1, 0, 0, 0, 1]), image[:24]
    texts = json.loads(get("/data/plugin/text/text?tag=notes&run=runs%2Fversion_0"))
    assert "<strong>bold</strong>" in texts[0]["text"], texts
    graph = get("/data/plugin/graphs/graph?run=runs%2Fversion_0&conceptual=false")
    assert b"hidden/matmul" in graph, graph


def main():
    try:
        import tensorboard  # noqa: F401
    except ImportError:
        other = os.environ.get("MEZZO_TENSORBOARD")
        if not other or os.path.realpath(other) == os.path.realpath(sys.executable):
            print("no tensorboard")
            return 77
        return subprocess.run([other, *sys.argv], env={**os.environ, "MEZZO_TENSORBOARD": ""}, check=False).returncode
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.argv[1], "--run_test=tensor_board_logger/write_for_tensorboard"], check=True,
                       env={**os.environ, "MEZZO_TENSORBOARD_LOGS": folder}, stdout=subprocess.DEVNULL)
        check_run(folder + "/runs/version_0", 0.1)
        check_run(folder + "/runs/version_1", 0.5)
        check_pages(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
