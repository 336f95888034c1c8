#include "core/options.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <sstream>

#include "core/error.hpp"
#include "core/option_text.hpp"

namespace weft {

using namespace option_text;

Options::Options(std::string program, std::string sentence)
    : program_(std::move(program)), sentence_(std::move(sentence)) {}

const std::string& Options::program() const { return program_; }

Options& Options::add(const std::string& name, const std::string& value_name, const std::string& help,
                      const std::string& fallback) {
  const Option option{name, value_name, help, fallback, fallback, false, false};
  for (Option& known : options_)
    if (known.name == name) {
      known = option;
      return *this;
    }
  options_.push_back(option);
  return *this;
}

Options& Options::flag(const std::string& name, const std::string& help) {
  options_.push_back({name, "", help, "", "", true, false});
  return *this;
}

void Options::parse(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.rfind("--", 0) != 0)
      throw UsageError("\"" + argument + "\" is not an option; every option begins with --, see --help.");
    const std::size_t equals = argument.find('=');
    const std::string name = argument.substr(2, equals == std::string::npos ? equals : equals - 2);
    const auto found = std::find_if(options_.begin(), options_.end(),
                                    [&](const Option& option) { return option.name == name; });
    if (found == options_.end()) {
      Words names;
      for (const Option& option : options_)
        names.push_back(option.name);
      const std::string near = nearest(name, names);
      throw UsageError("--" + name + " is not an option of " + program_ + "; " +
                       (near.empty() ? "see --help." : "did you mean --" + near + "?"));
    }
    if (found->given) throw UsageError("--" + name + " is given twice; give it once.");
    found->given = true;
    if (found->is_flag) {
      if (equals != std::string::npos) throw UsageError("--" + name + " takes no value; give it alone.");
      continue;
    }
    if (equals != std::string::npos) {
      found->value = argument.substr(equals + 1);
    } else {
      if (i + 1 == argc) throw UsageError("--" + name + " lacks its value, " + found->value_name + ".");
      found->value = argv[++i];
    }
  }
}

std::string Options::help() const {
  std::ostringstream text;
  text << sentence_ << "\n\nusage: " << program_ << " --output FILE [options]\n\n";
  std::size_t width = 0;
  const auto left = [](const Option& option) {
    return "--" + option.name + (option.is_flag ? "" : " " + option.value_name);
  };
  for (const Option& option : options_)
    width = std::max(width, left(option).size());
  for (const Option& option : options_) {
    const std::string head = left(option);
    text << "  " << head << std::string(width - head.size() + 2, ' ') << option.help;
    if (!option.fallback.empty()) text << " [" << option.fallback << "]";
    text << "\n";
  }
  return text.str();
}

const Options::Option& Options::at(const std::string& name) const {
  for (const Option& option : options_)
    if (option.name == name) return option;
  throw std::logic_error("option --" + name + " is read but was never declared");
}

bool Options::given(const std::string& name) const { return at(name).given; }

bool Options::is_set(const std::string& flag) const { return at(flag).given; }

std::string Options::text(const std::string& name) const {
  const Option& option = at(name);
  if (!option.given && option.value.empty())
    throw UsageError("--" + name + " " + option.value_name + " is missing: " + option.help + ".");
  if (option.value.empty()) refuse(name, "", "the value is empty, give " + option.value_name);
  return option.value;
}

double Options::number(const std::string& name, double low, double high) const {
  const std::string value = text(name);
  char* end = nullptr;
  const double number = std::strtod(value.c_str(), &end);
  if (end != value.c_str() + value.size() || !std::isfinite(number) || number < low || number > high) {
    std::ostringstream range;
    range << "give a number from " << low << " to " << high;
    refuse(name, value, range.str());
  }
  return number;
}

