#include "base/error.h"

namespace sapwood {

Error::Error(ErrorKind kind, std::string_view stage, std::string_view message)
    : std::runtime_error(std::string(stage) + ": " + std::string(message)),
      kind_(kind),
      stage_(stage),
      message_(message) {}

void throw_user(std::string_view stage, std::string_view message) { throw Error(ErrorKind::kUser, stage, message); }

void throw_unsupported(std::string_view stage, std::string_view message) {
  throw Error(ErrorKind::kUnsupported, stage, message);
}

void throw_internal(std::string_view stage, std::string_view message) {
  throw Error(ErrorKind::kInternal, stage, message);
}

}  // namespace sapwood
