// The environment record: where, with what and how a run was made. Variables by allow-list, never the whole
// environment.
#pragma once

#include <string>
#include <vector>

#include "core/json.hpp"
#include "core/options.hpp"

namespace weft {

/// Builds the environment record (record.schema.json). `software` and `geometry` come from the multi-rank
/// programs: MPI and NCCL versions, ranks and hosts; an empty object and null for a single process.
Json environment_record(const Options& options, const std::vector<std::string>& command_line,
                        const Json& software, const Json& geometry);

/// Version, commit, backend and compiler of this build, for --version.
std::string build_words();

std::string hostname();

}  // namespace weft
