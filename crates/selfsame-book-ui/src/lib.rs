//! The addresses of a credential book.
//!
//! Owns: the addresses, their parameters, which use case each calls. Does not own: who may use an address, which
//! `selfsame-server` gives to each list of routes; HTML, which is of `selfsame-book-pages`; nor the meaning of a search or an entry, which is a use case's.

#![allow(unused_qualifications, reason = "the code that utoipa's macros write")]

mod entering;
mod here;
mod hooks;
mod keeping;
mod keeping_pages;
mod loaded;
mod mapping;
mod mapping_pages;
mod meter;
mod pages;
pub mod routes;
mod v1;
mod v2;
mod v3;
mod v4;

pub use here::BookHere;
