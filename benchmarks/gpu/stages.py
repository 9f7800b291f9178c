"""Runs the stages by name: stages.py STAGE OUT --work WORK --until EPOCH_SECONDS --call-seconds 480 [--device cuda:0] [--tiny]. README.md describes them; each writes
OUT/STAGE.json as it goes, and models, runs and goldens in WORK. Exits with 0 if the stage is complete, 1 if a step failed, and 3 if the time is too short for the next step; the
next call resumes with that step.

--tiny: a small model and short runs to test the scripts, also on a CPU. Its figures are meaningless."""

import argparse
import csv
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import checks
import tools
from tools import HERE, NoTimeLeft, PeakMemory, Result, journal, median, run, run_json, run_json_lines

parser = argparse.ArgumentParser()
parser.add_argument("stage")
parser.add_argument("out")
parser.add_argument("--work", required=True, help="folder for models, runs and goldens, which may take 20 GB")
parser.add_argument("--device", default="cuda:0")
parser.add_argument("--tiny", action="store_true")
parser.add_argument("--until", type=float, required=True, help="when this call ends, in seconds since 1970")
parser.add_argument("--call-seconds", type=float, required=True, help="how long a call may take, from its first stage to its last")
options = parser.parse_args()

TRAINER, BENCH = (os.path.join(HERE, "bin", name) for name in ("starpo-trainer", "starpo-bench"))
ON_GPU = options.device.startswith("cuda")
SHAPE = "tiny" if options.tiny else "0.5b"
PRECISION = "bf16" if ON_GPU else "fp32"
EXACTNESSES = ["fast", "exact"] if ON_GPU else ["exact"]


