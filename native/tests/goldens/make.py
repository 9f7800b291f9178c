"""Computes goldens: the results of PyTorch for a Qwen2 model with weights from a formula, for native/tests/goldens_test.cpp and `starpo-bench golden`.

make.py SHAPE FILE [--implementation transformers|plain] [--dtype float64|float32] [--moments FOLDER]

SHAPE: tiny, untied (small ones, for CI) or 0.5b (that of Qwen2.5-0.5B, which needs 19 GB of memory in float64 and 10 GB in float32; about half of that if
--moments stores AdamW's moments in files of a folder). Runs on the CPU. `transformers` is Hugging Face's Qwen2ForCausalLM, which always computes norms and
rotary embeddings in float32. `plain` is a short PyTorch implementation in this file, entirely in --dtype, for machines without transformers."""

import argparse
import json
import math
import platform

import numpy as np
import torch
import torch.nn.functional as F

QWEN_0_5B = dict(vocab_size=151936, hidden_size=896, intermediate_size=4864, num_hidden_layers=24, num_attention_heads=14, num_key_value_heads=2, head_dim=64,
                 max_position_embeddings=32768, rope_theta=1000000.0, rms_norm_eps=1e-6, tie_word_embeddings=True)
TINY = dict(vocab_size=96, hidden_size=48, intermediate_size=80, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=16,
            max_position_embeddings=256, rope_theta=10000.0, rms_norm_eps=1e-6, tie_word_embeddings=True)
SHAPES = {"tiny": (TINY, [13, 8, 21]), "untied": (TINY | dict(hidden_size=64, num_attention_heads=1, num_key_value_heads=1, head_dim=64, tie_word_embeddings=False), [5, 30]),
          "0.5b": (QWEN_0_5B, [48, 31])}
LOSS = dict(clip_low=0.2, clip_high=0.28, entropy_coefficient=0.01)
OPTIMIZER = dict(learning_rate=1e-3, beta1=0.9, beta2=0.999, epsilon=1e-8, weight_decay=0.01, gradient_clip=1.0)
TEMPERATURE, STEPS, SAMPLES = 0.8, 3, 8


def golden_values(tensor, count, first=0):
    """Returns uniform numbers in [-1, 1): splitmix64 of the indices of tensor and element, as in golden.cpp."""
    with np.errstate(over="ignore"):
        z = np.arange(first, first + count, dtype=np.uint64) + np.uint64(((tensor << 40) + 0x9E3779B97F4A7C15) % 2**64)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return (z >> np.uint64(40)).astype(np.float64) / 8388608 - 1


def tensor_shapes(c):
    """Returns the shape of every tensor by name, in the order of ParameterLayout."""
    hidden, inner, queries, keys = c["hidden_size"], c["intermediate_size"], c["num_attention_heads"] * c["head_dim"], c["num_key_value_heads"] * c["head_dim"]
    shapes = {"model.embed_tokens.weight": (c["vocab_size"], hidden)}
    for layer in range(c["num_hidden_layers"]):
        block = {"input_layernorm.weight": (hidden,), "self_attn.q_proj.weight": (queries, hidden), "self_attn.k_proj.weight": (keys, hidden),
                 "self_attn.v_proj.weight": (keys, hidden), "self_attn.q_proj.bias": (queries,), "self_attn.k_proj.bias": (keys,), "self_attn.v_proj.bias": (keys,),
                 "self_attn.o_proj.weight": (hidden, queries), "post_attention_layernorm.weight": (hidden,), "mlp.gate_proj.weight": (inner, hidden),
                 "mlp.up_proj.weight": (inner, hidden), "mlp.down_proj.weight": (hidden, inner)}
        shapes |= {f"model.layers.{layer}.{name}": shape for name, shape in block.items()}
    shapes["model.norm.weight"] = (hidden,)
    if not c["tie_word_embeddings"]:
        shapes["lm_head.weight"] = (c["vocab_size"], hidden)
    return shapes


def golden_weights(c, dtype):
    weights = {}
    for index, (name, shape) in enumerate(tensor_shapes(c).items()):
        vector = len(shape) == 1
        center = 1 if vector and not name.endswith(".bias") else 0
        spread = 0.25 if vector else (2 if shape[0] == c["vocab_size"] else 1) * math.sqrt(3 / shape[-1])
        count, chunk = math.prod(shape), 1 << 24
        flat = np.concatenate([(center + spread * golden_values(index, min(chunk, count - first), first)).astype(np.float32) for first in range(0, count, chunk)])
        weights[name] = torch.from_numpy(flat).view(shape).to(dtype).requires_grad_()
    return weights


