// Floating-point numbers from decimal digits, rounded correctly, in less code than the C library's.
#pragma once

namespace lathe {

// As strtod for digits with a point and an exponent, which is all it reads: `bits` of 53 for the
// nearest double, of 24 for the nearest float. `end`, unless null, becomes the first character
// after them: `text` where there are none.
double parse_decimal(const char* text, const char** end, int bits);

}  // namespace lathe
