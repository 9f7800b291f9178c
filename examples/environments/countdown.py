"""Countdown: combine four numbers with + - * / to reach a target. Speaks docs/formats/process-environment.md."""

import ast
import json
import operator
import random
import sys

OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
episodes = {}


def evaluate(node, used):
    """Returns the value of an expression and appends its numbers to `used`."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        used.append(node.value)
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](evaluate(node.left, used), evaluate(node.right, used))
    raise ValueError


def reset(request):
    rng = random.Random(f"{request['split']} {request['seed']}")
    numbers = [rng.randint(1, 20) for _ in range(4)]
    value = numbers[0]
    for number in numbers[1:]:
        value = rng.choice([value + number, abs(value - number), value * number])
    episodes[current] = numbers, value
    return {"observation": f"Numbers: {', '.join(map(str, numbers))}. Target: {value}."}


def step(expression):
    numbers, target = episodes[current]
    used = []
    try:
        value = evaluate(ast.parse(expression.strip(), mode="eval").body, used)
        shown = f"{expression} = {float(value):.12g}"
    except (ValueError, SyntaxError, ZeroDivisionError, OverflowError, RecursionError, MemoryError):
        return {"observation": "Not an expression.", "reward": 0, "done": True, "valid": False}
    success = sorted(used) == sorted(numbers) and abs(value - target) < 1e-9
    reward = 1 if success else 0.1
    return {"observation": shown, "reward": reward, "done": True, "success": success}


for line in sys.stdin:
    message = json.loads(line)
    current = message.get("id")
    if "hello" in message:
        print(json.dumps({"hello": {"version": 1, "name": "Countdown", "episodes": 256}}), flush=True)
    elif "reset" in message:
        print(json.dumps({"id": current, **reset(message["reset"])}), flush=True)
    elif "step" in message:
        print(json.dumps({"id": current, **step(message["step"])}), flush=True)
    else:
        episodes.pop(current, None)
