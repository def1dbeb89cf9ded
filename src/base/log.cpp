#include "base/log.h"

#include <array>
#include <cstdlib>

#include "base/error.h"
#include "base/suggest.h"

namespace sapwood {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"off", "warning", "info", "debug"};

LogLevel level_from(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<LogLevel>(i);
  throw_user("log", "SAPWOOD_LOG: " + quoted_excerpt(name) + " isn't off, warning, info or debug" +
                        did_you_mean(name, kNames));
}

}  // namespace

LogLevels LogLevels::parse(std::string_view text) {
  LogLevels levels;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    if (part.empty()) continue;
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos)
      throw_user("log", "SAPWOOD_LOG: " + quoted_excerpt(part) + " isn't of the form stage=level");
    levels.levels_[std::string(part.substr(0, equals))] = level_from(part.substr(equals + 1));
  }
  return levels;
}

LogLevels LogLevels::from_environment() {
  const char* text = std::getenv("SAPWOOD_LOG");
  return text ? parse(text) : LogLevels{};
}

bool LogLevels::enabled(std::string_view stage, LogLevel level) const {
  const auto found = levels_.find(stage);
  return found != levels_.end() && found->second >= level;
}

}  // namespace sapwood
