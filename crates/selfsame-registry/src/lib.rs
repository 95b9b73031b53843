//! The registry: objects, rules, transactions and the deterministic state machine.
