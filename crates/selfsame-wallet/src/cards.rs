//! Cards: the credentials a person holds, how they look, and their current status.

mod lines;

use selfsame_credential::evidence::Fetched;
use selfsame_credential::path::Segment;
use selfsame_credential::single_use::{HANDLE, Reference, Use};
use selfsame_credential::verdict::{Outcome, Policy, Trust};
use selfsame_credential::verify::Examination;
use selfsame_credential::{ClaimPath, Format, Held};
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::x509::Chain;
use selfsame_crypto::{KeyHandle, encoding};
use selfsame_did::Did;
use selfsame_driver::paging::{Listing, Paging, listing, page};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Result};
use selfsame_openid4vc::wallet::ReceivedCredential;
use selfsame_openid4vc::wire::metadata::{Configuration, IssuerMetadata};
use selfsame_store::{Batch, Put, Record, Tag, TenantId};
use selfsame_types::samples;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Wallet;
use crate::view::{Card, CardSummary, ClaimLine, Display, Person};
use selfsame_core::Shared;
use selfsame_core::gather::Freshness;
use selfsame_core::registry::UseKey;
use selfsame_core::view::{CredentialUse, readable};

/// The kind of the records that hold cards.
pub(super) const CARD: &str = "card";
const LABEL_MAX: usize = 120;
/// Maximum number of bytes of the address of a logo.
const LOGO_ADDRESS_MAX: usize = 500;
/// Seconds by which an issuer's clock may be ahead.
const LEEWAY: u64 = 60;

/// A card as it is stored.
#[derive(Clone, Deserialize, Serialize)]
pub(super) struct CardRecord {
    #[serde(skip)]
    pub id: String,
    pub format: Format,
    pub raw: String,
    pub key: Option<KeyHandle>,
    pub kid: Option<String>,
    pub issuer: String,
    pub types: Vec<String>,
    pub look: Look,
    pub added: UnixTime,
    pub expires: Option<UnixTime>,
}

/// The look of a card, from its issuer's metadata at the time it was received.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(super) struct Look {
    title: String,
    color: Option<String>,
    #[serde(default)]
    text_color: Option<String>,
    #[serde(default)]
    logo: Option<String>,
    /// The issuer's own name for itself.
    #[serde(default)]
    pub issuer_name: Option<String>,
    /// Paths of claims with their labels.
    pub labels: Vec<(ClaimPath, String)>,
}

impl Look {
    /// The look that a configuration describes; texts are cut to length, colours checked, links ignored.
    pub fn of(configuration: &Configuration) -> Self {
        let Some(metadata) = &configuration.credential_metadata else {
            return Self::default();
        };
        let display = metadata.display.first();
        Self {
            title: display
                .and_then(|display| display.name.as_deref())
                .map(short)
                .unwrap_or_default(),
            color: display
                .and_then(|display| display.background_color.clone())
                .filter(|color| is_color(color)),
            text_color: display
                .and_then(|display| display.text_color.clone())
                .filter(|color| is_color(color)),
            logo: display
                .and_then(|display| display.logo.as_ref())
                .map(|logo| logo.uri.clone())
                .filter(|uri| uri.len() <= LOGO_ADDRESS_MAX && uri.starts_with("http")),
            issuer_name: None,
            labels: metadata
                .claims
                .iter()
                .filter_map(|claim| {
                    let name = claim.display.first()?.name.as_deref()?;
                    Some((claim.path.clone(), short(name)))
                })
                .take(100)
                .collect(),
        }
    }

    /// With the name that the issuer gives itself.
    pub fn by(mut self, issuer: &IssuerMetadata) -> Self {
        let name = issuer.display.first().and_then(|one| one.name.as_deref());
        self.issuer_name = name.map(short).filter(|name| !name.is_empty());
        self
    }

    /// The look for people of a card with these types. A pictogram at the start of the title becomes the icon; the
    /// samples have their own.
    pub fn display(&self, types: &[String]) -> Display {
        let mut words = self.title.splitn(2, ' ');
        let first = words.next().unwrap_or_default();
        let is_picture =
            !first.is_empty() && !first.chars().any(|c| c.is_ascii() || c.is_alphabetic());
        let (icon, title) = match words.next() {
            Some(rest) if is_picture => (Some(first.to_owned()), rest.to_owned()),
            _ => (None, self.title.clone()),
        };
        Display {
            title,
            color: self.color.clone(),
            text_color: self.text_color.clone(),
            logo: self.logo.clone(),
            icon: icon.or_else(|| samples::icon(types).map(str::to_owned)),
        }
    }

