"""A Qwen2 policy in PyTorch, written for speed on a CPU: fused projections, packed target rows, grouped attention in one product, a static KV cache."""

import json
import math
import struct

import torch
import torch.nn.functional as F


def read_safetensors(path):
    with open(path, "rb") as file:
        data = bytearray(file.read())
    (size,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        flat = torch.frombuffer(data, dtype=torch.float32, count=(end - begin) // 4, offset=8 + size + begin)
        tensors[name] = flat.view(entry["shape"]).clone()
    return tensors


class Layer:
    def __init__(self, tensors, prefix):
        def joined(names, suffix):
            return torch.cat([tensors[f"{prefix}{name}.{suffix}"] for name in names]).requires_grad_()

        projections = [f"self_attn.{name}_proj" for name in "qkv"]
        self.input_norm = joined(["input_layernorm"], "weight")
        self.qkv = joined(projections, "weight")
        self.qkv_bias = joined(projections, "bias")
        self.output = joined(["self_attn.o_proj"], "weight")
        self.mlp_norm = joined(["post_attention_layernorm"], "weight")
        self.gate_up = joined(["mlp.gate_proj", "mlp.up_proj"], "weight")
        self.down = joined(["mlp.down_proj"], "weight")

    def parameters(self):
        return [self.input_norm, self.qkv, self.qkv_bias, self.output, self.mlp_norm, self.gate_up, self.down]


class Qwen2:
    def __init__(self, folder, context):
        with open(f"{folder}/config.json") as file:
            config = json.load(file)
        tensors = read_safetensors(f"{folder}/model.safetensors")
        self.heads = config["num_attention_heads"]
        self.kv_heads = config["num_key_value_heads"]
        self.dim = config["head_dim"]
        self.epsilon = config["rms_norm_eps"]
        self.embedding = tensors["model.embed_tokens.weight"].requires_grad_()
        self.final_norm = tensors["model.norm.weight"].requires_grad_()
        self.layers = [Layer(tensors, f"model.layers.{i}.") for i in range(config["num_hidden_layers"])]
        frequencies = config["rope_theta"] ** (-torch.arange(0, self.dim, 2).float() / self.dim)
        angles = torch.outer(torch.arange(context).float(), frequencies)
        self.cosines = torch.cat([angles.cos(), angles.cos()], 1)
        self.sines = torch.cat([-angles.sin(), angles.sin()], 1)
        self.causal = torch.full((context, context), -math.inf).triu(1)

    def parameters(self):
        return [self.embedding, self.final_norm] + [p for layer in self.layers for p in layer.parameters()]

    def norm(self, x, weight):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.epsilon) * weight

    def qkv(self, layer, x, batch, cosines, sines):
        """x [batch * length, hidden] -> queries [batch * kv_heads, group * length, dim], keys and values [batch * kv_heads, length, dim]"""
        rows = F.linear(self.norm(x, layer.input_norm), layer.qkv, layer.qkv_bias).view(batch, -1, self.heads + 2 * self.kv_heads, self.dim)
        rotated, values = rows.split([self.heads + self.kv_heads, self.kv_heads], 2)
        rotated = rotated * cosines + rotated.roll(self.dim // 2, -1) * sines
        queries, keys = rotated.split([self.heads, self.kv_heads], 2)
        length = rows.shape[1]
        pairs = batch * self.kv_heads
        return (
            queries.transpose(1, 2).reshape(pairs, -1, self.dim),
            keys.transpose(1, 2).reshape(pairs, length, self.dim),
            values.transpose(1, 2).reshape(pairs, length, self.dim),
        )

    def output_and_mlp(self, layer, x, attended):
        x = x + F.linear(attended, layer.output)
        gate, up = F.linear(self.norm(x, layer.mlp_norm), layer.gate_up).chunk(2, -1)
        return x + F.linear(F.silu(gate) * up, layer.down)

    def attention(self, queries, keys, values, mask):
        scores = torch.baddbmm(mask, queries, keys.transpose(1, 2), alpha=self.dim**-0.5)
        return torch.bmm(scores.softmax(-1), values)

    def forward(self, tokens, rows, cache=None):
        """tokens [batch, length] -> logits of the rows (indices into batch * length). A cache is filled from position 0."""
        batch, length = tokens.shape
        cosines, sines = self.cosines[:length, None], self.sines[:length, None]
        mask = self.causal[:length, :length].repeat(self.heads // self.kv_heads, 1)
        x = F.embedding(tokens, self.embedding).view(batch * length, -1)
        for i, layer in enumerate(self.layers):
            queries, keys, values = self.qkv(layer, x, batch, cosines, sines)
            if cache is not None:
                cache.fill(i, keys, values)
            attended = self.attention(queries, keys, values, mask)
            attended = attended.view(batch, self.heads, length, self.dim).transpose(1, 2).reshape(batch * length, -1)
            x = self.output_and_mlp(layer, x, attended)
        return F.linear(self.norm(x[rows], self.final_norm), self.embedding)

    def step(self, tokens, position, cache):
        """Decodes one token per sequence: tokens [batch] at `position` -> logits [batch, vocabulary]."""
        batch = tokens.shape[0]
        cosines, sines = self.cosines[position], self.sines[position]
        x = F.embedding(tokens, self.embedding)
        for i, layer in enumerate(self.layers):
            queries, keys, values = self.qkv(layer, x, batch, cosines, sines)
            cache.keys[i][:, position] = keys[:, 0]
            cache.values[i][:, position] = values[:, 0]
            scores = torch.bmm(queries, cache.keys[i][:, : position + 1].transpose(1, 2))
            attended = torch.bmm((scores * self.dim**-0.5).softmax(-1), cache.values[i][:, : position + 1])
            x = self.output_and_mlp(layer, x, attended.view(batch, -1))
        return F.linear(self.norm(x, self.final_norm), self.embedding)


class StaticCache:
    """Keys and values of a fixed number of sequences, [sequences * kv_heads, context, dim] per layer; each prompt is computed once for its `copies` sequences."""

    def __init__(self, model, sequences, context, copies):
        shape = (sequences * model.kv_heads, context, model.dim)
        self.copies = copies
        self.keys = [torch.zeros(shape) for _ in model.layers]
        self.values = [torch.zeros(shape) for _ in model.layers]

    def fill(self, layer, keys, values):
        for cache, rows in ((self.keys, keys), (self.values, values)):
            cache[layer][:, : rows.shape[1]] = rows.repeat_interleave(self.copies, 0)
