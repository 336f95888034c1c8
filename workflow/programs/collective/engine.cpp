// The one engine of all operations: cases from the axes, buffers, timing, verification.
#include <algorithm>
#include <memory>
#include <optional>

#include "collective/axes.hpp"
#include "collective/data.hpp"
#include "collective/library.hpp"
#include "collective/refusal.hpp"
#include "core/benchmark.hpp"

namespace weft::collective {

namespace {

/// Ranks leave a barrier some microseconds apart: a sample must be long against that.
constexpr double shortest_sample_s = 200e-6;
constexpr int root = 0;

struct Point {
  Operation operation;
  LibraryName library;
  Datatype datatype;
  Reduction reduction;
  Processes processes;
  NcclChoices nccl;
  std::uint64_t size_bytes;
  Counts counts;
  bool in_place, graph;
  std::vector<Member> members;
  std::optional<Elements> elements;  ///< empty where the size is too small for a block each

  int participants() const { return static_cast<int>(members.size()); }
};

/// A rank's memory for one point, and the call on it.
class Exercise {
 public:
  Exercise(const Point& point, const Member& member)
      : point_(point), device_(member.device), blocks_(point.members.size()) {
    const Elements& elements = *point.elements;
    call_ = {nullptr, nullptr,        elements.count, member.rank,    point.participants(),
             root,    point.in_place, point.library,  point.datatype, point.reduction};
    const std::size_t element = element_bytes(point.datatype);
    const std::size_t whole_bytes = std::max(sent(), received()) * element;
    KeptBuffers& buffers = Groups::current().buffers(point.library);
    const Buffer& input = buffers.of(device_, 0, whole_bytes);
    output_ = &(point.in_place ? input : buffers.of(device_, 1, whole_bytes));
    const std::size_t block_bytes = elements.count * element;
    call_.send =
        input.as<std::byte>() + (point.in_place ? point.operation.input_block(call_) * block_bytes : 0);
    call_.receive =
        output_->as<std::byte>() + (point.in_place ? point.operation.output_block(call_) * block_bytes : 0);
  }

  const Call& call() const { return call_; }

  void fill() {
    Stream stream(device_);
    fill_poison(stream, output_->data(), std::max(sent(), received()), point_.datatype);
    fill_input(stream, call_.send, sent(), point_.datatype, call_.rank);
    stream.synchronize();
  }

  std::uint64_t wrong() const {
    const Expectation expectation = point_.operation.expects(call_);
    return expectation.receives ? count_wrong_elements(call_, expectation, received(), device_) : 0;
  }

 private:
  std::size_t sent() const { return call_.count * (point_.operation.sends_blocks ? blocks_ : 1); }
  std::size_t received() const { return call_.count * (point_.operation.receives_blocks ? blocks_ : 1); }

