//! The provider of an organisation, driven as pages and clients drive it, below HTTP.

mod abuse;
mod attested;
mod callers;
mod credentials;
mod dpop;
mod flows;
mod forging;
mod haip;
mod leaving;
mod logos;
mod past;
mod pushing;
mod refreshing;
mod registering;
mod rotating;
mod world;
