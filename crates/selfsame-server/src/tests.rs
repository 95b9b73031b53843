//! The routes as their callers meet them, without a socket.

mod audit;
mod browsing;
mod crowds;
mod description;
mod doors;
mod instance;
mod organisations;
mod pages;
mod people;
mod resolving;
mod rights;
mod sockets;
mod surface;
mod types;
mod wallets;
mod webhooks;
