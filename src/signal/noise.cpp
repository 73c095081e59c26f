// The noise level of a curve.
