"""Shared by all stages: results written immediately, programs and journals."""

import json
import os
import shutil
import statistics
import subprocess
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))

# Dense bf16 tensor core peaks in operations per second, from the makers.
PEAKS = {"H100 PCIe": 756e12, "H100 NVL": 835e12, "H100": 989e12, "H200": 989e12, "GH200": 989e12, "A100": 312e12, "A10": 125e12, "L40S": 362e12, "L4": 121e12, "RTX 4090": 165e12}


def peak_of(device_name):
    """Returns the device's peak, or None if unknown."""
    return next((peak for name, peak in PEAKS.items() if name in (device_name or "")), None)


class NoTimeLeft(Exception):
    """The call has too little time for the next step; another call continues."""


class Result:
    """A stage's result: one JSON file, rewritten after every step. A later call with the same device and build continues after its steps."""

    def __init__(self, out, stage, facts, until, call_seconds):
        self.path, self.until, self.call_seconds = os.path.join(out, f"{stage}.json"), until, call_seconds
        self.values = {"stage": stage, **facts, "seconds": 0, "steps": [], "complete": False}
        try:
            with open(self.path) as file:
                before = json.load(file)
            if all(before.get(key) == value for key, value in {"stage": stage, **facts}.items()):
                self.values = before
        except (FileNotFoundError, ValueError):
            pass
        self.started, self.spent = time.monotonic(), self.values["seconds"]
        self.write()

    def seconds_left(self):
        return max(1.0, self.until - time.time())

    def step(self, key, name, seconds, measure, many=True):
        """Stores the result of measure(limit) under `key` (in a list or alone) unless it exists. seconds: its time limit.
        Raises NoTimeLeft if the call has less time."""
        if name in self.values["steps"]:
            return
        seconds = min(seconds, 0.8 * self.call_seconds)
        if self.seconds_left() < seconds:
            raise NoTimeLeft(name)
        value = measure(seconds)
        if many:
            self.values.setdefault(key, []).append(value)
        else:
            self.values[key] = value
        self.values["steps"].append(name)
        self.write()
        print(json.dumps({name: value}), flush=True)

    def finish(self, failed):
        """failed: error messages, or empty."""
        self.values.update(complete=True, failed=failed)
        self.write()
        return not failed

    def write(self):
        self.values["seconds"] = round(self.spent + time.monotonic() - self.started, 1)
        with open(self.path + ".part", "w") as file:
            json.dump(self.values, file, indent=2)
            file.write("\n")
        os.replace(self.path + ".part", self.path)


def run(command, limit=None, **options):
    """Runs a program. Returns its status, output and the end of stderr. Status None: stopped after `limit` seconds."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, **options)
        return {"command": " ".join(command), "status": done.returncode, "output": done.stdout, "errors": done.stderr[-4000:]}
    except subprocess.TimeoutExpired as late:
        text = lambda data: data.decode(errors="replace") if isinstance(data, bytes) else data or ""
        return {"command": " ".join(command), "status": None, "output": text(late.stdout), "errors": text(late.stderr)[-4000:] + f"\nstopped after {limit} s"}


def run_json_lines(command, limit=None):
    """Returns a program's output lines as JSON, or [{"failed": ...}] if it fails or a line is invalid."""
    done = run(command, limit)
    try:
        lines = [json.loads(line) for line in done["output"].strip().splitlines()]
    except ValueError:
        lines = []
    return lines if lines and done["status"] == 0 else [*lines, {"failed": done}]


def run_json(command, limit=None):
    """Returns the last line."""
    return run_json_lines(command, limit)[-1]


def journal(directory, kind):
    """Returns the complete events of one type, in order."""
    try:
        with open(os.path.join(directory, "events.jsonl")) as file:
            lines = [line for line in file if line.endswith("\n")]
    except FileNotFoundError:
        return []
    return [event for event in map(json.loads, lines) if event["type"] == kind]


def median(values):
    return statistics.median(values) if values else None


class PeakMemory:
    """Measures nvidia-smi's peak memory use; None without nvidia-smi. device: "cuda:0", or None for a CPU."""

    def __init__(self, device):
        self.command = device and shutil.which("nvidia-smi") and ["nvidia-smi", "-i", device.partition(":")[2] or "0", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]

    def __enter__(self):
        self.bytes, self.ended = None, threading.Event()
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()

    def watch(self):
        while self.command and not self.ended.wait(0.3):
            seen = run(self.command)["output"].strip()
            if seen.isdigit():
                self.bytes = max(self.bytes or 0, int(seen) * 2**20)
