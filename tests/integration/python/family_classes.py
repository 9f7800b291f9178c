"""Small environments in the interfaces of Gymnasium, RAGEN and verl-agent."""

import random


class Space:
    n = 2


class Gym:
    """Gymnasium: count to three with action 1."""

    action_space = Space()

    def reset(self, *, seed=None, options=None):
        self.at = seed % 2
        return f"at {self.at}", {}

    def step(self, action):
        print("a message that is not an answer")
        self.at += action
        return f"at {self.at}", 0.5 * action, self.at >= 3, self.at < 0, {"is_success": self.at >= 3}


class Config:
    action_lookup = {1: "Left", 2: "Right"}


class Ragen:
    """RAGEN: the observation is render(); actions are integers from 1, named by the configuration."""

    def __init__(self, config):
        self.config = config

    def reset(self, seed=None, mode=None):
        self.text = f"{mode} {random.randint(0, 9)}"
        return "not shown"

    def step(self, action):
        assert type(action) is int
        self.text += f" {action}"
        info = {"success": action == 2, "action_is_valid": action == 2, "action_is_effective": True}
        return "not shown", action, action == 2, info

    def render(self):
        return self.text


class Envs:
    def __init__(self, seed):
        self.seed = seed


class Manager:
    """verl-agent: batches of one; the text has a history, the anchor has none."""

    def __init__(self, envs, projection_f, config):
        self.envs, self.projection_f, self.turn = envs, projection_f, 0

    def reset(self, kwargs):
        return {"text": [f"turn 0: level {self.envs.seed}"], "image": None, "anchor": ["A"]}, [{}]

    def step(self, text_actions):
        self.turn += 1
        actions, valids = self.projection_f(text_actions)
        if actions[0] == "fail":
            raise ValueError("out of levels")
        observation = {"text": [f"turn {self.turn}: {actions[0]}"], "image": None, "anchor": ["A"]}
        return observation, [1.0], [self.turn == 2], [{"is_action_valid": valids[0], "won": True}]


def build(seed):
    def projection(texts):
        return [text.split("<action>")[1].split("</action>")[0] for text in texts], [1 for _ in texts]

    return Manager(Envs(seed), projection, None)


class Bare:
    """A class in the style of RAGEN with nothing but reset and step."""

    def reset(self, seed=None):
        return f"level {seed}"

    def step(self, action):
        return f"did {action}", 1, True, {}
