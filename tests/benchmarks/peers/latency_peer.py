"""Times single predictions of one workload in ONNX Runtime or PyTorch; prints one line of JSON as mezzo_latency does.

CONFIG is onnxruntime, or fp32 or bf16 of torch, then optionally +compile. ONNX Runtime runs the file that
`mezzo_latency WORKLOAD float32 --export FILE` wrote, with all graph optimizations.
"""

import argparse
import json
import resource
import threading
import time
from typing import Any, Callable

import numpy

Predict = Callable[[], Any]


def onnxruntime_predict(path: str, batch: int, threads: int) -> Predict:
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    argument = session.get_inputs()[0]
    dtype = {"tensor(float)": numpy.float32, "tensor(int64)": numpy.int64, "tensor(int32)": numpy.int32}[argument.type]
    shape = [batch, *argument.shape[1:]]
    x = numpy.fromfile(path + ".bin", dtype=dtype)
    fed = {argument.name: numpy.resize(x, shape)}
    return lambda: session.run(None, fed)


def torch_predict(workload: str, config: set[str], batch: int, threads: int) -> Predict:
    import torch
    from torch_peer import WORKLOADS
    torch.set_num_threads(threads)
    made = WORKLOADS[workload]()
    model, x = made.model.eval(), made.x[:batch]
    if x.dim() == 4:
        model, x = model.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)
    if "compile" in config:
        model = torch.compile(model)

    def predict() -> torch.Tensor:
        with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16, enabled="bf16" in config):
            return model(x)

    return predict


def times_of(predict: Predict, end: float, times: list[float]) -> None:
    while time.perf_counter() < end or len(times) < 5:
        begin = time.perf_counter()
        predict()
        times.append(1e3 * (time.perf_counter() - begin))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workload")
    parser.add_argument("config", help="onnxruntime, or fp32 or bf16, then +compile")
    parser.add_argument("--file", help="ONNX file")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--callers", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=2)
    arguments = parser.parse_args()
    config = set(arguments.config.split("+"))
    if "onnxruntime" in config:
        predict = onnxruntime_predict(arguments.file, arguments.batch, arguments.threads)
    else:
        predict = torch_predict(arguments.workload, config, arguments.batch, arguments.threads)
    begin = time.perf_counter()
    predict()
    first = time.perf_counter() - begin
    for _ in range(3):
        predict()
    end = time.perf_counter() + arguments.seconds
    lists: list[list[float]] = [[] for _ in range(arguments.callers)]
    others = [threading.Thread(target=times_of, args=(predict, end, times)) for times in lists[1:]]
    for thread in others:
        thread.start()
    times_of(predict, end, lists[0])
    for thread in others:
        thread.join()
    times = sorted(time for one in lists for time in one)
    per_s = sum(1e3 * len(one) / sum(one) for one in lists) * arguments.batch
    print(json.dumps({"framework": arguments.config, "workload": arguments.workload, "config": arguments.config,
                      "batch": arguments.batch, "callers": arguments.callers, "threads": arguments.threads,
                      "p50_ms": times[len(times) // 2], "p99_ms": times[len(times) * 99 // 100], "per_s": per_s,
                      "first_ms": 1e3 * first,
                      "rss_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}))


if __name__ == "__main__":
    main()
