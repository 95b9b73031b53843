//! The routes as their callers meet them, without a socket.

mod browsing;
mod crowds;
mod doors;
mod instance;
mod pages;
mod resolving;
mod sockets;
mod surface;
mod types;
mod wallets;