    /// The label of the claim at this path.
    pub fn label(&self, path: &ClaimPath) -> String {
        if is_handle(path) {
            return "Single use".to_owned();
        }
        self.labels
            .iter()
            .find(|(known, _)| known == path)
            .map_or_else(|| path.to_string(), |(_, label)| label.clone())
    }
}

impl CardRecord {
    /// The card of a received credential.
    pub fn of(
        credential: ReceivedCredential,
        mut look: Look,
        held: &Held,
        ctx: &Ctx,
        number: usize,
    ) -> Self {
        let types: Vec<String> = held.types().into_iter().map(str::to_owned).collect();
        if look.title.is_empty() {
            look.title = types.last().map(|name| short(name)).unwrap_or_default();
        }
        Self {
            id: encoding::base64url_encode(&ctx.random::<16>(&format!("card/{number}"))),
            format: credential.format,
            issuer: held
                .issuer()
                .map_or_else(|| by_certificate(held), str::to_owned),
            expires: held.expires(),
            raw: credential.raw,
            key: credential.key,
            kid: credential.kid,
            types,
            look,
            added: ctx.now(),
        }
    }

    /// Reads a card from its record.
    pub fn read(record: &Record) -> Result<Self> {
        let mut card: Self = decode(&record.value)?;
        card.id = record.id.clone();
        Ok(card)
    }

    /// Parses the credential of the card.
    pub fn held(&self) -> Result<Held> {
        Held::parse(&self.raw, self.format).map_err(Error::internal)
    }

    /// The record for the store, tagged with each of its types, and the card's summary.
    pub fn into_put(self) -> Result<(Put, CardSummary)> {
        let put = Put::new(CARD, &self.id, encode(&self)?);
        let put = self
            .types
            .iter()
            .fold(put, |put, name| put.tag(Tag::hashed("type", name.clone())));
        let summary = self.summary();
        Ok((
            put.tag(Tag::hashed("format", self.format.as_str())),
            summary,
        ))
    }

    /// A short form of the card.
    pub fn summary(&self) -> CardSummary {
        CardSummary {
            id: self.id.clone(),
            display: self.look.display(&self.types),
            issuer: self.issuer.clone(),
            issuer_name: self.look.issuer_name.clone(),
            format: self.format.as_str().to_owned(),
            types: self.types.clone(),
            added: self.added.rfc3339(),
            expires: self.expires.map(UnixTime::rfc3339),
        }
    }

    /// The claims at these paths, as lines for people.
    pub fn lines(&self, held: &Held, paths: &[ClaimPath]) -> Vec<ClaimLine> {
        paths
            .iter()
            .flat_map(|path| {
                let values = path.select(held.claims());
                values
                    .into_iter()
                    .map(|value| self.line(path, value))
                    .collect::<Vec<_>>()
            })
            .collect()
    }

    pub(super) fn line(&self, path: &ClaimPath, value: &Value) -> ClaimLine {
        ClaimLine {
            path: path.to_value().as_array().cloned().unwrap_or_default(),
            label: readable(&self.look.label(path)),
            value: match is_handle(path) {
                true => "anyone you show this to can use it".to_owned(),
                false => readable(&as_text(value)),
            },
        }
    }
}

impl Wallet {
    /// A person's cards, newest first.
    ///
    /// # Errors
    /// The store's.
    pub async fn cards(&self, person: &Person, paging: &Paging) -> Result<Listing<CardSummary>> {
        let store = &self.shared.store;
        let records = store.list(&person.tenant, CARD, &page(paging)).await?;
        listing(&records, paging, |record| {
            Ok(CardRecord::read(record)?.summary())
        })
    }

