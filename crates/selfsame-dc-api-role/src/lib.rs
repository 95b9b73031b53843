//! Presentations by the Digital Credentials API of browsers (OpenID4VP 1.0 Appendix A) as use cases.
//!
//! Owns: what a verifier hands to a browser and takes back, and how a request that a browser brings is opened for a
//! holder.
//! Does not own: the protocol (selfsame-dc-api), requests and verdicts (selfsame-openid), consent and history
//! (selfsame-wallet), status codes, HTML.

pub mod verifier;
pub mod view;
pub mod wallet;

pub use verifier::{browser_answer, browser_request};
pub use view::{BrowserRequest, BrowserRequests, PageMessage};
pub use wallet::{page_request, refused_data};
