#pragma once

#include <vector>

#include "config/run_config.h"
#include "journal/first_step_check.h"
#include "journal/journal.h"
#include "train/first_step/first_step_probe.h"

namespace starpo {

// Checks the first iteration of a run for the most common mistakes: a prompt or template that the model doesn't follow,
// a wrong mask, a learning rate that is off by a factor, equal rewards. Omits checks whose metric is absent. The usual
// ranges are wide: values outside of them are rarely intended.
std::vector<FirstStepCheck> first_step_check(const RunConfig&, const Metrics&, const FirstStepMeasurements&);

}  // namespace starpo
