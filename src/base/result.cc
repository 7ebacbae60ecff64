#include "lathe/base/result.h"

namespace lathe {

Error::Error(std::string text) : message(std::move(text)) {}
Error::Error(const Error& other) = default;
Error::Error(Error&& other) noexcept = default;
Error& Error::operator=(const Error& other) = default;
Error& Error::operator=(Error&& other) noexcept = default;
Error::~Error() = default;

std::unexpected<Error> fail(std::string message) {
  return std::unexpected(Error(std::move(message)));
}

}  // namespace lathe
