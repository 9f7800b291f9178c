"""The stages, by name: stages.py STAGE OUT --device cuda:0 [--tiny]. README.md says what each is for; every one writes OUT/STAGE.json as it goes.

--tiny: a small model and short runs, to see that everything works, on a processor too. Its figures say nothing."""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

import tools
from tools import HERE, Result, journal, median, run, run_json

parser = argparse.ArgumentParser()
parser.add_argument("stage")
parser.add_argument("out")
parser.add_argument("--device", default="cuda:0")
parser.add_argument("--tiny", action="store_true")
parser.add_argument("--limit", type=float, default=480, help="seconds that the stage may take")
options = parser.parse_args()

TRAINER, BENCH = (os.path.join(HERE, "bin", name) for name in ("starpo-trainer", "starpo-bench"))
ON_GPU = options.device.startswith("cuda")
ENDS = time.monotonic() + options.limit - 20
SHAPE = "tiny" if options.tiny else "0.5b"
PRECISION = "bf16" if ON_GPU else "fp32"
EXACTNESSES = ["fast", "exact"] if ON_GPU else ["exact"]


def seconds_left():
    return max(1.0, ENDS - time.monotonic())


def facts():
    """Where and of what the figures are."""
    with open(os.path.join(HERE, "build.json")) as file:
        build = json.load(file)
    smi = run(["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]) if ON_GPU and shutil.which("nvidia-smi") else None
    return {"device": options.device, "gpu": smi["output"].strip() if smi else None, "commit": build["commit"], "tiny": options.tiny}


def config(name):
    with open(os.path.join(HERE, "configs", f"{name}.json")) as file:
        return json.load(file)


def model_folder(shape=SHAPE):
    import models

    prompts = [text for name in ("ppo-25", "starter") for environment in config(name)["environments"] for text in environment["prompt"].values()]
    return models.make_model(os.path.join(options.out, "models", shape), shape, prompts)


def run_directory(name, changes, model):
    """A fresh run folder of a configuration. changes: {"rollout.groups": 4}."""
    values = config(name)
    for path, value in {"device": options.device, "precision": PRECISION, "start.model": model, "start.sha256": "", **changes}.items():
        *sections, key = path.split(".")
        place = values
        for section in sections:
            place = place[section]
        place[key] = value
    folder = os.path.join(options.out, "runs", f"{name}-{int(time.time() * 1000)}")
    os.makedirs(folder)
    with open(os.path.join(folder, "run.json"), "w") as file:
        json.dump(values, file, indent=2)
    return folder


def small_run():
    return {"rollout.groups": 2, "rollout.group_size": 4, "rollout.max_response_tokens": 24, "rollout.context": 3600, "policy_loss.mini_batch": 4, "optimizer.micro_batch_tokens": 2048} if options.tiny else {}


def selftest():
    result = Result(options.out, "selftest", facts())
    result.add("devices", run_json([TRAINER, "devices", "--json"]))
    done = run([TRAINER, "selftest", "--device", options.device, "--json"], seconds_left())
    result.add("passed", done["status"] == 0)
    result.add("selftest", done)
    result.finish()
    return done["status"] == 0


def goldens():
    """Small and large models of PyTorch against the engine. Where transformers is missing, the plain implementation stands in, and the files say so."""
    result = Result(options.out, "goldens", facts())
    folder = os.path.join(options.out, "goldens")
    os.makedirs(folder, exist_ok=True)
    for name in ("qwen2-tiny", "qwen2-untied"):
        shutil.copy(os.path.join(HERE, "goldens", f"{name}.json"), os.path.join(folder, f"{name}-committed.json"))
    has_transformers = run([sys.executable, "-c", "import transformers"])["status"] == 0
    implementations = ["plain"] + ["transformers"] * has_transformers
    wanted = [("tiny", each) for each in implementations] + [("untied", each) for each in implementations]
    if not options.tiny:
        wanted.append(("0.5b", implementations[-1]))
    for shape, implementation in wanted:
        path = os.path.join(folder, f"qwen2-{shape}-{implementation}.json")
        made = run([sys.executable, os.path.join(HERE, "goldens", "make.py"), shape, path, "--implementation", implementation], seconds_left())
        if made["status"] != 0:
            result.append("problems", made)
    for name in sorted(os.listdir(folder)):
        for precision in ["fp32"] + ["bf16"] * ON_GPU:
            result.append("comparisons", {"precision": precision, **run_json([BENCH, "--device", options.device, "--precision", precision, "golden", os.path.join(folder, name)], seconds_left())})
    result.finish()
    return all("failed" not in each for each in result.values["comparisons"])


def iterations():
    """RAGEN's default: 8 groups of 16, up to 5 turns. Replies have given lengths, since random weights never end one by themselves."""
    result = Result(options.out, "iterations", facts())
    model, count = model_folder(), 2 if options.tiny else 4
    for mean in (100, 400):
        for name in ("ppo-25", "ppo-all", "grpo"):
            folder = run_directory(name, {"evaluation.every": 0, **small_run()}, model)
            done = run([BENCH, "rehearse", folder, "--iterations", str(count), "--reply-mean", str(12 if options.tiny else mean)], seconds_left())
            events = journal(folder, "iteration")
            # The first warms everything up.
            metrics = [event["metrics"] for event in events[1:]]
            of = lambda metric: median([each[metric] for each in metrics if metric in each])
            result.append("measured", {
                "run": name, "reply_mean": mean, "iterations": len(metrics), "seconds": of("time/iteration"), "rollout_seconds": of("time/rollout"), "update_seconds": of("time/update"),
                "generated_tokens_per_second": of("throughput/generated_tokens_per_second"), "trained_tokens_per_second": of("throughput/trained_tokens_per_second"),
                "response_tokens_an_episode": of("rollout/response_tokens"), "gradient_norm": of("actor/grad_norm"), "logprob_gap": of("rollout/logprob_gap"),
                "logprob_gap_max": of("rollout/logprob_gap_max"), "first_iteration_seconds": events[0]["metrics"]["time/iteration"] if events else None,
                "memory_plan": next(iter(journal(folder, "memory_plan")), None), **({} if done["status"] == 0 else {"failed": done})})
            shutil.rmtree(os.path.join(folder, "rollouts"), ignore_errors=True)
    result.finish()
    return all("failed" not in each for each in result.values["measured"])


def speed():
    """Generation at several batch sizes, and one optimiser step, beside transformers and PyTorch where they are."""
    import models

    result = Result(options.out, "speed", facts())
    model = model_folder()
    groups = [1, 2] if options.tiny else [1, 2, 4, 8, 16]
    prompt, sampled = (24, 8) if options.tiny else (280, 256)
    update = {"sequences": 4, "length": 48} if options.tiny else {"sequences": 32, "length": 1180}
    peers = [sys.executable, os.path.join(HERE, "peers.py"), model, "--device", options.device]
    common = [BENCH, "--device", options.device, "--precision", PRECISION, "--model", model]
    sizes = ["--prompt", str(prompt), "--sampled", str(sampled)]
    rows = [str(update["sequences"]), "--length", str(update["length"]), "--first-target", str(update["length"] // 2), "--micro-batch", str(max(1, update["sequences"] // 4))]
    # Ours first, and the peer's batch of RAGEN's default before its others: what a stage that is cut short should have.
    for exactness in EXACTNESSES:
        for count in groups:
            ours = run_json([*common, "--exactness", exactness, "--only", "generation", "--groups", str(count), "--group-size", "16", "--repeats", "1" if options.tiny else "3", *sizes], seconds_left())
            result.append("generation", {"exactness": exactness, "sequences": 16 * count, "prompt": prompt, "sampled": sampled, "engine": ours})
        engine = run_json([*common, "--exactness", exactness, "--only", "training", "--sequences", *rows, "--steps", "1" if options.tiny else "3"], seconds_left())
        engine.get("training", {}).pop("logprobs", None)  # for another comparison
        result.append("training", {"exactness": exactness, **update, "engine": engine, "share_of_peak": share_of_peak(engine, update, models)})
    theirs = run_json([*peers, "training", "--sequences", *rows], seconds_left())
    result.append("peer_training", {**update, "peer": theirs, "share_of_peak": share_of_peak(theirs, update, models)})
    for count in sorted(groups, key=lambda count: count != 8):
        theirs = run_json([*peers, "generation", "--sequences", str(16 * count), *sizes], seconds_left())
        result.append("peer_generation", {"sequences": 16 * count, "prompt": prompt, "sampled": sampled, "peer": theirs})
    result.finish()
    return all("failed" not in each["engine"] for each in result.values["generation"] + result.values["training"])


def share_of_peak(measured, update, models):
    """Operations of forward and backward a second over the device's dense bf16 peak; None where either isn't known. The head runs on the trained half of the rows alone."""
    c = models.SHAPES[SHAPE]
    peak = tools.peak_of(measured.get("device_name"))
    rate = (measured.get("training") or {}).get("tokens_per_second")
    if not (peak and rate):
        return None
    body = 6 * models.parameter_count(SHAPE, without_embeddings=True)
    head = 6 * c["vocab_size"] * c["hidden_size"] / 2
    attention = 6 * c["num_hidden_layers"] * c["hidden_size"] * update["length"]  # causal: half of 12
    return rate * (body + head + attention) / peak


def memory():
    """What the trainer planned beside what nvidia-smi saw while it played and updated once."""
    result = Result(options.out, "memory", facts())
    for shape, name in [("tiny", "ppo-25")] if options.tiny else [("0.5b", "ppo-25"), ("0.5b", "grpo"), ("1.5b", "grpo"), ("1.5b", "ppo-25"), ("3b", "grpo")]:
        if seconds_left() < 60:
            result.append("measured", {"model": shape, "run": name, "left_out": "no time"})
            continue
        changes = {"evaluation.every": 0, **({"optimizer.recompute": "elementwise"} if shape == "1.5b" else {"optimizer.recompute": "block"} if shape == "3b" else {})}
        folder = run_directory(name, {**changes, **small_run()}, model_folder(shape))
        with PeakMemory() as peak:
            done = run([BENCH, "rehearse", folder, "--iterations", "1", "--reply-mean", "400"], seconds_left())
        metrics = (journal(folder, "iteration") or [{"metrics": {}}])[-1]["metrics"]
        result.append("measured", {"model": shape, "run": name, "plan": next(iter(journal(folder, "memory_plan")), None), "device_peak_bytes": metrics.get("memory/device_peak_bytes"),
                                   "process_peak_bytes": metrics.get("memory/peak_bytes"), "nvidia_smi_peak_bytes": peak.bytes, **({} if done["status"] == 0 else {"failed": done})})
        shutil.rmtree(os.path.join(folder, "rollouts"), ignore_errors=True)
    result.finish()
    return True


class PeakMemory:
    """Most memory that nvidia-smi sees in use on the GPU meanwhile; None without it."""

    def __enter__(self):
        self.bytes, self.ended = None, threading.Event()
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()

    def watch(self):
        index = options.device.partition(":")[2] or "0"
        while ON_GPU and shutil.which("nvidia-smi") and not self.ended.wait(0.3):
            seen = run(["nvidia-smi", "-i", index, "--query-gpu=memory.used", "--format=csv,noheader,nounits"])["output"].strip()
            if seen.isdigit():
                self.bytes = max(self.bytes or 0, int(seen) * 2**20)


def learning():
    """The starter's own preset to its end, with its evaluations; the seeds on a processor lie beside it."""
    result = Result(options.out, "learning", facts())
    changes = {"iterations": 2, "rollout.groups": 2, "rollout.group_size": 4, "policy_loss.mini_batch": 4, "evaluation.levels": 8} if options.tiny else {"evaluation.levels": 256}
    folder = run_directory("starter", {**changes, "precision": "fp32", "exactness": "exact", "checkpoint.every": 0}, os.path.join(HERE, "starter"))
    process = subprocess.Popen([TRAINER, "train", folder], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while process.poll() is None:
        if seconds_left() <= 10:
            process.send_signal(signal.SIGTERM)
            process.wait()
            break
        time.sleep(1)
        result.add("evaluations", [{"iteration": event["iteration"], **event["metrics"]} for event in journal(folder, "evaluation")])
    result.add("evaluations", [{"iteration": event["iteration"], **event["metrics"]} for event in journal(folder, "evaluation")])
    result.add("seconds_an_iteration", median([event["metrics"]["time/iteration"] for event in journal(folder, "iteration")]))
    result.add("errors", process.stderr.read()[-4000:])
    result.add("end", (journal(folder, "stopped") + journal(folder, "failed") or [None])[-1])
    try:
        with open(os.path.join(HERE, "cpu-learning.json")) as file:
            result.add("on_the_processor", json.load(file))
    except FileNotFoundError:
        pass
    result.finish()
    return process.returncode == 0


STAGES = {each.__name__: each for each in (selftest, goldens, iterations, speed, memory, learning)}
os.makedirs(options.out, exist_ok=True)
options.out = os.path.abspath(options.out)
sys.exit(0 if STAGES[options.stage]() else 1)
