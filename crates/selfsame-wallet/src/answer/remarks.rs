//! What is unusual about a request that is accepted all the same.

use selfsame_core::view::readable;
use selfsame_openid4vc::holder::{Audience, AwaitingConsent};

/// What is unusual about a request that is accepted all the same.
pub(super) fn remarks(asked: &AwaitingConsent) -> Vec<String> {
    let audience = asked.audience.as_ref().map(|audience| match audience {
        Audience::Verifier(own) => format!(
            "The request is addressed to the verifier itself ({own}), not to a wallet; this does not change what is shared."
        ),
        Audience::Unsaid {} => {
            "The request does not say that it is for a wallet; this does not change what is shared.".to_owned()
        }
    });
    audience.map(|text| readable(&text)).into_iter().collect()
}
