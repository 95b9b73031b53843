//! One order, from its beginning to the certificate (RFC 8555 §7.4). It is kept once the authority has accepted it, and
//! goes on after a restart.

use instant_acme::{
    Account, AuthorizationStatus, CertificateIdentifier, Challenge, ChallengeStatus, ChallengeType,
    Identifier, NewOrder, Order, OrderStatus, RetryPolicy,
};
use rcgen::{CertificateParams, DistinguishedName, KeyPair};
use rustls_pki_types::CertificateDer;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{SecretString, x509};
use selfsame_driver::clock::Clock;
use selfsame_http::tls::Tls;
use selfsame_store::Store;
use std::time::Duration;

use crate::answers::ChallengeAnswers;
use crate::failure::AcmeFailure;
use crate::plan::{BegunOrder, GivenCertificate, HostInput, Trouble};
use crate::records::{AnswerRecord, HostRecord};

/// How long an authority may take to decide, and how often it is asked.
const PATIENCE: RetryPolicy = RetryPolicy::new()
    .initial_delay(Duration::from_millis(500))
    .backoff(1.5)
    .timeout(Duration::from_secs(120));

/// The longest token of a challenge, in bytes.
const TOKEN_MAX: usize = 512;

/// What an order needs.
pub(crate) struct OrderTools<'a> {
    /// The account that orders.
    pub account: &'a Account,
    /// The answers to the authority.
    pub answers: &'a ChallengeAnswers,
    /// The store.
    pub store: &'a Store,
    /// The time.
    pub clock: &'a Clock,
    /// Whether the authority is to ask without TLS.
    pub without_tls: bool,
}

/// An order under way, and the key of the certificate to come.
struct OrderWithKey {
    order: Order,
    key: KeyPair,
}

impl OrderTools<'_> {
    /// Orders a certificate for the host of this record, or goes on with the order that was begun.
    ///
    /// # Errors
    /// Why it was not given.
    pub async fn certificate(
        &self,
        record: &mut HostRecord,
    ) -> Result<GivenCertificate, AcmeFailure> {
        let OrderWithKey { mut order, key } = self.begun(record).await?;
        if order.state().status == OrderStatus::Pending {
            self.authorize(&mut order, &record.host).await?;
        }
        if order.state().status == OrderStatus::Pending {
            match order.poll_ready(&PATIENCE).await {
                Ok(OrderStatus::Ready) => {}
                Ok(_) => return Err(why_invalid(&mut order).await),
                Err(error) => return Err(refused_if_invalid(&mut order, error.into())),
            }
        }
        if order.state().status == OrderStatus::Ready {
            order.finalize_csr(&request(&record.host, &key)?).await?;
        }
        let chain = match order.poll_certificate(&PATIENCE).await {
            Ok(chain) => chain,
            Err(error) => return Err(refused_if_invalid(&mut order, error.into())),
        };
        given(chain, &key, &record.host, self.clock.now())
    }

    /// The order that was begun, if the authority still has it; otherwise a new one.
    async fn begun(&self, record: &mut HostRecord) -> Result<OrderWithKey, AcmeFailure> {
        if let Some(begun) = record.state.order().cloned() {
            match self.resumed(&begun).await {
                Ok(resumed) => return Ok(resumed),
                Err(failure) if is_passing(&failure) => return Err(failure),
                Err(failure) => {
                    let (host, order) = (&record.host, &begun.url);
                    let (problem, detail) = (&failure.problem, &failure.detail);
                    tracing::warn!(
                        host,
                        order,
                        problem,
                        detail,
                        "the order of a certificate is lost: a new one is begun"
                    );
                    record
                        .step(self.store, HostInput::Lost, &self.clock.ctx())
                        .await?;
                }
            }
        }
        let key = KeyPair::generate().map_err(|error| ours(&error))?;
        let order = self.ordered(record).await?;
        let begun = BegunOrder {
            url: order.url().to_owned(),
            key: SecretString::from(key.serialize_pem()),
        };
        record
            .step(self.store, HostInput::Begun(begun), &self.clock.ctx())
            .await?;
        Ok(OrderWithKey { order, key })
    }

    async fn resumed(&self, begun: &BegunOrder) -> Result<OrderWithKey, AcmeFailure> {
        let key = KeyPair::from_pem(begun.key.expose()).map_err(|error| ours(&error))?;
        let mut order = self.account.order(begun.url.clone()).await?;
        match order.state().status {
            // RFC 8555 §7.1.6: an order that has expired is invalid.
            OrderStatus::Invalid => Err(why_invalid(&mut order).await),
            _ => Ok(OrderWithKey { order, key }),
        }
    }

    /// A new order. It names the certificate that it replaces (RFC 9773 §5), unless the authority does not take that.
    async fn ordered(&self, record: &HostRecord) -> Result<Order, AcmeFailure> {
        let identifiers = [Identifier::Dns(record.host.clone())];
        let order = NewOrder::new(&identifiers);
        let kept = record.state.certificate();
        let leaf = kept.and_then(|kept| leaf(&kept.given.chain));
        let replaced = leaf
            .as_ref()
            .and_then(|leaf| CertificateIdentifier::try_from(leaf).ok());
        if let Some(replaced) = replaced {
            let order = NewOrder::new(&identifiers).replaces(replaced.into_owned());
            match self.account.new_order(&order).await {
                Ok(order) => return Ok(order),
                Err(error) => {
                    let failure = AcmeFailure::from(error);
                    if !is_for_replaced(&failure) {
                        return Err(failure);
                    }
                    tracing::debug!(%failure, "the order names no certificate that it replaces");
                }
            }
        }
        Ok(self.account.new_order(&order).await?)
    }

    /// Answers the authority's question for each name of the order: there is one.
    async fn authorize(&self, order: &mut Order, host: &str) -> Result<(), AcmeFailure> {
        let mut all = order.authorizations();
        while let Some(authorization) = all.next().await {
            let mut authorization = authorization?;
            match authorization.status {
                AuthorizationStatus::Valid => continue,
                AuthorizationStatus::Pending => {}
                other => {
                    let what = format!("the authorization is {other:?}");
                    return Err(AcmeFailure::refused("unauthorized", what));
                }
            }
            let kind = self.chosen(&authorization.challenges)?;
            let Some(mut challenge) = authorization.challenge(kind) else {
                continue;
            };
            if !is_token(&challenge.token) {
                return Err(AcmeFailure::refused(
                    "malformed-token",
                    "a token is no base64url",
                ));
            }
            let words = challenge.key_authorization();
            let answer = AnswerRecord::new(host, &challenge.token, words.as_str());
            self.answers.give(&answer).await?;
            if challenge.status == ChallengeStatus::Pending {
                challenge.set_ready().await?;
            }
        }
        Ok(())
    }

    /// The way in which the authority is to ask. Neither proves a name with a star, which is never ordered.
    fn chosen(&self, offered: &[Challenge]) -> Result<ChallengeType, AcmeFailure> {
        let mut ways = vec![ChallengeType::TlsAlpn01];
        if self.without_tls {
            ways.insert(0, ChallengeType::Http01);
        }
        let is_offered = |way: &ChallengeType| offered.iter().any(|one| one.r#type == *way);
        ways.into_iter().find(is_offered).ok_or_else(|| {
            let what = match self.without_tls {
                true => "the authority offers neither http-01 nor tls-alpn-01",
                false => "the authority does not offer tls-alpn-01; [tls.acme] listen makes http-01 possible",
            };
            AcmeFailure::refused("no-common-challenge", what)
        })
    }
}

