#include "core/selection.hpp"

#include <algorithm>
#include <set>
#include <sstream>

#include "core/error.hpp"

namespace weft {

namespace {

std::vector<std::string> keys() {
  std::vector<std::string> all;
  for (const Benchmark& benchmark : registered_benchmarks())
    all.push_back(benchmark.key);
  return all;
}

/// All keys, the one that is the name, or those that begin with it.
std::vector<std::string> keys_meant(const std::string& name) {
  std::vector<std::string> all = keys();
  if (name == "all") return all;
  if (name.empty()) return {};
  if (std::find(all.begin(), all.end(), name) != all.end()) return {name};
  const auto other = [&](const std::string& key) { return key.rfind(name, 0) != 0; };
  all.erase(std::remove_if(all.begin(), all.end(), other), all.end());
  return all;
}

std::string unknown(const std::string& program, const std::string& name) {
  std::string known;
  for (const std::string& key : keys())
    known += (known.empty() ? "" : ", ") + key;
  const std::string near = nearest(name, keys());
  return "--benchmarks: \"" + name + "\" is no benchmark of " + program + "; " +
         (near.empty() ? "" : "did you mean " + near + "? ") +
         "There are: " + (known.empty() ? "none" : known) + ".";
}

/// Wraps a paragraph at 100 columns.
std::string wrapped(const std::string& text, const std::string& indent) {
  std::istringstream words(text);
  std::string result, line = indent;
  for (std::string word; words >> word;) {
    if (line.size() + word.size() + 1 > 100) {
      result += line + "\n";
      line = indent;
    }
    line += (line.size() == indent.size() ? "" : " ") + word;
  }
  return result + line + "\n";
}

}  // namespace

std::vector<const Benchmark*> selected_benchmarks(const Options& options) {
  const std::string prefix = options.program() + ".";
  std::set<std::string> chosen;
  std::istringstream list(options.text("benchmarks"));
  for (std::string name; std::getline(list, name, ',');) {
    if (name.rfind(prefix, 0) == 0) name = name.substr(prefix.size());
    const auto meant = keys_meant(name);
    if (meant.empty()) throw UsageError(unknown(options.program(), name));
    chosen.insert(meant.begin(), meant.end());
  }
  std::vector<const Benchmark*> selected;
  for (const Benchmark& benchmark : registered_benchmarks())
    if (chosen.count(benchmark.key)) selected.push_back(&benchmark);
  return selected;
}

std::string list_benchmarks(const std::string& program) {
  std::string text;
  for (const Benchmark& benchmark : registered_benchmarks()) {
    text += program + "." + benchmark.key + "\n" + wrapped(benchmark.sentence, "  ");
    for (const Axis& axis : benchmark.axes)
      text += wrapped(axis.name + (axis.unit.empty() ? "" : " (" + axis.unit + ")") + ": " + axis.description,
                      "    ");
    text += "\n";
  }
  return text.empty() ? program + " has no benchmarks to choose from.\n" : text;
}

}  // namespace weft
