//! Resolvers and registrars of others: what of their answers is accepted, and what a change survives.

mod registering;
mod resolving;
mod world;
