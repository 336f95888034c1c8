#include "core/environment.hpp"

#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string_view>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/device.hpp"
#include "core/scheduler.hpp"
#include "core/software.hpp"
#include "core/variable.hpp"
#include "weft_build.hpp"

extern char** environ;

namespace weft {

namespace {

/// Variables that change what is measured, by name or, with a * at the end, by beginning. Nothing else of the
/// environment is recorded: it may hold secrets.
constexpr const char* recorded_variables[] = {"CUDA_DEVICE_MAX_CONNECTIONS",
                                              "CUDA_DEVICE_ORDER",
                                              "CUDA_LAUNCH_BLOCKING",
                                              "CUDA_MODULE_LOADING",
                                              "CUDA_VISIBLE_DEVICES",
                                              "FI_PROVIDER",
                                              "GOMP_CPU_AFFINITY",
                                              "MPICH_GPU_*",
                                              "MPICH_OFI_*",
                                              "MPIR_CVAR_*",
                                              "MV2_*",
                                              "NCCL_*",
                                              "OMPI_COMM_WORLD_LOCAL_SIZE",
                                              "OMPI_COMM_WORLD_SIZE",
                                              "OMPI_MCA_*",
                                              "OMP_*",
                                              "PRTE_MCA_*",
                                              "SLURM_CPUS_PER_TASK",
                                              "SLURM_CPU_BIND",
                                              "SLURM_GPUS_PER_NODE",
                                              "SLURM_GPUS_PER_TASK",
                                              "SLURM_GPU_BIND",
                                              "SLURM_MPI_TYPE",
                                              "SLURM_NNODES",
                                              "SLURM_NTASKS",
                                              "SLURM_NTASKS_PER_NODE",
                                              "UCX_*"};

/// What a name may not hold even where the list takes its beginning: secrets, what is drawn anew at each
/// start, and where a user's folders lie.
constexpr const char* never_recorded[] = {
    "CREDENTIAL", "KEY", "PASSWORD", "SECRET", "TOKEN", "initial_wdir", "precondition_transports"};

bool recorded(const std::string& name) {
  for (const char* part : never_recorded)
    if (name.find(part) != std::string::npos) return false;
  for (const std::string_view entry : recorded_variables) {
    const bool beginning = entry.back() == '*';
    if (beginning ? name.compare(0, entry.size() - 1, entry, 0, entry.size() - 1) == 0 : name == entry)
      return true;
  }
  return false;
}

Json variables() {
  std::map<std::string, std::string> sorted;
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = text.substr(0, equals);
    if (recorded(name)) sorted[name] = text.substr(equals + 1);
  }
  Json result = Json::object();
  for (const auto& [name, value] : sorted)
    result.set(name, value);
  return result;
}

/// The value of the first line `key<separator>value` of a file, without blanks and quotes around it.
std::optional<std::string> value_in_file(const char* path, const std::string& key, char separator) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t position = line.find(separator);
    if (position == std::string::npos) continue;
    const std::string name = line.substr(0, line.find_last_not_of(" \t", position - 1) + 1);
    if (name != key) continue;
    const std::size_t first = line.find_first_not_of(" \t\"", position + 1);
    const std::size_t last = line.find_last_not_of(" \t\"");
    if (first == std::string::npos) return std::nullopt;
    return line.substr(first, last - first + 1);
  }
  return std::nullopt;
}

std::optional<int> numa_nodes() {
  std::error_code error;
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/sys/devices/system/node", error)) {
    const std::string name = entry.path().filename();
    if (name.rfind("node", 0) == 0 && name.find_first_not_of("0123456789", 4) == std::string::npos) ++count;
  }
  if (error || count == 0) return std::nullopt;
  return count;
}

std::optional<long> system_value(int name) {
  const long value = ::sysconf(name);
  if (value < 0) return std::nullopt;
  return value;
}

