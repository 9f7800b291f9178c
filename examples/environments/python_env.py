"""Runs an environment class of Gymnasium, RAGEN or verl-agent. Speaks docs/formats/process-environment.md.

python3 python_env.py MODULE 'EXPRESSION': the expression builds an environment in the module's namespace, for example
  ragen.env.sokoban.env 'SokobanEnv(SokobanEnvConfig(num_boxes=1))', gymnasium 'make("FrozenLake-v1", render_mode="ansi")'
  or my_managers 'build(seed)' for a manager of verl-agent with one environment."""

import importlib, inspect, json, os, random, sys  # noqa: E401

sys.path.insert(0, os.getcwd())
answers, sys.stdout = sys.stdout, sys.stderr  # what environments print must not mix with the answers
module, expression = importlib.import_module(sys.argv[1]), sys.argv[2]
episodes, unused = {}, []


def actions_of(env):
    """Returns the actions by name; an empty dictionary if any text is one."""
    names = getattr(getattr(env, "config", None), "action_lookup", None) or getattr(env, "ACTION_LOOKUP", None)
    count = getattr(getattr(env, "action_space", None), "n", 0)
    return {str(name).lower(): key for key, name in (names or {i: i for i in range(int(count))}).items()}


def state_of(env, observation, is_ragen):
    if isinstance(observation, dict) and "anchor" in observation:
        return {"observation": str(observation["text"][0]), "anchor": str(observation["anchor"][0])}
    text = env.render() if hasattr(env, "render") and (is_ragen or not isinstance(observation, str)) else observation
    return {"observation": text if isinstance(text, str) else str(observation), "actions": list(actions_of(env)) or None}


def reset(episode, seed, split, noise=None):
    random.seed(seed)  # some environments use global random numbers, and numpy's
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)
    reuses = unused and "seed" not in expression
    env = episodes[episode] = unused.pop() if reuses else eval(expression, {**vars(module), "seed": seed})
    given = {"seed": seed, "mode": "train" if split == "train" else "val", "kwargs": [{"seed": seed}]}
    named = [p.name for p in inspect.signature(env.reset).parameters.values() if p.kind != p.VAR_KEYWORD]
    result = env.reset(**{name: given[name] for name in named if name in given})
    return state_of(env, *((result[0], False) if isinstance(result, tuple) else (result, True)))


def step(episode, text):
    env, is_manager = episodes[episode], hasattr(episodes[episode], "projection_f")
    action = [f"<think>.</think><action>{text}</action>"] if is_manager else actions_of(env).get(text.lower(), text)
    observation, reward, *ends, info = env.step(action)
    reward, ends, info = (reward[0], [ends[0][0], False], info[0]) if is_manager else (reward, ends, info)
    success = info.get("success", info.get("won", info.get("is_success", False)))
    valid = bool(info.get("action_is_valid", info.get("is_action_valid", True)))
    result = {"reward": float(reward), "done": any(map(bool, ends)), "success": bool(success), "valid": valid}
    return {**state_of(env, observation, len(ends) == 1), **result}


for message in map(json.loads, sys.stdin):
    answer = {"id": message["id"]} if "id" in message else {"hello": {"version": 1, "name": expression}}
    try:
        answer |= reset(message["id"], **message["reset"]) if "reset" in message else {}
        answer |= step(message["id"], message["step"]) if "step" in message else {}
    except Exception as error:
        answer["error"] = f"{type(error).__name__}: {error}"
    unused += [episodes.pop(message["id"])] if "close" in message and message["id"] in episodes else []
    print(json.dumps(answer), file=answers, flush=True) if "close" not in message else None
