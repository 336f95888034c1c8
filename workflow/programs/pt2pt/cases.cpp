#include "pt2pt/cases.hpp"

namespace weft {

std::vector<Axis> message_axes(bool with_window, bool with_pairs) {
  std::vector<Axis> axes{
      {"sizes", "bytes", "payload of a message"},
      {"placements", "", "where the buffer that MPI sees lies: device, pinned, pageable"},
      {"gpudirect", "", "how the launcher started the MPI library: on, off"},
      {"chunks", "bytes", "whole messages, chunks, or the best chunk found"},
  };
  if (with_window) axes.push_back({"window", "messages", "in flight"});
  if (!with_pairs) return axes;
  axes.push_back({"pairs", "", "ranks that talk"});
  axes.push_back({"schedule", "", "a pair at a time, or rounds of pairs without a rank in common"});
  return axes;
}

int window_of(const Run& run) { return static_cast<int>(run.options.integer("window", 1, most_messages)); }

Json configuration_identity(const World& world, const Configuration& configuration, std::size_t pairs,
                            std::optional<int> window) {
  Json identity = Json::object({{"size_bytes", configuration.size_bytes},
                                {"placement", to_string(configuration.placement)},
                                {"gpudirect", configuration.gpudirect},
                                {"chunk_bytes", configuration.chunk_bytes},
                                {"ranks", world.size()},
                                {"nodes", world.nodes()},
                                {"pairs", pairs}});
  if (window) identity.set("window", *window);
  // Until it has run, a case that searches its chunk is told by this from one without chunks.
  if (configuration.search) identity.set("chunk_search", Json::array());
  return identity;
}

std::string configuration_label(const Configuration& configuration) {
  std::string label = format_size(configuration.size_bytes) + " " + to_string(configuration.placement);
  if (configuration.search) return label + " best chunk";
  if (configuration.chunk_bytes) label += " chunk " + format_size(*configuration.chunk_bytes);
  return label;
}

namespace {

Json pair_identity(const World& world, const RankPair& pair) {
  const auto& [source, destination] = pair;
  return Json::object({{"source", world.device_of(source)},
                       {"destination", world.device_of(destination)},
                       {"source_rank", source},
                       {"destination_rank", destination},
                       {"source_host", world.host(source)},
                       {"destination_host", world.host(destination)}});
}

}  // namespace

std::vector<Case> pair_cases(const Run& run, const Exercise& exercise, bool symmetric,
                             std::optional<int> window) {
  const auto& world = dynamic_cast<const World&>(run.team);
  const Axes axes(run.options, world.nodes_of_ranks());
  const auto workbench = std::make_shared<Workbench>(world, axes.configurations(), window.value_or(1));
  const auto rounds = axes.rounds(symmetric);
  std::vector<Case> cases;
  for (const Configuration& configuration : axes.configurations())
    for (const auto& pairs : rounds) {
      std::vector<PairGroup> groups;
      for (const RankPair& pair : pairs)
        groups.push_back({pair});
      const auto round = std::make_shared<Round>(run, workbench, exercise, configuration, groups);
      for (std::size_t i = 0; i < pairs.size(); ++i) {
        Case one;
        one.identity = pair_identity(world, pairs[i])
                           .merge(configuration_identity(world, configuration, pairs.size(), window));
        one.label = std::to_string(pairs[i].first) + "->" + std::to_string(pairs[i].second) + " " +
                    configuration_label(configuration);
        one.unsupported = [workbench, configuration] { return workbench->unsupported(configuration); };
        one.run = [round, i] { return round->result(i); };
        cases.push_back(std::move(one));
      }
    }
  return cases;
}

}  // namespace weft
