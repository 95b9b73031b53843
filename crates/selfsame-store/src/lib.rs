//! Encrypted records, their outbox, and the ledger's storage.
