//! The routes as their callers meet them, without a socket.

mod asking;
mod audit;
mod browsing;
mod crowds;
mod description;
mod doors;
mod erasure;
mod exports;
mod instance;
mod looks;
mod nodes;
mod organisation_pages;
mod organisations;
mod pages;
mod people;
mod resolving;
mod rights;
mod saved;
mod saved_pages;
mod sockets;
mod surface;
mod trust;
mod types;
mod wallets;
mod webhook_pages;
mod webhooks;
