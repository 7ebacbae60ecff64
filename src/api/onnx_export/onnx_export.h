/* The C interface of lathe-onnx-export.wasm, which writes graphs as ONNX models. Conventions,
 * lathe_alloc, lathe_free and lathe_error are those of lathe.h. */
#ifndef LATHE_API_ONNX_EXPORT_H_
#define LATHE_API_ONNX_EXPORT_H_

#include "lathe/api/lathe.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sizes to trace a function for, so that an exported model has so many symbolic dimensions:
 * [[11], [13], [17]]. Other ones for each attempt from 0. */
LATHE_EXPORT(lathe_onnx_samples) const char* lathe_onnx_samples(size_t symbols, int32_t attempt);
/* {"samples": [{"sizes": [11], "graph": "graph …"}…] (the form of graph/print.h), "symbols":
 * ["batch"], "name", "version" (of who writes it), "inputs": {"x": "image"}, "outputs" (what they
 * are called), "states": [{"name", "offset", "size"}…]}, and the elements of the states in memory
 * from lathe_alloc, which belongs to the library from then on, even if the call fails; zero where
 * there are none. Address and size of the ONNX file, and whether
 * it has symbolic dimensions: else its sizes are those of the first sample. */
LATHE_EXPORT(lathe_onnx_export)
const size_t* lathe_onnx_export(const char* json, size_t length, void* weights, size_t size);
/* Frees that file; so does the next call. */
LATHE_EXPORT(lathe_onnx_export_free) void lathe_onnx_export_free(void);

#ifdef __cplusplus
}
#endif

#endif
