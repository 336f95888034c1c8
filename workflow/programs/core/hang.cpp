#include "core/hang.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace weft {

namespace {

namespace fs = std::filesystem;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

/// "rank 0 on a, rank 1 on b and 14 more".
std::string list(const std::vector<std::string>& names) {
  constexpr std::size_t most = 8;
  const bool all = names.size() <= most;
  const std::size_t named = all ? names.size() : most - 1;
  std::string text;
  for (std::size_t i = 0; i < named; ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return all ? text : text + " and " + std::to_string(names.size() - named) + " more";
}

std::string who(const Hang& hang) {
  if (hang.alone) return "a device, its driver or a file system does not answer on " + hang.self;
  if (!hang.waiting || hang.members.empty())
    return hang.self + " waits for other ranks, and which of them answer is not known";
  std::vector<std::string> silent, waiting;
  for (const int rank : hang.with)
    (hang.waiting->count(rank) ? waiting : silent).push_back(hang.members[static_cast<std::size_t>(rank)]);
  if (silent.empty())
    return list(waiting) + " answer and wait for each other: a message was lost, or the limit is too short";
  if (waiting.empty()) waiting.push_back(hang.self);
  return list(silent) + (silent.size() == 1 ? " does" : " do") + " not answer, " + list(waiting) +
         (waiting.size() == 1 ? " waits" : " wait");
}

}  // namespace

std::string hang_sentence(const Hang& hang) {
  return hang.program + ": no progress for " + number(hang.limit_s) + " s in " + hang.activity + ": " +
         who(hang) + "; the run is ended (--watchdog-s).";
}

bool Notices::leave(int rank) const {
  std::error_code error;
  fs::create_directory(folder_, error);
  return !error && std::ofstream(folder_ / std::to_string(rank)).good();
}

std::set<int> Notices::read() const {
  std::set<int> ranks;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error))
    ranks.insert(std::atoi(entry.path().filename().c_str()));
  return ranks;
}

void Notices::clear() const {
  std::error_code ignored;  // what stays is empty, and cleared by the next run
  fs::remove_all(folder_, ignored);
}

}  // namespace weft
