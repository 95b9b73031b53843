//! Opens a request for a holder: resolves its link, reads its object, and checks its authenticity.

use selfsame_credential::evidence::Step;
use selfsame_driver::{Error, Result};
use selfsame_haip::WantedProfile;
use selfsame_net::{Authorization, Body, Call, Method, Request};
use selfsame_openid4vc::holder::request::{self, Invocation, ReceivedObject, WalletTrust};
use selfsame_openid4vc::holder::{
    self, AwaitingConsent, Delivery, Done, HolderNext, Input, PresentationState, response,
};
use selfsame_openid4vc::wire::request::RefusedRequest;

use selfsame_core::Shared;
use selfsame_core::gather::Freshness;
use selfsame_openid4vc::Transport;
use selfsame_openid4vc::wire::transaction::TransactionType;
use selfsame_store::TenantId;

use crate::recording::SeenFetch;
use crate::refusal::refusal;
use selfsame_wire::{WalletFetch, WalletWire};

/// Opens requests for a holder.
#[derive(Clone, Copy)]
pub struct RequestOpener<'a> {
    /// What the roles of the instance share.
    pub shared: &'a Shared,
    /// The tenant of the holder.
    pub tenant: &'a TenantId,
    /// Which addresses are called.
    pub transport: &'a Transport,
    /// The types of transactions that the holder can agree to.
    pub transactions: &'a [TransactionType],
    /// Records what is fetched.
    pub wire: Option<&'a WalletWire>,
    /// The profile that requests must keep.
    pub profile: Option<WantedProfile>,
}

/// Which URLs of other parties are allowed: https, and plain http for this instance's own and trusted origins.
#[must_use]
pub fn transport(shared: &Shared) -> Transport {
    let own = std::iter::once(&shared.config.origin);
    Transport::with_plain_origins(own.chain(&shared.config.trust.origins))
}

impl RequestOpener<'_> {
    /// The authenticated request that a link leads to.
    ///
    /// # Errors
    /// If the request is invalid or can't be fetched.
    pub async fn open(&self, link: &str) -> Result<AwaitingConsent> {
        let trusted = self.shared.trust.now();
        let trust = WalletTrust {
            transport: self.transport,
            anchors: &trusted.anchors,
            transactions: self.transactions,
        };
        let invocation = request::open(link, &trust).map_err(|refused| self.refused(*refused))?;
        let ctx = self.shared.clock.ctx();
        let fetch = invocation.fetch(&ctx);
        let (client_id, object, fetch) = match (invocation, fetch) {
            (Invocation::Plain(asked), _) => return self.by_profile(*asked, None),
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
        let freshness = Freshness { max_status_age: 0 };
        let authenticated = self
            .shared
            .run(self.tenant, freshness, |evidence| {
                Ok::<_, Error>(
                    match request::authenticate(&received, &trust, evidence, ctx.now()) {
                        Ok(Step::Needs(needs)) => Step::Needs(needs),
                        Ok(Step::Done(asked)) => Step::Done(Ok(asked)),
                        Err(refused) => Step::Done(Err(refused)),
                    },
                )
            })
            .await?;
        let asked = authenticated.map_err(|refused| self.refused(*refused))?;
        self.by_profile(asked, Some(&received))
    }

    /// Delivers an answer that is not kept: if it is lost, the request is made anew.
    ///
    /// # Errors
    /// `Upstream` if the verifier can't be reached, or does not accept the answer.
    pub async fn deliver(&self, answer: HolderNext) -> Result<Done> {
        let HolderNext {
            state, delivery, ..
        } = answer;
        let Delivery { url, form } =
            delivery.ok_or_else(|| Error::internal("an answer is delivered"))?;
        let net = &self.shared.net;
        let sent = net.post(&url, Body::Form(form), Authorization::None).await;
        let response = sent.map_err(|error| {
            tracing::info!(reason = %error, "an answer could not be delivered to a verifier");
            Error::upstream("answer-undelivered")
        })?;
        let input = Input::Delivered {
            status: response.status,
            body: &response.body,
        };
        let ctx = self.shared.clock.ctx();
        let taken = holder::step(&state, input, &self.shared.evidence(), &ctx);
        match taken.map_err(refusal)? {
            Step::Done(HolderNext {
                state: PresentationState::Done(done),
                ..
            }) => Ok(done),
            Step::Done(HolderNext {
                state: PresentationState::Failed(failed),
                ..
            }) => Err(Error::upstream("answer-not-taken").with("detail", &failed.reason)),
            _ => Err(Error::internal(
                "an answer that was delivered has not ended",
            )),
        }
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
        if let Some(wire) = self.wire {
            let fetched = SeenFetch {
                what: WalletFetch::Request,
                url: &fetch.url,
                form: fetch.form.as_deref(),
                response: &response,
            };
            fetched.record(wire, self.tenant).await;
        }
        request::read(
            response.status,
            response.content_type.as_deref(),
            &response.body,
        )
        .map_err(refusal)
    }

    /// Tells the verifier the reason, if there is an address to tell, and returns the error for the person.
    pub(crate) fn refused(&self, refused: RefusedRequest) -> Error {
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
