// What the scheduler says of the job, by its variables: Slurm's and LSF's.
#pragma once

#include "core/json.hpp"

namespace weft {

/// environment.scheduler (record.schema.json); null outside of a job. What the scheduler leaves out is null.
Json scheduler_facts();

}  // namespace weft
