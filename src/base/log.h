#pragma once

#include <map>
#include <string>
#include <string_view>

namespace sapwood {

enum class LogLevel { kOff, kWarning, kInfo, kDebug };

/// How much each stage tells, from a text such as "partition=debug,capture=info". Plain data.
class LogLevels {
 public:
  /// Errors: user error naming a level that there isn't (off, warning, info, debug), or a part without "=".
  static LogLevels parse(std::string_view text);
  /// From the variable SAPWOOD_LOG; nothing if it isn't set.
  static LogLevels from_environment();

  bool enabled(std::string_view stage, LogLevel level) const;

 private:
  std::map<std::string, LogLevel, std::less<>> levels_;
};

}  // namespace sapwood