Json host_facts() {
  utsname system;
  const bool known = ::uname(&system) == 0;
  const auto pages = system_value(_SC_PHYS_PAGES), page_bytes = system_value(_SC_PAGESIZE);
  return Json::object({{"hostname", hostname()},
                       {"operating_system", value_in_file("/etc/os-release", "PRETTY_NAME", '=')},
                       {"kernel", known ? Json(system.release) : Json()},
                       {"cpu_model", value_in_file("/proc/cpuinfo", "model name", ':')},
                       {"logical_cpus", system_value(_SC_NPROCESSORS_ONLN)},
                       {"numa_nodes", numa_nodes()},
                       {"memory_bytes", pages && page_bytes ? Json(*pages * *page_bytes) : Json()}});
}

Json devices() {
  Json result = Json::array();
  for (int device = 0; device < device_count(); ++device) {
    const DeviceProperties properties = device_properties(device);
    Json entry = Json::object({{"device", device},
                               {"name", properties.name},
                               {"uuid", properties.uuid},
                               {"pci_bus_id", properties.pci_bus_id}});
    if (!properties.cores.empty()) entry.set("cores", format_cpu_list(properties.cores));
    result.push(entry);
  }
  return result;
}

/// The image that the launch line named, or that Apptainer says it runs; empty where this is none.
std::optional<std::string> container() {
  for (const char* name : {"WEFT_CONTAINER", "APPTAINER_CONTAINER", "SINGULARITY_CONTAINER"})
    if (const auto path = variable(name)) return std::filesystem::path(*path).filename();
  return std::nullopt;
}

Json build() {
  const std::string commit = WEFT_GIT_COMMIT;
  return Json::object({{"version", WEFT_VERSION},
                       {"commit", commit.empty() ? Json() : Json(commit)},
                       {"dirty", WEFT_GIT_DIRTY < 0 ? Json() : Json(WEFT_GIT_DIRTY == 1)},
                       {"compiler", WEFT_COMPILER},
                       {"build_type", WEFT_BUILD_TYPE}});
}

std::string utc_now() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto since_epoch =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  std::array<char, 32> date, text;
  std::strftime(date.data(), date.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  std::snprintf(text.data(), text.size(), "%.19s.%03dZ", date.data(), static_cast<int>(since_epoch % 1000));
  return text.data();
}

/// none, which is how the identity options say that they were not given, is null in a record.
Json unless_none(const std::string& value) { return value == "none" ? Json() : Json(value); }

}  // namespace

std::string hostname() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

std::string build_words() {
  const std::string commit = std::string(WEFT_GIT_COMMIT).substr(0, 12);
  return std::string(WEFT_VERSION) + " (commit " + (commit.empty() ? "unknown" : commit) +
         (WEFT_GIT_DIRTY == 1 ? " with changes" : "") + ", " + to_string(backend()) + " backend, " +
         WEFT_COMPILER + ", " + WEFT_BUILD_TYPE + ")";
}

Json environment_record(const Options& options, const std::vector<std::string>& command_line,
                        const Json& software, const Json& geometry) {
  return Json::object({{"record", "environment"},
                       {"schema_version", 1},
                       {"program", options.program()},
                       {"weft", build()},
                       {"system", unless_none(options.text("system"))},
                       {"campaign", unless_none(options.text("campaign"))},
                       {"experiment", unless_none(options.text("experiment"))},
                       {"repeat", options.integer("repeat", 0, 1'000'000)},
                       {"started_at", utc_now()},
                       {"command_line", command_line},
                       {"device_backend", to_string(backend())},
                       {"host", host_facts()},
                       {"devices", devices()},
                       {"software", software_of_backend().merge(software)},
                       {"geometry", geometry},
                       {"container", container()},
                       {"container_digest", variable("WEFT_CONTAINER_DIGEST")},
                       {"scheduler", scheduler_facts()},
                       {"variables", variables()}});
}

}  // namespace weft
