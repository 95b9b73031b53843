//! OpenID4VCI 1.0 and OpenID4VP 1.0, both sides of each, without input or output.
