#include "core/selection.hpp"

#include <algorithm>
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
  const std::string text = options.text("benchmarks");
  std::vector<std::string> names;
  std::istringstream list(text);
  for (std::string name; std::getline(list, name, ',');)
    names.push_back(name);
  for (std::string& name : names) {
    const std::string prefix = options.program() + ".";  // the full key of a record is taken too
    if (name.rfind(prefix, 0) == 0) name = name.substr(prefix.size());
    const auto all = keys();
    const bool known =
        std::any_of(all.begin(), all.end(), [&](const auto& key) { return key.rfind(name, 0) == 0; });
    if (name != "all" && (!known || name.empty())) throw UsageError(unknown(options.program(), name));
  }
  std::vector<const Benchmark*> selected;
  for (const Benchmark& benchmark : registered_benchmarks()) {
    const bool named = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return name == "all" || benchmark.key.rfind(name, 0) == 0;
    });
    if (named) selected.push_back(&benchmark);
  }
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
