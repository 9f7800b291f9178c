"""A reward program that rewards reasoning which names the chosen action, and penalizes repeated responses.

The protocol is docs/formats/reward-program.md. A term is one number for the episode, or a list with one number per turn."""

import json
import sys


def names_action(turn):
    """Returns whether the reasoning names the first action."""
    reasoning = (turn["think"] or "").lower()
    return bool(turn["actions"]) and turn["actions"][0].lower() in reasoning


def score(episode):
    turns = episode["steps"]
    responses = [turn["response"] for turn in turns]
    return {
        "names_action": [0.05 * names_action(turn) for turn in turns],
        "repetition": 0.1 * (len(set(responses)) - len(responses)),
    }


for line in sys.stdin:
    message = json.loads(line)
    if "hello" in message:
        answer = {"hello": {"version": 1, "name": "Reasoning rewards", "episodes": 4096}}
    elif "score" in message:
        try:
            answer = {"id": message["id"], "terms": score(message["score"])}
        except Exception as error:  # the episode can't be scored
            answer = {"id": message["id"], "error": f"{type(error).__name__}: {error}"}
    else:
        continue  # {"id", "close": true}
    print(json.dumps(answer), flush=True)
