//! The addresses at which people sign in: to Selfsame itself, and at the OpenID provider of an organisation; and those of
//! what a person has here: the list of cards, recovery, leaving.
//!
//! Owns: the addresses, their forms and cookies, which use cases each calls. Does not own: who may use an address, which
//! `selfsame-server` gives to each list of routes; HTML; nor who a person is, which `selfsame-accounts` knows.

mod account;
mod authenticator;
mod cards;
mod clients;
mod door;
mod leaving;
mod passkeys;
mod provider;
mod receiving;
mod recovering;
pub mod routes;
mod wallet;
mod wallet_browser;

pub use door::{AtDoor, AtSeat, SignInDoor};
pub use receiving::OwnWallet;
pub use wallet_browser::{WalletBrowser, WalletDoor};
