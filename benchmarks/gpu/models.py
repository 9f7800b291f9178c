"""Creates model folders in the published format, with random weights and a small tokenizer, for machines without a network."""

import json
import math
import os
import struct

import torch

SHAPES = {
    "0.5b": dict(hidden_size=896, intermediate_size=4864, num_hidden_layers=24, num_attention_heads=14, num_key_value_heads=2, vocab_size=151936),
    "1.5b": dict(hidden_size=1536, intermediate_size=8960, num_hidden_layers=28, num_attention_heads=12, num_key_value_heads=2, vocab_size=151936),
    "3b": dict(hidden_size=2048, intermediate_size=11008, num_hidden_layers=36, num_attention_heads=16, num_key_value_heads=2, vocab_size=151936),
    "tiny": dict(hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, vocab_size=1024),
}


def config_of(shape):
    return SHAPES[shape] | dict(architectures=["Qwen2ForCausalLM"], model_type="qwen2", hidden_act="silu", max_position_embeddings=32768, rms_norm_eps=1e-6,
                                rope_theta=1000000.0, tie_word_embeddings=True, torch_dtype="bfloat16", use_sliding_window=False, attention_dropout=0.0)


def tensor_shapes(c):
    hidden, inner = c["hidden_size"], c["intermediate_size"]
    keys = hidden // c["num_attention_heads"] * c["num_key_value_heads"]
    shapes = {"model.embed_tokens.weight": (c["vocab_size"], hidden)}
    for layer in range(c["num_hidden_layers"]):
        block = {"input_layernorm.weight": (hidden,), "post_attention_layernorm.weight": (hidden,), "mlp.gate_proj.weight": (inner, hidden), "mlp.up_proj.weight": (inner, hidden),
                 "mlp.down_proj.weight": (hidden, inner), "self_attn.o_proj.weight": (hidden, hidden)}
        for which, rows in (("q", hidden), ("k", keys), ("v", keys)):
            block |= {f"self_attn.{which}_proj.weight": (rows, hidden), f"self_attn.{which}_proj.bias": (rows,)}
        shapes |= {f"model.layers.{layer}.{name}": shape for name, shape in block.items()}
    return shapes | {"model.norm.weight": (hidden,)}


def parameter_count(shape, without_embeddings=False):
    shapes = tensor_shapes(config_of(shape))
    return sum(math.prod(each) for name, each in shapes.items() if not (without_embeddings and "embed" in name))


def write_weights(path, c):
    """bf16 safetensors: normal matrices, zero biases, unit norms."""
    torch.manual_seed(1)
    shapes = tensor_shapes(c)
    header, position = {"__metadata__": {"format": "pt"}}, 0
    for name, shape in shapes.items():
        size = 2 * math.prod(shape)
        header[name] = {"dtype": "BF16", "shape": list(shape), "data_offsets": [position, position + size]}
        position += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name, shape in shapes.items():
            if len(shape) > 1:
                tensor = torch.randn(shape) * (0.02 if "embed" in name else 1 / math.sqrt(shape[1]))
            else:
                tensor = torch.zeros(shape) if name.endswith("bias") else torch.ones(shape)
            file.write(tensor.bfloat16().view(torch.int16).numpy().tobytes())


def byte_alphabet():
    """Returns GPT-2's printable character for every byte."""
    kept = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = iter(range(256, 512))
    return {byte: chr(byte) if byte in kept else chr(next(others)) for byte in range(256)}


def train_merges(texts, count):
    """Plain byte pair encoding: repeatedly merges the most frequent pair. Words keep their leading space."""
    alphabet = byte_alphabet()
    words = {}
    for text in texts:
        for word in text.replace(" ", "\0 ").replace("\n", "\0\n\0").split("\0"):
            symbols = tuple(alphabet[byte] for byte in word.encode())
            words[symbols] = words.get(symbols, 0) + 1
    merges = []
    while len(merges) < count:
        pairs = {}
        for symbols, times in words.items():
            for pair in zip(symbols, symbols[1:]):
                pairs[pair] = pairs.get(pair, 0) + times
        if not pairs:
            break
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        merges.append(best)
        merged = {}
        for symbols, times in words.items():
            joined, i = [], 0
            while i < len(symbols):
                both = symbols[i : i + 2] == best
                joined.append(symbols[i] + symbols[i + 1] if both else symbols[i])
                i += 2 if both else 1
            merged[tuple(joined)] = merged.get(tuple(joined), 0) + times
        words = merged
    return merges


def tokenizer_of(texts, merges=400):
    """Returns a tokenizer.json in Qwen2.5's format, with enough merges that prompts are about as long as with the published one."""
    learned = train_merges(texts, merges)
    tokens = [*byte_alphabet().values(), *(a + b for a, b in learned)]
    vocab = {}
    for token in tokens:
        vocab.setdefault(token, len(vocab))
    added = [{"id": len(vocab) + i, "content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
             for i, content in enumerate(["<|endoftext|>", "<|im_start|>", "<|im_end|>"])]
    split = {"type": "Split", "pattern": {"Regex": " ?[^\\s]+|\\s"}, "behavior": "Isolated", "invert": False}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": {"type": "NFC"},
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, byte_level]}, "post_processor": byte_level, "decoder": byte_level,
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": "", "end_of_word_suffix": "", "fuse_unk": False, "byte_fallback": False,
                      "vocab": vocab, "merges": [f"{a} {b}" for a, b in learned]}}


def make_model(folder, shape, texts):
    """Writes a model folder if it doesn't exist. texts: the tokenizer's training corpus."""
    if os.path.exists(os.path.join(folder, "generation_config.json")):
        return folder
    os.makedirs(folder, exist_ok=True)
    c, tokenizer = config_of(shape), tokenizer_of(texts)
    assert len(tokenizer["model"]["vocab"]) + 3 <= c["vocab_size"]
    ends = next(token["id"] for token in tokenizer["added_tokens"] if token["content"] == "<|im_end|>")
    write_weights(os.path.join(folder, "model.safetensors"), c)
    for name, value in {"config.json": c, "tokenizer.json": tokenizer, "tokenizer_config.json": {"tokenizer_class": "Qwen2Tokenizer"}, "generation_config.json": {"eos_token_id": [ends]}}.items():
        with open(os.path.join(folder, name), "w") as file:
            json.dump(value, file)
    return folder
