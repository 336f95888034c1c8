// The one engine of all operations: cases from the axes, buffers, timing, verification.
#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>

#include "collective/axes.hpp"
#include "collective/data.hpp"
#include "collective/library.hpp"
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
  std::uint64_t size_bytes;
  int participants;
  bool aligned, in_place;
  std::optional<Elements> elements;  ///< empty where the size is too small for a block each
};

/// A rank's memory for one point, and the call on it.
class Exercise {
 public:
  Exercise(const Point& point, int rank, int device)
      : point_(point), device_(device), blocks_(static_cast<std::size_t>(point.participants)) {
    const Elements& elements = *point.elements;
    call_ = {nullptr, nullptr,        elements.count, rank,           point.participants,
             root,    point.in_place, point.library,  point.datatype, point.reduction};
    const std::size_t element = element_bytes(point.datatype);
    const std::size_t whole_bytes = std::max(sent(), received()) * element;
    first_ = std::make_unique<Buffer>(Memory::device, device, whole_bytes);
    if (!point.in_place) second_ = std::make_unique<Buffer>(Memory::device, device, whole_bytes);
    const std::size_t block_bytes = elements.count * element;
    call_.send =
        first_->as<std::byte>() + (point.in_place ? point.operation.input_block(call_) * block_bytes : 0);
    const Buffer& output = point.in_place ? *first_ : *second_;
    call_.receive =
        output.as<std::byte>() + (point.in_place ? point.operation.output_block(call_) * block_bytes : 0);
  }

  const Call& call() const { return call_; }

  void fill() {
    Stream stream(device_);
    const Buffer& output = second_ ? *second_ : *first_;
    fill_poison(stream, output.data(), output.size_bytes() / element_bytes(point_.datatype), point_.datatype);
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
  std::unique_ptr<Buffer> first_, second_;
};

Measurement measure(const Point& point, const SamplerOptions& sampling, Exercise& exercise) {
  Groups::Group& group = Groups::current().group(point.library, point.participants);
  exercise.fill();
  SamplerOptions options = sampling;
  options.min_sample_s = std::max(options.min_sample_s, shortest_sample_s);
  Measurement measurement;
  measurement.time = sample(
      options,
      [&](std::size_t operations) {
        return group.team->maximum(group.library->run(point.operation, exercise.call(), operations));
      },
      *group.team);
  measurement.timer = group.library->timer();
  // In place, repeated reductions have long outgrown what is exact: once more from fresh inputs, on the same
  // buffers.
  const Activity activity("verification");
  exercise.fill();
  group.library->run(point.operation, exercise.call(), 1);
  measurement.wrong = static_cast<std::uint64_t>(group.team->sum(static_cast<double>(exercise.wrong())));
  const double size_bytes = static_cast<double>(point.elements->total * element_bytes(point.datatype));
  measurement.payload_bytes = size_bytes;
  measurement.extra.set("bus_bandwidth_bytes_per_s", size_bytes / measurement.time.median_s *
                                                         point.operation.bus_factor(point.participants));
  return measurement;
}

Measurement run(const Point& point, const SamplerOptions& sampling) {
  World& world = Groups::current().world();
  const bool takes_part = world.rank() < point.participants;
  std::unique_ptr<Exercise> exercise;
  world.prepare_together([&] {
    if (takes_part) exercise = std::make_unique<Exercise>(point, world.rank(), world.device());
  });
  Measurement measurement;
  if (takes_part) {
    std::vector<int> participants(static_cast<std::size_t>(point.participants));
    std::iota(participants.begin(), participants.end(), 0);
    const Activity activity("", participants);
    measurement = world.communicate([&] { return measure(point, sampling, *exercise); });
  }
  world.wait_idle(takes_part ? Patience::step : Patience::measurement);
  return measurement;
}

std::optional<std::string> why_not(const Point& point) {
  if (!point.elements)
    return format_size(point.size_bytes) + " are too few elements for " +
           (point.aligned ? "an aligned" : "a") + " block of each of " + std::to_string(point.participants) +
           " participants";
  if (point.library == LibraryName::mpi) mpi_count(point.elements->count);
  return refusal(point.library, point.operation, point.in_place, Groups::current().world(),
                 point.participants);
}

Json identity(const Point& point) {
  const World& world = Groups::current().world();
  std::vector<int> devices;
  std::vector<std::string> hosts;
  for (int rank = 0; rank < point.participants; ++rank) {
    devices.push_back(world.device_of(rank));
    hosts.push_back(world.host(rank));
  }
  std::sort(hosts.begin(), hosts.end());
  const auto nodes = std::unique(hosts.begin(), hosts.end()) - hosts.begin();
  const auto of = [](const auto& names, auto value) { return names[static_cast<std::size_t>(value)]; };
  Json identity = Json::object(
      {{"library", of(library_names, point.library)},
       {"ranks", point.participants},
       {"nodes", nodes},
       {"devices", devices},
       {"in_place", point.in_place},
       {"datatype", of(datatype_names, point.datatype)},
       {"element_bytes", element_bytes(point.datatype)},
       {"reduction", point.operation.reduces ? Json(of(reduction_names, point.reduction)) : Json()},
       {"root", point.operation.rooted ? Json(root) : Json()},
       {"requested_bytes", point.size_bytes}});
  const auto& elements = point.elements;
  if (!elements) return identity.set("size_bytes", point.size_bytes);
  return identity.set("size_bytes", elements->total * element_bytes(point.datatype))
      .set("count", elements->count)
      .set("block_alignment_bytes", elements->block_alignment_bytes);
}

Case make_case(const Point& point, const SamplerOptions& sampling) {
  Case one;
  one.identity = identity(point);
  one.label = std::string(library_names[static_cast<std::size_t>(point.library)]) + " " +
              std::to_string(point.participants) + " ranks " + format_size(point.size_bytes) +
              (point.aligned ? " aligned" : " unaligned") + (point.in_place ? " in place" : "");
  const World& world = Groups::current().world();
  for (int rank = 0; rank < point.participants; ++rank)
    if (world.host(rank) == world.host(world.rank())) one.devices.push_back(world.device_of(rank));
  one.unsupported = [point] { return why_not(point); };
  one.run = [point, sampling] { return run(point, sampling); };
  return one;
}

const std::vector<Axis> described_axes = {
    {"library", "", "mpi or nccl"},
    {"ranks", "", "participants, the first ranks of the run"},
    {"size_bytes", "bytes", "size of the operation as nccl-tests defines it"},
    {"count", "elements", "aligned (divisible by 16 x participants) or unaligned (odd blocks)"},
    {"in_place", "", "one buffer or two"},
    {"datatype", "", "float32, float64 or int32"},
    {"reduction", "", "sum, max or min, where the operation reduces"},
};

}  // namespace

RegisteredOperation::RegisteredOperation(const Operation& operation) {
  const Registered registered{
      {operation.key, operation.sentence, described_axes, [operation](const Run& run) {
         const Axes axes(run.options, Groups::current().world().size());
         std::vector<Case> cases;
         for (const int participants : axes.participants)
           for (const bool in_place : axes.in_place)
             for (const bool aligned : axes.aligned)
               for (const std::uint64_t size_bytes : axes.sizes_bytes)
                 cases.push_back(make_case({operation, axes.library, axes.datatype, axes.reduction,
                                            size_bytes, participants, aligned, in_place,
                                            elements_for(operation, size_bytes, element_bytes(axes.datatype),
                                                         participants, aligned)},
                                           run.sampling));
         return cases;
       }}};
}

}  // namespace weft::collective
