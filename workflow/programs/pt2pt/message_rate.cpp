// pt2pt.message_rate: windows of messages from the first half of the ranks to the second, all pairs at once,
// as osu_mbw_mr (OSU Micro-Benchmarks 7, c/mpi/pt2pt/standard/osu_mbw_mr.c): rank i sends to rank i + pairs,
// an odd last rank is idle; rate = pairs x window x iterations / the longest time of any rank, bandwidth =
// rate x size.
#include "pt2pt/cases.hpp"
#include "pt2pt/window.hpp"

namespace weft {

namespace {

Case make_case(const Run& run, const Configuration& configuration,
               const std::shared_ptr<Workbench>& workbench, const PairGroup& pairs, int window) {
  const auto& world = dynamic_cast<const World&>(run.team);
  const auto stream = [window](Endpoint& endpoint, int peer, bool source, std::uint64_t size_bytes,
                               std::size_t operations) {
    send_windows(endpoint, peer, source, size_bytes, window, operations);
  };
  const Exercise exercise{stream, false, 1.0, static_cast<std::size_t>(window)};
  const auto round =
      std::make_shared<Round>(run, workbench, exercise, configuration, std::vector<PairGroup>{pairs});
  Case one;
  one.identity = configuration_identity(world, configuration, pairs.size(), window);
  one.label = std::to_string(pairs.size()) + " pairs " + configuration_label(configuration);
  one.unsupported = [workbench, configuration] { return workbench->unsupported(configuration); };
  one.run = [round, messages = pairs.size() * static_cast<std::size_t>(window)] {
    Measurement measurement = round->result(0);
    measurement.extra.set("message_rate_per_s", static_cast<double>(messages) / measurement.time.median_s);
    return measurement;
  };
  return one;
}

std::vector<Case> cases(const Run& run) {
  const auto& world = dynamic_cast<const World&>(run.team);
  const Axes axes(run.options, world.nodes_of_ranks());
  const auto workbench = std::make_shared<Workbench>(world, axes.configurations(), axes.window);
  PairGroup pairs;
  for (int rank = 0; rank < world.size() / 2; ++rank)
    pairs.emplace_back(rank, rank + world.size() / 2);
  std::vector<Case> result;
  for (const Configuration& configuration : axes.configurations())
    result.push_back(make_case(run, configuration, workbench, pairs, axes.window));
  return result;
}

const Registered registered{
    {"message_rate",
     "Windows of messages from the first half of the ranks to the second, all pairs at once, "
     "as osu_mbw_mr measures it.",
     message_axes(true, false), cases}};

}  // namespace

}  // namespace weft
