// Command-line options: declared once, parsed strictly, explained by --help.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace weft {

/// Declares and parses `--name value` (or `--name=value`) options. Every getter throws UsageError with one
/// sentence that names the option, the value and what would be right. An unknown option is refused with the
/// nearest known name. An option that must be given and was not is refused when it is read, so that --help
/// and --list need none.
class Options {
 public:
  Options(std::string program, std::string sentence);

  /// `fallback` is what --help shows as default; an empty one means the option must be given. An option
  /// declared before is replaced: a program may give a common one its own words and default.
  Options& add(const std::string& name, const std::string& value_name, const std::string& help,
               const std::string& fallback);
  Options& flag(const std::string& name, const std::string& help);

  void parse(int argc, const char* const* argv);
  std::string help() const;

  bool given(const std::string& name) const;
  bool is_set(const std::string& flag) const;
  std::string text(const std::string& name) const;
  double number(const std::string& name, double low, double high) const;
  std::uint64_t integer(const std::string& name, std::uint64_t low, std::uint64_t high) const;
  /// One of `choices`.
  std::string choice(const std::string& name, const std::vector<std::string>& choices) const;
  /// A comma-separated subset of `choices`, in the order given, no doubles.
  std::vector<std::string> choices(const std::string& name, const std::vector<std::string>& choices) const;
  /// on, off or both: a list of booleans.
  std::vector<bool> switches(const std::string& name) const;
  /// A list of sizes: `4,64KiB,1GiB` or `LOW:HIGH:xFACTOR`; each > 0 and a multiple of `multiple_of`. A size
  /// that several ranges hold counts once.
  std::vector<std::uint64_t> sizes(const std::string& name, std::uint64_t multiple_of = 1) const;
  /// `all` or a list of indices below `count`; `what` is the noun in messages ("devices", "ranks").
  std::vector<int> indices(const std::string& name, int count, const std::string& what) const;
  /// `all` (every ordered pair) or `0:1,1:0`; both below `count` and different.
  std::vector<std::pair<int, int>> pairs(const std::string& name, int count, const std::string& what) const;

  const std::string& program() const;

 private:
  struct Option {
    std::string name, value_name, help, fallback, value;
    bool is_flag = false, given = false;
  };
  const Option& at(const std::string& name) const;
  std::string program_, sentence_;
  std::vector<Option> options_;
};

/// Bytes in the form the options take: `64KiB`, `1GiB`, `100`.
std::string format_size(std::uint64_t size_bytes);

/// The known word that `word` is most likely a slip of; empty where none is near.
std::string nearest(const std::string& word, const std::vector<std::string>& known);

}  // namespace weft
