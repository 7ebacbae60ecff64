#include "lathe/compile/sized.h"

#include <algorithm>
#include <utility>

#include "lathe/base/check.h"
#include "lathe/base/text.h"

namespace lathe::compile {

namespace {

uint64_t bytes_of(const Executable& executable) {
  uint64_t bytes = executable.wasm().code.bytes.size();
  for (const wasm::Data& data : executable.wasm().data) bytes += data.bytes.size();
  return bytes;
}

std::string join(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) append(text, text.empty() ? "" : ", ", name);
  return text;
}

}  // namespace

int64_t Sizes::operator[](std::string_view name) const {
  const auto found = values_.find(name);
  LATHE_CHECK(found != values_.end());
  return found->second;
}

SizedProgram::SizedProgram(std::vector<std::string> names, Build build, Options options,
                           uint64_t max_bytes)
    : names_(std::move(names)),
      build_(std::move(build)),
      options_(std::move(options)),
      max_bytes_(max_bytes) {}

Result<std::vector<int64_t>> SizedProgram::key_of(const Sizes::Map& sizes) const {
  std::vector<int64_t> key;
  for (const std::string& name : names_) {
    const auto size = sizes.find(name);
    if (size == sizes.end()) return fail(concat("bind: the size ", name, " is missing"));
    if (size->second < 0) return fail(concat("bind: ", name, " is ", size->second, ", no size"));
    key.push_back(size->second);
  }
  for (const auto& [name, size] : sizes) {
    if (std::ranges::find(names_, name) != names_.end()) continue;
    return fail(concat("bind: there is no size ", name, "; declared: ", join(names_)));
  }
  return key;
}

Result<std::shared_ptr<const Executable>> SizedProgram::bind(Sizes::Map sizes) {
  LATHE_ASSIGN_OR_RETURN(std::vector<int64_t> key, key_of(sizes));
  const auto found = std::ranges::find(cache_, key, &CacheEntry::sizes);
  if (found != cache_.end()) {
    cache_.splice(cache_.begin(), cache_, found);
    return cache_.front().executable;
  }
  std::string binding;
  for (const auto& [name, size] : sizes) {
    append(binding, binding.empty() ? "" : ", ", name, " = ", size);
  }
  const auto with_sizes = [&](const Error& error) {
    return fail(concat(error.message, " (with ", binding, ')'));
  };
  auto program = build_(Sizes(std::move(sizes)));
  if (!program) return with_sizes(program.error());
  auto compiled = compile(std::move(*program), options_);
  if (!compiled) return with_sizes(compiled.error());
  const uint64_t bytes = bytes_of(*compiled);
  cache_.push_front(
      {std::move(key), std::make_shared<const Executable>(std::move(*compiled)), bytes});
  bytes_ += bytes;
  while (bytes_ > max_bytes_ && cache_.size() > 1) {
    bytes_ -= cache_.back().bytes;
    cache_.pop_back();
  }
  return cache_.front().executable;
}

}  // namespace lathe::compile
