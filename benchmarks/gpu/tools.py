"""What all stages share: results that are on disk as soon as they are known, programs that are run, and journals that are read."""

import json
import os
import statistics
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))

# Dense bf16 tensor-core peaks, in operations a second, as the makers give them.
PEAKS = {"H100 PCIe": 756e12, "H100 NVL": 835e12, "H100": 989e12, "H200": 989e12, "GH200": 989e12, "A100": 312e12, "A10": 125e12, "L40S": 362e12, "L4": 121e12, "RTX 4090": 165e12}


def peak_of(device_name):
    """Of the device, or None where its name isn't known."""
    return next((peak for name, peak in PEAKS.items() if name in (device_name or "")), None)


class Result:
    """A stage's result: one JSON file, written anew at every addition, so that a stage that is cut short leaves what it had."""

    def __init__(self, out, stage, facts):
        self.path = os.path.join(out, f"{stage}.json")
        self.values = {"stage": stage, **facts, "complete": False}
        self.started = time.monotonic()
        self.write()

    def add(self, key, value):
        self.values[key] = value
        self.write()

    def append(self, key, value):
        self.values.setdefault(key, []).append(value)
        self.write()
        print(json.dumps(value), flush=True)

    def finish(self):
        self.values["complete"] = True
        self.write()

    def write(self):
        self.values["seconds"] = round(time.monotonic() - self.started, 1)
        with open(self.path + ".part", "w") as file:
            json.dump(self.values, file, indent=2)
            file.write("\n")
        os.replace(self.path + ".part", self.path)


def run(command, limit=None, **options):
    """Runs a program to its end; gives its status, output and the end of its errors. Status None: it was stopped after `limit` seconds."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, **options)
        return {"command": " ".join(command), "status": done.returncode, "output": done.stdout, "errors": done.stderr[-4000:]}
    except subprocess.TimeoutExpired as late:
        text = lambda data: data.decode(errors="replace") if isinstance(data, bytes) else data or ""
        return {"command": " ".join(command), "status": None, "output": text(late.stdout), "errors": text(late.stderr)[-4000:] + f"\nstopped after {limit} s"}


def run_json(command, limit=None):
    """The last line of what a program prints, as JSON; {"failed": ...} where there is none."""
    done = run(command, limit)
    try:
        return json.loads(done["output"].strip().splitlines()[-1])
    except (IndexError, ValueError):
        return {"failed": done}


def journal(directory, kind):
    """Whole events of one type, in order."""
    try:
        with open(os.path.join(directory, "events.jsonl")) as file:
            lines = [line for line in file if line.endswith("\n")]
    except FileNotFoundError:
        return []
    return [event for event in map(json.loads, lines) if event["type"] == kind]


def median(values):
    return statistics.median(values) if values else None