/// RFC 8555 §8.3: a token has no other characters, so the listener repeats nothing that could be a page.
fn is_token(token: &str) -> bool {
    let is_of_tokens = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=TOKEN_MAX).contains(&token.len()) && token.bytes().all(is_of_tokens)
}

/// Whether the same may be answered otherwise later, so that the order is not lost.
fn is_passing(failure: &AcmeFailure) -> bool {
    let is_unread = failure.problem == "malformed";
    failure.is_lost_account() || failure.trouble == Trouble::Silent && !is_unread
}

/// Whether an order may have been refused for the certificate that it names as replaced: RFC 9773 §5 has one type of
/// problem for that, and authorities use others too.
fn is_for_replaced(failure: &AcmeFailure) -> bool {
    let others = ["badNonce", "rateLimited", "unreachable", "unavailable"];
    !others.contains(&failure.problem.as_str()) && !failure.is_lost_account()
}

/// What the authority says of an order that is over.
async fn why_invalid(order: &mut Order) -> AcmeFailure {
    let mut told = order.state().error.clone();
    let mut all = order.authorizations();
    while told.is_none()
        && let Some(Ok(authorization)) = all.next().await
    {
        let mut challenges = authorization.challenges.iter();
        told = challenges.find_map(|challenge| challenge.error.clone());
    }
    let expired = "the order has expired, or the authority withdrew it";
    AcmeFailure {
        trouble: Trouble::Refused,
        ..told.map_or_else(
            || AcmeFailure::refused("orderInvalid", expired),
            AcmeFailure::from,
        )
    }
}

/// The failure of an order that is over is a refusal, whatever the authority names it.
fn refused_if_invalid(order: &mut Order, failure: AcmeFailure) -> AcmeFailure {
    let is_over = order.state().status == OrderStatus::Invalid || order.state().error.is_some();
    match is_over {
        true => AcmeFailure {
            trouble: Trouble::Refused,
            ..failure
        },
        false => failure,
    }
}

