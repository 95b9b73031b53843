//! SD-JWT VC, VC-JWT, status lists, DCQL, and the verdicts on them.
