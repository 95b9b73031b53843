//! External resolvers and registrars: which answers are accepted, and which faults a change survives.

mod registering;
mod resolving;
mod world;
