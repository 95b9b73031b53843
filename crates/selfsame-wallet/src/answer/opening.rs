//! Opens a request: resolves its link, reads its object, and checks its authenticity.

use selfsame_credential::evidence::Step;
use selfsame_driver::{Error, Result};
use selfsame_net::{Authorization, Body, Call, Method, Request};
use selfsame_openid4vc::holder::request::{self, Invocation, ReceivedObject, WalletTrust};
use selfsame_openid4vc::holder::{Audience, AwaitingConsent, Delivery, response};
use selfsame_openid4vc::wire::request::RefusedRequest;

use crate::Wallet;
use crate::refusal::refusal;
use crate::view::Person;
use selfsame_core::gather::Freshness;
use selfsame_core::view::readable;

impl Wallet {
    /// The authenticated request that a link leads to.
    pub(super) async fn opened(&self, person: &Person, link: &str) -> Result<AwaitingConsent> {
        let invocation =
            request::open(link, &self.transport).map_err(|refused| self.refused(*refused))?;
        let ctx = self.shared.clock.ctx();
        let fetch = invocation.fetch(&ctx);
        let (client_id, object, fetch) = match (invocation, fetch) {
            (Invocation::Plain(asked), _) => return Ok(*asked),
            (Invocation::Object { client_id, object }, _) => (client_id, object, None),
            (Invocation::Reference { client_id, .. }, Some(fetch)) => {
                let object = self.object(&fetch).await?;
                (client_id, object, Some(fetch))
            }
            (Invocation::Reference { .. }, None) => {
                return Err(Error::internal("a reference that can't be fetched"));
            }
        };
        let received = ReceivedObject {
            client_id: &client_id,
            object: &object,
            request_uri: fetch.as_ref().map(|fetch| &fetch.url),
            wallet_nonce: fetch
                .as_ref()
                .and_then(|fetch| fetch.wallet_nonce.as_deref()),
        };
        let trusted = self.shared.trust.now();
        let trust = WalletTrust {
            transport: &self.transport,
            anchors: &trusted.anchors,
        };
        let freshness = Freshness { max_status_age: 0 };
        let authenticated = self
            .shared
            .run(&person.tenant, freshness, |evidence| {
                Ok::<_, Error>(
                    match request::authenticate(&received, &trust, evidence, ctx.now()) {
                        Ok(Step::Needs(needs)) => Step::Needs(needs),
                        Ok(Step::Done(asked)) => Step::Done(Ok(asked)),
                        Err(refused) => Step::Done(Err(refused)),
                    },
                )
            })
            .await?;
        authenticated.map_err(|refused| self.refused(*refused))
    }

    async fn object(&self, fetch: &request::Fetch) -> Result<String> {
        let (method, body) = match &fetch.form {
            Some(form) => (Method::Post, Body::Form(form.clone())),
            None => (Method::Get, Body::Empty),
        };
        let request = Request {
            accept: Some(fetch.accept),
            ..Request::default()
        };
        let call = Call {
            method,
            url: &fetch.url,
            body,
            authorization: Authorization::None,
            request,
        };
        let response = self.shared.net.call(call).await.map_err(|error| {
            tracing::warn!(reason = %error, "a request object could not be fetched");
            let reason = error.public_reason();
            Error::upstream("request-unfetched").with("detail", &reason)
        })?;
        request::read(
            response.status,
            response.content_type.as_deref(),
            &response.body,
        )
        .map_err(refusal)
    }

    /// Tells the verifier the reason, if there is an address to tell, and returns the error for the person.
    fn refused(&self, refused: RefusedRequest) -> Error {
        if let Some(Delivery { url, form }) = response::refusal(&refused) {
            let net = self.shared.net.clone();
            tokio::spawn(async move {
                if let Err(error) = net.post(&url, Body::Form(form), Authorization::None).await {
                    tracing::info!(reason = %error, "a verifier could not be notified that its request was refused");
                }
            });
        }
        refusal(refused.error)
    }
}

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
