//! The pages of a sign-in at the OpenID provider of an organisation: proving who one is, agreeing, sessions and
//! agreements.

mod agreeing;
mod call;
mod kept;
mod proving;
mod refusal;
mod ways;

pub use agreeing::decide;
pub use kept::{agreements, end_others, end_session, sessions, take_back};
pub use proving::{prove, send_code};
pub use ways::{back, page};
