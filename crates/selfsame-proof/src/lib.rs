//! Signed checkpoints and transaction-log hashes, and verdicts on them.
