//! Keys, signatures, JOSE, sealing, strict JSON, time and randomness.