  Point point_;
  int device_;
  std::size_t blocks_;
  Call call_{};
  const Buffer* output_ = nullptr;
};

using Exercises = std::vector<std::unique_ptr<Exercise>>;

Measurement measure(const Point& point, const SamplerOptions& sampling, Exercises& exercises) {
  Groups::Group& group = Groups::current().group(point.library, point.processes, point.participants());
  std::vector<Call> calls;
  for (const auto& exercise : exercises)
    calls.push_back(exercise->call());
  const auto fill = [&] {
    for (const auto& exercise : exercises)
      exercise->fill();
  };
  fill();
  const std::unique_ptr<Work> work = group.library->prepare(point.operation, calls, point.graph);
  SamplerOptions options = sampling;
  options.min_sample_s = std::max(options.min_sample_s, shortest_sample_s);
  Measurement measurement;
  measurement.time = sample(
      options, [&](std::size_t operations) { return group.team->maximum(work->run(operations)); },
      *group.team);
  measurement.timer = group.library->timer();
  // In place, repeated reductions have long outgrown what is exact: once more from fresh inputs, on the same
  // buffers.
  const Activity activity("verification");
  fill();
  work->run(1);
  measurement.time.operations_total += point.graph ? 2 : 1;  // this one, and that before the first capture
  double wrong = 0;
  for (const auto& exercise : exercises)
    wrong += static_cast<double>(exercise->wrong());
  measurement.wrong = static_cast<std::uint64_t>(group.team->sum(wrong));
  const double size_bytes = static_cast<double>(point.elements->total * element_bytes(point.datatype));
  measurement.payload_bytes = size_bytes;
  measurement.extra.set("bus_bandwidth_bytes_per_s", size_bytes / measurement.time.median_s *
                                                         point.operation.bus_factor(point.participants()));
  return measurement;
}

Measurement run(const Point& point, const SamplerOptions& sampling) {
  World& world = Groups::current().world();
  Exercises exercises;
  world.prepare_together([&] {
    for (const Member& member : point.members)
      if (member.process == world.rank()) exercises.push_back(std::make_unique<Exercise>(point, member));
  });
  const bool takes_part = !exercises.empty();
  Measurement measurement;
  if (takes_part) {
    std::vector<int> processes;
    for (const Member& member : point.members)
      processes.push_back(member.process);
    processes.erase(std::unique(processes.begin(), processes.end()), processes.end());
    const Activity activity("", processes);
    measurement = world.communicate([&] { return measure(point, sampling, exercises); });
  }
  world.wait_idle(takes_part ? Patience::step : Patience::measurement);
  return measurement;
}

std::optional<std::string> why_not(const Point& point) {
  if (!point.elements)
    return format_size(point.size_bytes) + " are too few elements for " +
           (point.counts == Counts::unaligned ? "a" : "an aligned") + " block of each of " +
           std::to_string(point.participants()) + " participants";
  if (point.participants() < 2) return "a collective needs two participants";
  const World& world = Groups::current().world();
  if (point.library == LibraryName::nccl)
    return nccl_refusal(point.operation, point.in_place, point.nccl, world, point.members);
  mpi_count(point.elements->count);
  return mpi_refusal(point.operation, point.in_place, point.graph, world);
}

template <class Names, class Value>
const char* name_of(const Names& names, Value value) {
  return names[static_cast<std::size_t>(value)];
}

Json identity(const Point& point) {
  std::vector<int> devices;
  for (const Member& member : point.members)
    devices.push_back(member.device);
  Json identity = Json::object(
      {{"library", name_of(library_names, point.library)},
       {"ranks", point.participants()},
       {"nodes", nodes_of(Groups::current().world(), point.members)},
       {"devices", devices},
       {"in_place", point.in_place},
       {"datatype", name_of(datatype_names, point.datatype)},
       {"element_bytes", element_bytes(point.datatype)},
       {"reduction", point.operation.reduces ? Json(name_of(reduction_names, point.reduction)) : Json()},
       {"root", point.operation.rooted ? Json(root) : Json()},
       {"requested_bytes", point.size_bytes}});
  if (point.library == LibraryName::nccl)
    identity.set("processes", name_of(processes_names, point.processes))
        .set("algorithm", name_of(algorithm_names, point.nccl.algorithm))
        .set("protocol", name_of(protocol_names, point.nccl.protocol))
        .set("transport", name_of(transport_names, point.nccl.transport))
        .set("graph", point.graph);
  const auto& elements = point.elements;
  if (!elements) return identity.set("size_bytes", point.size_bytes);
  return identity.set("size_bytes", elements->total * element_bytes(point.datatype))
      .set("count", elements->count)
      .set("block_alignment_bytes", elements->block_alignment_bytes);
}

Case make_case(const Point& point, const SamplerOptions& sampling) {
  Case one;
  one.identity = identity(point);
  one.label = std::string(name_of(library_names, point.library)) + " " +
              std::to_string(point.participants()) + " ranks " + format_size(point.size_bytes) + " " +
              name_of(counts_names, point.counts) + (point.in_place ? " in place" : "") +
              (point.graph ? " in a graph" : "");
  const World& world = Groups::current().world();
  for (const Member& member : point.members)
    if (member.process == world.rank()) one.devices.push_back(member.device);
  one.unsupported = [point] { return why_not(point); };
  one.run = [point, sampling] { return run(point, sampling); };
  return one;
}

const std::vector<Axis> described_axes = {
    {"library", "", "mpi or nccl"},
    {"ranks", "", "participants, the first ranks of the run"},
    {"size_bytes", "bytes", "size of the operation as nccl-tests defines it"},
    {"count", "elements",
     "aligned (divisible by 16 x participants), unaligned (odd blocks) or as nccl-tests"},
    {"in_place", "", "one buffer or two"},
    {"datatype", "", "float32, float64 or int32"},
    {"reduction", "", "sum, max or min, where the operation reduces"},
    {"graph", "", "nccl: whether the operations of a sample are one CUDA graph"},
    {"processes", "", "nccl: one a device, or one for all"},
    {"algorithm", "", "nccl: auto, ring or tree"},
    {"protocol", "", "nccl: auto, simple, ll or ll128"},
    {"transport", "", "nccl: auto, p2p, shm or socket"},
};

}  // namespace

RegisteredOperation::RegisteredOperation(const Operation& operation) {
  const Registered registered{
      {operation.key, operation.sentence, described_axes, [operation](const Run& run) {
         const World& world = Groups::current().world();
         const Axes axes(run.options, world.size());
         std::vector<Case> cases;
         for (const int participants : axes.participants)
           for (const bool graph : axes.graph)
             for (const bool in_place : axes.in_place)
               for (const Counts counts : axes.counts)
                 for (const std::uint64_t size_bytes : axes.sizes_bytes)
                   cases.push_back(make_case(
                       {operation, axes.library, axes.datatype, axes.reduction, axes.processes, axes.nccl,
                        size_bytes, counts, in_place, graph, members_of(world, axes.processes, participants),
                        elements_for(operation, size_bytes, element_bytes(axes.datatype), participants,
                                     counts)},
                       run.sampling));
         return cases;
       }}};
}

}  // namespace weft::collective
