//! DCQL, the query language of OpenID4VP 1.0 §6.
