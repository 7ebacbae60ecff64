// The reason of the last failing call of the C interface, which all its functions share.
#pragma once

#include <string>

namespace lathe::api {

std::string& last_error();

}  // namespace lathe::api