std::uint64_t Options::integer(const std::string& name, std::uint64_t low, std::uint64_t high) const {
  const std::string value = text(name);
  const auto number = parse_integer(value);
  if (!number || *number < low || *number > high)
    refuse(name, value, "give a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  return *number;
}

std::string Options::choice(const std::string& name, const Words& choices) const {
  const std::string value = text(name);
  if (std::find(choices.begin(), choices.end(), value) == choices.end())
    refuse(name, value, "give one of " + join(choices));
  return value;
}

Words Options::choices(const std::string& name, const Words& choices) const {
  const std::string value = text(name);
  Words chosen;
  for (const std::string& word : split(value, ',')) {
    if (std::find(choices.begin(), choices.end(), word) == choices.end()) {
      const std::string near = nearest(word, choices);
      refuse(name, value,
             "\"" + word + "\" is unknown, " + (near.empty() ? "" : "did you mean " + near + "? ") +
                 "choose from " + join(choices));
    }
    if (std::find(chosen.begin(), chosen.end(), word) != chosen.end())
      refuse(name, value, "\"" + word + "\" is named twice");
    chosen.push_back(word);
  }
  return chosen;
}

std::vector<bool> Options::switches(const std::string& name) const {
  std::vector<bool> values;
  for (const std::string& word : choices(name, {"on", "off"}))
    values.push_back(word == "on");
  return values;
}

std::vector<std::uint64_t> Options::sizes(const std::string& name, std::uint64_t multiple_of) const {
  const std::string value = text(name);
  std::vector<std::uint64_t> sizes;
  const auto parse = [&](const std::string& word) {
    const auto size_bytes = parse_size(word);
    if (!size_bytes)
      refuse(name, value,
             "\"" + word +
                 "\" is no size; give bytes (65536), KiB, MiB or GiB (64KiB), or a range (4:1GiB:x4)");
    if (*size_bytes == 0) refuse(name, value, "a size of 0 bytes moves nothing; give 1 or more");
    return *size_bytes;
  };
  const auto add = [&](std::uint64_t size_bytes) {
    if (size_bytes % multiple_of != 0)
      refuse(name, value,
             format_size(size_bytes) + " is not a multiple of the element, " + std::to_string(multiple_of) +
                 " bytes");
    if (std::find(sizes.begin(), sizes.end(), size_bytes) == sizes.end()) sizes.push_back(size_bytes);
  };
  for (const std::string& word : split(value, ',')) {
    const Words range = split(word, ':');
    if (range.size() == 1) {
      add(parse(word));
      continue;
    }
    const auto factor =
        range.size() == 3 && range[2].rfind('x', 0) == 0 ? parse_integer(range[2].substr(1)) : std::nullopt;
    if (!factor || *factor < 2)
      refuse(name, value,
             "\"" + word + "\" is no range; give LOW:HIGH:xFACTOR with a factor from 2 on, e.g. 4:1GiB:x4");
    const std::uint64_t low = parse(range[0]), high = parse(range[1]);
    if (low > high) refuse(name, value, "the range begins above its end; give the smaller size first");
    for (std::uint64_t size_bytes = low;; size_bytes *= *factor) {
      add(size_bytes);
      if (size_bytes > high / *factor) break;
    }
  }
  return sizes;
}

std::vector<int> Options::indices(const std::string& name, int count, const std::string& what) const {
  const std::string value = text(name);
  std::vector<int> indices;
  if (value == "all") {
    for (int i = 0; i < count; ++i)
      indices.push_back(i);
    return indices;
  }
  for (const std::string& word : split(value, ',')) {
    const auto index = parse_integer(word);
    if (!index) refuse(name, value, "\"" + word + "\" is no index; give all, or numbers from 0 on as in 0,2");
    if (*index >= static_cast<std::uint64_t>(count))
      refuse(name, value,
             "there is no " + word + ", the " + what + " here are 0 to " + std::to_string(count - 1));
    if (std::find(indices.begin(), indices.end(), static_cast<int>(*index)) != indices.end())
      refuse(name, value, word + " is named twice");
    indices.push_back(static_cast<int>(*index));
  }
  return indices;
}

std::vector<std::pair<int, int>> Options::pairs(const std::string& name, int count,
                                                const std::string& what) const {
  const std::string value = text(name);
  std::vector<std::pair<int, int>> pairs;
  if (value == "all") {
    for (int first = 0; first < count; ++first)
      for (int second = 0; second < count; ++second)
        if (first != second) pairs.emplace_back(first, second);
    return pairs;
  }
  for (const std::string& word : split(value, ',')) {
    const Words ends = split(word, ':');
    const auto first = parse_integer(ends[0]),
               second = ends.size() == 2 ? parse_integer(ends[1]) : std::nullopt;
    if (!first || !second)
      refuse(name, value, "\"" + word + "\" is no pair; give all, or pairs as in 0:1,1:0");
    for (const std::uint64_t end : {*first, *second})
      if (end >= static_cast<std::uint64_t>(count))
        refuse(name, value,
               "there is no " + std::to_string(end) + ", the " + what + " here are 0 to " +
                   std::to_string(count - 1));
    if (*first == *second)
      refuse(name, value, "\"" + word + "\" is a pair of one; give two different " + what);
    const std::pair<int, int> pair(static_cast<int>(*first), static_cast<int>(*second));
    if (std::find(pairs.begin(), pairs.end(), pair) != pairs.end())
      refuse(name, value, word + " is named twice");
    pairs.push_back(pair);
  }
  return pairs;
}

}  // namespace weft
