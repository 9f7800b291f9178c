#pragma once

#include "fields/field_visitor.h"
#include "config/run_config.h"

namespace starpo {

void describe(FieldVisitor&, RunConfig&);

}  // namespace starpo
