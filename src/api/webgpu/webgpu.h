/* The C interface of lathe-webgpu.wasm, which compiles the graphs of lathe-core.wasm to shaders.
 * Conventions, lathe_alloc, lathe_free and lathe_error are those of lathe.h. */
#ifndef LATHE_API_WEBGPU_H_
#define LATHE_API_WEBGPU_H_

#include "lathe/api/lathe.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An entry of a program as lathe_graph_encode returns it, the arguments as those of
 * lathe_graph_decode: adds it to the program of
 * this handle, or, where that is 0, to a new one, whose handle > 0 it returns. */
LATHE_EXPORT(lathe_webgpu_entry)
int32_t lathe_webgpu_entry(int32_t program, const uint8_t* bytes, size_t size,
                           const size_t* constants, size_t count);
/* {"limits": {"threads", "sharedBytes", "storageBuffers", "bindingBytes", "subgroupThreads",
 * "shaderF16"}}, by default those that every device has. Returns 1; the entries are gone
 * afterwards. Errors: types that shaders do not have, kernels beyond the limits. */
LATHE_EXPORT(lathe_webgpu_compile)
int32_t lathe_webgpu_compile(int32_t program, const char* json, size_t length);
/* Of a compiled program: as compile/executable.h describes. */
LATHE_EXPORT(lathe_webgpu_metadata) const char* lathe_webgpu_metadata(int32_t program);
/* The content of its constants, whose other bytes are zeros: the number of segments, and for each
 * its offset, its address here and its bytes. */
LATHE_EXPORT(lathe_webgpu_constants) const size_t* lathe_webgpu_constants(int32_t program);
LATHE_EXPORT(lathe_webgpu_free) int32_t lathe_webgpu_free(int32_t program);

/* Programs not yet freed. */
LATHE_EXPORT(lathe_webgpu_live_objects) int32_t lathe_webgpu_live_objects(void);

#ifdef __cplusplus
}
#endif

#endif
