"""Runs Hugging Face's transformers on a model folder for tests/nightly/peers.ts. Reads one JSON value from stdin and prints one.

peers.py score MODEL_DIR       [[id, ...], ...] -> {"float64": per sequence {"logprobs": [...], "entropies": [...]} for every id but the first, at temperature 1; "float32": the same}
peers.py tokenize MODEL_DIR    ["text", ...] -> ids per text, with special tokens recognized and none added
peers.py versions ANY          package versions"""

import json
import sys

import tokenizers
import torch
import transformers

transformers.logging.set_verbosity_error()


def score(folder):
    sequences = json.load(sys.stdin)
    return {name: score_in(getattr(torch, name), folder, sequences) for name in ("float64", "float32")}


def score_in(dtype, folder, sequences):
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, local_files_only=True).eval()
    answers = []
    for ids in sequences:
        with torch.inference_mode():
            logs = model(input_ids=torch.tensor([ids])).logits[0, :-1].log_softmax(-1)
        chosen = torch.tensor(ids[1:])[:, None]
        answers.append({"logprobs": logs.gather(-1, chosen).squeeze(-1).tolist(), "entropies": (-(logs.exp() * logs).sum(-1)).tolist()})
    return answers


def tokenize(folder):
    # AutoTokenizer would use Qwen2's class and its normalization for every Qwen2 model, whatever tokenizer.json specifies.
    with open(f"{folder}/tokenizer_config.json") as file:
        kind = getattr(transformers, json.load(file)["tokenizer_class"])
    tokenizer = kind.from_pretrained(folder, local_files_only=True)
    return [tokenizer.encode(text, add_special_tokens=False) for text in json.load(sys.stdin)]


def versions(_):
    return {"torch": torch.__version__, "transformers": transformers.__version__, "tokenizers": tokenizers.__version__}


json.dump({"score": score, "tokenize": tokenize, "versions": versions}[sys.argv[1]](*sys.argv[2:]), sys.stdout)
