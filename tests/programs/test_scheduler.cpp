// What is read of Slurm's and LSF's variables.
#include <cstdlib>
#include <map>

#include "check.hpp"
#include "core/scheduler.hpp"

namespace {

/// The facts when just these variables of a scheduler are set.
std::string facts(const std::map<std::string, std::string>& variables) {
  for (const char* name : {"SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_CLUSTER_NAME", "SLURM_JOB_PARTITION",
                           "SLURM_JOB_NODELIST", "SLURM_STEP_GPUS", "SLURM_JOB_GPUS", "SLURM_GPUS_ON_NODE",
                           "SLURM_CPUS_PER_TASK", "SLURM_CPU_BIND", "SLURM_RESTART_COUNT", "LSB_JOBID",
                           "LSB_QUEUE", "LSB_HOSTS", "LSF_CLUSTER_NAME", "JSM_JSRUN_ID", "LSB_BIND_CPU_LIST"})
    ::unsetenv(name);
  for (const auto& [name, value] : variables)
    ::setenv(name.c_str(), value.c_str(), 1);
  return weft::scheduler_facts().dump();
}

std::string gres(const std::map<std::string, std::string>& variables) {
  std::map<std::string, std::string> all = variables;
  all["SLURM_JOB_ID"] = "1";
  const std::string text = facts(all), key = "\"gres\":";
  const std::size_t begin = text.find(key) + key.size();
  return text.substr(begin, text.find(",\"cpus", begin) - begin);
}

}  // namespace

TEST(outside_of_a_job_there_are_none) { CHECK_EQ(facts({}), std::string("null")); }

TEST(a_step_of_slurm_is_told_with_all_it_says) {
  CHECK_EQ(facts({{"SLURM_JOB_ID", "42"},
                  {"SLURM_STEP_ID", "3"},
                  {"SLURM_CLUSTER_NAME", "box"},
                  {"SLURM_JOB_PARTITION", "gpu"},
                  {"SLURM_JOB_NODELIST", "n[1-2]"},
                  {"SLURM_STEP_GPUS", "0,1,3"},
                  {"SLURM_GPUS_ON_NODE", "3"},
                  {"SLURM_CPUS_PER_TASK", "2"},
                  {"SLURM_CPU_BIND", "quiet,mask_cpu:0x1"},
                  {"SLURM_RESTART_COUNT", "1"}}),
           std::string("{\"kind\":\"slurm\",\"cluster\":\"box\",\"job_id\":\"42\",\"step_id\":\"3\","
                       "\"partition\":\"gpu\",\"node_list\":\"n[1-2]\",\"gres\":\"gpu:3(IDX:0-1,3)\","
                       "\"cpus_per_task\":2,\"cpu_binding\":\"quiet,mask_cpu:0x1\",\"restarts\":1}"));
}

TEST(what_slurm_does_not_say_is_null) {
  CHECK_EQ(facts({{"SLURM_JOB_ID", "42"}, {"SLURM_CPUS_PER_TASK", "many"}}),
           std::string(
               "{\"kind\":\"slurm\",\"cluster\":null,\"job_id\":\"42\",\"step_id\":null,\"partition\":null,"
               "\"node_list\":null,\"gres\":null,\"cpus_per_task\":null,\"cpu_binding\":null,"
               "\"restarts\":null}"));
}

TEST(gpus_are_those_of_the_step_or_the_job_or_their_number) {
  CHECK_EQ(gres({{"SLURM_STEP_GPUS", "1"}, {"SLURM_JOB_GPUS", "0,1"}}), std::string("\"gpu:1(IDX:1)\""));
  CHECK_EQ(gres({{"SLURM_JOB_GPUS", "0,1,2,3"}}), std::string("\"gpu:4(IDX:0-3)\""));
  CHECK_EQ(gres({{"SLURM_GPUS_ON_NODE", "4"}}), std::string("\"gpu:4\""));
  CHECK_EQ(gres({{"SLURM_JOB_GPUS", "MIG-1"}}), std::string("\"gpu(MIG-1)\""));
}

TEST(lsf_names_each_host_once) {
  CHECK_EQ(facts({{"LSB_JOBID", "7"}, {"LSB_QUEUE", "batch"}, {"LSB_HOSTS", "login1 h2 h2 h3 h3"}}),
           std::string(
               "{\"kind\":\"lsf\",\"cluster\":null,\"job_id\":\"7\",\"step_id\":null,\"partition\":\"batch\","
               "\"node_list\":\"login1,h2,h3\",\"gres\":null,\"cpus_per_task\":null,\"cpu_binding\":null,"
               "\"restarts\":null}"));
}
