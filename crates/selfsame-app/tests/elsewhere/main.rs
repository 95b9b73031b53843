//! External resolvers, registrars and nodes: which answers are accepted, and which faults a change survives.

mod logs;
mod nodes;
mod registering;
mod resolving;
mod world;
