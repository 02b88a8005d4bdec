// SPDX-License-Identifier: Apache-2.0
// Elementary functions with the same bits on every machine, compiler and C library: the C library's own differ in the
// last bits from version to version, and with them augmented pixels and spectra. Pure functions.
//
// Method: argument reduction with constants in two or three parts (Cody and Waite, "Software Manual for the Elementary
// Functions", 1980), then a truncated series. No fused multiply-add: the project is compiled with -ffp-contract=off.
#pragma once

namespace headpond::portable {

/// e to the power x; relative error below 4e-16. Infinity above 709.78, 0 below -745.13; NaN for NaN.
double exp(double x);

/// The natural logarithm; relative error below 4e-16, also near 1. -infinity for 0; NaN below 0 and for NaN.
double log(double x);
/// To the bases 10 and 2; relative error below 8e-16.
double log10(double x);
double log2(double x);

/// The sine of an angle in radians; absolute error below 4e-16. NaN iff |x| is above 1e6, infinite or NaN.
double sin(double x);
double cos(double x);

/// x to the power y, as exp(y log(x)): relative error below 4e-16 + |y log(x)| 4e-16. NaN for x < 0; pow(0, y) is 0 for
/// y > 0, 1 for 0 and infinity below.
double pow(double x, double y);

}  // namespace headpond::portable
