"""Measures transformers and PyTorch on the same shapes and device. Prints one line of JSON.

peers.py MODEL generation --device cuda:0 --sequences 128 --prompt 280 --sampled 256
peers.py MODEL training --device cuda:0 --sequences 32 --length 1180 --first-target 590 --micro-batch 8

Generation is transformers' model with a static cache and a compiled decode step (max-autotune, CUDA graphs), training its best attention with a compiled model and
fused AdamW over fp32 master weights under bf16 autocast. Reports the fastest available attention implementation."""

import argparse
import json
import statistics
import time

import torch

parser = argparse.ArgumentParser()
parser.add_argument("model")
parser.add_argument("what", choices=["generation", "training"])
parser.add_argument("--device", default="cuda:0")
parser.add_argument("--sequences", type=int, default=128)
parser.add_argument("--prompt", type=int, default=280)
parser.add_argument("--sampled", type=int, default=256)
parser.add_argument("--length", type=int, default=1180)
parser.add_argument("--first-target", type=int, default=590)
parser.add_argument("--micro-batch", type=int, default=8)
parser.add_argument("--repeats", type=int, default=3)
options = parser.parse_args()

try:
    import transformers
except ImportError:
    print(json.dumps({"skipped": "transformers is not installed"}))
    raise SystemExit(0)

device = torch.device(options.device)
ON_GPU = device.type == "cuda"
torch.set_float32_matmul_precision("high")
torch.manual_seed(1)


def wait():
    if ON_GPU:
        torch.cuda.synchronize()


def load(attention, dtype):
    model = transformers.AutoModelForCausalLM.from_pretrained(options.model, dtype=dtype, attn_implementation=attention)
    return model.to(device)


def attentions():
    """Returns the available attention implementations, best first."""
    names = ["sdpa"]
    try:
        import flash_attn  # noqa: F401

        names.insert(0, "flash_attention_2")
    except ImportError:
        pass
    return names


@torch.inference_mode()
def generation(attention):
    model = load(attention, torch.bfloat16 if ON_GPU else torch.float32).eval()
    context = options.prompt + options.sampled
    prompts = torch.randint(0, model.config.vocab_size, (options.sequences, options.prompt), device=device)

    def step(ids, positions, cache):
        logits = model(input_ids=ids, cache_position=positions, past_key_values=cache, use_cache=True, logits_to_keep=1).logits[:, -1].float()
        logs = logits.log_softmax(-1)
        noise = torch.empty_like(logs).exponential_()
        chosen = (logs - noise.log()).argmax(-1)
        return chosen[:, None], logs.gather(-1, chosen[:, None]), -(logs.exp() * logs).sum(-1)

    decode = torch.compile(step, mode="max-autotune" if ON_GPU else "default", fullgraph=False) if ON_GPU else step
    # One for all repeats: the compiled step's graphs contain its addresses.
    cache = transformers.StaticCache(config=model.config, max_batch_size=options.sequences, max_cache_len=context, device=device, dtype=model.dtype)
    rates = []
    for repeat in range(options.repeats + 1):
        cache.reset()
        wait()
        start = time.perf_counter()
        ids, _, _ = step(prompts, torch.arange(options.prompt, device=device), cache)
        for position in range(options.prompt, context - 1):
            ids, _, _ = decode(ids.clone(), torch.tensor([position], device=device), cache)
        wait()
        if repeat:
            rates.append(options.sequences * options.sampled / (time.perf_counter() - start))
    return {"tokens_per_second": statistics.median(rates)}


def training(attention):
    model = load(attention, torch.float32).train()
    forward = torch.compile(model.model) if ON_GPU else model.model
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6, fused=ON_GPU)
    tokens = torch.randint(0, model.config.vocab_size, (options.sequences, options.length), device=device)
    old = torch.full((options.sequences, options.length - options.first_target), -11.0, device=device)
    advantage = torch.linspace(-1, 1, options.sequences, device=device)[:, None]
    seconds, norm = [], None
    for repeat in range(options.repeats + 1):
        wait()
        start = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        for first in range(0, options.sequences, options.micro_batch):
            rows = slice(first, first + options.micro_batch)
            with torch.autocast(device.type, torch.bfloat16, enabled=ON_GPU):
                hidden = forward(input_ids=tokens[rows]).last_hidden_state
                logits = model.lm_head(hidden[:, options.first_target - 1 : -1])
            logs = logits.float().log_softmax(-1)
            logprobs = logs.gather(-1, tokens[rows, options.first_target :, None]).squeeze(-1)
            ratio = (logprobs - old[rows]).exp()
            surrogate = torch.maximum(-advantage[rows] * ratio, -advantage[rows] * ratio.clamp(0.8, 1.28))
            loss = (surrogate + 0.001 * (logs.exp() * logs).sum(-1)).sum() / old.numel()
            loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0).item()
        optimizer.step()
        wait()
        if repeat:
            seconds.append(time.perf_counter() - start)
    return {"tokens_per_second": tokens.numel() / statistics.median(seconds), "gradient_norm": norm}


measured, problems = {}, {}
for attention in attentions():
    try:
        measured[attention] = {"generation": generation, "training": training}[options.what](attention)
    except Exception as error:  # try the next implementation
        problems[attention] = f"{type(error).__name__}: {error}"[:300]
    if ON_GPU:
        torch.cuda.empty_cache()
best = max(measured, key=lambda name: measured[name]["tokens_per_second"], default=None)
print(json.dumps({"torch": torch.__version__, "transformers": transformers.__version__, "device_name": torch.cuda.get_device_name(device) if ON_GPU else None, "best": best,
                  options.what: measured.get(best), "all": measured, "problems": problems}))
