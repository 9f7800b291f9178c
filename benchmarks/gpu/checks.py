"""Compares the results of a GPU with expected values. Each function returns a list of problems, one sentence each, or an empty list."""

EXACT, FAST = "exact", "fast"

# `fast` rounds differently from `exact`, but its loss and gradient norm must not deviate by more.
FAST_TOLERANCE = 0.01


def failures(measurements):
    """Returns the measurements whose program failed."""
    return [each for each in measurements if "failed" in each]


def forward_gap(name, exactness, gap):
    """Checks that rollout and update compute the same log-probabilities, bit by bit, in exact mode."""
    if gap is None:
        return [f"{name}: no difference between the log-probabilities of rollout and update was measured"]
    if exactness == EXACT and gap != 0:
        return [f"{name}: log-probabilities of rollout and update differ by {gap}, expected 0 in exact mode"]
    return []


def gradient_norm(name, norm):
    """Rejects a gradient of 0 or NaN, with which nothing is trained."""
    return [] if norm is not None and norm > 0 else [f"{name}: the gradient norm is {norm}, expected more than 0"]


def fast_training(fast, exact):
    """Compares the loss and the gradient norm of the first step in fast mode with those in exact mode."""
    problems = []
    for key in ("loss", "gradient_norm"):
        reference, value = exact.get(key), fast.get(key)
        if reference is None or value is None or not abs(value - reference) <= FAST_TOLERANCE * abs(reference):
            problems.append(f"training: {key} is {value} in fast mode and {reference} in exact mode, expected a difference of at most 1 %")
    return problems


def refused_products(name, line):
    """Reports products that cuBLASLt refused, because the trainer's own kernels are slower."""
    return [f"{name}: {line['refused_products']}"] if "refused_products" in line else []


def iterations(measured):
    """Checks the results of the stage `iterations`."""
    problems = failures(measured)
    for each in measured:
        if "failed" not in each:
            name = f"{each['run']} with responses of {each['response_mean']}"
            problems += forward_gap(name, each["exactness"], each["logprob_gap_max"]) + gradient_norm(name, each["gradient_norm"])
    return problems


def speed(generation, training):
    """Checks the engine's results of the stage `speed`, by exactness."""
    lines = [(each["exactness"], line) for each in generation for line in each["engine"]]
    steps = {each["exactness"]: each["engine"] for each in training}
    problems = failures([line for _, line in lines] + list(steps.values()))
    for exactness, line in lines:
        if "failed" not in line:
            name = f"generation of {line['generation']['sequences']} sequences, {exactness}"
            problems += forward_gap(name, exactness, line["generation"]["forward_gap"]) + refused_products(name, line)
    trained = {exactness: step["training"] for exactness, step in steps.items() if "failed" not in step}
    for exactness, step in trained.items():
        problems += gradient_norm(f"training, {exactness}", step["gradient_norm"])
        problems += refused_products(f"training, {exactness}", steps[exactness])
    if FAST in trained and EXACT in trained:
        problems += fast_training(trained[FAST], trained[EXACT])
    return problems


def goldens(comparisons):
    """Limits fp32 as native/tests/goldens_test.cpp does; rounding errors add up in the 0.5B shape. An AdamW step depends mainly on a gradient's sign. bf16 has no limits."""
    problems = failures(comparisons)
    for each in comparisons:
        if "failed" in each or each["precision"] != "fp32":
            continue
        large = "0.5b" in each["file"]
        for kind, difference in each["differences"].items():
            limit = 1e-3 if kind == "weight_changes" or (large and kind.endswith("_after_steps")) else 1e-4 if large else 1e-5
            if not difference < limit:
                problems.append(f"{each['file']} in fp32: the relative difference of {kind} is {difference}, expected less than {limit}")
    return problems