    /// One card with its claims and its current status.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn card(&self, person: &Person, id: &str) -> Result<Card> {
        let card = self.card_record(person, id).await?;
        let held = card.held()?;
        let standing = self.standing(person, &held).await?;
        let mut shown = Card {
            summary: card.summary(),
            claims: card.all_lines(&held),
            status: standing.status.to_owned(),
            status_as_of: standing.as_of.map(UnixTime::rfc3339),
            used: None,
        };
        if let Some(fetched) = standing.seen_use.filter(|_| shown.status == "valid") {
            shown.show_use(fetched);
        }
        Ok(shown)
    }

    /// Deletes a card for good, and the key that was created for it.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn delete_card(&self, person: &Person, id: &str) -> Result<()> {
        let card = self.card_record(person, id).await?;
        let mut batch = Batch::new(person.tenant.clone()).delete(CARD, id);
        let own_key = match card.key {
            // A key that the person did not create was created for this card alone.
            Some(key) if !self.is_named(&person.tenant, &key).await? => Some(key),
            _ => None,
        };
        if let Some(key) = &own_key {
            batch = batch.delete(selfsame_driver::keys::KIND, key.as_str());
        }
        self.shared.store.commit(batch).await?;
        if let Some(key) = &own_key {
            self.shared.keys.forget(&person.tenant, key);
        }
        Ok(())
    }

    /// A card's credential as its issuer sent it, with its format.
    pub async fn raw_card(&self, tenant: &TenantId, id: &str) -> Result<(Format, String)> {
        let record = self.shared.store.read(tenant, CARD, id).await?;
        let record = record.ok_or_else(|| Error::not_found("credential-unknown"))?;
        let card = CardRecord::read(&record)?;
        Ok((card.format, card.raw))
    }

    pub(super) async fn card_record(&self, person: &Person, id: &str) -> Result<CardRecord> {
        let record = self.shared.store.read(&person.tenant, CARD, id).await?;
        CardRecord::read(&record.ok_or_else(|| Error::not_found("card-unknown"))?)
    }

    /// The card's status, verified as a verifier that trusts its issuer would: only the issuer can state it, and a
    /// status that someone else signed is ignored.
    async fn standing(&self, person: &Person, held: &Held) -> Result<CardStanding> {
        if let Some(status) = by_time(held, self.shared.clock.now()) {
            return Ok(CardStanding {
                status,
                as_of: None,
                seen_use: None,
            });
        }
        let freshness = Freshness { max_status_age: 60 };
        let policy = Policy {
            max_status_age: Some(freshness.max_status_age),
            ..policy(&self.shared)
        };
        let now = self.shared.clock.now();
        let examination = Examination::of(held);
        let key = single_use(held);
        let mut seen_use = None;
        let run = self.shared.run(&person.tenant, freshness, |evidence| {
            if let Some(UseKey { issuer, digest }) = &key {
                seen_use = evidence.single_use(issuer, digest).cloned();
            }
            Ok::<_, Error>(examination.step(&policy, evidence, now))
        });
        let (verdict, _) = run.await?;
        let status = match verdict.outcome {
            // The registry's statement on a single-use card is shown in addition.
            Outcome::Valid | Outcome::Spent => "valid",
            Outcome::Revoked | Outcome::Suspended | Outcome::Expired | Outcome::NotYetValid => {
                verdict.outcome.as_str()
            }
            Outcome::NotAuthorised
            | Outcome::Untrusted
            | Outcome::Unverifiable
            | Outcome::Invalid => "unknown",
        };
        Ok(CardStanding {
            status,
            as_of: verdict.as_of.map(UnixTime),
            seen_use,
        })
    }
}

/// The policy for credentials in a wallet. It accepts any issuer, since trust is the person's decision.
pub(super) fn policy(shared: &Shared) -> Policy {
    Policy {
        trusted_issuers: Trust::Any,
        trust_anchors: shared.trust.now().anchors.clone(),
        accept_did_issuers: true,
        leeway: LEEWAY,
        ..Policy::default()
    }
}

/// The status of a card.
struct CardStanding {
    /// The word for it in the interfaces.
    status: &'static str,
    /// When the oldest evidence for it was fetched.
    as_of: Option<UnixTime>,
    /// The registry's answer about a single-use card, if it was asked.
    seen_use: Option<Fetched<Option<Use>>>,
}

impl Card {
    /// Adds the registry's answer about a single-use card.
    fn show_use(&mut self, Fetched { value, at }: Fetched<Option<Use>>) {
        self.status_as_of = Some(at.rfc3339());
        match value {
            Ok(None) => {}
            Ok(Some(used)) => {
                self.status = used.action.as_str().to_owned();
                self.used = Some(CredentialUse::of(&used));
            }
            Err(_) => self.status = "unknown".to_owned(),
        }
    }
}

/// The status by the credential's own times, unless valid; verifiers apply the start of validity in the same way.
fn by_time(held: &Held, now: UnixTime) -> Option<&'static str> {
    if held.expires().is_some_and(|expires| expires <= now) {
        return Some("expired");
    }
    let has_begun = held.validity().has_begun(now, LEEWAY);
    (!has_begun).then_some("not_yet_valid")
}

/// The issuer of a credential that names none: the subject of its certificate (SD-JWT VC §2.5), in the form used in
/// lists of trusted issuers.
fn by_certificate(held: &Held) -> String {
    let x5c = held.header().x5c.as_deref();
    let Some(chain) = x5c.and_then(|x5c| Chain::parse(x5c).ok()) else {
        return String::new();
    };
    match chain.dns_name() {
        Some(name) => format!("x509_san_dns:{name}"),
        None => format!(
            "x509_hash:{}",
            encoding::base64url_encode(&chain.leaf_sha256())
        ),
    }
}

