//! Requests for a holder that keeps HAIP 1.0.

use selfsame_crypto::jws::Compact;
use selfsame_driver::Result;
use selfsame_haip::asked::{RequestFacts, RequestWay};
use selfsame_haip::names_profiled;
use selfsame_openid4vc::Error as Protocol;
use selfsame_openid4vc::holder::AwaitingConsent;
use selfsame_openid4vc::holder::request::ReceivedObject;
use selfsame_openid4vc::wire::request::RefusedRequest;

use crate::opening::RequestOpener;

impl RequestOpener<'_> {
    /// A request, unless it breaks a rule of the profile; its verifier is told so.
    pub(crate) fn by_profile(
        &self,
        asked: AwaitingConsent,
        received: Option<&ReceivedObject<'_>>,
    ) -> Result<AwaitingConsent> {
        let object = received.map(|received| received.object);
        let read = object.and_then(|object| Compact::parse(object).ok());
        let x5c = read.and_then(|read| read.header.x5c).unwrap_or_default();
        let way = match received.is_some_and(|received| received.request_uri.is_some()) {
            true => RequestWay::Fetched,
            false => RequestWay::Linked,
        };
        let Some(error) = self.broken(&asked, way, &x5c) else {
            return Ok(asked);
        };
        Err(self.refused(RefusedRequest {
            error,
            response_uri: Some(asked.request.response_uri.clone()),
            state: asked.request.state.clone(),
        }))
    }

    /// Refuses a request of a page if it breaks a rule of the profile. `x5c` are the certificates (DER) that came with
    /// the verifier's signature.
    ///
    /// # Errors
    /// `invalid_request`, with the rule. The page is told by its browser, so that nothing is sent.
    pub fn check_page(
        &self,
        asked: &AwaitingConsent,
        x5c: &[Vec<u8>],
    ) -> std::result::Result<(), Protocol> {
        let is_signed = asked.verifier.authenticated;
        let broken = self.broken(asked, RequestWay::Brought { is_signed }, x5c);
        broken.map_or(Ok(()), Err)
    }

    /// The rule of the profile that a request breaks.
    fn broken(
        &self,
        asked: &AwaitingConsent,
        way: RequestWay,
        x5c: &[Vec<u8>],
    ) -> Option<Protocol> {
        self.profile?;
        let trusted = self.shared.trust.now();
        let request = &asked.request;
        let mut queries = request.query.credentials().iter();
        let encryptions = &request.metadata.encrypted_response_enc_values_supported;
        let facts = RequestFacts {
            way,
            prefix: &asked.verifier.prefix,
            x5c,
            anchors: &trusted.anchors,
            is_encrypted: request.encrypted,
            jwks: request.metadata.jwks.as_deref(),
            encryptions: encryptions.as_deref().unwrap_or_default(),
            are_profiled: queries.all(|query| names_profiled(&query.format)),
        };
        let rule = facts.broken()?;
        Some(Protocol::invalid_request(rule.told))
    }
}