def facts():
    """Returns the machine and versions."""
    with open(os.path.join(HERE, "build.json")) as file:
        build = json.load(file)
    smi = run(["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]) if ON_GPU and shutil.which("nvidia-smi") else None
    return {"device": options.device, "gpu": smi["output"].strip() if smi else None, "commit": build["commit"], "tiny": options.tiny}


def result_of(stage):
    result = Result(options.out, stage, facts(), options.until, options.call_seconds)
    if result.values["complete"]:
        sys.exit(1 if result.values["failed"] else 0)
    return result


def config(name):
    with open(os.path.join(HERE, "configs", f"{name}.json")) as file:
        return json.load(file)


def model_folder(shape=SHAPE):
    import models

    prompts = [text for name in ("ppo-25", "starter") for environment in config(name)["environments"] for text in environment["prompt"].values()]
    return models.make_model(os.path.join(options.work, "models", shape), shape, prompts)


def run_directory(name, changes, model):
    """Creates a run folder for a configuration. changes: {"rollout.groups": 4}."""
    values = config(name)
    for path, value in {"device": options.device, "precision": PRECISION, "start.model": model, "start.sha256": "", **changes}.items():
        *sections, key = path.split(".")
        place = values
        for section in sections:
            place = place[section]
        place[key] = value
    folder = os.path.join(options.work, "runs", f"{name}-{int(time.time() * 1000)}")
    os.makedirs(folder)
    with open(os.path.join(folder, "run.json"), "w") as file:
        json.dump(values, file, indent=2)
    return folder


def small_run():
    return {"rollout.groups": 2, "rollout.group_size": 4, "rollout.max_response_tokens": 24, "rollout.context": 3600, "policy_loss.mini_batch": 4, "optimizer.micro_batch_tokens": 2048} if options.tiny else {}


def selftest():
    result = result_of("selftest")
    result.step("devices", "devices", 30, lambda limit: run_json([TRAINER, "devices", "--json"], limit), many=False)
    result.step("selftest", "selftest", 60, lambda limit: run([TRAINER, "selftest", "--device", options.device, "--json"], limit), many=False)
    result.values["passed"] = result.values["selftest"]["status"] == 0
    return result.finish([] if result.values["passed"] else ["selftest"])


def nvidia_tool(name):
    """Returns the path of a tool of the CUDA toolkit, or None."""
    return shutil.which(name) or next(iter(sorted(glob.glob(f"/usr/local/cuda*/bin/{name}"), reverse=True)), None)


def sanitizer():
    """Runs the kernels' checks under NVIDIA's compute-sanitizer: invalid accesses, races in shared memory, uninitialized reads and invalid barriers."""
    result = result_of("sanitizer")
    program = nvidia_tool("compute-sanitizer")
    if not (program and ON_GPU):
        result.values["skipped"] = "compute-sanitizer was not found" if ON_GPU else "the device is not a GPU"
        return result.finish([])
    for tool in ("memcheck", "racecheck", "initcheck", "synccheck"):
        for family in ("attention", "gemm", "sample", "loss"):
            command = [program, "--tool", tool, "--error-exitcode", "9", TRAINER, "selftest", "--device", options.device, "--filter", family]
            result.step("checked", f"{tool} of {family}", 60, lambda limit: sanitized(tool, family, run(command, limit)))
    return result.finish([each for each in result.values["checked"] if each["status"] != 0])


def sanitized(tool, family, done):
    """Describes a tool's result with the end of its report, because a tool repeats the same error per thread."""
    return {"tool": tool, "family": family, "status": done["status"], **({} if done["status"] == 0 else {"report": (done["output"] + done["errors"])[-4000:]})}


def kernels():
    """Times each kernel of a decode step, with every plan of its matrix products. scripts/gemm-plans.mjs writes the trainer's table of plans from the result."""
    result = result_of("kernels")
    if not ON_GPU:
        result.values["skipped"] = "the device is not a GPU"
        return result.finish([])
    for shape in ["tiny"] if options.tiny else ["0.5b", "1.5b"]:
        command = [BENCH, "kernels", "--device", options.device, "--shape", shape]
        result.step("measured", shape, 60, lambda limit: run_json(command, limit))
    return result.finish(checks.failures(result.values["measured"]))


def goldens():
    """Compares small and large PyTorch models with the engine. Without transformers a plain implementation is used, and the files record it."""
    result = result_of("goldens")
    folder = os.path.join(options.work, "goldens")
    os.makedirs(folder, exist_ok=True)
    has_transformers = run([sys.executable, "-c", "import transformers"])["status"] == 0
    implementations = ["plain"] + ["transformers"] * has_transformers
    files = [os.path.join(HERE, "goldens", f"{name}.json") for name in ("qwen2-tiny", "qwen2-untied")]
    cases = [(shape, each) for shape in ("tiny", "untied") for each in implementations] + [("0.5b", implementations[-1])] * (not options.tiny)
    files += [os.path.join(folder, f"qwen2-{shape}-{implementation}.json") for shape, implementation in cases]
    for path in files:
        name = os.path.basename(path)
        for precision in ["fp32"] + ["bf16"] * ON_GPU:
            seconds = 490 if "0.5b" in name and not os.path.exists(path) else 90
            result.step("comparisons", f"{os.path.basename(os.path.dirname(path))}/{name} in {precision}", seconds, lambda limit: compared(path, precision, limit))
    return result.finish(checks.goldens(result.values["comparisons"]))


def compared(path, precision, limit):
    """Compares the engine with a golden, which is created unless it exists, for example from another machine."""
    if not os.path.exists(path):
        _, shape, implementation = os.path.basename(path).removesuffix(".json").split("-", 2)
        made = run([sys.executable, os.path.join(HERE, "goldens", "make.py"), shape, path, "--implementation", implementation], 0.8 * limit)
        if made["status"] != 0:
            return {"file": os.path.basename(path), "precision": precision, "failed": made}
    return {"precision": precision, **run_json([BENCH, "--device", options.device, "--precision", precision, "golden", path], limit)}


def iterations():
    """RAGEN's default: 8 groups of 16, up to 5 turns. Response lengths are given, because random weights never end a response."""
    result = result_of("iterations")
    result.step("model", "model", 60, lambda _: os.path.basename(model_folder()), many=False)
    for mean in (100, 400):
        for name in ("ppo-25", "ppo-all", "grpo"):
            result.step("measured", f"{name} with responses of {mean}", 100, lambda limit: rehearsal(name, mean, limit))
    return result.finish(checks.iterations(result.values["measured"]))


def rehearsal(name, mean, limit):
    folder = run_directory(name, {"evaluation.every": 0, **small_run()}, model_folder())
    done = run([BENCH, "rehearse", folder, "--iterations", "2" if options.tiny else "4", "--response-mean", str(12 if options.tiny else mean)], limit)
    events = journal(folder, "iteration")
    # The first iteration is a warm-up.
    metrics = [event["metrics"] for event in events[1:]]
    of = lambda metric: median([each[metric] for each in metrics if metric in each])
    shutil.rmtree(os.path.join(folder, "rollouts"), ignore_errors=True)
    return {
        "run": name, "response_mean": mean, "exactness": config(name)["exactness"], "iterations": len(metrics), "seconds": of("time/iteration"), "rollout_seconds": of("time/rollout"), "update_seconds": of("time/update"),
        "generated_tokens_per_second": of("throughput/generated_tokens_per_second"), "trained_tokens_per_second": of("throughput/trained_tokens_per_second"),
        "response_tokens_an_episode": of("rollout/response_tokens"), "gradient_norm": of("actor/grad_norm"), "logprob_gap": of("rollout/logprob_gap"),
        "logprob_gap_max": of("rollout/logprob_gap_max"), "first_iteration_seconds": events[0]["metrics"]["time/iteration"] if events else None,
        "memory_plan": next(iter(journal(folder, "memory_plan")), None), "log": [event["message"] for event in journal(folder, "log")], **({} if done["status"] == 0 else {"failed": done})}


def speed():
    """Measures generation at several batch sizes and one optimizer step, also with transformers and PyTorch if installed."""
    import models

    result = result_of("speed")
    result.step("model", "model", 60, lambda _: os.path.basename(model_folder()), many=False)
    model = model_folder()
    groups = [1, 2] if options.tiny else [1, 2, 4, 8, 16]
    prompt, sampled = (24, 8) if options.tiny else (280, 256)
    update = {"sequences": 4, "length": 48} if options.tiny else {"sequences": 32, "length": 1180}
    peers = [sys.executable, os.path.join(HERE, "peers.py"), model, "--device", options.device]
    common = [BENCH, "--device", options.device, "--precision", PRECISION, "--model", model, "--threads", str(os.cpu_count())]
    sizes = ["--prompt", str(prompt), "--sampled", str(sampled)]
    rows = [str(update["sequences"]), "--length", str(update["length"]), "--first-target", str(update["length"] // 2), "--micro-batch", str(max(1, update["sequences"] // 4))]

    def train(exactness, limit):
        engine = run_json([*common, "--exactness", exactness, "--only", "training", "--sequences", *rows, "--steps", "1" if options.tiny else "3"], limit)
        engine.get("training", {}).pop("logprobs", None)  # for another comparison
        return {"exactness": exactness, **update, "engine": engine, "share_of_peak": share_of_peak(engine, update, models)}

    def generate(exactness, limit):
        # One process for all sizes: initializing the weights is slow.
        lines = run_json_lines([*common, "--exactness", exactness, "--only", "generation", "--groups", *map(str, groups), "--group-size", "16", "--repeats", "1" if options.tiny else "3", *sizes], limit)
        return {"exactness": exactness, "prompt": prompt, "sampled": sampled, "engine": lines}

    def peer_training(limit):
        theirs = run_json([*peers, "training", "--sequences", *rows], limit)
        return {**update, "peer": theirs, "share_of_peak": share_of_peak(theirs, update, models)}

    def peer_generation(count, limit):
        return {"sequences": 16 * count, "prompt": prompt, "sampled": sampled, "peer": run_json([*peers, "generation", "--sequences", str(16 * count), *sizes], limit)}

    # Most important first, in case there are no more calls.
    for exactness in EXACTNESSES:
        result.step("training", f"training, {exactness}", 60, lambda limit: train(exactness, limit))
        result.step("generation", f"generation, {exactness}", 90, lambda limit: generate(exactness, limit))
    result.step("peer_training", "training by the peer", 180, peer_training)
    for count in sorted(groups, key=lambda count: count != 8):
        result.step("peer_generation", f"generation by the peer, {16 * count} sequences", 240, lambda limit: peer_generation(count, limit))
    return result.finish(checks.speed(result.values["generation"], result.values["training"]))


def share_of_peak(measured, update, models):
    """Returns the share of the device's dense bf16 peak, or None if unknown. The head runs on the trained half of the rows only."""
    c = models.SHAPES[SHAPE]
    peak = tools.peak_of(measured.get("device_name"))
    rate = (measured.get("training") or {}).get("tokens_per_second")
    if not (peak and rate):
        return None
    body = 6 * models.parameter_count(SHAPE, without_embeddings=True)
    head = 6 * c["vocab_size"] * c["hidden_size"] / 2
    attention = 6 * c["num_hidden_layers"] * c["hidden_size"] * update["length"]  # causal: half of 12
    return rate * (body + head + attention) / peak


def profile():
    """Sums the time of each kernel of an optimizer step, measured by Nsight Compute."""
    result = result_of("profile")
    program = nvidia_tool("ncu")
    if not (program and ON_GPU):
        result.values["skipped"] = "ncu was not found" if ON_GPU else "the device is not a GPU"
        return result.finish([])
    result.step("model", "model", 60, lambda _: os.path.basename(model_folder()), many=False)
    # Skips the start of the first step, whose kernels are still being loaded.
    command = [program, "--clock-control", "none", "--metrics", "gpu__time_duration.sum", "--csv", "--launch-skip", "900", "--launch-count", "1400",
               BENCH, "--device", options.device, "--precision", PRECISION, "--exactness", "fast", "--model", model_folder(), "--only", "training",
               "--sequences", "32", "--length", "1180", "--first-target", "590", "--micro-batch", "16", "--steps", "2"]
    result.step("kernels", "kernels", 90, lambda limit: kernel_times(run(command, limit)), many=False)
    return result.finish([] if isinstance(result.values["kernels"], list) else [result.values["kernels"]])


def kernel_times(done):
    """Returns the calls, microseconds per call and share of the total time of each kernel, longest first, from ncu's CSV."""
    lines = list(csv.DictReader(line for line in done["output"].splitlines() if line.startswith('"')))
    if not lines:
        return {"failed": done}
    microseconds = {"ns": 1e-3, "nsecond": 1e-3, "us": 1, "usecond": 1, "ms": 1e3, "msecond": 1e3}
    times = {}
    for line in lines:
        name = f'{line["Kernel Name"].split("(")[0]} {line["Grid Size"].replace(" ", "")}'
        times.setdefault(name, []).append(float(line["Metric Value"].replace(",", "")) * microseconds[line["Metric Unit"]])
    total = sum(map(sum, times.values()))
    return [{"kernel": name, "calls": len(each), "microseconds": round(sum(each) / len(each), 1), "share": round(sum(each) / total, 4)}
            for name, each in sorted(times.items(), key=lambda item: -sum(item[1]))]


def memory():
    """Compares the trainer's memory plan with nvidia-smi's peak over one iteration."""
    result = result_of("memory")
    for shape, name in [("tiny", "ppo-25")] if options.tiny else [("0.5b", "ppo-25"), ("0.5b", "grpo"), ("1.5b", "grpo"), ("1.5b", "ppo-25"), ("3b", "grpo")]:
        result.step("models", f"{shape} model for {name}", 200, lambda _: os.path.basename(model_folder(shape)))
        result.step("measured", f"{name} of {shape}", 200, lambda limit: peak_of_run(shape, name, limit))
    return result.finish([each for each in result.values["measured"] if "failed" in each])


def peak_of_run(shape, name, limit):
    changes = {"evaluation.every": 0, **({"optimizer.recompute": "elementwise"} if shape == "1.5b" else {"optimizer.recompute": "block"} if shape == "3b" else {})}
    folder = run_directory(name, {**changes, **small_run()}, model_folder(shape))
    with PeakMemory(options.device if ON_GPU else None) as peak:
        done = run([BENCH, "rehearse", folder, "--iterations", "1", "--response-mean", "12" if options.tiny else "400"], limit)
    metrics = (journal(folder, "iteration") or [{"metrics": {}}])[-1]["metrics"]
    shutil.rmtree(os.path.join(folder, "rollouts"), ignore_errors=True)
    return {"model": shape, "run": name, "plan": next(iter(journal(folder, "memory_plan")), None), "device_peak_bytes": metrics.get("memory/device_peak_bytes"),
            "process_peak_bytes": metrics.get("memory/peak_bytes"), "nvidia_smi_peak_bytes": peak.bytes, **({} if done["status"] == 0 else {"failed": done})}


def learning():
    """Trains the starter's preset with its evaluations, beside the CPU seeds. A call that runs out of time stops the run; the next resumes it. On another machine, which has the
    result but not the run, training starts again from the beginning."""
    result = result_of("learning")
    changes = {"iterations": 2, "rollout.groups": 2, "rollout.group_size": 4, "policy_loss.mini_batch": 4, "evaluation.levels": 8} if options.tiny else {"evaluation.levels": 256}
    if not os.path.exists(os.path.join(result.values.get("folder", ""), "run.json")):
        result.values["folder"] = run_directory("starter", {**changes, "precision": "fp32", "exactness": "exact"}, os.path.join(HERE, "starter"))
        result.write()
    folder = result.values["folder"]
    process = subprocess.Popen([TRAINER, "train", folder], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        _, errors = process.communicate(timeout=result.seconds_left())
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGTERM)  # writes a checkpoint and exits
        _, errors = process.communicate()
    end = (journal(folder, "stopped") + journal(folder, "failed") or [None])[-1]
    result.values.update(
        evaluations=[{"iteration": event["iteration"], **event["metrics"]} for event in journal(folder, "evaluation")],
        seconds_an_iteration=median([event["metrics"]["time/iteration"] for event in journal(folder, "iteration")]), errors=errors[-4000:], end=end)
    if process.returncode == 0 and end and end.get("reason") != "completed":
        raise NoTimeLeft("learning")
    with open(os.path.join(HERE, "cpu-learning.json")) as file:
        result.values["on_the_processor"] = json.load(file)
    return result.finish([] if process.returncode == 0 else [errors[-4000:] or process.returncode])


STAGES = {each.__name__: each for each in (selftest, sanitizer, speed, iterations, kernels, profile, goldens, memory, learning)}
for folder in (options.out, options.work):
    os.makedirs(folder, exist_ok=True)
options.out, options.work = os.path.abspath(options.out), os.path.abspath(options.work)
try:
    sys.exit(0 if STAGES[options.stage]() else 1)
except NoTimeLeft as step:
    print(f"no time left for: {step}", flush=True)
    sys.exit(3)
