//! Saved requests: stored, listed, opened by programs and by visitors of their link.
//!
//! Owns: the record of a saved request, and how it is opened. Does not own: what a definition means (`selfsame-asked`),
//! requests themselves, which are the verifier's, HTTP, HTML.

mod requests;

pub use requests::{AskingPage, FormReview, SavedRequests, Visitor};
