"""Times PyTorch with the same weights, tokens, loss and optimizer as starpo-bench. Prints one line of JSON.
pytorch.py WORKLOAD_FOLDER [--threads 2] [--precision fp32|bf16]"""

import argparse
import contextlib
import json
import statistics
import time

import torch

from qwen2 import Qwen2, StaticCache

arguments = argparse.ArgumentParser()
arguments.add_argument("folder")
arguments.add_argument("--threads", type=int, default=2)
arguments.add_argument("--precision", choices=["fp32", "bf16"], default="fp32")
arguments.add_argument("--clock", choices=["wall", "processor"], default="wall", help="processor: one thread's time on a machine that others use")
arguments.add_argument("--micro-batch", type=int, default=16, help="sequences of one forward and backward")
arguments.add_argument("--steps", type=int, default=0, help="timed optimizer steps, and rollouts; 0: the workload's")
options = arguments.parse_args()

clock = time.perf_counter if options.clock == "wall" else time.process_time
torch.set_num_threads(options.threads)
torch.set_flush_denormal(True)
with open(f"{options.folder}/workload.json") as file:
    work = json.load(file)
training, generation = work["training"], work["generation"]


def precision():
    return torch.autocast("cpu", torch.bfloat16) if options.precision == "bf16" else contextlib.nullcontext()


def logprobs_and_entropies(logits, targets):
    logs = logits.float().log_softmax(-1)
    return logs.gather(-1, targets[:, None]).squeeze(-1), -(logs.exp() * logs).sum(-1)


def policy_loss(logprobs, entropies, old, advantages, weight):
    ratio = (logprobs - old).exp()
    clipped = ratio.clamp(1 - training["clip_low"], 1 + training["clip_high"])
    return (torch.maximum(-advantages * ratio, -advantages * clipped) - training["entropy_coefficient"] * entropies).sum() * weight


def train():
    tokens = torch.tensor(training["tokens"]).view(training["sequences"], -1)
    first = training["first_target"]
    length = tokens.shape[1]
    old = torch.tensor(training["rollout_logprobs"]).view(training["sequences"], -1)
    advantages = torch.tensor(training["advantages"])[:, None].expand(-1, length - first)
    model = Qwen2(options.folder, length)
    optimizer = torch.optim.AdamW(
        [{"params": [p for p in model.parameters() if p.dim() > 1], "weight_decay": 0.01},
         {"params": [p for p in model.parameters() if p.dim() == 1], "weight_decay": 0}],
        lr=1e-4, betas=(0.9, 0.999), eps=1e-8, foreach=True)
    weight = 1 / (training["sequences"] * (length - first))
    seconds, facts = [], {}
    steps = options.steps or training["steps"]
    for step in range(steps + 1):
        start = clock()
        optimizer.zero_grad(set_to_none=True)
        loss = 0.0
        for begin in range(0, training["sequences"], options.micro_batch):
            part = tokens[begin : begin + options.micro_batch]
            rows = torch.arange(part.numel()).view(part.shape)[:, first - 1 : -1].reshape(-1)
            with precision():
                logits = model.forward(part, rows)
            logprobs, entropies = logprobs_and_entropies(logits, part[:, first:].reshape(-1))
            here = slice(begin, begin + options.micro_batch)
            partial = policy_loss(logprobs, entropies, old[here].reshape(-1), advantages[here].reshape(-1), weight)
            partial.backward()
            loss += partial.item()
            if step == 0 and begin == 0:
                facts["logprobs"] = logprobs[:64].tolist()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0).item()
        optimizer.step()
        if step == 0:
            facts.update(loss=loss, gradient_norm=norm)
        else:
            seconds.append(clock() - start)
    facts["loss_after"] = loss
    facts["tokens_per_second"] = tokens.numel() / statistics.median(seconds)
    return facts


@torch.inference_mode()
def generate():
    prompts = torch.tensor(generation["prompts"]).view(generation["groups"], -1)
    prompt, sampled = prompts.shape[1], generation["sampled"]
    copies = generation["group_size"]
    sequences = prompts.shape[0] * copies
    context = prompt + sampled
    model = Qwen2(options.folder, context)
    cache = StaticCache(model, sequences, context, copies)
    last = torch.arange(prompts.numel()).view(prompts.shape)[:, -1]
    best, facts = [], {}
    for repeat in range((options.steps or generation["repeats"]) + 1):
        torch.manual_seed(repeat)
        ids, logprobs = [], []
        start = clock()
        with precision():
            logits = model.forward(prompts, last, cache).repeat_interleave(copies, 0)
            for position in range(prompt, context):
                # Samples from the softmax: argmax of probability / exponential noise.
                logs = logits.float().log_softmax(-1)
                probabilities = logs.exp()
                chosen = (probabilities / torch.empty_like(probabilities).exponential_()).argmax(-1)
                ids.append(chosen)
                logprobs.append(logs.gather(-1, chosen[:, None]).squeeze(-1))
                (probabilities * logs).sum(-1).neg_()  # the entropy
                if position + 1 < context:
                    logits = model.step(chosen, position, cache)
        if repeat:
            best.append(sequences * sampled / (clock() - start))
    whole = torch.cat([prompts.repeat_interleave(copies, 0), torch.stack(ids, 1)], 1)[:4]
    rows = torch.arange(whole.numel()).view(whole.shape)[:, prompt - 1 : -1].reshape(-1)
    again, _ = logprobs_and_entropies(model.forward(whole, rows), whole[:, prompt:].reshape(-1))
    facts["forward_gap"] = (again - torch.stack(logprobs, 1)[:4].reshape(-1)).abs().max().item()
    facts["tokens_per_second"] = statistics.median(best)
    return facts


print(json.dumps({"version": torch.__version__, "isa": torch.__config__.show().split("CPU capability usage: ")[1].split()[0],
                  "threads": options.threads, "precision": options.precision, "training": train(), "generation": generate()}))
