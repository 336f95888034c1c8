#include "pt2pt/round.hpp"

#include <algorithm>
#include <chrono>

#include "core/device_state.hpp"
#include "core/link_traffic.hpp"

namespace weft {

namespace {

/// Two ranks leave a barrier some tenths of a microsecond apart; a sample is long against that.
constexpr double min_sample_s = 100e-6;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Sources first: rank i of the team sends to rank i + n/2.
std::vector<int> members(const PairGroup& group) {
  std::vector<int> ranks;
  for (const RankPair& pair : group)
    ranks.push_back(pair.first);
  for (const RankPair& pair : group)
    ranks.push_back(pair.second);
  return ranks;
}

void broadcast(std::vector<double>& values, int root) {
  auto count = static_cast<int>(values.size());
  WEFT_MPI(MPI_Bcast(&count, 1, MPI_INT, root, MPI_COMM_WORLD));
  values.resize(count);
  WEFT_MPI(MPI_Bcast(values.data(), count, MPI_DOUBLE, root, MPI_COMM_WORLD));
}

void broadcast(std::vector<std::pair<std::uint64_t, double>>& pairs, int root) {
  std::vector<double> values;
  for (const auto& [bytes, time_s] : pairs)
    values.insert(values.end(), {static_cast<double>(bytes), time_s});
  broadcast(values, root);
  pairs.clear();
  for (std::size_t i = 0; i < values.size(); i += 2)
    pairs.emplace_back(static_cast<std::uint64_t>(values[i]), values[i + 1]);
}

/// A whole number is exact in a double up to 2^53.
template <class Number>
double pack(Number value) {
  return static_cast<double>(value);
}

void broadcast(TimeSummary& time, int root) {
  std::vector<double> fields{time.median_s,
                             time.interval_s.low,
                             time.interval_s.high,
                             time.confidence,
                             pack(time.samples),
                             pack(time.operations_per_sample),
                             pack(time.warmup_samples),
                             pack(time.operations_total),
                             pack(time.converged),
                             pack(static_cast<int>(time.stopped_by)),
                             pack(time.proof.operations)};
  broadcast(fields, root);
  time.median_s = fields[0];
  time.interval_s = {fields[1], fields[2]};
  time.confidence = fields[3];
  time.samples = static_cast<std::size_t>(fields[4]);
  time.operations_per_sample = static_cast<std::size_t>(fields[5]);
  time.warmup_samples = static_cast<std::size_t>(fields[6]);
  time.operations_total = static_cast<std::size_t>(fields[7]);
  time.converged = fields[8] != 0;
  time.stopped_by = static_cast<StoppedBy>(static_cast<int>(fields[9]));
  time.proof.operations = static_cast<std::size_t>(fields[10]);
  broadcast(time.samples_s, root);
}

}  // namespace

Round::Round(const Run& run, std::shared_ptr<Workbench> workbench, Exercise exercise,
             Configuration configuration, std::vector<PairGroup> groups)
    : run_(run), world_(dynamic_cast<World&>(run.team)), workbench_(std::move(workbench)),
      exercise_(std::move(exercise)), configuration_(configuration), groups_(std::move(groups)) {}

std::size_t Round::pairs() const {
  std::size_t count = 0;
  for (const PairGroup& group : groups_)
    count += group.size();
  return count;
}

Measurement Round::result(std::size_t group) {
  if (!measured_) {
    measured_ = true;
    try {
      measure();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
  if (failure_) std::rethrow_exception(failure_);
  Found found = std::move(found_[group]);
  Measurement measurement;
  measurement.time = std::move(found.time);
  measurement.time_scale = exercise_.time_scale;
  measurement.timer = "host_clock";
  const double messages = static_cast<double>(exercise_.messages_per_pair * groups_[group].size());
  measurement.payload_bytes = messages * static_cast<double>(configuration_.size_bytes);
  measurement.wrong = found.wrong;
  measurement.device_states = std::move(found.device_states);
  if (configuration_.search) {
    Json tried = Json::array();
    for (const auto& [chunk_bytes, time_s] : found.tried)
      tried.push(Json::object({{"chunk_bytes", chunk_bytes}, {"time_s", time_s * exercise_.time_scale}}));
    measurement.extra.set("chunk_bytes", found.best_chunk_bytes).set("chunk_search", tried);
  }
  return measurement;
}

std::optional<Round::Role> Round::own_role() const {
  for (std::size_t group = 0; group < groups_.size(); ++group)
    for (const auto& [source, destination] : groups_[group]) {
      if (source == world_.rank()) return Role{group, destination, true};
      if (destination == world_.rank()) return Role{group, source, false};
    }
  return std::nullopt;
}

void Round::measure() {
  const std::optional<Role> role = own_role();
  world_.prepare_together([&] {
    if (!role) return;
    endpoint_ = &workbench_->endpoint(configuration_);
    endpoint_->poison(configuration_.size_bytes);
  });
  found_.resize(groups_.size());
  world_.communicate([&] {
    world_.barrier();
    if (role) found_[role->group] = measure_group(*role);
    if (!role || groups_.size() == 1) world_.wait_idle(role ? Patience::step : Patience::measurement);
    for (std::size_t group = 0; group < groups_.size(); ++group)
      share(found_[group], group);
  });

  std::vector<double> wrong(groups_.size());
  world_.prepare_together([&] {
    if (role && (!role->source || exercise_.both_ways))
      wrong[role->group] = pack(endpoint_->wrong_bytes(configuration_.size_bytes, role->peer));
  });
  for (std::size_t group = 0; group < groups_.size(); ++group)
    found_[group].wrong = static_cast<std::uint64_t>(world_.sum(wrong[group]));
}

Round::Found Round::measure_group(const Role& role) {
  const PairGroup& group = groups_[role.group];
  const bool named = groups_.size() == 1;  // by the case
  const Activity activity(named ? ""
                                : "ranks " + std::to_string(group.front().first) + " and " +
                                      std::to_string(group.front().second),
                          members(group));
  Subteam team(members(group));
  SamplerOptions sampling = run_.sampling;
  sampling.min_sample_s = std::max(sampling.min_sample_s, min_sample_s);
  Found found;
  const DeviceStates before({world_.device()});
  const WatchedDevices watched({world_.device()});
  if (configuration_.search) search_chunk(team, role, found);
  const std::size_t searched = found.time.operations_total;
  found.time = sample(sampling, [&](std::size_t operations) { return timed(team, role, operations); }, team);
  found.time.operations_total += searched;
  if (groups_.size() > 1)
    found.time.operations_total += keep_busy(team, role, found.time.operations_per_sample);
  found.device_states = before.read();
  return found;
}

double Round::timed(Team& team, const Role& role, std::size_t operations) {
  watchdog::beat();
  team.barrier();
  const double start_s = seconds_now();
  exercise_.run(*endpoint_, role.peer, role.source, configuration_.size_bytes, operations);
  return team.maximum(seconds_now() - start_s);
}

void Round::search_chunk(Team& team, const Role& role, Found& found) {
  SamplerOptions brief = run_.sampling;
  brief.min_samples = 3;
  brief.max_samples = 20;
  brief.prove_path = false;
  brief.budget_s = run_.sampling.budget_s / 10;
  brief.min_sample_s = std::max(brief.min_sample_s, min_sample_s);
  std::size_t operations_total = 0;
  Traffic traffic = workbench_->traffic(configuration_);
  for (const std::uint64_t chunk : chunk_candidates(configuration_.size_bytes)) {
    traffic.chunk_bytes = chunk;
    endpoint_->transport().expect(traffic);
    const TimeSummary time =
        sample(brief, [&](std::size_t operations) { return timed(team, role, operations); }, team);
    operations_total += time.operations_total;
    found.tried.emplace_back(chunk, time.median_s);
  }
  const auto best = std::min_element(found.tried.begin(), found.tried.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  found.best_chunk_bytes = best->first;
  found.time.operations_total = operations_total;
  traffic.chunk_bytes = best->first;
  endpoint_->transport().expect(traffic);
}

/// Goes on until every group has its samples, so that none is measured beside silence. Returns the
/// operations.
std::uint64_t Round::keep_busy(Team& team, const Role& role, std::size_t operations) {
  MPI_Request all_done;
  WEFT_MPI(MPI_Ibarrier(MPI_COMM_WORLD, &all_done));
  std::uint64_t total = 0;
  for (int done = 0; !done;) {
    timed(team, role, operations);
    total += operations;
    WEFT_MPI(MPI_Test(&all_done, &done, MPI_STATUS_IGNORE));
    done = team.leaders(done) != 0;
  }
  WEFT_MPI(MPI_Wait(&all_done, MPI_STATUS_IGNORE));
  return total;
}

void Round::share(Found& found, std::size_t group) const {
  const int root = groups_[group].front().first;
  broadcast(found.time, root);
  broadcast(found.tried, root);
  double best = found.best_chunk_bytes ? pack(*found.best_chunk_bytes) : 0;
  WEFT_MPI(MPI_Bcast(&best, 1, MPI_DOUBLE, root, MPI_COMM_WORLD));
  if (best > 0) found.best_chunk_bytes = static_cast<std::uint64_t>(best);
}

}  // namespace weft