def plain_logits(c, w, tokens):
    """Returns the logits [length, vocabulary] of tokens [length]."""
    length, dim, heads, kv_heads = len(tokens), c["head_dim"], c["num_attention_heads"], c["num_key_value_heads"]
    angles = torch.outer(torch.arange(length, dtype=torch.float64), c["rope_theta"] ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim))
    cosines, sines = (rows.repeat(1, 2).to(w["model.norm.weight"].dtype) for rows in (angles.cos(), angles.sin()))
    rotated = lambda x: x * cosines + torch.cat([-x[..., dim // 2 :], x[..., : dim // 2]], -1) * sines
    norm = lambda x, weight: x * torch.rsqrt(x.square().mean(-1, keepdim=True) + c["rms_norm_eps"]) * weight
    mask = torch.full((length, length), -math.inf).triu(1)
    x = F.embedding(torch.tensor(tokens), w["model.embed_tokens.weight"])
    for layer in range(c["num_hidden_layers"]):
        p = lambda name: w[f"model.layers.{layer}.{name}"]
        normed = norm(x, p("input_layernorm.weight"))
        projected = lambda which, count: F.linear(normed, p(f"self_attn.{which}_proj.weight"), p(f"self_attn.{which}_proj.bias")).view(length, count, dim).transpose(0, 1)
        queries, keys, values = rotated(projected("q", heads)), rotated(projected("k", kv_heads)), projected("v", kv_heads)
        keys, values = (rows.repeat_interleave(heads // kv_heads, 0) for rows in (keys, values))
        attended = (queries @ keys.transpose(1, 2) / math.sqrt(dim) + mask).softmax(-1) @ values
        x = x + F.linear(attended.transpose(0, 1).reshape(length, -1), p("self_attn.o_proj.weight"))
        normed = norm(x, p("post_attention_layernorm.weight"))
        x = x + F.linear(F.silu(F.linear(normed, p("mlp.gate_proj.weight"))) * F.linear(normed, p("mlp.up_proj.weight")), p("mlp.down_proj.weight"))
    return F.linear(norm(x, w["model.norm.weight"]), w["model.embed_tokens.weight" if c["tie_word_embeddings"] else "lm_head.weight"])


def transformers_model(c, w):
    """Returns the parameters of Hugging Face's model with these weights, and a function that computes its logits."""
    from transformers import Qwen2Config, Qwen2ForCausalLM

    settings = {key: value for key, value in c.items() if key not in ("head_dim", "rope_theta")}
    try:
        config = Qwen2Config(**settings, head_dim=c["head_dim"], rope_parameters={"rope_type": "default", "rope_theta": c["rope_theta"]}, attn_implementation="eager")
        assert (getattr(config, "rope_parameters", None) or {}).get("rope_theta") == c["rope_theta"]
    except (TypeError, AssertionError):  # transformers 4
        config = Qwen2Config(**settings, head_dim=c["head_dim"], rope_theta=c["rope_theta"], attn_implementation="eager")
    with torch.device("meta"):
        model = Qwen2ForCausalLM(config)
    model.load_state_dict({name: tensor.detach() for name, tensor in w.items()}, strict=False, assign=True)
    model.model.rotary_emb = type(model.model.rotary_emb)(config)
    model.tie_weights()
    own = dict(model.named_parameters())
    assert set(own) == set(w) and not any(each.is_meta for each in own.values()), set(own) ^ set(w)
    for tensor in own.values():
        tensor.requires_grad_()
    return own, lambda tokens: model(input_ids=torch.tensor([tokens])).logits[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("shape", choices=SHAPES)
    parser.add_argument("file")
    parser.add_argument("--implementation", choices=["transformers", "plain"], default="transformers")
    parser.add_argument("--dtype", choices=["float64", "float32"], default="float64")
    parser.add_argument("--moments")
    options = parser.parse_args()
    c, lengths = SHAPES[options.shape]
    dtype = getattr(torch, options.dtype)
    w = golden_weights(c, dtype)
    if options.implementation == "transformers":
        import transformers

        w, logits_of = transformers_model(c, w)
        version = f"transformers {transformers.__version__} with PyTorch {torch.__version__}"
    else:
        logits_of = lambda tokens: plain_logits(c, w, tokens)
        version = f"plain PyTorch {torch.__version__}"

    draws = golden_values(1 << 20, sum(lengths) * 2)
    sequences, rest = [], ((draws[: sum(lengths)] + 1) / 2 * c["vocab_size"]).astype(int).tolist()
    for length in lengths:
        sequences.append(rest[:length])
        rest = rest[length:]
    starts = np.concatenate([[0], np.cumsum(lengths)]).tolist()
    # All tokens are targets, except the first three of each sequence.
    targets = [start + i for start, length in zip(starts, lengths) for i in range(3, length)]
    trained = [length - 3 for length in lengths]
    weights = [1 / (len(lengths) * count) for count in trained]
    advantages = [1.5, -0.75, 0.5][: len(lengths)]

    def forward():
        logits = [logits_of(tokens) for tokens in sequences]
        logs = torch.cat([(rows[2:-1] / TEMPERATURE).log_softmax(-1) for rows in logits])
        chosen = torch.tensor([token for tokens in sequences for token in tokens[3:]])
        return logits, logs.gather(-1, chosen[:, None]).squeeze(-1), -(logs.exp() * logs).sum(-1)

    weight = torch.cat([torch.full((count,), value, dtype=dtype) for count, value in zip(trained, weights)])
    advantage = torch.cat([torch.full((count,), value, dtype=dtype) for count, value in zip(trained, advantages)])
    rollout = None
    golden = {"losses": [], "gradient_norms": []}
    optimizer = torch.optim.AdamW(
        [{"params": [t for t in w.values() if t.dim() > 1], "weight_decay": OPTIMIZER["weight_decay"]}, {"params": [t for t in w.values() if t.dim() == 1], "weight_decay": 0.0}],
        lr=OPTIMIZER["learning_rate"], betas=(OPTIMIZER["beta1"], OPTIMIZER["beta2"]), eps=OPTIMIZER["epsilon"], foreach=False)
    if options.moments:
        for index, tensor in enumerate(w.values()):
            on_disk = lambda moment: torch.from_file(f"{options.moments}/{moment}-{index}", shared=True, size=tensor.numel(), dtype=dtype).view(tensor.shape)
            optimizer.state[tensor] = {"step": torch.tensor(0.0), "exp_avg": on_disk("first"), "exp_avg_sq": on_disk("second")}
    picked = lambda tensor: tensor.reshape(-1)[[(i * 2654435761 + 12345) % tensor.numel() for i in range(SAMPLES)]].tolist()
    before, gradients = {name: picked(tensor.detach()) for name, tensor in w.items()}, {}
    for step in range(STEPS):
        optimizer.zero_grad(set_to_none=True)
        logits, logprobs, entropies = forward()
        if rollout is None:
            # Ratios are on either side of both clips, but not near them.
            rollout = (logprobs.detach() - torch.tensor(np.round(draws[sum(lengths) : sum(lengths) + len(targets)] * 4) / 10)).float().to(dtype)
            ids = [int(i) for i in np.linspace(0, c["vocab_size"] - 1, 16)]
            golden |= {"last_logits": [rows[-1][ids].tolist() for rows in logits], "logprobs": logprobs.tolist(), "entropies": entropies.tolist()}
        ratio = (logprobs - rollout).exp()
        clipped = ratio.clamp(1 - LOSS["clip_low"], 1 + LOSS["clip_high"])
        loss = (weight * (torch.maximum(-advantage * ratio, -advantage * clipped) - LOSS["entropy_coefficient"] * entropies)).sum()
        loss.backward()
        if step == 0:
            gradients = {name: picked(tensor.grad) for name, tensor in w.items()}
        golden["losses"].append(loss.item())
        golden["gradient_norms"].append(torch.nn.utils.clip_grad_norm_(list(w.values()), OPTIMIZER["gradient_clip"]).item())
        optimizer.step()
    head = {"made_by": f"make.py {options.shape}, {version}, {options.dtype}, {platform.machine()}", "config": {"model_type": "qwen2"} | c, "tokens": [t for s in sequences for t in s], "sequence_starts": starts,
            "targets": targets, "temperature": TEMPERATURE, "loss": LOSS, "token_weights": weights, "advantages": advantages, "rollout_logprobs": rollout.tolist(),
            "optimizer": OPTIMIZER, "logit_ids": ids}
    golden["tensors"] = [{"name": name, "gradient": gradients[name], "change": [after - own for after, own in zip(picked(w[name].detach()), before[name])]} for name in tensor_shapes(c)]
    short = lambda value: float(f"{value:.9g}") if isinstance(value, float) else [short(v) for v in value] if isinstance(value, list) else {k: short(v) for k, v in value.items()} if isinstance(value, dict) else value
    lines = [f" {json.dumps(key)}: {json.dumps(short(value))}" for key, value in (head | golden).items() if key != "tensors"]
    lines.append(' "tensors": [\n' + ",\n".join("  " + json.dumps(short(t)) for t in golden["tensors"]) + "\n ]")
    with open(options.file, "w") as file:
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