/// The request for a certificate (RFC 8555 §7.4): this name and no other.
fn request(host: &str, key: &KeyPair) -> Result<Vec<u8>, AcmeFailure> {
    let mut params = CertificateParams::new(vec![host.to_owned()]).map_err(|error| ours(&error))?;
    params.distinguished_name = DistinguishedName::new();
    let request = params
        .serialize_request(key)
        .map_err(|error| ours(&error))?;
    Ok(request.der().to_vec())
}

/// The certificate, if clients would accept it at this host once they trust the authority.
fn given(
    chain: String,
    key: &KeyPair,
    host: &str,
    now: UnixTime,
) -> Result<GivenCertificate, AcmeFailure> {
    let wrong = |what: String| AcmeFailure::refused("useless-certificate", what);
    let key = SecretString::from(key.serialize_pem());
    let tls = Tls::from_pem(chain.as_bytes(), key.expose().as_bytes());
    let tls = tls.map_err(|error| wrong(error.to_string()))?;
    let leaf = tls.certificates.first().map_or(&[][..], Vec::as_slice);
    if !Tls::covers(leaf, host) {
        return Err(wrong(format!("it is not for {host}")));
    }
    let ends = x509::chain_not_after(tls.certificates.iter().map(Vec::as_slice));
    match (x509::not_before(leaf), ends) {
        (Some(begins), Some(ends)) if ends > now && ends > begins => Ok(GivenCertificate {
            chain,
            key,
            begins,
            ends,
        }),
        _ => Err(wrong("it is over already".to_owned())),
    }
}

/// The host's own certificate in a chain in PEM.
fn leaf(chain: &str) -> Option<CertificateDer<'static>> {
    let mut chain = Tls::certificates_of(chain.as_bytes()).ok()?.into_iter();
    chain.next().map(CertificateDer::from)
}

fn ours(error: &rcgen::Error) -> AcmeFailure {
    AcmeFailure::silent("not-made", error)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: UnixTime = UnixTime(1_800_000_000);

    /// A certificate for a host with this key, as an authority might give it.
    fn made(host: &str, key: &KeyPair, years: std::ops::Range<i32>) -> String {
        let mut params = CertificateParams::new(vec![host.to_owned()]).unwrap();
        params.not_before = rcgen::date_time_ymd(years.start, 1, 1);
        params.not_after = rcgen::date_time_ymd(years.end, 1, 1);
        params.self_signed(key).unwrap().pem()
    }

    #[test]
    fn a_certificate_is_taken_if_it_is_for_the_host_and_its_key_and_not_over() {
        let (key, other) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
        let taken = |chain: String| given(chain, &key, "id.example", NOW);
        let good = taken(made("id.example", &key, 2026..2030)).unwrap();
        assert!(good.begins < NOW && good.ends > NOW);
        for (wrong, what) in [
            (
                made("other.example", &key, 2026..2030),
                "not for id.example",
            ),
            (made("id.example", &other, 2026..2030), "cannot be used"),
            (made("id.example", &key, 2020..2021), "over already"),
            (String::new(), "no complete certificate"),
            (
                "-----BEGIN CERTIFICATE-----\nAA".to_owned(),
                "no complete certificate",
            ),
        ] {
            let failure = taken(wrong).unwrap_err();
            assert_eq!(failure.trouble, Trouble::Refused);
            assert!(failure.detail.contains(what), "{failure}");
        }
    }

    #[test]
    fn a_token_is_base64url_of_a_limited_length() {
        assert!(is_token("LoqXcYV8q5ONbJQxbmR7SCTNo3tiAXDfowyjxAjEuX0"));
        for wrong in [
            "",
            "a.b",
            "a=",
            "<b>",
            "a/b",
            "ä",
            &"a".repeat(TOKEN_MAX + 1),
        ] {
            assert!(!is_token(wrong), "{wrong}");
        }
    }

    #[test]
    fn a_request_names_the_host_alone() {
        let key = KeyPair::generate().unwrap();
        let request = request("id.example", &key).unwrap();
        let names = |name: &[u8]| {
            request
                .windows(name.len())
                .filter(|part| *part == name)
                .count()
        };
        assert_eq!((names(b"id.example"), names(b"rcgen")), (1, 0));
    }

    #[test]
    fn a_failure_that_may_pass_loses_no_order() {
        for (failure, passes) in [
            (AcmeFailure::silent("unreachable", "x"), true),
            (AcmeFailure::silent("no-decision", "x"), true),
            (AcmeFailure::silent("badNonce", "x"), true),
            (AcmeFailure::refused("accountDoesNotExist", "x"), true),
            // A directory that has no such order need not say so in a problem document.
            (AcmeFailure::silent("malformed", "x"), false),
            (AcmeFailure::refused("orderInvalid", "x"), false),
            (AcmeFailure::refused("unauthorized", "x"), false),
        ] {
            assert_eq!(is_passing(&failure), passes, "{failure}");
        }
    }
}