/// The issuer of a single-use credential, and the digest that its handle is registered under.
pub(super) fn single_use(held: &Held) -> Option<UseKey> {
    held.sd_jwt()?;
    let reference = Reference::in_payload(held.claims()).ok().flatten()?;
    let issuer = Did::parse(held.issuer()?).ok()?;
    Some(UseKey {
        issuer,
        digest: reference.digest,
    })
}

fn is_handle(path: &ClaimPath) -> bool {
    matches!(path.segments(), [Segment::Name(name)] if name == HANDLE)
}

fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Null => "–".to_owned(),
        Value::Array(items) if items.is_empty() => "–".to_owned(),
        Value::Object(members) if members.is_empty() => "–".to_owned(),
        Value::Number(number) => number.to_string(),
        // Objects in an array get one line each.
        Value::Array(items) if items.iter().any(Value::is_object) => {
            items.iter().map(as_text).collect::<Vec<_>>().join("\n")
        }
        Value::Array(items) => items.iter().map(as_text).collect::<Vec<_>>().join(", "),
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| format!("{}: {}", name.replace('_', " "), as_text(value)))
            .collect::<Vec<_>>()
            .join(" · "),
    }
}

fn short(text: &str) -> String {
    readable(text)
        .chars()
        .filter(|c| !c.is_control())
        .take(LABEL_MAX)
        .collect()
}

/// `#rgb` or `#rrggbb`; all other CSS colours are refused.
fn is_color(text: &str) -> bool {
    text.strip_prefix('#').is_some_and(|digits| {
        matches!(digits.len(), 3 | 6) && digits.bytes().all(|b| b.is_ascii_hexdigit())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// An SD-JWT VC with an invalid signature.
    fn held(header: &Value, claims: &Value) -> Held {
        let mut all = json!({"alg": "ES256", "typ": "dc+sd-jwt"});
        let mut payload = json!({"vct": "urn:x"});
        for (into, from) in [(&mut all, header), (&mut payload, claims)] {
            let from = from.as_object().unwrap().clone();
            into.as_object_mut().unwrap().extend(from);
        }
        let jwt = selfsame_crypto::jws::Unsigned::new(&all, &payload).finish(&[1; 64]);
        Held::parse(&format!("{jwt}~"), Format::SdJwtVc).unwrap()
    }

    #[test]
    fn a_card_is_valid_between_its_times_alone() {
        let now = UnixTime(1_000_000);
        let told = |claims: Value| by_time(&held(&json!({}), &claims), now);
        assert_eq!(told(json!({"nbf": now.0 + 86_400})), Some("not_yet_valid"));
        assert_eq!(told(json!({"exp": now.0})), Some("expired"));
        assert_eq!(told(json!({"nbf": now.0, "exp": now.0 + 1})), None);
        // Clocks differ.
        assert_eq!(told(json!({"nbf": now.0 + 30})), None);
    }

    #[test]
    fn a_card_that_names_no_issuer_is_by_the_subject_of_its_certificate() {
        let certified = |names: &[&str]| {
            let key = rcgen::KeyPair::generate().unwrap();
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            let params = rcgen::CertificateParams::new(names).unwrap();
            params.self_signed(&key).unwrap().der().to_vec()
        };
        let by = |der: &[u8]| {
            let header = json!({"x5c": [encoding::base64_encode(der)]});
            by_certificate(&held(&header, &json!({})))
        };
        let named = certified(&["issuer.example", "other.example"]);
        assert_eq!(by(&named), "x509_san_dns:issuer.example");
        assert!(by(&certified(&[])).starts_with("x509_hash:"));
    }

    #[test]
    fn what_an_issuer_calls_things_turns_no_text_round_and_keeps_its_own_script() {
        assert_eq!(short("Pass\u{202e}port\u{2066}\u{200f}\n"), "Passport");
        assert_eq!(short("كرت 👩\u{200d}⚕️"), "كرت 👩\u{200d}⚕️");
    }

    #[test]
    fn a_claim_is_shown_without_what_turns_text_round_and_kept_as_it_is() {
        let value = json!(["a\u{202e}b", {"c\u{2067}": "d\ne"}]);
        assert_eq!(readable(&as_text(&value)), "ab\nc: d\ne");
        assert_eq!(value[0], "a\u{202e}b");
    }
}
