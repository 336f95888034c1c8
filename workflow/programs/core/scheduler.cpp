#include "core/scheduler.hpp"

#include <algorithm>
#include <initializer_list>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "core/cores.hpp"
#include "core/variable.hpp"

namespace weft {

namespace {

/// Of several names for one thing, that of the step before that of the whole job.
std::optional<std::string> first_of(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const auto value = variable(name)) return value;
  return std::nullopt;
}

/// GPUs as `scontrol show job --details` writes them: gpu:4(IDX:0-3).
std::optional<std::string> slurm_gres() {
  const auto indices = first_of({"SLURM_STEP_GPUS", "SLURM_JOB_GPUS"});
  const auto count = number_variable("SLURM_GPUS_ON_NODE");
  if (!indices) return count ? std::optional("gpu:" + std::to_string(*count)) : std::nullopt;
  try {
    const std::vector<int> gpus = parse_cpu_list(*indices);
    return "gpu:" + std::to_string(gpus.size()) + "(IDX:" + format_cpu_list(gpus) + ")";
  } catch (const std::invalid_argument&) {  // not by number: as Slurm says it
    return "gpu(" + *indices + ")";
  }
}

Json slurm(const std::string& job_id) {
  return Json::object({{"kind", "slurm"},
                       {"cluster", variable("SLURM_CLUSTER_NAME")},
                       {"job_id", job_id},
                       {"step_id", variable("SLURM_STEP_ID")},
                       {"partition", variable("SLURM_JOB_PARTITION")},
                       {"node_list", variable("SLURM_JOB_NODELIST")},
                       {"gres", slurm_gres()},
                       {"cpus_per_task", number_variable("SLURM_CPUS_PER_TASK")},
                       {"cpu_binding", variable("SLURM_CPU_BIND")},
                       {"restarts", number_variable("SLURM_RESTART_COUNT")}});
}

/// LSF names a host once for each of its slots; here each is named once.
std::optional<std::string> lsf_hosts() {
  std::istringstream words(variable("LSB_HOSTS").value_or(""));
  std::vector<std::string> hosts;
  for (std::string host; words >> host;)
    if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) hosts.push_back(host);
  std::string list;
  for (const std::string& host : hosts)
    list += (list.empty() ? "" : ",") + host;
  return list.empty() ? std::nullopt : std::optional(list);
}

Json lsf(const std::string& job_id) {
  return Json::object({{"kind", "lsf"},
                       {"cluster", variable("LSF_CLUSTER_NAME")},
                       {"job_id", job_id},
                       {"step_id", variable("JSM_JSRUN_ID")},
                       {"partition", variable("LSB_QUEUE")},
                       {"node_list", lsf_hosts()},
                       {"gres", Json()},
                       {"cpus_per_task", Json()},
                       {"cpu_binding", variable("LSB_BIND_CPU_LIST")},
                       {"restarts", Json()}});
}

}  // namespace

Json scheduler_facts() {
  if (const auto job_id = variable("SLURM_JOB_ID")) return slurm(*job_id);
  if (const auto job_id = variable("LSB_JOBID")) return lsf(*job_id);
  return nullptr;
}

}  // namespace weft
