//! The AnonCreds of tenants below HTTP: issuers, holders and verifiers, each in a process of its own, on one registry.

mod fetching;
mod flow;
mod forged;
mod publications;
mod registries;
mod revocation;
mod rotation;
mod world;
