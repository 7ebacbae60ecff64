#include "lathe/loop/analysis/verify.h"

#include <string_view>

#include "lathe/base/text.h"
#include "lathe/loop/analysis/verify_kernel.h"

namespace lathe::loop {

namespace {

Status verify_buffer(const Buffer& buffer) {
  if (buffer.size < 0 || buffer.size > kLargest) {
    return fail(concat("buffer ", buffer.name, " has size ", buffer.size));
  }
  const bool constant = buffer.role == BufferRole::Constant;
  const size_t expected = constant ? buffer.size * scalar::size_of(buffer.dtype) : 0;
  if (buffer.data.size() != expected) {
    return fail(concat("buffer ", buffer.name, " has ", buffer.data.size(), " bytes of data, not ",
                       expected));
  }
  return {};
}

Status verify_ports(const Module& module, const std::vector<Port>& ports, std::string_view what) {
  Names names(what);
  for (const Port& port : ports) {
    LATHE_TRY(names.add(port.name));
    if (port.buffer < 0 || port.buffer >= static_cast<int64_t>(module.buffers.size())) {
      return fail(concat("port ", port.name, " has no buffer"));
    }
    int64_t count = 1;
    for (const int64_t size : port.shape) {
      if (size < 0 || __builtin_mul_overflow(count, size, &count)) {
        return fail(concat("port ", port.name, " has shape ", bracketed(port.shape)));
      }
    }
    if (count != module.buffers[port.buffer].size) {
      return fail(concat("port ", port.name, ' ', bracketed(port.shape), " does not fit buffer ",
                         module.buffers[port.buffer].name));
    }
  }
  return {};
}

Status verify_condition(const Module& module, int32_t condition) {
  if (condition == -1) return {};
  if (condition < 0 || static_cast<size_t>(condition) >= module.buffers.size()) {
    return fail(concat("there is no buffer ", condition, " to be a condition"));
  }
  const Buffer& buffer = module.buffers[condition];
  if (buffer.dtype == DType::Bool && buffer.size == 1) return {};
  return fail(concat("the condition ", buffer.name, " is ", scalar::text(buffer.dtype), '[',
                     buffer.size, "], not one bool"));
}

// Each repeat is nested in an earlier one, and its kernels are consecutive.
Status verify_repeats(const Module& module, const Entry& entry) {
  const auto count = static_cast<int32_t>(entry.repeats.size());
  for (int32_t id = 0; id < count; ++id) {
    const Repeat& repeat = entry.repeats[id];
    if (repeat.times < 0 || repeat.times > kLargest || repeat.around < -1 || repeat.around >= id) {
      return fail(concat("entry ", entry.name, ": repeat ", id, " of ", repeat.times,
                         " times inside ", repeat.around));
    }
    if (const Status status = verify_condition(module, repeat.condition); !status) {
      return fail(concat("entry ", entry.name, ", repeat ", id, ": ", status.error().message));
    }
  }
  for (const Kernel& kernel : entry.kernels) {
    if (kernel.repeat < -1 || kernel.repeat >= count) {
      return fail(concat("entry ", entry.name, ", kernel ", kernel.name, ": there is no repeat ",
                         kernel.repeat));
    }
  }
  for (int32_t id = 0; id < count; ++id) {
    int runs = 0;
    bool inside = false;
    for (const Kernel& kernel : entry.kernels) {
      const bool now = is_inside(entry, kernel.repeat, id);
      runs += now && !inside;
      inside = now;
    }
    if (runs != 1) {
      return fail(concat("entry ", entry.name, ": the kernels of repeat ", id, " are in ", runs,
                         " separate runs"));
    }
  }
  return {};
}

}  // namespace

Status verify(const Module& module, bool has_f16) {
  Names buffers("buffers");
  for (const Buffer& buffer : module.buffers) {
    LATHE_TRY(buffers.add(buffer.name));
    LATHE_TRY(verify_buffer(buffer));
  }
  LATHE_TRY(verify_ports(module, module.states, "states"));
  Names entries("entries");
  for (const Entry& entry : module.entries) {
    LATHE_TRY(entries.add(entry.name));
    LATHE_TRY(verify_ports(module, entry.inputs, "inputs"));
    LATHE_TRY(verify_ports(module, entry.outputs, "outputs"));
    LATHE_TRY(verify_repeats(module, entry));
    Names kernels("kernels");
    for (const Kernel& kernel : entry.kernels) {
      LATHE_TRY(kernels.add(kernel.name));
      if (const Status status = verify_kernel(module, kernel, has_f16); !status) {
        return fail(
            concat("entry ", entry.name, ", kernel ", kernel.name, ": ", status.error().message));
      }
    }
  }
  return {};
}

}  // namespace lathe::loop
